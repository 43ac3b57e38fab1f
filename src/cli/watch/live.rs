//! A live session: capture, watching and counting on threads of their own.
//!
//! ```text
//! capture thread: reads, newest frame wins -> gate thread: decodes, looks for rest -> this thread: counts, prints
//! ```

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use crokeye::capture::camera::described;
use crokeye::capture::live::{Live, Mode, Wishes, cameras};
use crokeye::capture::newest::Newest;
use crokeye::capture::preview::{self, Mark};
use crokeye::capture::source::Source;
use crokeye::geometry::Point;
use crokeye::live::event::CameraState;
use crokeye::live::input::Told;
use crokeye::live::{Area, Gate, GateConfig, Input, Key, Watcher};
use image::RgbImage;

use super::into_match::IntoMatch;
use super::mailbox::Mailbox;
use super::sink::Sink;
use super::{WatchArgs, choices};
use crate::cli::out::outln;
use crokeye::capture::profile::Profile;

/// A source that gives no frame for so long is lost.
const LOST: Duration = Duration::from_millis(1_800);
/// The same picture, bit for bit, for so long: a real sensor always has noise.
const FROZEN: Duration = Duration::from_secs(3);
/// How long a source may take to give its first frame.
const FIRST_FRAME: Duration = Duration::from_secs(15);
/// How often the preview is drawn.
const PREVIEW: Duration = Duration::from_millis(100);

/// What the threads of a session share.
#[derive(Default)]
struct Shared {
    mailbox: Mailbox,
    area: Newest<Option<Area>>,
    look: AtomicBool,
    pace: Mutex<Pace>,
    preview: Newest<RgbImage>,
    mode: Newest<Mode>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    fps: f64,
    newest: Option<Instant>,
    number: u64,
}

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
    let camera = Live::start(source, &wishes);
    let Some(first) = camera.first(FIRST_FRAME, stop)? else { return Ok(ExitCode::from(1)) };
    let (size_px, epoch) = (first.rgb()?.dimensions(), first.at);
    let choices = choices(args, &name, size_px)?;
    let mut sink = Sink::new(args.json, args.record.as_deref(), &choices, IntoMatch::new(&args.into_match))?;
    let mut watcher = Watcher::new(choices.settings()?);
    let shared = Arc::new(Shared::default());
    let ended = Arc::new(AtomicBool::new(false));
    let gate = {
        let (shared, ended, preview) = (Arc::clone(&shared), Arc::clone(&ended), args.preview);
        let calibration = args.calibration.clone();
        std::thread::Builder::new()
            .name("gate".to_owned())
            .spawn(move || watch(&camera, epoch, &shared, &ended, preview, calibration.as_deref()))?
    };
    keys(&shared, stop, epoch);
    let mut drawn = Instant::now();
    let mut last = (0, Duration::ZERO);
    let done = loop {
        if stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        if let (Some(Mode { width, height, fps, format }), Source::Camera(_)) =
            (shared.mode.take(Duration::ZERO), source)
        {
            sink.note(&format!("{name} gives {width} x {height} px, {fps:.0} frames/s, {format}"));
        }
        let pace = *shared.pace.lock().unwrap_or_else(PoisonError::into_inner);
        sink.pace(pace.fps, pace.newest.map_or(0.0, |at| at.elapsed().as_secs_f64() * 1000.0));
        if let Some(input) = shared.mailbox.take(PREVIEW) {
            last = (input.frame.max(last.0), input.at.max(last.1));
            let events = watcher.take(&input);
            if let Some(area) = watcher.new_area() {
                shared.area.put(area);
            }
            if let Err(error) = sink.take(&input, &events, watcher.standing()) {
                break Err(error);
            }
        }
        if args.preview && drawn.elapsed() >= PREVIEW {
            drawn = Instant::now();
            if let Some(rgb) = shared.preview.take(Duration::ZERO) {
                preview::show(&rgb, &marks(&watcher))?;
            }
        }
    };
    ended.store(true, Ordering::Relaxed);
    // The gate only looks at frames: if it died there is nothing more to come from it.
    let _ = gate.join();
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

/// The gate's thread: decodes the newest frame, looks for rest and for trouble of the source.
fn watch(camera: &Live, epoch: Instant, shared: &Shared, ended: &AtomicBool, preview: bool, calibration: Option<&str>) {
    let mut gate = Gate::new(GateConfig::default());
    let mut state = CameraState::Back;
    let (mut newest, mut number) = (Instant::now(), 0);
    let (mut print, mut changed) = (0u64, Instant::now());
    let tell = |what, number, at: Instant| {
        shared.mailbox.put(Input { frame: number, at: at.saturating_duration_since(epoch), what });
    };
    while !ended.load(Ordering::Relaxed) {
        if let Some(area) = shared.area.take(Duration::ZERO) {
            gate.set_area(area);
        }
        if shared.look.swap(false, Ordering::Relaxed) {
            gate.restart();
        }
        if let Some(mode) = camera.new_mode() {
            shared.mode.put(mode);
        }
        if let (Some(controls), Some(name)) = (camera.new_controls(), calibration)
            && let Err(error) = Profile::change(name, |profile| profile.controls = Some(controls))
        {
            tracing::warn!("the camera's settings are not saved: {error}");
        }
        let Some(grabbed) = camera.take(Duration::from_millis(100)) else {
            if state != CameraState::Lost && newest.elapsed() > LOST {
                state = CameraState::Lost;
                tell(Told::Camera(state), number, Instant::now());
            }
            continue;
        };
        let rgb = match grabbed.rgb() {
            Ok(rgb) => rgb,
            Err(error) => {
                tracing::warn!("a frame is left out: {error}");
                continue;
            }
        };
        (newest, number) = (grabbed.at, grabbed.number);
        *shared.pace.lock().unwrap_or_else(PoisonError::into_inner) =
            Pace { fps: grabbed.fps, newest: Some(grabbed.at), number };
        if state == CameraState::Lost {
            state = CameraState::Back;
            gate.restart();
            tell(Told::Camera(state), number, grabbed.at);
        }
        let now = fingerprint(&rgb);
        if now != print {
            (print, changed) = (now, grabbed.at);
            if state == CameraState::Frozen {
                state = CameraState::Back;
                tell(Told::Camera(state), number, grabbed.at);
            }
        } else if state == CameraState::Back && grabbed.at.saturating_duration_since(changed) > FROZEN {
            state = CameraState::Frozen;
            tell(Told::Camera(state), number, grabbed.at);
        }
        if let Some(glimpse) = gate.take(&rgb, grabbed.at.saturating_duration_since(epoch)) {
            tell(Told::Glimpse(glimpse), number, grabbed.at);
        }
        if preview {
            shared.preview.put(rgb);
        }
    }
}

/// A number that two pictures share only if they are the same: of every 61st byte, so that each row and channel counts.
fn fingerprint(rgb: &RgbImage) -> u64 {
    rgb.as_raw()
        .iter()
        .step_by(61)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Listens for what a person types, until stdin ends.
fn keys(shared: &Arc<Shared>, stop: &Arc<AtomicBool>, epoch: Instant) {
    let (shared, stop) = (Arc::clone(shared), Arc::clone(stop));
    let listen = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match line.trim() {
                "q" => stop.store(true, Ordering::Relaxed),
                "l" => shared.look.store(true, Ordering::Relaxed),
                "e" => shared.mailbox.put(Input {
                    frame: shared.pace.lock().unwrap_or_else(PoisonError::into_inner).number,
                    at: epoch.elapsed(),
                    what: Told::Key(Key::EndRound),
                }),
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
