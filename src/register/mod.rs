//! Registration: a picture to where the board is.
//!
//! In: a [`Frame`](crate::capture::Frame). Out: a [`Registration`], the camera that looks at the board, the rings
//! measured on it, and how far both may be wrong.

pub mod seed;

use crate::board::Line;
use crate::geometry::Camera;

/// Where the board is.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The board model that matched, or `"measured"`.
    pub model: String,
    /// Board millimetres to picture pixels, at any height.
    pub camera: Camera,
    /// One standard deviation of the camera's height above the board, mm.
    pub height_sigma_mm: f64,
    /// The scoring lines, outermost first (order of [`Line::ALL`]).
    pub rings: [Ring; 3],
    /// Radius of the hole, mm, where it was seen (the model's otherwise).
    pub hole_mm: f64,
    /// Radius of the playing surface's rim, mm, where it was seen (the model's otherwise).
    pub surface_mm: f64,
    /// Direction of one quadrant line in the board frame, radians in [0, π/2), where it could be told.
    pub quadrant_rad: Option<f64>,
    /// Direction of one peg in the board frame, radians in [0, π/4), where pegs could be told.
    pub peg_rad: Option<f64>,
    /// What may be wrong, as independent one-sigma deviations: each a whole alternative camera and set of lines.
    pub deviations: Vec<Deviation>,
    /// How good the fit is.
    pub quality: Quality,
}

impl Registration {
    /// Inner edges of the scoring lines, mm, outermost first.
    pub fn inner_mm(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| self.rings[i].inner_mm)
    }
}

/// One scoring line as painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Which line.
    pub line: Line,
    /// Radius of the painted line's inner edge, mm: the edge that decides values.
    pub inner_mm: f64,
    /// Radius of the painted line's outer edge, mm.
    pub outer_mm: f64,
    /// RMS distance of the line seen in the picture from the fitted one, px.
    pub residual_px: f64,
    /// Share of the circumference on which the line was seen, 0 to 1.
    pub coverage: f64,
}

/// One independent way in which the registration may be wrong, at one standard deviation.
#[derive(Clone, Debug)]
pub struct Deviation {
    /// The camera as it would then be.
    pub camera: Camera,
    /// Inner edges of the lines as they would then be, mm, outermost first.
    pub inner_mm: [f64; 3],
}

/// How good a registration is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// RMS residual over all rings, px.
    pub residual_px: f64,
    /// Mean share of the three lines' circumference that was seen, 0 to 1.
    pub coverage: f64,
}
