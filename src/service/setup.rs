//! What a person chose on the set-up page of a board: camera, colours, trays, where the board is.
//!
//! Choices lie over the configuration, hold at once and after a restart, and go away when they are taken back. A camera
//! that does not open is refused, and the board is watched on as before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::board::{Board, Wishes};
use crate::capture::sample;
use crate::count::{SideColours, SideColoursError};
use crate::live::Region;
use crate::register::start::StartError;

pub use crate::capture::cameras::cameras;
pub use crate::register::start::Start;

/// Longest address of a camera, bytes.
const LONGEST_ADDRESS: usize = 300;

/// What was chosen; what is None is as configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Chosen {
    /// A camera's number, an rtsp:// or http:// address, or `sample`.
    pub source: Option<String>,
    /// Picture size to ask a camera for, `1280x720`.
    pub size: Option<String>,
    /// Frames a second to ask a camera for.
    pub fps: Option<f64>,
    /// Colours of side a and side b.
    pub colours: Option<[String; 2]>,
    /// Trays of side a and side b.
    pub trays: [Option<Region>; 2],
    /// Where a person says that the board is.
    pub start: Option<Start>,
}

/// Where frames shall come from; what is None is as configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// As people write it.
    pub source: Option<String>,
    /// Size to ask for, px.
    pub size_px: Option<(u32, u32)>,
    /// Frames a second to ask for.
    pub fps: Option<f64>,
}

/// Opens a source as the configuration would. It is tried where `try_it` says so.
pub type Opener = Arc<dyn Fn(&Camera, bool) -> Result<Wishes, String> + Send + Sync>;

/// Why a choice is refused.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// Not a source that may be chosen here.
    #[error(
        "say a camera's number, an rtsp:// or http:// address, or sample; files and folders stand in the configuration"
    )]
    Source,
    /// Not a size.
    #[error("{0:?} is no size: say 1280x720")]
    Size(String),
    /// Not a rate.
    #[error("frames a second are a number from 0.1 to 240")]
    Rate,
    /// It does not open.
    #[error("{0}")]
    Camera(String),
    /// The colours are unknown.
    #[error(transparent)]
    Colours(#[from] SideColoursError),
    /// The points are none.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The tray lies outside.
    #[error("the tray does not lie in the picture, which is {width} x {height} px")]
    Tray {
        /// px
        width: u32,
        /// px
        height: u32,
    },
}

impl Chosen {
    /// The camera that is chosen.
    ///
    /// # Errors
    /// It is none that may be chosen.
    pub fn camera(&self) -> Result<Camera, SetupError> {
        if let Some(source) = &self.source {
            let lower = source.to_lowercase();
            let is_address =
                ["rtsp://", "rtsps://", "http://", "https://"].iter().any(|scheme| lower.starts_with(scheme));
            let is_plain = source.len() <= LONGEST_ADDRESS && !source.contains(char::is_control);
            if !(source.parse::<u32>().is_ok() || source == sample::NAME || is_address && is_plain) {
                return Err(SetupError::Source);
            }
        }
        let size_px = self.size.as_deref().map(size).transpose()?;
        if self.fps.is_some_and(|fps| !(0.1..=240.0).contains(&fps)) {
            return Err(SetupError::Rate);
        }
        Ok(Camera { source: self.source.clone(), size_px, fps: self.fps })
    }

    /// These choices over `wishes`, whose camera is chosen already.
    ///
    /// # Errors
    /// Colours, points or trays are none.
    fn over(&self, mut wishes: Wishes) -> Result<Wishes, SetupError> {
        let look = &mut wishes.look;
        if let Some([a, b]) = &self.colours {
            look.sides = Some(SideColours::named(a, b)?);
        }
        for (tray, chosen) in look.trays.iter_mut().zip(self.trays) {
            *tray = chosen.or(*tray);
        }
        if let Some(start) = &self.start {
            start.check()?;
            look.start = Some(Arc::new(start.clone()));
        }
        Ok(wishes)
    }
}

fn size(text: &str) -> Result<(u32, u32), SetupError> {
    let side = |text: &str| text.parse().ok().filter(|side| (16..=16_384).contains(side));
    let size = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    size.ok_or_else(|| SetupError::Size(text.to_owned()))
}

/// The choices of a board, and how they are brought about.
pub struct Setup {
    opener: Opener,
    chosen: Mutex<Chosen>,
    /// Held while a camera is tried, which may take long: whoever only looks does not wait for it.
    changing: Mutex<()>,
    /// Where frames come from without any choice, as the configuration has it.
    source: String,
    /// The same for people, without passwords.
    pub configured: String,
}

impl Setup {
    /// With what was chosen before; gives the wishes to start with. Choices that hold no more, such as a camera that is
    /// gone, are left for later: the board says what is wrong, and the page can choose anew.
    ///
    /// # Errors
    /// The configuration's own source does not open.
    pub fn new(opener: Opener, source: String, chosen: Chosen) -> Result<(Self, Wishes), String> {
        let configured = opener(&Camera { source: None, size_px: None, fps: None }, false)?;
        let name = configured.name.clone();
        let wishes = chosen.camera().map_err(|error| error.to_string()).and_then(|camera| {
            let wishes = opener(&camera, false)?;
            chosen.over(wishes).map_err(|error| error.to_string())
        });
        let (chosen, wishes) = match wishes {
            Ok(wishes) => (chosen, wishes),
            Err(reason) => {
                tracing::warn!(
                    reason,
                    "what was chosen for a board does not hold any more: it is watched as configured"
                );
                (Chosen::default(), configured)
            }
        };
        Ok((Self { opener, chosen: Mutex::new(chosen), changing: Mutex::default(), source, configured: name }, wishes))
    }

    /// Does the board take its frames from this source? The sample is there for all.
    pub fn takes(&self, source: &str) -> bool {
        let chosen = self.lock();
        source != sample::NAME && chosen.source.as_deref().unwrap_or(&self.source) == source
    }

    /// What is chosen.
    pub fn chosen(&self) -> Chosen {
        self.lock().clone()
    }

    /// Takes other choices: they hold for the board from now on. Takes as long as a camera takes to open: not for a thread
    /// that serves requests. `size_px` is the size of the board's pictures, where it is known.
    ///
    /// # Errors
    /// See [`SetupError`]; then all is as before.
    pub fn choose(&self, board: &Board, next: Chosen, size_px: Option<(u32, u32)>) -> Result<(), SetupError> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = self.chosen();
        let camera = next.camera()?;
        let other_camera = camera != chosen.camera()?;
        if let Some((width, height)) = size_px.filter(|_| !other_camera)
            && next.trays.iter().flatten().any(|tray| !tray.lies_in((width, height)))
        {
            return Err(SetupError::Tray { width, height });
        }
        // A camera that is open already cannot be tried.
        let try_it = next.source != chosen.source;
        let wishes = (self.opener)(&camera, try_it).map_err(SetupError::Camera)?;
        board.change(next.over(wishes)?);
        *self.lock() = next;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Chosen> {
        // Choices are whole or not there: a thread that died while holding the lock leaves nothing half done.
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_chosen_is_refused() {
        let source = |source: &str| Chosen { source: Some(source.to_owned()), ..Chosen::default() }.camera();
        for right in ["0", "12", "sample", "rtsp://cam/1", "HTTP://phone:8080/video"] {
            assert!(source(right).is_ok(), "{right}");
        }
        for wrong in ["", "/etc/passwd", "evening.mp4", "file:///etc", "rtsp://a\nb", "../x"] {
            assert!(matches!(source(wrong), Err(SetupError::Source)), "{wrong}");
        }
        let size = |size: &str| Chosen { size: Some(size.to_owned()), ..Chosen::default() }.camera();
        assert_eq!(size("1280x720").unwrap().size_px, Some((1280, 720)));
        for wrong in ["", "1280", "1280x", "0x0", "99999x9", "axb"] {
            assert!(matches!(size(wrong), Err(SetupError::Size(_))), "{wrong}");
        }
        assert!(matches!(Chosen { fps: Some(f64::NAN), ..Chosen::default() }.camera(), Err(SetupError::Rate)));
    }
}
