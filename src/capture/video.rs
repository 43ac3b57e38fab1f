//! A video file as a feed, through OpenCV: every frame in order, on the video's own clock.

use std::path::Path;
use std::time::Duration;

use opencv::core::Mat;
use opencv::videoio::{CAP_PROP_FPS, VideoCapture, VideoCaptureTrait, VideoCaptureTraitConst};

use super::camera::{self, CameraError, Settings};
use super::feed::{Feed, FeedError, Taken};
use super::source::Source;

/// Frames a second where a file does not say.
const USUAL_FPS: f64 = 30.0;

/// Plays a video file.
pub struct Video {
    capture: VideoCapture,
    frame: Mat,
    what: String,
    fps: f64,
    next: u64,
}

impl Video {
    /// Opens the file.
    ///
    /// # Errors
    /// It is no video that OpenCV knows.
    pub fn open(path: &Path) -> Result<Self, CameraError> {
        let source = Source::File(path.to_owned());
        let what = camera::described(&source);
        let capture = camera::open(&source, &Settings::default())?;
        let fps = Some(capture.get(CAP_PROP_FPS)?).filter(|fps| (0.1..=1000.0).contains(fps)).unwrap_or(USUAL_FPS);
        Ok(Self { capture, frame: Mat::default(), what, fps, next: 0 })
    }
}

impl Feed for Video {
    fn next(&mut self) -> Result<Option<Taken>, FeedError> {
        if !self.capture.read(&mut self.frame).map_err(CameraError::from)? {
            return Ok(None);
        }
        let rgb = camera::to_rgb(&self.frame, &self.what)?;
        let number = self.next;
        self.next += 1;
        Ok(Some(Taken { number, at: Duration::from_secs_f64(number as f64 / self.fps), rgb }))
    }
}
