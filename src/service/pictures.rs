//! The newest picture of a board, for those who look at it.
//!
//! A picture is written as JPEG once for all who look, at most ten times a second and not at all while nobody does; one
//! who is slow skips pictures and keeps nobody waiting.

use std::sync::{Arc, Mutex, PoisonError};
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
    newest: Mutex<Option<RgbImage>>,
    stream: watch::Sender<Option<Jpeg>>,
    last: Mutex<Option<Instant>>,
}

impl Default for Pictures {
    fn default() -> Self {
        Self { newest: Mutex::default(), stream: watch::Sender::new(None), last: Mutex::default() }
    }
}

impl Pictures {
    /// Shows a picture.
    pub fn show(&self, rgb: &RgbImage) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let same = newest.as_ref().is_some_and(|newest| newest == rgb);
        if !same {
            *newest = Some(rgb.clone());
        }
        drop(newest);
        if self.stream.receiver_count() == 0 {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if (same && self.stream.borrow().is_some()) || last.is_some_and(|last| last.elapsed() < APART) {
            return;
        }
        *last = Some(Instant::now());
        if let Ok(bytes) = jpeg(rgb, QUALITY) {
            self.stream.send_replace(Some(bytes.into()));
        }
    }

    /// The newest picture; None before the first. Takes some milliseconds: not for a thread that serves requests.
    ///
    /// # Errors
    /// It cannot be written as JPEG.
    pub fn newest(&self) -> Result<Option<Vec<u8>>, ImageError> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone();
        newest.map(|rgb| jpeg(&rgb, QUALITY)).transpose()
    }

    /// Each picture from now on.
    pub fn stream(&self) -> watch::Receiver<Option<Jpeg>> {
        self.stream.subscribe()
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
        assert!(pictures.newest().unwrap().unwrap().starts_with(&[0xff, 0xd8]));
    }
}
