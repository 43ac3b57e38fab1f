//! Detection: a registered picture to the discs on the board.
//!
//! [`search`] finds and measures candidates, [`choose`] decides between them, and here the chosen ones are fitted once
//! more, all together with one shape, and told apart by colour.

pub mod choose;
pub mod colour;
pub mod evidence;
pub mod fit;
pub mod hole;
pub mod localise;
pub mod propose;
pub mod search;
pub mod settle;
pub mod shape;
pub mod view;

use serde::{Deserialize, Serialize};

use crate::board::{Side, State};
use crate::capture::Frame;
use crate::geometry::{BoardMm, Camera, ImagePx, Point};
use crate::kernels::planes::Raster;
use crate::register::Registration;

use choose::Choice;
use fit::{FINE_MM, FittedShape, Fitting, fit_together};
use search::Search;

pub use shape::Shape;

/// What is believed about discs before any is seen, and how far to look.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The shape of a disc, mm on the scale of the board.
    pub shape: Shape,
    /// How far radius, height and edge of a set stray from that, one standard deviation, mm.
    pub shape_sigma_mm: [f64; 3],
    /// Smallest and largest radius of a disc, mm. Measured on real boards: 0.044 to 0.065 of the shooting line's radius.
    pub radii_mm: [f64; 2],
    /// Radius of the discs on boards whose discs are out of all proportion (toys, drawings), mm: looked for where no disc of
    /// the usual size is seen. Seen: 0.072 of the shooting line's radius.
    pub oversize_mm: f64,
    /// Resolution of the top view, px per mm. Finer costs time with its square; a disc needs about 10 px of radius.
    pub view_px_per_mm: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            shape: Shape { radius_mm: 15.9, height_mm: 9.9, edge_mm: 1.9 },
            shape_sigma_mm: [0.8, 0.6, 0.35],
            radii_mm: [13.4, 19.8],
            oversize_mm: 21.8,
            view_px_per_mm: 0.8,
        }
    }
}

/// A flat disc's middle cannot be nearer to the hole's than this, mm: it would tip.
const TIPPING_MM: f64 = 7.8;

/// Finds the discs on the board that `registration` describes.
pub fn detect(frame: &Frame, registration: &Registration, config: &Config) -> Detections {
    let picture =
        Raster { bytes: frame.rgb.as_raw(), columns: frame.rgb.width() as usize, rows: frame.rgb.height() as usize };
    let search = search::search(picture, registration, config);
    let choice = choose::choose(&search, registration.hole_mm);
    let (fits, shared) = fitted_together(&search, &choice);
    let scene = &search.scene;
    let mut interiors: Vec<_> =
        fits.iter().map(|f| colour::of_disc(&search.view, &search.ground, &scene.sight, f, &shared.shape)).collect();
    let mut weights: Vec<_> = fits.iter().map(|f| f.visible).collect();
    if let Some((hole, verdict)) = &choice.hole {
        interiors.push(hole.interior);
        weights.push(0.5 * verdict.probability);
    }
    let sides = colour::sides(&interiors, &weights);
    let mut discs = Vec::with_capacity(interiors.len());
    for (i, interior) in interiors.iter().enumerate() {
        let (fit, height_mm, probability, state) = match (fits.get(i), &choice.hole) {
            (Some(fit), _) => (fit, shared.shape.height_mm / 2.0, choice.discs[i].probability, None),
            (None, Some((hole, verdict))) => (&hole.fit, hole::RIM_HEIGHT_MM, verdict.probability, Some(verdict.state)),
            (None, None) => continue,
        };
        let plane_mm = if state.is_some() { hole::RIM_HEIGHT_MM } else { scene.plane_mm };
        let Some(middle_px) = scene.camera.project(fit.at, plane_mm) else { continue };
        let Some(base) = scene.camera.board_at(middle_px, height_mm) else { continue };
        let (side, sure) = sides.sides[i];
        discs.push(DiscFit {
            middle_px,
            middle_height_mm: height_mm,
            covariance_px2: covariance_px2(scene.camera, fit, plane_mm),
            base,
            state: state.unwrap_or(if base.norm() > TIPPING_MM { State::Flat } else { State::Leaning }),
            lab: interior.lab,
            side,
            visible: fit.visible.min(1.0),
            confidence: probability * sure,
        });
    }
    discs.sort_by(|a, b| a.base.norm().total_cmp(&b.base.norm()));
    let sigma = |i: usize| shared.covariance[(i, i)].max(0.0).sqrt();
    Detections {
        set: DiscSet {
            radius_mm: shared.shape.radius_mm,
            radius_sigma_mm: sigma(0),
            height_mm: shared.shape.height_mm,
            height_sigma_mm: sigma(1),
        },
        discs,
        rejected: choice.rejected,
        palette: sides.palette,
    }
}

/// The chosen discs fitted with one shape: as they were read, then read again where they lie and fitted once more.
fn fitted_together(search: &Search<'_>, choice: &Choice) -> (Vec<Fitting>, FittedShape) {
    let scene = &search.scene;
    let mut fits: Vec<Fitting> = choice.discs.iter().map(|c| c.fit.clone()).collect();
    let first = fit_together(&mut fits, &scene.sight, search.shape.shape, &search.prior, &FINE_MM);
    let mut fits: Vec<Fitting> = fits.iter().map(|f| scene.start(&first.shape, f.at)).collect();
    let shared = fit_together(&mut fits, &scene.sight, first.shape, &search.prior, &FINE_MM);
    (fits, shared)
}

/// Covariance of a fitted middle in the picture, px².
fn covariance_px2(camera: &Camera, fit: &Fitting, plane_mm: f64) -> [[f64; 2]; 2] {
    let j = camera.jacobian(fit.at, plane_mm).unwrap_or([[1.0, 0.0], [0.0, 1.0]]);
    let j = nalgebra::Matrix2::new(j[0][0], j[0][1], j[1][0], j[1][1]);
    let c = j * fit.covariance_mm2 * j.transpose();
    [[c[(0, 0)], c[(0, 1)]], [c[(1, 0)], c[(1, 1)]]]
}

/// All that was found on the board.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rejected {
    /// Where, on the board's plane.
    pub base: Point<BoardMm>,
    /// Why not; not kept with a saved scene.
    #[serde(skip)]
    pub reason: &'static str,
    /// Probability that it is a disc all the same, 0 to 0.5: a count that hangs on one of 0.1 wants a person's eye.
    pub probability: f64,
}
