//! Pure mathematics: points in named frames, the camera, robust least squares.
//!
//! Nothing here knows a picture or a rule. Frames of reference are types, see [`frame`].

pub mod camera;
pub mod frame;
pub mod robust;

pub use camera::Camera;
pub use frame::{BoardMm, ImagePx, Point, ViewPx};
