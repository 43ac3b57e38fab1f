//! A window that shows what the camera sees, with circles drawn on it.

use image::RgbImage;
use opencv::core::{Mat, Point, Scalar, VecN};
use opencv::{highgui, imgproc};

use super::camera::CameraError;

/// A circle to draw: centre and radius in px, colour as red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Centre, px.
    pub at: [f64; 2],
    /// Radius, px.
    pub radius_px: f64,
    /// Colour.
    pub rgb: [u8; 3],
}

/// The window's title and name.
const TITLE: &str = "crokeye";

/// Shows a picture; opens the window at the first call. Call it from one thread only.
///
/// # Errors
/// There is no screen.
pub fn show(rgb: &RgbImage, marks: &[Mark]) -> Result<(), CameraError> {
    let rows = i32::try_from(rgb.height()).unwrap_or(i32::MAX);
    let seen = Mat::from_slice(rgb.as_raw())?;
    let seen = opencv::core::MatTraitConst::reshape(&seen, 3, rows)?;
    let mut shown = Mat::default();
    imgproc::cvt_color_def(&seen, &mut shown, imgproc::COLOR_RGB2BGR)?;
    for mark in marks {
        let [red, green, blue] = mark.rgb.map(f64::from);
        let centre = Point::new(mark.at[0].round() as i32, mark.at[1].round() as i32);
        let colour: Scalar = VecN([blue, green, red, 0.0]);
        imgproc::circle(&mut shown, centre, mark.radius_px.round() as i32, colour, 2, imgproc::LINE_AA, 0)?;
    }
    highgui::imshow(TITLE, &shown)?;
    highgui::wait_key(1)?;
    Ok(())
}
