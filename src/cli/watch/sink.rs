//! Where a session's events go: the terminal, a recording, a match.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use crokeye::board::Side;
use crokeye::count::report::Status;
use crokeye::live::event::{BoardChange, CameraState, DiscChange, Ended, RoundResult};
use crokeye::live::{Event, Input, Standing, What};

use super::choices::Choices;
use super::into_match::IntoMatch;
use super::record::Recorder;
use super::status::StatusLine;

/// Takes inputs and what came of them.
pub struct Sink {
    json: bool,
    recorder: Option<Recorder>,
    into_match: Option<IntoMatch>,
    status: StatusLine,
    rounds: u32,
    to_review: u32,
}

impl Sink {
    /// Prints JSON lines or sentences, keeps a recording where asked, and takes rounds to a match where one is named.
    ///
    /// # Errors
    /// The recording cannot be started.
    pub fn new(json: bool, record: Option<&Path>, choices: &Choices, into_match: Option<IntoMatch>) -> Result<Self> {
        let recorder = record.map(|folder| Recorder::start(folder, choices)).transpose()?;
        Ok(Self { json, recorder, into_match, status: StatusLine::new(!json), rounds: 0, to_review: 0 })
    }

    /// Takes what the watcher was told and what came of it.
    ///
    /// # Errors
    /// Something cannot be written.
    pub fn take(&mut self, input: &Input, events: &[Event], standing: &Standing) -> Result<()> {
        let lines = events.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>()?;
        if let Some(recorder) = &mut self.recorder {
            recorder.keep(input, &lines)?;
        }
        for (event, line) in events.iter().zip(&lines) {
            if self.json {
                print_line(line)?;
            } else if let Some(sentence) = sentence(event) {
                let seconds = event.at_ms as f64 / 1000.0;
                self.status.print(&format!("{seconds:8.1} s  {sentence}"));
            }
            if let What::Round(result) = &event.what {
                self.rounds += 1;
                self.to_review += u32::from(result.status != Status::Counted);
            }
        }
        if let Some(into_match) = &mut self.into_match {
            for line in into_match.take(input, events)? {
                // With --json stdout holds events and nothing else.
                if self.json { eprintln!("{line}") } else { self.status.print(&line) }
            }
        }
        self.status.show(standing);
        Ok(())
    }

    /// Tells a person something that is no event.
    #[cfg(feature = "opencv")]
    pub fn note(&self, text: &str) {
        self.status.note(text);
    }

    /// What the source does, for the status line.
    #[cfg(feature = "opencv")]
    pub fn pace(&mut self, fps: f64, age_ms: f64) {
        self.status.pace(fps, age_ms);
    }

    /// The session is over.
    ///
    /// # Errors
    /// The match cannot be written.
    pub fn end(mut self) -> Result<ExitCode> {
        if let Some(into_match) = &mut self.into_match {
            for line in into_match.end()? {
                if self.json { eprintln!("{line}") } else { self.status.print(&line) }
            }
        }
        self.status.end();
        Ok(if self.rounds == 0 || self.to_review > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}

/// A line on stdout at once: other programs act on events as they come.
fn print_line(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(0),
        other => Ok(other?),
    }
}

fn name(side: Option<Side>) -> &'static str {
    match side {
        Some(Side::A) => "side a",
        Some(Side::B) => "side b",
        None => "neither side",
    }
}

/// An event for people; None for what the status line shows anyway.
fn sentence(event: &Event) -> Option<String> {
    Some(match &event.what {
        What::Board { change: BoardChange::Found, .. } => "board found".to_owned(),
        What::Board { change: BoardChange::Lost, .. } => "board lost".to_owned(),
        What::Board { change: BoardChange::Moved, moved_px, turned_deg, .. } => format!(
            "board or camera moved by {:.0} px, turned by {:.1}°: followed",
            moved_px.unwrap_or_default(),
            turned_deg.unwrap_or_default()
        ),
        What::Settled { count, .. } => {
            let totals: Vec<String> =
                count.sides.iter().map(|side| format!("{} {}", side.name(), side.total)).collect();
            let doubt = if count.status == Status::Review { "  (to review)" } else { "" };
            format!("{}{doubt}", totals.join(", "))
        }
        What::Disc { change, disc, side, value, .. } => match change {
            DiscChange::Placed => format!("  disc {disc} of {} placed: {value}", name(*side)),
            DiscChange::Moved => format!("  disc {disc} of {} moved: {value}", name(*side)),
            DiscChange::Removed => format!("  disc {disc} of {} removed", name(*side)),
        },
        What::Twenty { side, twenties } => {
            format!("20 for {} ({} : {})", name(Some(*side)), twenties[0], twenties[1])
        }
        What::Sides { a, b } => {
            let colour = |name: &Option<String>| name.clone().unwrap_or_else(|| "not seen yet".to_owned());
            format!("side a is {}, side b is {}", colour(a), colour(b))
        }
        What::Advice { text, .. } => format!("advice: {text}"),
        What::Held { reason } => format!("count held: {reason}"),
        What::Clearing => "the board is being cleared".to_owned(),
        What::Round(result) => round(result),
        What::Final { round } => format!("round {round} is final"),
        What::Resumed => "play goes on: the round was not over".to_owned(),
        What::Abandoned => "cleared after a few shots: no round".to_owned(),
        What::Camera { state } => match state {
            CameraState::Lost => "camera lost: trying again".to_owned(),
            CameraState::Back => "camera is back".to_owned(),
            CameraState::Dark => "the picture is black or covered".to_owned(),
            CameraState::Frozen => "the camera gives the same picture over and over".to_owned(),
        },
    })
}

fn round(result: &RoundResult) -> String {
    let why = match result.ended {
        Ended::Cleared => "board cleared",
        Ended::AllShot => "all discs shot",
        Ended::Quiet => "quiet",
        Ended::Key => "by key",
        Ended::SourceEnded => "end of the source",
    };
    let side = |side: &crokeye::live::event::RoundSide| {
        let colour = side.colour.clone().unwrap_or_else(|| name(Some(side.side)).to_owned());
        format!("{colour} {} ({} on the board, {} 20s set aside)", side.total, side.count.points(), side.set_aside)
    };
    let sides: Vec<String> = result.sides.iter().map(side).collect();
    let mut text = format!("ROUND {} ({why}): {}", result.round, sides.join(", "));
    for review in &result.review {
        text.push_str(&format!("\n            to review: {}", review.reason));
    }
    text
}
