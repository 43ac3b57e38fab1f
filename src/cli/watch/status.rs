//! The live status at the foot of the terminal: board, discs, totals, 20s, frame rate, what is waited for.

use std::io::IsTerminal;

use crokeye::live::{Phase, Standing};
use indicatif::{ProgressBar, ProgressStyle};

/// A line that is redrawn in place; nothing where stderr is no terminal.
pub struct StatusLine {
    bar: ProgressBar,
    sentences: bool,
    pace: Option<(f64, f64)>,
}

impl StatusLine {
    /// `sentences`: whether events are printed for people.
    pub fn new(sentences: bool) -> Self {
        let shown = std::io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        Self { bar, sentences, pace: None }
    }

    /// Prints a sentence above the status.
    pub fn print(&self, text: &str) {
        if self.sentences {
            self.bar.suspend(|| super::super::out::line(format_args!("{text}")));
        }
    }

    /// Prints a sentence on stderr, above the status.
    #[cfg(feature = "opencv")]
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// Frames a second and age of the newest frame, ms.
    #[cfg(feature = "opencv")]
    pub fn pace(&mut self, fps: f64, age_ms: f64) {
        self.pace = Some((fps, age_ms));
    }

    /// Shows where the session stands.
    pub fn show(&self, standing: &Standing) {
        self.bar.set_message(text(standing, self.pace));
        self.bar.tick();
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn text(standing: &Standing, pace: Option<(f64, f64)>) -> String {
    let mut parts = vec![if standing.board { "board: seen".to_owned() } else { "board: not seen".to_owned() }];
    let phase = match standing.phase {
        Phase::Ready => "ready",
        Phase::Playing => "playing",
        Phase::Over => "over",
        Phase::Cleared => "final",
    };
    parts.push(format!("round {}: {phase}", standing.round));
    if let Some(report) = &standing.report {
        for side in &report.sides {
            let discs = side.count.discs();
            let twenties = standing.twenties[side.side as usize];
            parts.push(format!("{} {} ({discs} discs, {twenties} 20s)", side.name(), side.total));
        }
    }
    if let Some((fps, age_ms)) = pace {
        parts.push(format!("{fps:.0} frames/s, {age_ms:.0} ms old"));
    }
    parts.push(format!("waits for {}", standing.waits));
    parts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_what_is_waited_for_and_how_fast_frames_come() {
        let standing = Standing { round: 2, waits: "a board".to_owned(), ..Standing::default() };
        let text = text(&standing, Some((29.97, 41.2)));
        assert_eq!(text, "board: not seen | round 2: ready | 30 frames/s, 41 ms old | waits for a board");
    }
}
