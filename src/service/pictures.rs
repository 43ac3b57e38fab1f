//! The newest picture of a board, for those who look at it.
//!
//! A picture is written as JPEG once for all who look, at most ten times a second and not at all while nobody does; one
//! who is slow skips pictures and keeps nobody waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use image::{ImageError, RgbImage};
use tokio::sync::watch;

use super::gather::jpeg;

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
        Self { state: Mutex::default(), stream: watch::Sender::new(None) }
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
