//! Photos that are sent in, counted off the threads that answer requests.
//!
//! One photo is counted at a time, a few may wait; more are refused at once, so that no crowd of uploads can keep the
//! board waiting or fill the memory.

use std::io::Cursor;
use std::sync::Arc;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::capture::photo::{self, PhotoError};
use crate::count::report::Report;
use crate::count::{self, Options, overlay};

/// Photos that are counted at once: one core stays with the board.
const AT_ONCE: usize = 1;

/// A photo's count.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The count.
    pub report: Report,
    /// The overlay as PNG, where it was asked for.
    pub overlay: Option<Vec<u8>>,
}

/// Why a photo is not counted.
#[derive(Debug, thiserror::Error)]
pub enum CounterError {
    /// Too many wait already.
    #[error("too many photos wait to be counted: try again in a few seconds")]
    Busy,
    /// More pixels than are taken.
    #[error("the picture has {megapixels} megapixels, more than the limit of {limit}: scale it down")]
    TooManyPixels {
        /// Its pixels, millions, rounded up.
        megapixels: u64,
        /// The limit, millions.
        limit: u64,
    },
    /// It cannot be read.
    #[error(transparent)]
    Photo(#[from] PhotoError),
    /// Counting or drawing failed: a fault of the program.
    #[error("the photo could not be counted: a fault in crokeye")]
    Fault,
}

/// A place in the queue, given back when it is dropped.
#[derive(Debug)]
pub struct Place(#[allow(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// Counts photos.
#[derive(Debug)]
pub struct Counter {
    places: Arc<Semaphore>,
    workers: Arc<Semaphore>,
    max_pixels: u64,
}

impl Counter {
    /// With so many photos that may wait, each of at most so many pixels.
    pub fn new(waiting: usize, max_pixels: u64) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE + waiting));
        Self { places, workers: Arc::new(Semaphore::new(AT_ONCE)), max_pixels }
    }

    /// A place in the queue, to be had before a photo is even read: then no more photos are in memory than may wait.
    ///
    /// # Errors
    /// [`CounterError::Busy`]: all are taken.
    pub fn place(&self) -> Result<Place, CounterError> {
        Arc::clone(&self.places).try_acquire_owned().map(Place).map_err(|_| CounterError::Busy)
    }

    /// Counts a photo from the bytes of its file.
    ///
    /// # Errors
    /// See [`CounterError`].
    pub async fn count(
        &self,
        place: Place,
        name: String,
        bytes: Vec<u8>,
        options: Options,
        with_overlay: bool,
    ) -> Result<Counted, CounterError> {
        self.within_limits(&bytes)?;
        self.run(place, move || counted(&name, &bytes, &options, with_overlay)).await?
    }

    /// Does other work on a photo when its turn comes, off the threads that answer requests.
    ///
    /// # Errors
    /// [`CounterError::Fault`]: the work died.
    pub async fn run<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CounterError> {
        let worker = Arc::clone(&self.workers).acquire_owned().await.map_err(|_| CounterError::Busy)?;
        let work = move || {
            // Given back when the work is done, even if nobody waits for it any more.
            let _held = (place, worker);
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| CounterError::Fault)
    }

    /// Looks at the size that the file's header tells, before anything is decoded.
    ///
    /// # Errors
    /// [`CounterError::TooManyPixels`].
    pub fn within_limits(&self, bytes: &[u8]) -> Result<(), CounterError> {
        let reader = image::ImageReader::new(Cursor::new(bytes)).with_guessed_format();
        // What has no such header is for the decoder to refuse, under limits of its own.
        let Some((width, height)) = reader.ok().and_then(|reader| reader.into_dimensions().ok()) else { return Ok(()) };
        let pixels = u64::from(width) * u64::from(height);
        if pixels > self.max_pixels {
            let (megapixels, limit) = (pixels.div_ceil(1_000_000), self.max_pixels / 1_000_000);
            return Err(CounterError::TooManyPixels { megapixels, limit });
        }
        Ok(())
    }
}

fn counted(name: &str, bytes: &[u8], options: &Options, with_overlay: bool) -> Result<Counted, CounterError> {
    let frame = photo::decode(name, bytes)?;
    let count = count::run(&frame, options);
    let overlay = with_overlay.then(|| {
        let mut png = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Sub);
        overlay::draw(&frame, &count).write_with_encoder(encoder).map(|()| png)
    });
    let overlay = overlay.transpose().map_err(|_| CounterError::Fault)?;
    Ok(Counted { report: count.report, overlay })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image::RgbImage::new(width, height).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    async fn count(counter: &Counter, bytes: Vec<u8>) -> Result<Counted, CounterError> {
        counter.count(counter.place()?, "photo".to_owned(), bytes, Options::default(), true).await
    }

    #[tokio::test]
    async fn a_picture_too_large_is_refused_by_its_header_and_a_black_one_shows_no_board() {
        let counter = Counter::new(2, 1_000_000);
        let large = count(&counter, png(1001, 1000)).await.unwrap_err();
        assert!(matches!(large, CounterError::TooManyPixels { megapixels: 2, limit: 1 }), "{large}");
        let black = count(&counter, png(64, 64)).await.unwrap();
        assert_eq!(black.report.status, count::report::Status::NoBoard);
        assert!(black.overlay.unwrap().starts_with(b"\x89PNG"));
        assert!(matches!(count(&counter, b"no picture".to_vec()).await, Err(CounterError::Photo(_))));
    }

    #[tokio::test]
    async fn when_all_places_are_taken_a_photo_is_refused_at_once() {
        let counter = Counter::new(0, 1_000_000);
        let place = counter.place().unwrap();
        assert!(matches!(count(&counter, png(8, 8)).await, Err(CounterError::Busy)));
        drop(place);
        assert!(count(&counter, png(8, 8)).await.is_ok());
    }
}
