//! Detection: a registered picture to the discs on the board.

use crate::board::{Side, State};
use crate::geometry::{BoardMm, ImagePx, Point};

/// All that was found on the board.
#[derive(Clone, Debug)]
pub struct Detections {
    /// What all discs of the set share.
    pub set: DiscSet,
    /// The discs, from the centre outwards.
    pub discs: Vec<DiscFit>,
    /// Candidates that were refused, with the reason: for overlays and for people who ask why.
    pub rejected: Vec<Rejected>,
    /// The two colours of play, darker first, as CIE L*a*b* (D65), where they could be told.
    pub palette: [Option<[f32; 3]>; 2],
}

/// The measures that all discs of a set share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscSet {
    /// Radius of the widest circle, mm.
    pub radius_mm: f64,
    /// Its standard deviation, mm.
    pub radius_sigma_mm: f64,
    /// Height, mm.
    pub height_mm: f64,
    /// Its standard deviation, mm.
    pub height_sigma_mm: f64,
}

/// One disc, fitted as an upright cylinder standing on the board.
#[derive(Clone, Debug)]
pub struct DiscFit {
    /// Image of the middle of the cylinder's axis (half its height up): the measured quantity, independent of what
    /// is believed about the camera's height.
    pub middle_px: Point<ImagePx>,
    /// Height of that middle above the playing surface, mm (half the disc's height for a flat disc).
    pub middle_height_mm: f64,
    /// Covariance of `middle_px`, px²: `[[xx, xy], [xy, yy]]`.
    pub covariance_px2: [[f64; 2]; 2],
    /// Centre of the circle that touches the board.
    pub base: Point<BoardMm>,
    /// Flat, in the hole, leaning (Off is decided by the line rule, not here).
    pub state: State,
    /// Robust interior colour, CIE L*a*b* (D65).
    pub lab: [f32; 3],
    /// Side by colour; None for a colour of neither side.
    pub side: Option<Side>,
    /// Share of the outline that was seen, 0 to 1.
    pub visible: f64,
    /// How sure it is that this is a disc of the given side, 0 to 1.
    pub confidence: f64,
}

/// A candidate that is no disc.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// Where, on the board's plane.
    pub base: Point<BoardMm>,
    /// Why not.
    pub reason: &'static str,
}
