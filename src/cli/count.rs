//! `crokeye count`: photos to totals.

mod batch;
mod table;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use crokeye::count::report::{Report, Status};
use crokeye::count::{Options, SideColours};
use indicatif::{ProgressBar, ProgressStyle};

use super::match_log::IntoMatch;
use super::out::outln;
use super::{files, parallel};
use batch::{Batch, Job};

/// From this many photos on a bar shows how far the counting is.
const PROGRESS_FROM: usize = 6;

/// Count the discs in photos of a board: the total of each side, and what is too close to call.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye count photo.jpg                        the totals, as a table
  crokeye count round*.jpg --overlay seen/       and a picture of each to check them by
  crokeye count photo.jpg --set-aside 2,1        with 20s that were taken off during the round
  crokeye count photo.jpg --sides black,natural  say whose total comes first
  crokeye count --json club-night/ > night.jsonl a whole folder for other programs
  crokeye count webcam.png --fov 78              a known lens makes margins surer
  crokeye count --match 1 --accept photo.jpg     a round of match 1, taken when nothing is doubtful

A total marked \"counted\" can be trusted. One marked \"review\" is a proposal: the lines below the table
say which disc is too close to call, by how much, and what the total would be.

Exit status: 0 all counted; 1 something needs review or shows no board; 2 wrong use or an unreadable file.")]
pub struct CountArgs {
    /// Photos (JPEG, PNG, WebP, HEIC), folders of them, or patterns.
    #[arg(required = true, value_name = "PHOTO")]
    photos: Vec<PathBuf>,

    /// Print one JSON object a line, in the order given.
    #[arg(long)]
    json: bool,

    /// Write NAME.overlay.png: lines, discs, values, margins, close calls enlarged.
    #[arg(long, value_name = "DIR")]
    overlay: Option<PathBuf>,

    /// Write NAME.top.png: the board seen from straight above, 2 pixels a millimetre.
    #[arg(long, value_name = "DIR")]
    top_view: Option<PathBuf>,

    /// Draw lines, discs and values into the top view too.
    #[arg(long, requires = "top_view")]
    top_view_marks: bool,

    /// 20s taken off the board during the round: those of side a, those of side b.
    #[arg(long, value_name = "A,B", value_parser = set_aside, default_value = "0,0")]
    set_aside: SetAside,

    /// Colours of side a and side b; without it side a is the darker.
    #[arg(long, value_name = "A,B", value_parser = sides)]
    sides: Option<SideColours>,

    /// Angle that the picture shows from its left to its right edge, where it is known.
    #[arg(long, value_name = "DEGREES", value_parser = fov)]
    fov: Option<f64>,

    /// Chance of a wrong call that is tolerated; above it a disc is too close to call.
    #[arg(long, value_name = "CHANCE", value_parser = chance, default_value = "0.001")]
    close_level: f64,

    /// Most discs that a side can have, those set aside included; more go to review.
    #[arg(long, value_name = "N", default_value = "12")]
    max_discs: u32,

    /// How far the edge that touches the board lies inside a disc's outline, for discs with a chamfer.
    #[arg(long, value_name = "MM", value_parser = inset, default_value = "0")]
    edge_inset: f64,

    /// Height of a disc, where it is known better than the usual 10; what the picture tells refines it.
    #[arg(long, value_name = "MM", value_parser = height)]
    disc_height: Option<f64>,

    /// Photos counted at the same time; one for each processor core when not given.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    #[command(flatten)]
    into_match: IntoMatch,
}

/// Runs `crokeye count`.
///
/// # Errors
/// An overlay or a top view cannot be written. An unreadable photo is no error: it has its line, and status 2.
pub fn run(args: &CountArgs) -> Result<ExitCode> {
    let photos = files::expand(&args.photos, files::Take::Readable, None);
    for folder in [&args.overlay, &args.top_view].into_iter().flatten() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let jobs = named(&photos);
    let batch = Batch {
        options: options(args),
        fov_deg: args.fov,
        overlay: args.overlay.clone(),
        top_view: args.top_view.clone(),
        top_view_marks: args.top_view_marks,
        threads: args.jobs.map_or_else(parallel::cores, usize::from),
    };
    let bar = progress(jobs.len());
    let mut printer = Printer { json: args.json, reports: Vec::new(), worst: Status::Counted };
    let mut counts = Vec::new();
    let ended = batch.run(&jobs, |report| {
        bar.inc(1);
        if args.into_match.is_wanted() {
            let line = serde_json::to_string(&report).context("cannot write a report as JSON")?;
            counts.push((jobs[counts.len()].path.clone(), line));
        }
        printer.take(report, &bar)
    });
    bar.finish_and_clear();
    ended?;
    if !args.json {
        table::print(&printer.reports, &mut io::stdout().lock()).or_else(closed_pipe)?;
    }
    let taken = args.into_match.take(&counts)?;
    for line in &taken.lines {
        // With --json stdout holds counts and nothing else.
        if args.json { eprintln!("{line}") } else { outln!("{line}") }
    }
    let status = printer.exit_status();
    Ok(if taken.waits && status == ExitCode::SUCCESS { ExitCode::from(1) } else { status })
}

fn options(args: &CountArgs) -> Options {
    let mut options = Options {
        sides: args.sides.clone(),
        set_aside: args.set_aside.0,
        max_discs: args.max_discs,
        edge_inset_mm: args.edge_inset,
        clock: batch::clock,
        ..Options::default()
    };
    options.judge.close_level = args.close_level;
    if let Some(height_mm) = args.disc_height {
        options.detect.shape.height_mm = height_mm;
    }
    options
}

/// Each photo with the name of what is written for it: its stem, numbered where photos share one.
fn named(photos: &[PathBuf]) -> Vec<Job> {
    let mut taken = std::collections::HashSet::new();
    let name = |photo: &PathBuf| {
        let stem = photo.file_stem().map_or("photo".to_owned(), |stem| stem.to_string_lossy().into_owned());
        let mut name = stem.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{stem}-{number}");
            number += 1;
        }
        name
    };
    let names: Vec<String> = photos.iter().map(name).collect();
    photos.iter().cloned().zip(names).map(|(path, name)| Job { path, name }).collect()
}

fn progress(photos: usize) -> ProgressBar {
    if photos < PROGRESS_FROM || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} photos, {eta} left");
    ProgressBar::new(photos as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Takes reports in order: JSON goes out at once, the table waits for all.
struct Printer {
    json: bool,
    reports: Vec<Report>,
    worst: Status,
}

impl Printer {
    fn take(&mut self, report: Report, bar: &ProgressBar) -> Result<()> {
        let rank = |status| match status {
            Status::Counted => 0,
            Status::Review | Status::NoBoard => 1,
            Status::Error => 2,
        };
        if rank(report.status) > rank(self.worst) {
            self.worst = report.status;
        }
        if !self.json {
            self.reports.push(report);
            return Ok(());
        }
        let line = serde_json::to_string(&report).context("cannot write a report as JSON")?;
        bar.suspend(|| writeln!(io::stdout().lock(), "{line}")).or_else(closed_pipe)?;
        Ok(())
    }

    fn exit_status(&self) -> ExitCode {
        match self.worst {
            Status::Counted => ExitCode::SUCCESS,
            Status::Review | Status::NoBoard => ExitCode::from(1),
            Status::Error => ExitCode::from(2),
        }
    }
}

/// A reader that has seen enough (`| head`) is no fault.
fn closed_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// 20s set aside, side a and side b.
#[derive(Clone, Copy, Debug)]
struct SetAside([u32; 2]);

pub(super) fn pair(text: &str) -> Result<(&str, &str), String> {
    match text.split_once(',') {
        Some((a, b)) if !b.contains(',') => Ok((a.trim(), b.trim())),
        _ => Err("say two, with a comma between: A,B".to_owned()),
    }
}

fn set_aside(text: &str) -> Result<SetAside, String> {
    let (a, b) = pair(text)?;
    let number = |text: &str| {
        text.parse::<u32>().ok().filter(|n| *n <= 24).ok_or(format!("{text:?} is no number of 20s from 0 to 24"))
    };
    Ok(SetAside([number(a)?, number(b)?]))
}

pub(super) fn sides(text: &str) -> Result<SideColours, String> {
    let (a, b) = pair(text)?;
    SideColours::named(a, b).map_err(|error| error.to_string())
}

pub(super) fn within(text: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| format!("say a number from {} to {}", range.start(), range.end()))
}

pub(super) fn fov(text: &str) -> Result<f64, String> {
    within(text, 5.0..=170.0)
}

pub(super) fn chance(text: &str) -> Result<f64, String> {
    within(text, 1e-9..=0.5)
}

pub(super) fn inset(text: &str) -> Result<f64, String> {
    within(text, 0.0..=5.0)
}

pub(super) fn height(text: &str) -> Result<f64, String> {
    within(text, 4.0..=20.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_of_one_name_do_not_overwrite_each_other() {
        let photos: Vec<PathBuf> = ["a/x.jpg", "b/x.jpg", "b/x-2.png", "y.webp"].map(PathBuf::from).into();
        let names: Vec<String> = named(&photos).into_iter().map(|job| job.name).collect();
        assert_eq!(names, ["x", "x-2", "x-2-2", "y"]);
    }

    #[test]
    fn pairs_are_two_with_a_comma_between() {
        assert_eq!(set_aside("2, 1").unwrap().0, [2, 1]);
        for wrong in ["2", "2,1,0", "2,-1", "two,1", "99,0", ""] {
            assert!(set_aside(wrong).is_err(), "{wrong}");
        }
        assert!(sides("black,natural").is_ok());
        assert!(sides("black,plaid").unwrap_err().contains("plaid"));
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        assert!(fov("78").is_ok() && fov("0").is_err() && fov("nan").is_err());
        assert!(chance("0.001").is_ok() && chance("0").is_err() && chance("0.6").is_err());
    }
}
