//! Frames one after another, each with its place in time.
//!
//! A [`Feed`] is asked for its next frame and may take its time. [`Folder`] plays a folder of pictures in the order of
//! their names as a camera of a given rate would have seen them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use image::RgbImage;

use super::photo::{self, PhotoError};

/// Endings of the pictures that a folder of frames is made of.
const EXTENSIONS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// One frame of a source.
#[derive(Clone, Debug)]
pub struct Taken {
    /// 0 for the first frame; frames that were dropped are counted too.
    pub number: u64,
    /// Time since the first frame on the source's own clock.
    pub at: Duration,
    /// The picture.
    pub rgb: RgbImage,
}

/// Why there is no next frame.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The folder cannot be listed.
    #[error("the folder {folder} cannot be read: {error}")]
    Folder {
        /// Which folder.
        folder: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// There is no picture in it.
    #[error("no frames in {0}: give a folder of JPEG, PNG or WebP pictures, named in the order of time")]
    NoFrames(String),
    /// A picture cannot be read.
    #[error("{path}: {error}")]
    Photo {
        /// Which one.
        path: String,
        /// Why.
        error: PhotoError,
    },
    /// Frames of one source differ in size.
    #[error("{path} is {width} x {height} px, the frames before it were not: a source keeps its size")]
    Size {
        /// Which frame.
        path: String,
        /// Its width, px.
        width: u32,
        /// Its height, px.
        height: u32,
    },
    /// The camera or video fails.
    #[cfg(feature = "opencv")]
    #[error(transparent)]
    Camera(#[from] super::camera::CameraError),
}

/// Gives frames in order.
pub trait Feed: Send {
    /// The next frame; None at the end.
    ///
    /// # Errors
    /// See [`FeedError`]. After [`FeedError::Photo`] the frames behind it can be had.
    fn next(&mut self) -> Result<Option<Taken>, FeedError>;
}

/// Plays the pictures of a folder.
#[derive(Debug)]
pub struct Folder {
    paths: Vec<PathBuf>,
    next: usize,
    fps: f64,
    size_px: Option<(u32, u32)>,
}

impl Folder {
    /// The pictures of `folder` in the order of their names, `fps` of them a second.
    ///
    /// # Errors
    /// The folder cannot be read, or holds no picture.
    pub fn open(folder: &Path, fps: f64) -> Result<Self, FeedError> {
        let name = || folder.display().to_string();
        let entries = std::fs::read_dir(folder).map_err(|error| FeedError::Folder { folder: name(), error })?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_picture(path)).collect();
        if paths.is_empty() {
            return Err(FeedError::NoFrames(name()));
        }
        paths.sort();
        Ok(Self { paths, next: 0, fps, size_px: None })
    }
}

impl Feed for Folder {
    fn next(&mut self) -> Result<Option<Taken>, FeedError> {
        let Some(path) = self.paths.get(self.next) else { return Ok(None) };
        let name = || path.display().to_string();
        let number = self.next as u64;
        self.next += 1;
        let frame = photo::read(path).map_err(|error| FeedError::Photo { path: name(), error })?;
        let size = frame.rgb.dimensions();
        if *self.size_px.get_or_insert(size) != size {
            return Err(FeedError::Size { path: name(), width: size.0, height: size.1 });
        }
        Ok(Some(Taken { number, at: Duration::from_secs_f64(number as f64 / self.fps), rgb: frame.rgb }))
    }
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str())) && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(sizes: &[(u32, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (i, (width, height)) in sizes.iter().enumerate() {
            let picture = RgbImage::from_pixel(*width, *height, image::Rgb([i as u8; 3]));
            picture.save(folder.path().join(format!("f{i:03}.png"))).unwrap();
        }
        std::fs::write(folder.path().join("notes.txt"), "no frame").unwrap();
        folder
    }

    #[test]
    fn frames_come_in_the_order_of_their_names_and_at_the_rate_asked_for() {
        let folder = folder(&[(4, 3); 3]);
        let mut feed = Folder::open(folder.path(), 10.0).unwrap();
        for i in 0..3u8 {
            let taken = feed.next().unwrap().unwrap();
            assert_eq!((taken.number, taken.at.as_millis()), (u64::from(i), u128::from(i) * 100));
            assert_eq!(taken.rgb.get_pixel(0, 0).0, [i; 3]);
        }
        assert!(feed.next().unwrap().is_none());
    }

    #[test]
    fn a_frame_that_cannot_be_read_leaves_those_behind_it() {
        let folder = folder(&[(4, 3); 3]);
        std::fs::write(folder.path().join("f001.png"), "no picture").unwrap();
        let mut feed = Folder::open(folder.path(), 10.0).unwrap();
        feed.next().unwrap();
        assert!(matches!(feed.next(), Err(FeedError::Photo { .. })));
        assert_eq!(feed.next().unwrap().unwrap().number, 2);
    }

    #[test]
    fn a_source_keeps_its_size_and_has_frames() {
        let mixed = folder(&[(4, 3), (3, 4)]);
        let mut feed = Folder::open(mixed.path(), 10.0).unwrap();
        feed.next().unwrap();
        assert!(matches!(feed.next(), Err(FeedError::Size { width: 3, .. })));
        assert!(matches!(Folder::open(folder(&[]).path(), 10.0), Err(FeedError::NoFrames(_))));
        assert!(matches!(Folder::open(Path::new("/nowhere"), 10.0), Err(FeedError::Folder { .. })));
    }
}
