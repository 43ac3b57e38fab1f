//! `crokeye watch`: an overhead camera, and the round counts itself.

mod choices;
mod into_match;
#[cfg(feature = "opencv")]
mod live;
mod record;
mod sink;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use crokeye::capture::LensHint;
use crokeye::capture::feed::{Feed, FeedError, Folder, Taken};
use crokeye::capture::profile::Profile;
use crokeye::capture::source::Source;
use crokeye::count::SideColours;
use crokeye::live::input::Told;
use crokeye::live::{GateConfig, Player, Region, Watcher};
use crokeye::score::Format;

use choices::{Choices, SCHEMA};
use into_match::{IntoMatch, MatchOptions};
use record::Recording;
use sink::Sink;

/// Follow a round from the empty board to the count.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye watch                                        the first camera of this computer
  crokeye watch --source /dev/video2 --size 1920x1080
  crokeye watch --source http://192.168.1.30:8080/video    a phone that serves its camera
  crokeye watch --source rtsp://cam/stream --match 7 --auto-accept
  crokeye watch --source evening.mp4 --json            one JSON event a line
  crokeye watch --record evening/                      keep the evening; play it again with --source evening/
  crokeye watch --list                                 cameras and what they can do

While it runs, type e and Enter to end the round by hand, l and Enter to look again, q and Enter (or Ctrl-C) to stop.
Exit status: 0 every round is sure, 1 a round needs review or there was none, 2 usage or an unreadable source.")]
pub struct WatchArgs {
    /// Camera number, /dev/videoN, rtsp:// or http:// (MJPEG) address, video file, folder of frames, or a recording.
    #[arg(long, short, value_name = "SOURCE", default_value = "0")]
    source: String,

    /// List the cameras of this computer and their modes, then stop.
    #[arg(long)]
    list: bool,

    /// Print one JSON object an event, and nothing else on stdout.
    #[arg(long)]
    json: bool,

    /// Frames a second of a folder; of a camera, what to ask it for.
    #[arg(long, value_name = "N", value_parser = fps)]
    fps: Option<f64>,

    /// Picture size to ask a camera for.
    #[arg(long, value_name = "WxH", value_parser = super::snap::size)]
    size: Option<(u32, u32)>,

    /// The camera's calibration: calibration/NAME.toml (`crokeye calibrate` writes it).
    #[arg(long, value_name = "NAME")]
    calibration: Option<String>,

    /// Colours of side a and side b, as in `crokeye count`.
    #[arg(long, value_name = "A,B", value_parser = colours)]
    sides: Option<[String; 2]>,

    /// Horizontal field of view of the picture, degrees.
    #[arg(long, value_name = "DEGREES", value_parser = super::count::fov)]
    fov: Option<f64>,

    /// Chance of a wrong call that is tolerated.
    #[arg(long, value_name = "CHANCE", value_parser = super::count::chance, default_value = "0.001")]
    close_level: f64,

    /// Rule set for advice after each shot and for the number of discs (`crokeye rules`), or a file; off for no advice.
    #[arg(long, value_name = "SET", default_value = "nca", conflicts_with = "match_id")]
    rules: String,

    /// Two against two: the discs of a side are those of two players.
    #[arg(long, conflicts_with = "match_id")]
    doubles: bool,

    /// Discs of a side, where the rule set's number is not what is played.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=24))]
    discs: Option<u32>,

    /// Rest after which a round is over although not every shot was seen.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    quiet: f64,

    /// Where side a sets 20s aside, in pixels of the picture: counted as a cross-check.
    #[arg(long, value_name = "X,Y,W,H", value_parser = region)]
    tray_a: Option<Region>,

    /// Where side b sets 20s aside.
    #[arg(long, value_name = "X,Y,W,H", value_parser = region)]
    tray_b: Option<Region>,

    /// Keep settled frames and a log in this folder; `--source DIR` plays it again.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// Show what a camera sees in a window.
    #[arg(long)]
    preview: bool,

    #[command(flatten)]
    into_match: MatchOptions,
}

/// Frames a second of a folder when nothing is said.
pub const FOLDER_FPS: f64 = 10.0;

/// Runs `crokeye watch`.
///
/// # Errors
/// The source cannot be read, or something cannot be written.
pub fn run(args: &WatchArgs) -> Result<ExitCode> {
    if args.list {
        return list();
    }
    let stop = stop_flag()?;
    let source: Source = args.source.parse()?;
    if let (Some(name), false) = (&args.calibration, matches!(source, Source::Camera(_))) {
        // Only a camera of this computer has settings to begin a calibration with.
        let path = Profile::path(name)?;
        anyhow::ensure!(path.exists(), "there is no {}: `crokeye calibrate` makes it", path.display());
    }
    match &source {
        Source::Folder(folder) if record::is_recording(folder) => replay(args, folder, &stop),
        Source::Folder(folder) => {
            let mut feed = Folder::open(folder, args.fps.unwrap_or(FOLDER_FPS))?;
            play(args, &mut feed, &folder.display().to_string(), &stop)
        }
        Source::File(path) => video(args, path, &stop),
        Source::Camera(_) | Source::Address(_) => camera(args, &source, &stop),
    }
}

/// True once the program is asked to end.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")?;
    Ok(stop)
}

/// Plays a finite source frame by frame, none dropped.
fn play(args: &WatchArgs, feed: &mut dyn Feed, name: &str, stop: &AtomicBool) -> Result<ExitCode> {
    let first = readable(feed)?.with_context(|| format!("there is no frame to be read in {name}"))?;
    let choices = choices(args, name, first.rgb.dimensions())?;
    let mut sink = Sink::new(args.json, args.record.as_deref(), &choices, IntoMatch::new(&args.into_match))?;
    let mut player = Player::new(choices.settings()?, GateConfig::default());
    let mut last = (0, Duration::ZERO);
    let mut next = Ok(Some(first));
    let ended = loop {
        let taken = match next {
            Ok(Some(taken)) if !stop.load(Ordering::Relaxed) => taken,
            Ok(_) => break Ok(()),
            Err(error) => break Err(error),
        };
        last = (taken.number, taken.at);
        if let Some((input, events)) = player.frame(&taken.rgb, taken.number, taken.at) {
            sink.take(&input, &events, player.watcher().standing())?;
        }
        next = readable(feed);
    };
    // What was seen until a source fails is a round all the same.
    let (input, events) = player.tell(Told::End, last.0, last.1);
    sink.take(&input, &events, player.watcher().standing())?;
    let status = sink.end()?;
    ended?;
    Ok(status)
}

/// The next frame that can be read; of one that cannot it is said that it is left out.
fn readable(feed: &mut dyn Feed) -> Result<Option<Taken>, FeedError> {
    loop {
        match feed.next() {
            Err(error @ FeedError::Photo { .. }) => tracing::warn!("a frame is left out: {error}"),
            next => return next,
        }
    }
}

/// Plays a recording: the watcher is told what it was told then.
fn replay(args: &WatchArgs, folder: &std::path::Path, stop: &AtomicBool) -> Result<ExitCode> {
    let (choices, mut recording) = Recording::open(folder)?;
    let mut watcher = Watcher::new(choices.settings()?);
    let mut sink = Sink::new(args.json, args.record.as_deref(), &choices, IntoMatch::new(&args.into_match))?;
    while let Some(input) = recording.next()?.filter(|_| !stop.load(Ordering::Relaxed)) {
        let events = watcher.take(&input);
        sink.take(&input, &events, watcher.standing())?;
    }
    sink.end()
}

#[cfg(feature = "opencv")]
fn video(args: &WatchArgs, path: &std::path::Path, stop: &AtomicBool) -> Result<ExitCode> {
    let mut feed = crokeye::capture::video::Video::open(path)?;
    play(args, &mut feed, &path.display().to_string(), stop)
}

#[cfg(feature = "opencv")]
fn camera(args: &WatchArgs, source: &Source, stop: &Arc<AtomicBool>) -> Result<ExitCode> {
    live::run(args, source, stop)
}

#[cfg(feature = "opencv")]
fn list() -> Result<ExitCode> {
    live::list()
}

/// What a program without cameras answers to every wish for one.
#[cfg(not(feature = "opencv"))]
pub const NO_CAMERAS: &str =
    "this crokeye was built without cameras: build it with its default features (cargo build --release)";

#[cfg(not(feature = "opencv"))]
fn video(_: &WatchArgs, _: &std::path::Path, _: &AtomicBool) -> Result<ExitCode> {
    anyhow::bail!(NO_CAMERAS)
}

#[cfg(not(feature = "opencv"))]
fn camera(_: &WatchArgs, _: &Source, _: &Arc<AtomicBool>) -> Result<ExitCode> {
    anyhow::bail!(NO_CAMERAS)
}

#[cfg(not(feature = "opencv"))]
fn list() -> Result<ExitCode> {
    anyhow::bail!(NO_CAMERAS)
}

/// What the arguments, the match and the calibration say about a session with pictures of this size.
fn choices(args: &WatchArgs, source: &str, size_px: (u32, u32)) -> Result<Choices> {
    let setup = args.into_match.setup()?;
    let (rules, format) = match &setup {
        Some(setup) => (Some(setup.rules.clone()), setup.format),
        None => {
            let format = if args.doubles { Format::Doubles } else { Format::Singles };
            let named = (args.rules != "off").then(|| super::rules::load(&args.rules)).transpose()?;
            (named.map(|set| set.settle()).transpose()?.map(|(rules, _)| rules), format)
        }
    };
    let named = setup.as_ref().and_then(|setup| match setup.sides.as_slice() {
        [a, b] => Some([a.colour.clone()?, b.colour.clone()?]),
        _ => None,
    });
    // A match may name colours that no palette knows: then the discs' own order stands.
    let named = named.filter(|[a, b]| SideColours::named(a, b).is_ok());
    let profile = args.calibration.as_deref().map(Profile::load_or_new).transpose()?.unwrap_or_default();
    let lens = match args.fov {
        Some(fov) => LensHint::from_fov(fov, size_px.0),
        None => profile.lens_hint(size_px)?.unwrap_or(LensHint { uncropped: true, ..LensHint::default() }),
    };
    for (tray, name) in [(args.tray_a, "--tray-a"), (args.tray_b, "--tray-b")] {
        let (w, h) = size_px;
        anyhow::ensure!(
            tray.is_none_or(|tray| tray.lies_in(size_px)),
            "{name} does not lie in the picture, which is {w} x {h} px"
        );
    }
    let discs = args.discs.or(rules.as_ref().map(|rules| format.discs(rules))).unwrap_or(12);
    Ok(Choices {
        schema: SCHEMA.to_owned(),
        source: source.to_owned(),
        sides: args.sides.clone().or(named),
        focal_px: lens.focal_px.map(|(px, sigma)| (short(px), short(sigma))),
        uncropped: lens.uncropped,
        measured: lens.measured.map(|lens| {
            let ([x, y], [k1, k2]) = (lens.principal_px, lens.distortion);
            [x, y, k1, k2].map(short)
        }),
        close_level: args.close_level,
        discs,
        rules,
        quiet_secs: args.quiet,
        trays: [args.tray_a, args.tray_b],
        colours: profile.colours,
    })
}

/// A number of few enough digits that it comes back from text as it was.
fn short(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn fps(text: &str) -> Result<f64, String> {
    super::count::within(text, 0.1..=240.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    super::count::within(text, 1.0..=86_400.0)
}

fn colours(text: &str) -> Result<[String; 2], String> {
    let (a, b) = super::count::pair(text)?;
    SideColours::named(a, b).map_err(|error| error.to_string())?;
    Ok([a.to_owned(), b.to_owned()])
}

pub(super) fn region(text: &str) -> Result<Region, String> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, width, height]) if width > 0 && height > 0 => Ok(Region { x, y, width, height }),
        _ => Err("say four numbers of pixels: x,y,width,height".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_four_numbers() {
        assert_eq!(region("10, 20,30,40").unwrap(), Region { x: 10, y: 20, width: 30, height: 40 });
        for wrong in ["", "1,2,3", "1,2,3,0", "1,2,3,4,5", "a,b,c,d", "-1,2,3,4"] {
            assert!(region(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn colours_are_two_known_ones() {
        assert_eq!(colours("black, natural").unwrap(), ["black", "natural"]);
        assert!(colours("black,plaid").is_err() && colours("black").is_err());
    }
}
