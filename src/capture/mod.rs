//! Where frames come from.

use image::RgbImage;

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

/// What the file or the user says about the lens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LensHint {
    /// Focal length in pixels of this picture with its relative one-sigma uncertainty, where known.
    pub focal_px: Option<(f64, f64)>,
    /// True when nothing suggests that the picture was cropped: its optical axis is at its centre.
    pub uncropped: bool,
}
