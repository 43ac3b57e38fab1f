//! One still from a camera or a video, through OpenCV.
//!
//! In: a [`Source`]. Out: the picture. A camera's driver keeps a few frames from before it was asked, and its exposure
//! settles only while frames are taken: old frames are known by coming at once, and are thrown away; then frames are
//! taken for a while and the last one is kept. The backend is named because OpenCV would take another one first.

use std::time::{Duration, Instant};

use image::RgbImage;
use opencv::core::{Mat, MatTraitConst, MatTraitConstManual, Vector};
use opencv::videoio::{
    CAP_ANY, CAP_FFMPEG, CAP_PROP_FRAME_HEIGHT, CAP_PROP_FRAME_WIDTH, CAP_PROP_OPEN_TIMEOUT_MSEC, CAP_PROP_POS_MSEC,
    CAP_PROP_READ_TIMEOUT_MSEC, CAP_V4L2, VideoCapture, VideoCaptureTrait, VideoCaptureTraitConst,
};

use super::source::Source;

/// A frame that comes sooner than this was waiting in a queue: no camera gives 250 frames a second.
const QUEUED: Duration = Duration::from_millis(4);

/// Queues are shorter than this; a source that is always this fast (a network server that does not wait) ends the search.
const MAX_QUEUED_FRAMES: usize = 64;

/// How long a network camera may be silent.
const NETWORK_TIMEOUT_MS: i32 = 8_000;

/// How a still is taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How long frames of a live source are taken before the one that is kept: exposure and white balance settle.
    pub settle: Duration,
    /// Width and height to ask a camera at this computer for; it may answer with others.
    pub size_px: Option<(u32, u32)>,
    /// Where in a video file.
    pub at: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { settle: Duration::from_millis(1_500), size_px: None, at: Duration::ZERO }
    }
}

/// A still and how it came about.
#[derive(Clone, Debug)]
pub struct Still {
    /// The picture.
    pub rgb: RgbImage,
    /// Frames that were thrown away before it.
    pub skipped: usize,
    /// Time from opening the source to this picture.
    pub waited: Duration,
}

/// Why there is no still.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// OpenCV could not open it.
    #[error("cannot open {what}: {hint}")]
    CannotOpen {
        /// The source as people write it.
        what: String,
        /// What may be done about it.
        hint: &'static str,
    },
    /// It opened but gives no picture.
    #[error("{what} opens but gives no picture{hint}")]
    NoFrame {
        /// The source as people write it.
        what: String,
        /// What may be done about it.
        hint: &'static str,
    },
    /// A picture of a kind that is not understood.
    #[error("{what} gives pictures of a kind that crokeye cannot read ({kind})")]
    UnknownPixels {
        /// The source as people write it.
        what: String,
        /// OpenCV's name for the kind.
        kind: String,
    },
    /// OpenCV itself failed.
    #[error("OpenCV: {0}")]
    OpenCv(#[from] opencv::Error),
}

/// Takes one still.
///
/// # Errors
/// See [`CameraError`]; each is a sentence that says what to do.
pub fn still(source: &Source, settings: &Settings) -> Result<Still, CameraError> {
    let start = Instant::now();
    let what = described(source);
    let mut capture = open(source, settings)?;
    let mut frame = Mat::default();
    let mut skipped = 0;
    match source {
        Source::File(_) | Source::Folder(_) => {
            if !settings.at.is_zero() {
                capture.set(CAP_PROP_POS_MSEC, settings.at.as_secs_f64() * 1000.0)?;
            }
            if !capture.read(&mut frame)? {
                let hint = ": it may be shorter than that, or not a video";
                return Err(CameraError::NoFrame { what, hint });
            }
        }
        Source::Camera(_) | Source::Address(_) => {
            skipped = drain(&mut capture, &mut frame)?;
            let settled = Instant::now() + settings.settle;
            while Instant::now() < settled {
                if !capture.read(&mut frame)? {
                    break;
                }
                skipped += 1;
            }
            if frame.empty() {
                let hint = ": try another size, or unplug it and plug it in again";
                return Err(CameraError::NoFrame { what, hint });
            }
        }
    }
    let rgb = to_rgb(&frame, &what)?;
    Ok(Still { rgb, skipped, waited: start.elapsed() })
}

/// The source in words, without passwords.
pub fn described(source: &Source) -> String {
    match source {
        Source::Camera(number) => format!("camera {number} (/dev/video{number})"),
        Source::Address(address) => format!("the network camera {}", without_password(address)),
        Source::File(path) => format!("the video {}", path.display()),
        Source::Folder(path) => format!("the folder {}", path.display()),
    }
}

/// The address without the user name, password and query that cameras' addresses often hold secrets in.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?..."));
    let host = rest.find('/').unwrap_or(rest.len());
    match rest[..host].rfind('@') {
        Some(at) => format!("{scheme}://...@{}{query}", &rest[at + 1..]),
        None => format!("{scheme}://{rest}{query}"),
    }
}

/// Opens a source.
///
/// # Errors
/// It cannot be opened.
pub(super) fn open(source: &Source, settings: &Settings) -> Result<VideoCapture, CameraError> {
    let capture = try_open(source, settings)?;
    if capture.is_opened()? {
        return Ok(capture);
    }
    let hint = match source {
        Source::Camera(_) => {
            "is it plugged in, and not in use by another program? `crokeye watch --list` shows the cameras"
        }
        Source::Address(_) => "is it switched on, and the address right?",
        Source::File(_) => "it is no video that OpenCV knows",
        Source::Folder(_) => "a folder is no video",
    };
    Err(CameraError::CannotOpen { what: described(source), hint })
}

fn try_open(source: &Source, settings: &Settings) -> Result<VideoCapture, CameraError> {
    Ok(match source {
        Source::Camera(number) => {
            let backend = if cfg!(target_os = "linux") { CAP_V4L2 } else { CAP_ANY };
            let mut capture = VideoCapture::new(i32::try_from(*number).unwrap_or(i32::MAX), backend)?;
            if let Some((width, height)) = settings.size_px {
                // What the camera really gives is seen in the picture: set() says true without effect.
                capture.set(CAP_PROP_FRAME_WIDTH, f64::from(width))?;
                capture.set(CAP_PROP_FRAME_HEIGHT, f64::from(height))?;
            }
            capture
        }
        Source::Address(address) => {
            let limits =
                [[CAP_PROP_OPEN_TIMEOUT_MSEC, NETWORK_TIMEOUT_MS], [CAP_PROP_READ_TIMEOUT_MSEC, NETWORK_TIMEOUT_MS]];
            VideoCapture::from_file_with_params(address, CAP_FFMPEG, &Vector::from_slice(&limits.concat()))?
        }
        Source::File(path) | Source::Folder(path) => VideoCapture::from_file(path, CAP_FFMPEG)?,
    })
}

/// Throws away what waited in the queue; the first frame that had to be waited for is left in `frame`.
fn drain(capture: &mut VideoCapture, frame: &mut Mat) -> Result<usize, CameraError> {
    for skipped in 0..MAX_QUEUED_FRAMES {
        let asked = Instant::now();
        // The first read waits for the stream to start and says nothing about the queue.
        if !capture.read(frame)? || (skipped > 0 && asked.elapsed() > QUEUED) {
            return Ok(skipped);
        }
    }
    Ok(MAX_QUEUED_FRAMES)
}

/// OpenCV's blue-green-red or grey as RGB.
pub(super) fn to_rgb(frame: &Mat, what: &str) -> Result<RgbImage, CameraError> {
    let unknown = || CameraError::UnknownPixels {
        what: what.to_owned(),
        kind: format!("type {}, {} x {}", frame.typ(), frame.cols(), frame.rows()),
    };
    let (width, height) = (u32::try_from(frame.cols()), u32::try_from(frame.rows()));
    let (Ok(width), Ok(height), true) = (width, height, frame.is_continuous()) else { return Err(unknown()) };
    let rgb: Vec<u8> = match frame.typ() {
        opencv::core::CV_8UC3 => {
            let mut turned = Mat::default();
            opencv::imgproc::cvt_color_def(frame, &mut turned, opencv::imgproc::COLOR_BGR2RGB)?;
            turned.data_bytes()?.to_vec()
        }
        opencv::core::CV_8UC1 => frame.data_bytes()?.iter().flat_map(|&grey| [grey; 3]).collect(),
        _ => return Err(unknown()),
    };
    RgbImage::from_raw(width, height, rgb).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencv::core::{CV_8UC3, Scalar, Size};
    use opencv::videoio::{VideoWriter, VideoWriterTrait};

    /// A video of ten frames at 10 a second, each redder than the one before.
    fn video(folder: &std::path::Path) -> std::path::PathBuf {
        let path = folder.join("reds.avi");
        let code = VideoWriter::fourcc('M', 'J', 'P', 'G').unwrap();
        let mut writer = VideoWriter::new(path.to_str().unwrap(), code, 10.0, Size::new(64, 48), true).unwrap();
        for step in 0..10 {
            let colour = Scalar::new(10.0, 30.0, 20.0 * f64::from(step) + 40.0, 0.0);
            let frame = Mat::new_rows_cols_with_default(48, 64, CV_8UC3, colour).unwrap();
            writer.write(&frame).unwrap();
        }
        writer.release().unwrap();
        path
    }

    #[test]
    fn a_still_of_a_video_is_the_frame_of_its_time_in_rgb() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::File(video(folder.path()));
        for (at_ms, red) in [(0, 40), (500, 140)] {
            let settings = Settings { at: Duration::from_millis(at_ms), ..Settings::default() };
            let still = still(&source, &settings).unwrap();
            assert_eq!(still.rgb.dimensions(), (64, 48));
            let pixel = still.rgb.get_pixel(30, 20).0;
            assert!(pixel[0].abs_diff(red) < 12 && pixel[2] < 30, "at {at_ms} ms: {pixel:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_said_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text.mp4");
        std::fs::write(&text, "no video").unwrap();
        for source in [Source::Camera(97), Source::File(text)] {
            let error = still(&source, &Settings::default()).map(|still| still.skipped).unwrap_err();
            assert!(error.to_string().starts_with("cannot open "), "{error}");
        }
    }

    #[test]
    fn passwords_are_not_repeated() {
        assert_eq!(without_password("rtsp://me:secret@cam:554/1"), "rtsp://...@cam:554/1");
        assert_eq!(without_password("http://me:secret@cam/video?token=abc"), "http://...@cam/video?...");
        assert_eq!(without_password("http://cam?password=a@b"), "http://cam?...");
        assert_eq!(without_password("http://cam/a@b"), "http://cam/a@b");
    }
}
