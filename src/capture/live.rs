//! A camera that never ends: its own thread reads, the newest frame wins, and what drops out is opened again.
//!
//! The thread does nothing but wait for frames, so that the driver's queue never fills with old ones; what is done with a
//! frame is done by whoever takes it. A source that fails is tried again after half a second, then twice as long each
//! time up to ten seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use image::RgbImage;
use opencv::core::{Mat, MatTraitConst};
use opencv::videoio::{
    CAP_PROP_BUFFERSIZE, CAP_PROP_FOURCC, CAP_PROP_FPS, CAP_PROP_FRAME_HEIGHT, CAP_PROP_FRAME_WIDTH, VideoCapture,
    VideoCaptureTrait, VideoCaptureTraitConst, VideoWriter,
};

use super::camera::{self, CameraError, Settings};
use super::controls;
use super::newest::Newest;
use super::profile::Controls;
use super::source::Source;

/// First and longest wait before a lost source is tried again.
const BACKOFF: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];
/// How long a camera may settle its exposure before it is locked.
const SETTLE: Duration = Duration::from_secs(2);
/// Weight of a new interval in the measured frame rate.
const RATE_WEIGHT: f64 = 0.1;

/// How a live source is opened.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Width and height to ask a camera for.
    pub size_px: Option<(u32, u32)>,
    /// Frames a second to ask a camera for.
    pub fps: Option<f64>,
    /// Focus, exposure and white balance to set.
    pub controls: Option<Controls>,
    /// Lock them where the camera has settled, when none are to be set.
    pub lock: bool,
}

/// What the camera really gives: it may answer a wish with something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Width of its pictures, px.
    pub width: u32,
    /// Height, px.
    pub height: u32,
    /// Frames a second by its own word; 0 where it does not say.
    pub fps: f64,
    /// Four letters of the format it sends.
    pub format: String,
}

/// A frame as it came.
pub struct Grabbed {
    frame: Mat,
    what: Arc<str>,
    /// When it came.
    pub at: Instant,
    /// 0 for the first frame of the session.
    pub number: u64,
    /// Measured frames a second.
    pub fps: f64,
}

impl Grabbed {
    /// The picture.
    ///
    /// # Errors
    /// Its pixels are of a kind that is not understood.
    pub fn rgb(&self) -> Result<RgbImage, CameraError> {
        camera::to_rgb(&self.frame, &self.what)
    }
}

/// A source that is read by a thread of its own until this is dropped.
pub struct Live {
    newest: Arc<Newest<Grabbed>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    mode: Arc<Newest<Mode>>,
    locked: Arc<Newest<Controls>>,
    trouble: Arc<Newest<CameraError>>,
    what: Arc<str>,
    is_local: bool,
}

impl Live {
    /// Starts reading.
    pub fn start(source: &Source, wishes: &Wishes) -> Self {
        let (newest, mode, locked, trouble) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        let stop = Arc::new(AtomicBool::new(false));
        let what: Arc<str> = camera::described(source).into();
        let is_local = matches!(source, Source::Camera(_));
        let reader = Reader {
            source: source.clone(),
            wishes: wishes.clone(),
            newest: Arc::clone(&newest),
            mode: Arc::clone(&mode),
            locked: Arc::clone(&locked),
            trouble: Arc::clone(&trouble),
            stop: Arc::clone(&stop),
            what: Arc::clone(&what),
            number: 0,
            last: None,
            fps: 0.0,
        };
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(move || reader.run()).ok();
        Self { newest, stop, thread, mode, locked, trouble, what, is_local }
    }

    /// The first frame, waiting for one at most so long; None where `stop` is set before. A camera of this computer that
    /// does not open ends the wait at once, one in the network may still be starting.
    ///
    /// # Errors
    /// Why there is no frame.
    pub fn first(&self, patience: Duration, stop: &AtomicBool) -> Result<Option<Grabbed>, CameraError> {
        let until = Instant::now() + patience;
        let mut trouble = None;
        while !stop.load(Ordering::Relaxed) {
            if let Some(grabbed) = self.take(Duration::from_millis(100)) {
                return Ok(Some(grabbed));
            }
            trouble = self.trouble.take(Duration::ZERO).or(trouble);
            let is_over = Instant::now() >= until;
            match trouble {
                Some(error) if is_over || self.is_local => return Err(error),
                None if is_over => {
                    let hint = ": try another size, or unplug it and plug it in again";
                    return Err(CameraError::NoFrame { what: self.what.to_string(), hint });
                }
                waiting => trouble = waiting,
            }
        }
        Ok(None)
    }

    /// The newest frame, waiting for one at most so long.
    pub fn take(&self, patience: Duration) -> Option<Grabbed> {
        self.newest.take(patience)
    }

    /// What the camera answered when it was (re)opened, once each time.
    pub fn new_mode(&self) -> Option<Mode> {
        self.mode.take(Duration::ZERO)
    }

    /// Where the camera's controls were locked, once.
    pub fn new_controls(&self) -> Option<Controls> {
        self.locked.take(Duration::ZERO)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A reader that died has nothing more to say.
            let _ = thread.join();
        }
    }
}

struct Reader {
    source: Source,
    wishes: Wishes,
    newest: Arc<Newest<Grabbed>>,
    mode: Arc<Newest<Mode>>,
    locked: Arc<Newest<Controls>>,
    trouble: Arc<Newest<CameraError>>,
    stop: Arc<AtomicBool>,
    what: Arc<str>,
    number: u64,
    last: Option<Instant>,
    fps: f64,
}

impl Reader {
    fn run(mut self) {
        let mut wait = BACKOFF[0];
        while !self.stopped() {
            let before = self.number;
            if let Err(error) = self.read_until_it_fails() {
                self.trouble.put(error);
            }
            wait = if self.number > before { BACKOFF[0] } else { (wait * 2).min(BACKOFF[1]) };
            let again = Instant::now() + wait;
            while !self.stopped() && Instant::now() < again {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    fn read_until_it_fails(&mut self) -> Result<(), CameraError> {
        let mut capture = open(&self.source, &self.wishes)?;
        self.mode.put(mode(&capture)?);
        let lock_at = Instant::now() + SETTLE;
        let mut to_lock =
            self.wishes.lock && self.wishes.controls.is_none() && matches!(self.source, Source::Camera(_));
        while !self.stopped() {
            let mut frame = Mat::default();
            if !capture.read(&mut frame)? || frame.empty() {
                return Ok(());
            }
            let at = Instant::now();
            if let Some(seconds) = self.last.map(|last| (at - last).as_secs_f64()).filter(|seconds| *seconds > 0.0) {
                let rate = 1.0 / seconds;
                self.fps = if self.fps > 0.0 { self.fps + RATE_WEIGHT * (rate.min(240.0) - self.fps) } else { rate };
            }
            self.last = Some(at);
            let (what, number, fps) = (Arc::clone(&self.what), self.number, self.fps);
            self.newest.put(Grabbed { frame, what, at, number, fps });
            self.number += 1;
            if to_lock && at >= lock_at {
                to_lock = false;
                let settled = controls::read(&capture)?;
                let held = controls::set(&mut capture, &settled)?;
                self.wishes.controls = Some(held);
                self.locked.put(held);
            }
        }
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Opens a live source as wished.
///
/// # Errors
/// It cannot be opened.
pub fn open(source: &Source, wishes: &Wishes) -> Result<VideoCapture, CameraError> {
    let mut capture = camera::open(source, &Settings::default())?;
    if let Source::Camera(_) = source {
        // Raw pictures of a megapixel do not fit USB 2 at 30 a second: compressed ones do.
        let format = VideoWriter::fourcc('M', 'J', 'P', 'G')?;
        capture.set(CAP_PROP_FOURCC, f64::from(format))?;
        if let Some((width, height)) = wishes.size_px {
            capture.set(CAP_PROP_FRAME_WIDTH, f64::from(width))?;
            capture.set(CAP_PROP_FRAME_HEIGHT, f64::from(height))?;
        }
        if let Some(fps) = wishes.fps {
            capture.set(CAP_PROP_FPS, fps)?;
        }
        capture.set(CAP_PROP_BUFFERSIZE, 1.0)?;
        if let Some(controls) = &wishes.controls {
            controls::set(&mut capture, controls)?;
        }
    }
    Ok(capture)
}

/// What a camera says that it gives.
///
/// # Errors
/// OpenCV fails.
pub fn mode(capture: &VideoCapture) -> Result<Mode, CameraError> {
    let number = |property| capture.get(property).map(|value| value.max(0.0));
    let code = number(CAP_PROP_FOURCC)? as u32;
    let letters = code.to_le_bytes().map(|byte| if byte.is_ascii_graphic() { char::from(byte) } else { ' ' });
    Ok(Mode {
        width: number(CAP_PROP_FRAME_WIDTH)? as u32,
        height: number(CAP_PROP_FRAME_HEIGHT)? as u32,
        fps: number(CAP_PROP_FPS)?,
        format: letters.iter().collect::<String>().trim().to_owned(),
    })
}

/// Sizes that cameras are asked about.
const SIZES: [(u32, u32); 6] = [(640, 480), (1280, 720), (1280, 960), (1920, 1080), (2560, 1440), (3840, 2160)];

/// The cameras of this computer with the modes that they answer with.
pub fn cameras() -> Vec<(u32, Vec<Mode>)> {
    (0..64u32)
        .filter(|number| !cfg!(target_os = "linux") || std::path::Path::new(&format!("/dev/video{number}")).exists())
        .take(16)
        .filter_map(|number| {
            let mut modes: Vec<Mode> = Vec::new();
            for size_px in SIZES {
                let wishes = Wishes { size_px: Some(size_px), ..Wishes::default() };
                let answer = open(&Source::Camera(number), &wishes).and_then(|capture| mode(&capture)).ok()?;
                if !modes.contains(&answer) {
                    modes.push(answer);
                }
            }
            Some((number, modes))
        })
        .collect()
}
