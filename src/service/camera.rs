//! A live camera on threads of its own, ready for a watcher.
//!
//! ```text
//! capture thread: reads, newest frame wins -> gate thread: decodes, looks for rest -> mailbox -> whoever counts
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use image::RgbImage;

use super::mailbox::Mailbox;
use crate::capture::camera::CameraError;
use crate::capture::live::{Live, Mode, Wishes};
use crate::capture::newest::Newest;
use crate::capture::profile::Profile;
use crate::capture::source::Source;
use crate::live::event::CameraState;
use crate::live::input::Told;
use crate::live::{Area, Gate, GateConfig, Input, Key};

/// A source that gives no frame for so long is lost.
const LOST: Duration = Duration::from_millis(1_800);
/// The same picture, bit for bit, for so long: a real sensor always has noise.
const FROZEN: Duration = Duration::from_secs(3);
/// How long a source may take to give its first frame.
const FIRST_FRAME: Duration = Duration::from_secs(15);

/// How fast frames come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Measured frames a second.
    pub fps: f64,
    /// When the newest frame came.
    pub newest: Option<Instant>,
    /// Its number.
    pub number: u64,
}

/// What the threads of a session share.
#[derive(Debug, Default)]
struct Shared {
    mailbox: Mailbox,
    area: Newest<Option<Area>>,
    look: AtomicBool,
    ended: AtomicBool,
    pace: Mutex<Pace>,
    picture: Newest<RgbImage>,
    decoded: Newest<Duration>,
    mode: Newest<Mode>,
}

/// Why a camera does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It gives nothing, or nothing that is understood.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// There is no thread to be had.
    #[error("the system starts no thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A camera whose frames are looked at as they come, until this is dropped.
#[derive(Debug)]
pub struct Camera {
    shared: Arc<Shared>,
    gate: Option<JoinHandle<()>>,
    epoch: Instant,
    /// Width and height of its pictures.
    pub size_px: (u32, u32),
}

/// A hand on a camera for other threads: keys of a person.
#[derive(Clone, Debug)]
pub struct Keys {
    shared: Arc<Shared>,
    epoch: Instant,
}

impl Keys {
    /// Looks again at once.
    pub fn look(&self) {
        self.shared.look.store(true, Ordering::Relaxed);
    }

    /// Ends the round by hand.
    pub fn end_round(&self) {
        let frame = self.shared.pace.lock().unwrap_or_else(PoisonError::into_inner).number;
        self.shared.mailbox.put(Input { frame, at: self.epoch.elapsed(), what: Told::Key(Key::EndRound) });
    }
}

impl Camera {
    /// Starts a camera and waits for its first picture; None where the program is stopped before it comes. Where a
    /// calibration is named, the controls that the camera settles on are saved with it. `pictures`: keep the newest
    /// picture for [`Camera::picture`].
    ///
    /// # Errors
    /// The source gives no picture at all.
    pub fn start(
        source: &Source,
        wishes: &Wishes,
        calibration: Option<&str>,
        pictures: bool,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, StartError> {
        let live = Live::start(source, wishes);
        let Some(first) = live.first(FIRST_FRAME, stop)? else { return Ok(None) };
        let (size_px, epoch) = (first.rgb()?.dimensions(), first.at);
        let shared = Arc::new(Shared::default());
        let (for_gate, calibration) = (Arc::clone(&shared), calibration.map(str::to_owned));
        let gate = std::thread::Builder::new()
            .name("gate".to_owned())
            .spawn(move || watch(&live, epoch, &for_gate, pictures, calibration.as_deref()))?;
        Ok(Some(Self { shared, gate: Some(gate), epoch, size_px }))
    }

    /// What there is to tell the watcher, waiting for it at most so long.
    pub fn take(&self, patience: Duration) -> Option<Input> {
        self.shared.mailbox.take(patience)
    }

    /// Has the gate watch another part of the picture.
    pub fn set_area(&self, area: Option<Area>) {
        self.shared.area.put(area);
    }

    /// How fast frames come.
    pub fn pace(&self) -> Pace {
        *self.shared.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest picture, once.
    pub fn picture(&self) -> Option<RgbImage> {
        self.shared.picture.take(Duration::ZERO)
    }

    /// How long it took to decode the newest frame, once.
    pub fn decoded(&self) -> Option<Duration> {
        self.shared.decoded.take(Duration::ZERO)
    }

    /// What the camera answered when it was (re)opened, once each time.
    pub fn new_mode(&self) -> Option<Mode> {
        self.shared.mode.take(Duration::ZERO)
    }

    /// Keys for other threads.
    pub fn keys(&self) -> Keys {
        Keys { shared: Arc::clone(&self.shared), epoch: self.epoch }
    }

    /// Did the thread that looks at frames die? Then nothing more will come.
    pub fn is_dead(&self) -> bool {
        self.gate.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Camera {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(gate) = self.gate.take() {
            // The gate only looks at frames: if it died there is nothing more to come from it.
            let _ = gate.join();
        }
    }
}

/// The gate's thread: decodes the newest frame, looks for rest and for trouble of the source.
fn watch(camera: &Live, epoch: Instant, shared: &Shared, pictures: bool, calibration: Option<&str>) {
    let mut gate = Gate::new(GateConfig::default());
    let mut state = CameraState::Back;
    let (mut newest, mut number) = (Instant::now(), 0);
    let (mut print, mut changed) = (0u64, Instant::now());
    let tell = |what, number, at: Instant| {
        shared.mailbox.put(Input { frame: number, at: at.saturating_duration_since(epoch), what });
    };
    while !shared.ended.load(Ordering::Relaxed) {
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
        let start = Instant::now();
        let rgb = match grabbed.rgb() {
            Ok(rgb) => {
                shared.decoded.put(start.elapsed());
                rgb
            }
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
        if pictures {
            shared.picture.put(rgb);
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
