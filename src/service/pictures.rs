//! The newest picture of a board, for those who look at it, and its count drawn on it or seen from above.
//!
//! A picture is written as JPEG once for all who look, at most ten times a second and not at all while nobody does; one
//! who is slow skips pictures and keeps nobody waiting. What a count shows is drawn once, by the first who asks for it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use image::{ImageError, RgbImage};
use tokio::sync::watch;

use super::gather::jpeg;
use crate::count::{overlay, top_view};
use crate::live::Counted;

/// Least time between two pictures of a stream.
const APART: Duration = Duration::from_millis(100);
/// Quality of what is shown; evidence is kept better.
const QUALITY: u8 = 80;

/// A picture as JPEG.
pub type Jpeg = Arc<[u8]>;

/// The pictures of a board.
#[derive(Debug)]
pub struct Pictures {
    state: Mutex<State>,
    stream: watch::Sender<Option<Jpeg>>,
    counts: watch::Sender<Option<Arc<Drawn>>>,
}

/// A way to show a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The picture with lines, discs, values and totals.
    Overlay,
    /// The board from straight above, with the same.
    Top,
}

/// A count that is drawn when somebody wants to see it.
#[derive(Debug)]
pub struct Drawn {
    counted: Arc<Counted>,
    overlay: OnceLock<Option<Jpeg>>,
    top: OnceLock<Option<Jpeg>>,
}

impl Drawn {
    /// The count drawn; None where it cannot be. Takes some dozens of milliseconds the first time: not for a thread that
    /// serves requests.
    pub fn jpeg(&self, kind: Kind) -> Option<Jpeg> {
        let Counted { frame, count } = &*self.counted;
        let drawn = match kind {
            Kind::Overlay => self.overlay.get_or_init(|| written(&overlay::draw(frame, count))),
            Kind::Top => self.top.get_or_init(|| written(&top_view::draw_marked(frame, count.scene.as_ref()?))),
        };
        drawn.clone()
    }
}

fn written(rgb: &RgbImage) -> Option<Jpeg> {
    jpeg(rgb, QUALITY).ok().map(Jpeg::from)
}

#[derive(Debug, Default)]
struct State {
    newest: Option<RgbImage>,
    /// Was the newest one streamed?
    streamed: bool,
    /// When a picture was streamed.
    last: Option<Instant>,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { state: Mutex::default(), stream: watch::Sender::new(None), counts: watch::Sender::new(None) }
    }
}

impl Pictures {
    /// Shows a picture.
    pub fn show(&self, rgb: &RgbImage) {
        let mut state = self.lock();
        if state.newest.as_ref() != Some(rgb) {
            state.newest = Some(rgb.clone());
            state.streamed = false;
        }
        drop(state);
        self.catch_up();
    }

    /// Shows what is counted now; None once there is no board any more.
    pub fn show_count(&self, counted: Option<&Arc<Counted>>) {
        self.counts.send_if_modified(|shown| {
            let same = match (&*shown, counted) {
                (Some(shown), Some(counted)) => Arc::ptr_eq(&shown.counted, counted),
                (shown, counted) => shown.is_none() && counted.is_none(),
            };
            if !same {
                let drawn = |counted: &Arc<Counted>| Drawn {
                    counted: Arc::clone(counted),
                    overlay: OnceLock::new(),
                    top: OnceLock::new(),
                };
                *shown = counted.map(drawn).map(Arc::new);
            }
            !same
        });
    }

    /// The counts, the newest first.
    pub fn counts(&self) -> watch::Receiver<Option<Arc<Drawn>>> {
        let mut counts = self.counts.subscribe();
        counts.mark_changed();
        counts
    }

    /// Streams the newest picture where that was not done yet, because it came too soon after another.
    pub fn catch_up(&self) {
        let mut state = self.lock();
        let too_soon = state.last.is_some_and(|last| last.elapsed() < APART);
        if state.streamed || too_soon || self.stream.receiver_count() == 0 {
            return;
        }
        let Some(Ok(bytes)) = state.newest.as_ref().map(|rgb| jpeg(rgb, QUALITY)) else { return };
        (state.streamed, state.last) = (true, Some(Instant::now()));
        self.stream.send_replace(Some(bytes.into()));
    }

    /// The newest picture; None before the first. Takes some milliseconds: not for a thread that serves requests.
    ///
    /// # Errors
    /// It cannot be written as JPEG.
    pub fn newest(&self) -> Result<Option<Vec<u8>>, ImageError> {
        let newest = self.lock().newest.clone();
        newest.map(|rgb| jpeg(&rgb, QUALITY)).transpose()
    }

    /// The newest picture itself.
    pub fn newest_rgb(&self) -> Option<RgbImage> {
        self.lock().newest.clone()
    }

    /// Width and height of the newest picture, px.
    pub fn size_px(&self) -> Option<(u32, u32)> {
        self.lock().newest.as_ref().map(RgbImage::dimensions)
    }

    /// Each picture from now on.
    pub fn stream(&self) -> watch::Receiver<Option<Jpeg>> {
        self.stream.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Pictures are whole or not there: a thread that died while holding the lock leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::photo;
    use crate::count::{self, Options};

    #[test]
    fn a_count_is_shown_once_and_drawn_when_somebody_looks() {
        let frame = photo::decode("x", include_bytes!("../../samples/cherry-twenty.jpg")).unwrap();
        let count = count::run(&frame, &Options::default());
        let counted = Arc::new(Counted { frame, count });
        let pictures = Pictures::default();
        pictures.show_count(Some(&counted));
        let mut counts = pictures.counts();
        let drawn = counts.borrow_and_update().clone().unwrap();
        let [overlay, top] = [Kind::Overlay, Kind::Top].map(|kind| drawn.jpeg(kind).unwrap());
        assert!(overlay.starts_with(&[0xff, 0xd8]) && top.starts_with(&[0xff, 0xd8]) && overlay != top);
        assert!(Arc::ptr_eq(&overlay, &drawn.jpeg(Kind::Overlay).unwrap()), "drawn again");
        pictures.show_count(Some(&counted));
        assert!(!counts.has_changed().unwrap(), "the same count again");
        pictures.show_count(None);
        assert!(counts.has_changed().unwrap() && counts.borrow().is_none());
    }

    #[test]
    fn a_picture_is_streamed_once_and_only_where_somebody_looks() {
        let pictures = Pictures::default();
        assert!(pictures.newest().unwrap().is_none());
        let rgb = RgbImage::from_pixel(16, 16, image::Rgb([9; 3]));
        pictures.show(&rgb);
        assert!(pictures.stream.borrow().is_none(), "written although nobody looked");
        let mut stream = pictures.stream();
        pictures.show(&rgb);
        assert!(stream.has_changed().unwrap());
        assert!(stream.borrow_and_update().as_ref().unwrap().starts_with(&[0xff, 0xd8]));
        pictures.show(&rgb);
        assert!(!stream.has_changed().unwrap(), "the same picture again");
        let next = RgbImage::from_pixel(16, 16, image::Rgb([99; 3]));
        pictures.show(&next);
        assert!(!stream.has_changed().unwrap(), "two pictures at once");
        std::thread::sleep(APART);
        pictures.catch_up();
        assert!(stream.has_changed().unwrap(), "the last picture was never shown");
        assert!(pictures.newest().unwrap().unwrap().starts_with(&[0xff, 0xd8]));
    }
}
