//! Registration: a picture to where the board is.
//!
//! In: a [`Frame`](crate::capture::Frame). Out: a [`Registration`], the camera that looks at the board, the rings
//! measured on it, and how far both may be wrong. Where a person pointed at the board, it is looked for there alone.

mod finish;
pub mod identify;
pub mod lines;
mod orient;
pub mod rings;
pub mod seed;
pub mod solve;
pub mod start;
mod still;

use std::sync::Arc;

use image::RgbImage;
use serde::{Deserialize, Serialize};

use crate::board::{Line, SHOOTING_LINE_MM};
use crate::capture::Frame;
use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::edges::{Edge, Rank, edges};
use crate::kernels::picture::{MOST_BLOCK, shrink};
use identify::Identified;
use rings::Profile;
use solve::CameraPriors;
use start::{Start, StartError};
pub(crate) use still::Anchors;

/// Settings of the registration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Length of the picture's longer side, px, at which the board is first looked for.
    pub search_px: f64,
    /// Where a person says that the board is.
    pub start: Option<Arc<Start>>,
}

impl Default for Config {
    fn default() -> Self {
        Self { search_px: 720.0, start: None }
    }
}

/// Why there is no registration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotFound {
    /// Too small to look at.
    #[error("the picture is only {width} x {height} px; a board needs at least 100 px")]
    TooSmall {
        /// px
        width: u32,
        /// px
        height: u32,
    },
    /// Nothing round with the rings of a board.
    #[error("no crokinole board: nothing in the picture has its hole and three rings in the right proportion")]
    NoRings,
    /// A person's points do not lie on a board's lines in this picture.
    #[error("the board is not where it was pointed at: {0}")]
    NotAtStart(#[from] StartError),
}

/// Where the board is.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// What was followed, for tracking. It is not kept: tracking starts from a registration of the same run.
    #[serde(skip, default = "Identified::nothing")]
    pub(crate) state: Identified,
    /// Where the edges were, to tell whether the board still lies there.
    #[serde(skip)]
    pub(crate) anchors: Anchors,
}

impl Registration {
    /// Inner edges of the scoring lines, mm, outermost first.
    pub fn inner_mm(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| self.rings[i].inner_mm)
    }

    /// Centres of the scoring lines, outermost first.
    pub fn centres(&self) -> [Point<BoardMm>; 3] {
        [0, 1, 2].map(|i| self.rings[i].centre)
    }
}

/// One scoring line as painted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ring {
    /// Which line.
    pub line: Line,
    /// Centre of the line: the board's, but for what the workshop left. The shooting line is concentric by definition.
    pub centre: Point<BoardMm>,
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Deviation {
    /// The camera as it would then be.
    pub camera: Camera,
    /// Inner edges of the lines as they would then be, mm, outermost first.
    pub inner_mm: [f64; 3],
    /// Centres of the lines as they would then be, outermost first.
    pub centres: [Point<BoardMm>; 3],
}

/// How good a registration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// RMS residual over all rings, px.
    pub residual_px: f64,
    /// Mean share of the three lines' circumference that was seen, 0 to 1.
    pub coverage: f64,
    /// Evidence for a board's pattern of rings, at most 3.9.
    pub score: f64,
    /// How far the quadrant lines stand out of the ring they cross, in typical deviations.
    pub quadrants: f64,
    /// How far the pegs stand out of the 15 line, in typical deviations.
    pub pegs: f64,
}

/// Looks for a board in `frame`.
///
/// # Errors
/// [`NotFound`] with the reason where there is none, or where it cannot be told apart from other round things.
pub fn register(frame: &Frame, config: &Config) -> Result<Registration, NotFound> {
    let (width, height) = (frame.rgb.width(), frame.rgb.height());
    if width.min(height) < 100 {
        return Err(NotFound::TooSmall { width, height });
    }
    let priors = CameraPriors::new(f64::from(width), f64::from(height), &frame.lens);
    let long = f64::from(width.max(height));
    let mut factor = (long / config.search_px).round().clamp(1.0, MOST_BLOCK as f64) as u32;
    if let Some(start) = &config.start {
        return Ok(start::register(&frame.rgb, &priors, start, factor)?);
    }
    loop {
        let small = shrink(&frame.rgb, factor);
        let scale = 1.0 / f64::from(factor);
        if let Some(found) = find(&small, &priors.rescaled(scale)) {
            let identified = closer(&frame.rgb, found, factor);
            if let Some(board) = finish::finish(&frame.rgb, &priors, &identified, &COLD_GATES_PX).filter(is_board) {
                return Ok(board);
            }
        }
        // A small board needs a finer look, up to where its lines are a pixel wide.
        if factor == 1 || long / f64::from(factor) > FINEST_SEARCH * config.search_px {
            return Err(NotFound::NoRings);
        }
        factor = (factor / 2).max(1);
    }
}

/// Below this many pixels a millimetre the shooting line and the rim, 25 mm apart, are near enough to be mixed up.
const MIXED_UP_PX_PER_MM: f64 = 0.5;

/// What was found in the picture shrunk by `factor`, in the picture itself; looked at once more at twice the size where
/// its lines were hard to tell apart.
fn closer(picture: &RgbImage, found: Identified, factor: u32) -> Identified {
    let px_per_mm = found.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(f64::INFINITY);
    let finer = (factor / 2).max(1);
    let mut best = Identified { camera: found.camera.rescaled(f64::from(factor)), ..found };
    if factor > 1 && px_per_mm < MIXED_UP_PX_PER_MM {
        let camera = best.camera.rescaled(1.0 / f64::from(finer));
        if let Some(again) = look(&shrink(picture, finer), &camera).filter(|again| again.score > LEAST_SCORE) {
            best = Identified { camera: again.camera.rescaled(f64::from(finer)), ..again };
        }
    }
    best
}

/// The search stops at pictures this many times longer than the first one searched.
const FINEST_SEARCH: f64 = 3.0;

/// Follows the board from its place in an earlier picture of the same camera: cheaper than [`register`], and bound to
/// a board that moved by a few pixels at most. One that did not move at all keeps its registration.
///
/// # Errors
/// [`NotFound`] where the rings are no longer where they were.
pub fn track(frame: &Frame, before: &Registration) -> Result<Registration, NotFound> {
    if before.anchors.hold(&frame.rgb) {
        return Ok(before.clone());
    }
    let (width, height) = (f64::from(frame.rgb.width()), f64::from(frame.rgb.height()));
    let priors = CameraPriors::new(width, height, &frame.lens);
    finish::finish(&frame.rgb, &priors, &before.state, &TRACK_GATES_PX).filter(is_board).ok_or(NotFound::NoRings)
}

/// Edges are searched within these distances in turn, px of the level of one to two pixels a millimetre.
const COLD_GATES_PX: [f64; 4] = [5.0, 3.0, 2.0, 1.6];
/// The same for a board that was there in the last picture.
const TRACK_GATES_PX: [f64; 2] = [3.0, 1.6];

/// Share of its circumference on which each line must be seen.
const LEAST_COVERAGE: f64 = 0.3;
/// What must come together for a board; the fields are those of [`Quality`].
struct Marks {
    score: f64,
    pegs: f64,
    quadrants: f64,
}

/// Any one of these makes a board. Pictures without one reach: plates 3.5 with pegs 2.7 and quadrants 3; an engraved
/// plate 3.1 with 4.1 and 16; targets 2.4 with 3.6 and 36 (the numbers through their rings); a dartboard 1.7 with 15.
const MARKS: [Marks; 3] = [
    Marks { score: 2.3, pegs: 5.0, quadrants: 0.0 },
    Marks { score: 2.65, pegs: 0.0, quadrants: 30.0 },
    Marks { score: 3.2, pegs: 0.0, quadrants: 8.0 },
];

/// Whether what was fitted is a board at all: all three lines, and pegs or quadrant lines where only boards have them.
fn is_board(found: &Registration) -> bool {
    let q = &found.quality;
    let seen = found.rings.iter().all(|r| r.coverage > LEAST_COVERAGE);
    tracing::debug!(score = q.score, pegs = q.pegs, quadrants = q.quadrants, coverage = q.coverage, "board?");
    seen && MARKS.iter().any(|m| q.score > m.score && q.pegs > m.pegs && q.quadrants > m.quadrants)
}

/// Seeds that are followed up with the picture itself.
const SEEDS: usize = 6;
/// Evidence that a board must show, of 3.9 at most (see `identify`).
const LEAST_SCORE: f64 = 2.3;

/// Evidence that no wrong guess reaches: further seeds are not tried.
const SURE_SCORE: f64 = 3.3;

/// The best identified board in a picture.
///
/// Strong edges show it, as a rule; in a dim and grainy picture those that go on along a line do.
pub fn find(picture: &RgbImage, priors: &CameraPriors) -> Option<Identified> {
    [Rank::Strength, Rank::Continuity].into_iter().find_map(|rank| find_by(rank, picture, priors))
}

fn find_by(rank: Rank, picture: &RgbImage, priors: &CameraPriors) -> Option<Identified> {
    let edges = edges(picture, 2.5, 10, rank);
    let (width, height) = (f64::from(picture.width()), f64::from(picture.height()));
    let seeds = seed::seeds(&edges, width, height, priors.focal_px, priors.principal);
    let mut best: Option<Identified> = None;
    for seed in distinct(&seeds) {
        let Some(found) = followed(picture, &edges, &seed.camera, priors, LEAST_SCORE) else { continue };
        if best.as_ref().is_none_or(|b| found.score > b.score) {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|b| b.score > SURE_SCORE) {
            break;
        }
    }
    best.filter(|b| b.score > LEAST_SCORE)
}

/// What a first guess comes to: sharpened by the edges, its circles named, solved and looked at again as long as that
/// shows more. One that shows less than `least` is not followed any further.
fn followed(
    picture: &RgbImage,
    edges: &[Edge],
    guess: &Camera,
    priors: &CameraPriors,
    least: f64,
) -> Option<Identified> {
    let mut camera = identify::sharpen(edges, guess, priors).unwrap_or_else(|| guess.clone());
    let mut found = look(picture, &camera)?;
    for _ in 0..POLISHINGS {
        if found.score > SURE_SCORE || found.score < least {
            break;
        }
        let Some(polished) = finish::polish(picture, priors, &found, POLISH_GATE_PX) else { break };
        camera = polished;
        match look(picture, &camera) {
            Some(again) if again.score > found.score => found = again,
            _ => break,
        }
    }
    Some(found)
}

/// How often a promising board is solved and looked at again, and how far from the guess its edges may be, px.
const POLISHINGS: usize = 3;
const POLISH_GATE_PX: f64 = 6.0;

/// Names the circles that `camera` shows.
fn look(picture: &RgbImage, camera: &Camera) -> Option<Identified> {
    let px_per_mm = camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0)?;
    let profile = Profile::new(picture, camera, 6.0, 760.0, 0.5 / px_per_mm, 1.0);
    identify::identify(&profile, camera)
}

/// The best seeds that differ in place, tilt or scale.
fn distinct(seeds: &[seed::Seed]) -> Vec<&seed::Seed> {
    let mut out: Vec<&seed::Seed> = Vec::new();
    for s in seeds {
        let same = |o: &&seed::Seed| {
            let differ = |radius: f64, angle: f64| {
                let at = Point::new(radius * angle.cos(), radius * angle.sin());
                match (s.camera.project(at, 0.0), o.camera.project(at, 0.0)) {
                    (Some(a), Some(b)) => a.distance(b),
                    _ => f64::INFINITY,
                }
            };
            let scale = s.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(1.0);
            (0..4).all(|i| differ(SHOOTING_LINE_MM, f64::from(i) * 1.571) < 6.0 * scale)
        };
        if !out.iter().any(same) {
            out.push(s);
            if out.len() == SEEDS {
                break;
            }
        }
    }
    out
}
