//! Detection: a registered picture to the discs on the board.

pub mod colour;
pub mod evidence;
pub mod fit;
pub mod localise;
mod propose;
mod settle;
pub mod shape;
mod view;

use crate::board::{Side, State};
use crate::capture::Frame;
use crate::geometry::{BoardMm, ImagePx, Point};
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
const HOLE_REACH_MM: f64 = 12.0;
/// A disc's colour in the hole is within this of a colour of play.
const HOLE_COLOUR: f32 = 14.0;
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
    view: TopView,
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
    let prior = fit::ShapePrior { mean: shape, sigma: [0.8, 0.6, 0.35] };
    let mut sure: Vec<fit::Fitting> = Vec::new();
    for s in &kept {
        let apart = sure.iter().all(|f| f.at.distance(s.at) > OVERLAP_SHARE * 2.0 * shape.radius_mm);
        if s.support > SURE_SUPPORT && apart && s.at.norm() > 9.0 && (s.radius_mm - shape.radius_mm).abs() < 2.0 {
            sure.push(scene.start(&shape, s.at));
        }
    }
    let fitted = fit::fit_together(&mut sure, &sight, shape, &prior, &COARSE_MM);
    let mut candidates: Vec<Candidate> = kept
        .into_iter()
        .map(|settled| {
            let mut fit = scene.start(&fitted.shape, settled.at);
            fit::fit_alone(&mut fit, &sight, &fitted.shape, &COARSE_MM);
            let evidence = evidence::measure(&fit, &sight, &fitted.shape);
            let interior = colour::interior(&view, fit.at, fitted.shape.radius_mm);
            let probability = evidence::probability(&settled, &evidence);
            Candidate { settled, fit, evidence, interior, probability }
        })
        .collect();
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let apart_mm = OVERLAP_SHARE * 2.0 * fitted.shape.radius_mm;
    let mut kin: Vec<(Point<BoardMm>, [f32; 3])> = Vec::new();
    for c in candidates.iter().filter(|c| c.probability > SURE_PROBABILITY && c.fit.at.norm() > HOLE_REACH_MM) {
        if kin.iter().all(|(at, _)| at.distance(c.fit.at) > apart_mm) {
            kin.push((c.fit.at, c.interior.lab));
        }
    }
    for c in &mut candidates {
        c.evidence.kin = kin
            .iter()
            .filter(|(at, _)| at.distance(c.fit.at) > apart_mm)
            .map(|(_, lab)| colour::distance(*lab, c.interior.lab))
            .reduce(f32::min)
            .unwrap_or(evidence::NO_KIN);
        c.probability = evidence::probability(&c.settled, &c.evidence);
    }
    Search { scene, view, shape: fitted, prior, candidates }
}

/// Finds the discs.
pub fn detect(frame: &Frame, registration: &Registration, config: &Config) -> Detections {
    let mut search = search(frame, registration, config);
    let camera = &registration.camera;
    let Search { scene, view, shape, prior, candidates } = &mut search;
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut chosen: Vec<&Candidate> = Vec::new();
    let mut rejected = Vec::new();
    let at_hole = |c: &Candidate| c.fit.at.norm() < HOLE_REACH_MM;
    for c in candidates.iter().filter(|c| !at_hole(c)) {
        let reason = if c.probability < 0.5 {
            Some("too little of an outline")
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
    // What lies in the hole must have a colour of play: the hole's own rim makes a circle of nearly a disc's size.
    let seen: Vec<[f32; 3]> = chosen.iter().map(|c| c.interior.lab).collect();
    let palette = colour::sides(&seen, &chosen.iter().map(|c| c.probability).collect::<Vec<_>>()).palette;
    for c in candidates.iter().filter(|c| at_hole(c)) {
        let strange = palette.iter().flatten().map(|p| colour::distance(*p, c.interior.lab)).fold(f32::MAX, f32::min);
        let clear = chosen.iter().all(|k| k.fit.at.distance(c.fit.at) > OVERLAP_SHARE * 2.0 * shape.shape.radius_mm);
        if clear && strange < HOLE_COLOUR && c.probability > 0.5 && c.evidence.spread < 10.0 {
            chosen.push(c);
        } else {
            rejected.push(Rejected { base: c.fit.at, reason: "the hole's own rim" });
        }
    }
    let mut fits: Vec<_> = chosen.iter().map(|c| scene.start(&shape.shape, c.fit.at)).collect();
    let mut shared = fit::fit_together(&mut fits, &scene.sight, shape.shape, prior, &FINE_MM);
    for _ in 0..std::env::var("ROUNDS").map_or(1, |v| v.parse().unwrap_or(1)) {
        fits = fits.iter().map(|c| scene.start(&shared.shape, c.at)).collect();
        shared = fit::fit_together(&mut fits, &scene.sight, shared.shape, prior, &FINE_MM);
    }
    let interiors: Vec<_> = fits.iter().map(|f| colour::interior(view, f.at, shared.shape.radius_mm)).collect();
    let labs: Vec<_> = interiors.iter().map(|i| i.lab).collect();
    let weights: Vec<_> = fits.iter().map(|f| f.visible).collect();
    let sides = colour::sides(&labs, &weights);
    let mut discs = Vec::new();
    for (i, f) in fits.iter().enumerate() {
        let Some(middle_px) = camera.project(f.at, scene.plane_mm) else { continue };
        let half = shared.shape.height_mm / 2.0;
        let Some(base) = camera.board_at(middle_px, half) else { continue };
        let j = camera.jacobian(f.at, scene.plane_mm).unwrap_or([[1.0, 0.0], [0.0, 1.0]]);
        let j = nalgebra::Matrix2::new(j[0][0], j[0][1], j[1][0], j[1][1]);
        let c = f.information.try_inverse().unwrap_or_else(nalgebra::Matrix2::identity);
        let c = j * c * j.transpose();
        discs.push(DiscFit {
            middle_px,
            middle_height_mm: half,
            covariance_px2: [[c[(0, 0)], c[(0, 1)]], [c[(1, 0)], c[(1, 1)]]],
            base,
            state: if f.at.norm() > HOLE_REACH_MM {
                State::Flat
            } else if f.at.norm() < registration.hole_mm - shared.shape.radius_mm + 2.0 {
                State::InHole
            } else {
                State::Leaning
            },
            lab: labs[i],
            side: sides.sides[i].0,
            visible: f.visible,
            confidence: chosen[i].probability,
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
