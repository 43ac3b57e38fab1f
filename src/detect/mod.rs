//! Detection: a registered picture to the discs on the board.

pub mod colour;
pub mod evidence;
pub mod fit;
pub mod hole;
pub mod localise;
mod propose;
mod settle;
pub mod shape;
mod view;

use crate::board::{Side, State};
use crate::capture::Frame;
use crate::geometry::{BoardMm, Camera, ImagePx, Point};
use crate::kernels::planes::Raster;
use crate::register::Registration;

use propose::EdgeMap;
use shape::Sight;
use view::TopView;

pub use settle::Settled;
pub use shape::Shape;

/// What is believed about discs before any is seen, and how far to look.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The shape of a disc, mm on the scale of the board.
    pub shape: Shape,
    /// Smallest and largest radius of a disc, mm. Measured on real boards: 0.044 to 0.065 of the shooting line's radius.
    pub radii_mm: [f64; 2],
    /// Resolution of the top view, px per mm. Finer costs time with its square; a disc needs about 12 px of radius.
    pub view_px_per_mm: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            shape: Shape { radius_mm: 15.9, height_mm: 9.9, edge_mm: 1.9 },
            radii_mm: [13.4, 19.8],
            view_px_per_mm: 0.8,
        }
    }
}

/// Discs whose middle lies within this of the surface's rim are looked for, mm.
const BEYOND_RIM_MM: f64 = 12.0;
/// Discs touch at two radii and cannot overlap: candidates nearer than this share of it are one.
const OVERLAP_SHARE: f64 = 0.9;
/// Candidates nearer than this are the same, mm.
const SAME_MM: f64 = 5.0;
/// Edge support in the top view above which a candidate helps to find the shape of the set.
const SURE_SUPPORT: f64 = 0.5;
/// A candidate within this of the centre is the hole or a disc in or over it, mm.
const HOLE_REACH_MM: f64 = 8.0;
/// What is as bright as the sensor can tell and further than this from every disc's colour is a reflection.
const GLARE_KIN: f32 = 25.0;
/// With a disc lying this near, nothing else fits into the hole, mm.
const HOLE_CLEAR_MM: f64 = 15.0;
/// A disc hanging over the hole's edge is off the centre by this at least, both at its middle's height and at the
/// surface's, mm: the hole's own rim is not.
const OVERHANG_MM: f64 = 4.0;
/// Its outline is a disc's: log of the mean probability, see [`evidence::Evidence`].
const OVERHANG_LIKELIHOOD: f32 = -1.1;
/// A flat disc's middle cannot be nearer to the hole's than this, mm: it would tip.
const TIPPING_MM: f64 = 7.8;
/// A fit that moved by more than this is read again where it went, mm.
const REREAD_MM: f64 = 1.0;
/// At most so often.
const MOST_READINGS: usize = 3;
/// Candidates at least this probable but with a likelihood below [`CLEAR_LIKELIHOOD`] are tried from around.
const WORTH_ANOTHER_LOOK: f64 = 0.02;
/// Likelihood of an outline that is clear, see [`evidence::Evidence::likelihood`].
const CLEAR_LIKELIHOOD: f32 = -1.1;
/// Starts around an unclear candidate.
const LOOKS: usize = 6;
/// How far around, mm.
const LOOK_MM: f64 = 6.0;
/// Candidates surer than this tell the colours of play to the others.
const SURE_PROBABILITY: f64 = 0.8;
/// Robust scales of the fits, mm.
const COARSE_MM: [f64; 4] = [1.5, 1.2, 0.9, 0.7];
/// See [`COARSE_MM`].
const FINE_MM: [f64; 4] = [0.7, 0.5, 0.4, 0.35];

/// A candidate with all that was measured about it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// As found in the top view.
    pub settled: Settled,
    /// As fitted in the picture.
    pub fit: fit::Fitting,
    /// What speaks for it.
    pub evidence: evidence::Evidence,
    /// Interior colour.
    pub interior: colour::Interior,
    /// Probability that it is a disc.
    pub probability: f64,
}

/// All candidates of a picture and the scene they were found in.
pub struct Search<'a> {
    /// Picture and camera.
    pub scene: fit::Scene<'a>,
    /// The picture from above.
    pub view: TopView,
    /// The board's own colours.
    pub ground: colour::Ground,
    /// Colours of the sure discs.
    pub kin: Vec<[f32; 3]>,
    /// The shape from the sure ones.
    pub shape: fit::FittedShape,
    prior: fit::ShapePrior,
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
}

/// Finds and measures candidates.
pub fn search<'a>(frame: &'a Frame, registration: &'a Registration, config: &Config) -> Search<'a> {
    let shape = config.shape;
    let picture =
        Raster { bytes: frame.rgb.as_raw(), columns: frame.rgb.width() as usize, rows: frame.rgb.height() as usize };
    let plane_mm = shape.height_mm / 2.0;
    let camera = &registration.camera;
    let reach_mm = registration.surface_mm + BEYOND_RIM_MM;
    let sight = Sight::of(camera, plane_mm);
    let mut view = TopView::of(picture, camera, reach_mm + 20.0, plane_mm, config.view_px_per_mm);
    view.planes.smooth();
    let map = EdgeMap::of(&view);
    let proposals = propose::propose(&view, &map, &sight, &shape, config.radii_mm);
    let mut settled: Vec<Settled> = proposals
        .iter()
        .map(|p| settle::settle(&view, &map, &sight, &shape, p.at))
        .filter(|s| s.at.norm() < reach_mm)
        .collect();
    settled.sort_by(|a, b| b.support.total_cmp(&a.support));
    let mut kept: Vec<Settled> = Vec::new();
    for s in settled {
        if kept.iter().all(|k| k.at.distance(s.at) > SAME_MM) {
            kept.push(s);
        }
    }
    let scene = fit::Scene { picture, camera, sight, plane_mm };
    let mut bands: Vec<f64> = registration.rings.iter().rev().map(|r| r.inner_mm).collect();
    bands.push(registration.surface_mm);
    let ground = colour::Ground::of(&view, &bands);
    let prior = fit::ShapePrior { mean: shape, sigma: [0.8, 0.6, 0.35] };
    let mut sure: Vec<fit::Fitting> = Vec::new();
    for s in &kept {
        let apart = sure.iter().all(|f| f.at.distance(s.at) > OVERLAP_SHARE * 2.0 * shape.radius_mm);
        if s.support > SURE_SUPPORT && apart && s.at.norm() > 9.0 && (s.radius_mm - shape.radius_mm).abs() < 2.0 {
            sure.push(scene.start(&shape, s.at));
        }
    }
    let fitted = fit::fit_together(&mut sure, &sight, shape, &prior, &COARSE_MM);
    let mut candidates: Vec<Candidate> =
        kept.into_iter().map(|settled| weigh(&scene, &view, &ground, &fitted.shape, settled, settled.at)).collect();
    // A shadow beside a disc and the disc itself make one outline of nearly the right size: what is not clear is tried
    // again from around where it was found.
    for c in &mut candidates {
        if c.probability < WORTH_ANOTHER_LOOK || c.evidence.likelihood > CLEAR_LIKELIHOOD {
            continue;
        }
        for k in 0..LOOKS {
            let (s, o) = (k as f64 / LOOKS as f64 * std::f64::consts::TAU).sin_cos();
            let start = c.fit.at.offset(LOOK_MM * o, LOOK_MM * s);
            let other = weigh(&scene, &view, &ground, &fitted.shape, c.settled, start);
            if other.evidence.likelihood > c.evidence.likelihood {
                *c = other;
            }
        }
    }
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let apart_mm = OVERLAP_SHARE * 2.0 * fitted.shape.radius_mm;
    let mut kin: Vec<(Point<BoardMm>, [f32; 3])> = Vec::new();
    for c in candidates.iter().filter(|c| c.probability > SURE_PROBABILITY && c.fit.at.norm() > HOLE_REACH_MM) {
        if kin.iter().all(|(at, _)| at.distance(c.fit.at) > apart_mm) {
            kin.push((c.fit.at, c.interior.lab));
        }
    }
    for c in &mut candidates {
        let c_colour = c.interior.lab;
        c.evidence.kin = kin
            .iter()
            .filter(|(at, _)| at.distance(c.fit.at) > apart_mm)
            .map(|(_, lab)| colour::distance(*lab, c_colour))
            .reduce(f32::min)
            .unwrap_or(evidence::NO_KIN);
        c.probability = evidence::probability(&c.settled, &c.evidence);
    }
    let kin = kin.into_iter().map(|k| k.1).collect();
    Search { scene, view, ground, kin, shape: fitted, prior, candidates }
}

/// Fits a candidate from `start`, as often as it takes to be read where it lies, and weighs it.
fn weigh(
    scene: &fit::Scene<'_>,
    view: &TopView,
    ground: &colour::Ground,
    shape: &Shape,
    settled: Settled,
    start: Point<BoardMm>,
) -> Candidate {
    let mut at = start;
    let mut fit = scene.start(shape, at);
    for _ in 0..MOST_READINGS {
        fit::fit_alone(&mut fit, &scene.sight, shape, &COARSE_MM);
        if fit.at.distance(at) < REREAD_MM {
            break;
        }
        at = fit.at;
        fit = scene.start(shape, at);
    }
    fit::fit_alone(&mut fit, &scene.sight, shape, &COARSE_MM);
    let evidence = evidence::measure(&fit, &scene.sight, shape);
    let interior = interior_of(scene, view, ground, &fit, shape);
    let probability = evidence::probability(&settled, &evidence);
    Candidate { settled, fit, evidence, interior, probability }
}

/// Interior colour of a fitted disc.
fn interior_of(
    scene: &fit::Scene<'_>,
    view: &TopView,
    ground: &colour::Ground,
    fit: &fit::Fitting,
    shape: &Shape,
) -> colour::Interior {
    let beyond: Vec<f64> =
        (0..fit::DIRECTIONS).map(|k| fit.predicted(&scene.sight, shape, k).0 / fit::STEP_MM).collect();
    colour::interior(view, ground, fit.at, shape.radius_mm, colour::rim(&fit.profiles, &beyond))
}

/// True where what was taken for a disc at `at` is off the hole's centre, seen at either height.
fn overhangs(scene: &fit::Scene<'_>, at: Point<BoardMm>) -> bool {
    let on_surface = scene.camera.project(at, scene.plane_mm).and_then(|p| scene.camera.board_at(p, 0.0));
    at.norm() > OVERHANG_MM && on_surface.is_some_and(|p| p.norm() > 0.8 * OVERHANG_MM)
}

/// Finds the discs.
pub fn detect(frame: &Frame, registration: &Registration, config: &Config) -> Detections {
    let mut search = search(frame, registration, config);
    let camera = &registration.camera;
    let Search { scene, view, shape, prior, candidates, kin, ground } = &mut search;
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut chosen: Vec<&Candidate> = Vec::new();
    let mut rejected = Vec::new();
    let at_hole = |c: &Candidate| c.fit.at.norm() < HOLE_REACH_MM;
    for c in candidates.iter().filter(|c| !at_hole(c)) {
        let near_hole = c.fit.at.norm() < HOLE_CLEAR_MM;
        let reason = if c.probability < 0.5 {
            Some("too little of an outline")
        } else if near_hole && c.evidence.likelihood < OVERHANG_LIKELIHOOD {
            Some("the hole's rim")
        } else if c.interior.clipped && c.evidence.kin > GLARE_KIN {
            Some("a lamp mirrored in the board")
        } else if chosen.iter().any(|k| k.fit.at.distance(c.fit.at) < OVERLAP_SHARE * 2.0 * shape.shape.radius_mm) {
            Some("overlaps a better candidate")
        } else {
            None
        };
        match reason {
            Some(reason) => rejected.push(Rejected { base: c.fit.at, reason }),
            None => chosen.push(c),
        }
    }
    let limit_mm = chosen.iter().map(|k| k.fit.at.norm()).fold(f64::MAX, f64::min);
    let mut over_hole = None;
    let mut in_hole = None;
    if limit_mm > HOLE_CLEAR_MM {
        let over = candidates.iter().filter(|c| at_hole(c)).max_by(|a, b| a.probability.total_cmp(&b.probability));
        let upright = over.map_or(0.0, |c| c.probability);
        over_hole = over.filter(|c| {
            c.probability > 0.5 && c.evidence.likelihood > OVERHANG_LIKELIHOOD && overhangs(scene, c.fit.at)
        });
        if over_hole.is_none() {
            let hole = hole::measure(scene, view, ground, &shape.shape, registration.hole_mm);
            let strange = kin.iter().map(|k| colour::distance(*k, hole.interior.lab)).reduce(f32::min);
            let verdict = hole::judge(&hole, strange.unwrap_or(evidence::NO_KIN) as f64, upright);
            if verdict.probability > 0.5 {
                in_hole = Some((hole, verdict));
            } else {
                rejected.push(Rejected { base: hole.at, reason: "the hole's own rim and floor" });
            }
        }
    }
    chosen.extend(over_hole);
    let mut fits: Vec<_> = chosen.iter().map(|c| scene.start(&shape.shape, c.fit.at)).collect();
    let mut shared = fit::fit_together(&mut fits, &scene.sight, shape.shape, prior, &FINE_MM);
    for _ in 0..std::env::var("ROUNDS").map_or(1, |v| v.parse().unwrap_or(1)) {
        fits = fits.iter().map(|c| scene.start(&shared.shape, c.at)).collect();
        shared = fit::fit_together(&mut fits, &scene.sight, shared.shape, prior, &FINE_MM);
    }
    let mut interiors: Vec<_> = fits.iter().map(|f| interior_of(scene, view, ground, f, &shared.shape)).collect();
    let mut weights: Vec<_> = fits.iter().map(|f| f.visible).collect();
    if let Some((hole, verdict)) = &in_hole {
        interiors.push(hole.interior);
        weights.push(0.5 * verdict.probability);
    }
    let sides = colour::sides(&interiors, &weights);
    if std::env::var("SIDES").is_ok() {
        println!("PAL {:?}", sides.palette);
        for (i, f) in interiors.iter().zip(&fits) {
            println!("INT ({:.0},{:.0}) {:?}", f.at.x, f.at.y, i);
        }
    }
    let half = shared.shape.height_mm / 2.0;
    let mut discs = Vec::new();
    for (i, f) in fits.iter().enumerate() {
        let Some(middle_px) = camera.project(f.at, scene.plane_mm) else { continue };
        let Some(base) = camera.board_at(middle_px, half) else { continue };
        discs.push(DiscFit {
            middle_px,
            middle_height_mm: half,
            covariance_px2: covariance_px2(camera, f, scene.plane_mm),
            base,
            state: if base.norm() > TIPPING_MM { State::Flat } else { State::Leaning },
            lab: interiors[i].lab,
            side: sides.sides[i].0,
            visible: f.visible,
            confidence: chosen[i].probability * sides.sides[i].1,
        });
    }
    if let Some((hole, verdict)) = &in_hole
        && let Some(middle_px) = camera.project(hole.at, hole::RIM_HEIGHT_MM)
    {
        discs.push(DiscFit {
            middle_px,
            middle_height_mm: hole::RIM_HEIGHT_MM,
            covariance_px2: covariance_px2(camera, &hole.fit, hole::RIM_HEIGHT_MM),
            base: hole.at,
            state: verdict.state,
            lab: hole.interior.lab,
            side: sides.sides[fits.len()].0,
            visible: hole.evidence.visible as f64,
            confidence: verdict.probability * sides.sides[fits.len()].1,
        });
    }
    discs.sort_by(|a, b| a.base.norm().total_cmp(&b.base.norm()));
    Detections {
        set: DiscSet {
            radius_mm: shared.shape.radius_mm,
            radius_sigma_mm: shared.covariance[(0, 0)].sqrt(),
            height_mm: shared.shape.height_mm,
            height_sigma_mm: shared.covariance[(1, 1)].sqrt(),
        },
        discs,
        rejected,
        palette: sides.palette,
    }
}

/// Covariance of a fitted middle in the picture, px².
fn covariance_px2(camera: &Camera, fit: &fit::Fitting, plane_mm: f64) -> [[f64; 2]; 2] {
    let j = camera.jacobian(fit.at, plane_mm).unwrap_or([[1.0, 0.0], [0.0, 1.0]]);
    let j = nalgebra::Matrix2::new(j[0][0], j[0][1], j[1][0], j[1][1]);
    let c = j * fit.covariance_mm2 * j.transpose();
    [[c[(0, 0)], c[(0, 1)]], [c[(1, 0)], c[(1, 1)]]]
}

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
