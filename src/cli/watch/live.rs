//! A live session: a camera on threads of its own, this one counts and prints.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use crokeye::capture::camera::described;
use crokeye::capture::live::{Mode, Wishes, cameras};
use crokeye::capture::preview::{self, Mark};
use crokeye::capture::profile::Profile;
use crokeye::capture::source::Source;
use crokeye::geometry::Point;
use crokeye::live::input::Told;
use crokeye::live::{Input, Watcher};
use crokeye::service::camera::{Camera, Keys};

use super::into_match::IntoMatch;
use super::sink::Sink;
use super::{WatchArgs, choices};
use crate::cli::out::outln;

/// How often the preview is drawn.
const PREVIEW: Duration = Duration::from_millis(100);

/// Watches a camera until it is told to stop.
///
/// # Errors
/// The source gives no picture at all, or something cannot be written.
pub fn run(args: &WatchArgs, source: &Source, stop: &Arc<AtomicBool>) -> Result<ExitCode> {
    let name = described(source);
    let profile = args.calibration.as_deref().map(Profile::load_or_new).transpose()?;
    let wishes = Wishes {
        size_px: args.size.or(profile.as_ref().and_then(|profile| profile.size_px)),
        fps: args.fps,
        controls: profile.as_ref().and_then(|profile| profile.controls),
        lock: true,
    };
    if args.preview {
        ensure_a_screen()?;
    }
    let camera = Camera::start(source, &wishes, args.calibration.as_deref(), args.preview, stop)?;
    let Some(camera) = camera else { return Ok(ExitCode::from(1)) };
    let choices = choices(args, &name, camera.size_px)?;
    let mut sink = Sink::new(args.json, args.record.as_deref(), &choices, IntoMatch::new(&args.into_match))?;
    let mut watcher = Watcher::new(choices.settings()?);
    keys(camera.keys(), stop);
    let mut drawn = Instant::now();
    let mut last = (0, Duration::ZERO);
    let done = loop {
        if stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        if let (Some(Mode { width, height, fps, format }), Source::Camera(_)) = (camera.new_mode(), source) {
            sink.note(&format!("{name} gives {width} x {height} px, {fps:.0} frames/s, {format}"));
        }
        let pace = camera.pace();
        sink.pace(pace.fps, pace.newest.map_or(0.0, |at| at.elapsed().as_secs_f64() * 1000.0));
        if let Some(input) = camera.take(PREVIEW) {
            last = (input.frame.max(last.0), input.at.max(last.1));
            let events = watcher.take(&input);
            if let Some(area) = watcher.new_area() {
                camera.set_area(area);
            }
            if let Err(error) = sink.take(&input, &events, watcher.standing()) {
                break Err(error);
            }
        }
        if args.preview && drawn.elapsed() >= PREVIEW {
            drawn = Instant::now();
            if let Some(rgb) = camera.picture() {
                preview::show(&rgb, &marks(&watcher))?;
            }
        }
    };
    drop(camera);
    done?;
    let input = Input { frame: last.0, at: last.1, what: Told::End };
    let events = watcher.take(&input);
    sink.take(&input, &events, watcher.standing())?;
    sink.end()
}

/// A window where there is no screen ends the program from within its library: better is to say so before.
fn ensure_a_screen() -> Result<()> {
    let named = ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"];
    let there = named.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    anyhow::ensure!(there || !cfg!(target_os = "linux"), "--preview needs a screen, and DISPLAY names none");
    Ok(())
}

/// Listens for what a person types, until stdin ends.
fn keys(camera: Keys, stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    let listen = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match line.trim() {
                "q" => stop.store(true, Ordering::Relaxed),
                "l" => camera.look(),
                "e" => camera.end_round(),
                _ => {}
            }
        }
    };
    // Without such a thread there are no keys; Ctrl-C still works.
    drop(std::thread::Builder::new().name("keys".to_owned()).spawn(listen));
}

/// What the preview draws: the shooting line and the discs.
fn marks(watcher: &Watcher) -> Vec<Mark> {
    let Some(board) = watcher.registration() else { return Vec::new() };
    let px = |at: Point<_>| board.camera.project(at, 0.0);
    let scale = board.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(1.0);
    let ring = |radius_mm: f64| {
        px(Point::new(0.0, 0.0)).map(|at| Mark { at: at.to_array(), radius_px: radius_mm * scale, rgb: [80, 220, 80] })
    };
    let mut marks: Vec<Mark> = board.inner_mm().into_iter().filter_map(ring).collect();
    let discs = watcher.standing().report.iter().flat_map(|report| &report.discs);
    marks.extend(discs.map(|disc| Mark {
        at: disc.base_px,
        radius_px: disc.radius_mm * scale,
        rgb: if disc.close { [255, 160, 0] } else { [255, 255, 255] },
    }));
    marks
}

/// Prints the cameras of this computer.
///
/// # Errors
/// None: a camera that does not open is left out.
pub fn list() -> Result<ExitCode> {
    let found = cameras();
    if found.is_empty() {
        outln!("no camera found");
        return Ok(ExitCode::from(1));
    }
    for (number, modes) in found {
        outln!("camera {number} (/dev/video{number})");
        for Mode { width, height, fps, format } in modes {
            outln!("  {width} x {height} px, {fps:.0} frames/s, {format}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
