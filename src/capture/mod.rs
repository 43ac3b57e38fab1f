//! Where frames come from: photo files, and cameras behind the feature `opencv`.

pub mod about;
#[cfg(feature = "opencv")]
pub mod camera;
pub mod cameras;
mod container;
#[cfg(feature = "opencv")]
pub mod controls;
pub mod feed;
#[cfg(feature = "heic")]
mod heic;
pub mod lens;
#[cfg(feature = "opencv")]
pub mod live;
pub mod newest;
mod orient;
pub mod photo;
#[cfg(feature = "opencv")]
pub mod preview;
pub mod profile;
pub mod sample;
#[cfg(feature = "opencv")]
pub mod sheet;
pub mod source;
#[cfg(feature = "opencv")]
pub mod video;
pub mod views;

use image::RgbImage;

pub use lens::LensHint;

/// One picture, upright (EXIF orientation applied), with what its file tells about the camera.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Name for reports: the path or the camera's name.
    pub source: String,
    /// 8-bit sRGB.
    pub rgb: RgbImage,
    /// What is known about the lens.
    pub lens: LensHint,
}
