//! The search: all places where a disc may be, measured and weighed.
//!
//! Cheap before dear: votes in the top view, a circle through the edges there, a glance at a quarter of the outline in
//! the picture, and only then the whole outline. On the 100 rendered pictures that leaves about 16 candidates of 80
//! for 11 discs.

use crate::geometry::{BoardMm, Point};
use crate::kernels::planes::Raster;
use crate::register::Registration;

use super::Config;
use super::colour::{self, Ground, Interior};
use super::evidence::{self, Evidence};
use super::fit::{self, COARSE_MM, FittedShape, Fitting, Scene, ShapePrior};
use super::propose::{self, EdgeMap};
use super::settle::{Settled, settle};
use super::shape::{Shape, Sight};
use super::view::TopView;

/// Discs whose middle lies within this of the surface's rim are looked for, mm.
const BEYOND_RIM_MM: f64 = 12.0;
/// The view reaches so much further, for the outlines of those, mm.
const VIEW_MARGIN_MM: f64 = 18.0;
/// Discs touch at two radii and cannot overlap: candidates nearer than this share of it are one.
const OVERLAP_SHARE: f64 = 0.9;
/// Candidates nearer than this are the same, mm.
const SAME_MM: f64 = 5.0;
/// So many candidates are looked at in the picture, best support first. Rendered discs rank 24th at worst.
const MOST_CANDIDATES: usize = 44;
/// Edge support in the top view above which a candidate helps to find the shape of the set.
const SURE_SUPPORT: f64 = 0.5;
/// Such a one has a radius within this of what is expected, mm, or it is something else.
const SURE_RADIUS_MM: f64 = 2.0;
/// Every so-manieth line is read at a glance.
const GLANCE_EVERY: usize = 4;
/// A candidate is worth a full reading when 10 × support + log likelihood at a glance is above this. The least of 1,055
/// rendered discs has -1.05; of what is no disc one in eight gets so far.
const GLANCE: f64 = -1.3;
/// A candidate within this of the centre is the hole, or a disc in or over it, mm.
pub const HOLE_REACH_MM: f64 = 8.0;
/// Candidates surer than this tell the colours of play to the others.
const SURE_PROBABILITY: f64 = 0.8;
/// A fit that moved by more than this is read again where it went, mm.
const REREAD_MM: f64 = 1.0;
/// At most so often.
const MOST_READINGS: usize = 3;
/// Candidates at least this probable but with a likelihood below [`CLEAR_LIKELIHOOD`] are tried from around.
const WORTH_ANOTHER_LOOK: f64 = 0.02;
/// Likelihood of an outline that is clear, see [`Evidence::likelihood`].
const CLEAR_LIKELIHOOD: f32 = -1.1;
/// Starts around an unclear candidate.
const LOOKS: usize = 6;
/// How far around, mm.
const LOOK_MM: f64 = 6.0;

/// A candidate with all that was measured about it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// As found in the top view.
    pub settled: Settled,
    /// As fitted in the picture.
    pub fit: Fitting,
    /// What speaks for it.
    pub evidence: Evidence,
    /// Interior colour.
    pub interior: Interior,
    /// Probability that it is a disc.
    pub probability: f64,
}

/// All candidates of a picture and the scene they were found in.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// Picture and camera.
    pub scene: Scene<'a>,
    /// The picture from above.
    pub view: TopView,
    /// The board's own colours.
    pub ground: Ground,
    /// Colours of the sure discs.
    pub kin: Vec<[f32; 3]>,
    /// The shape from the sure ones.
    pub shape: FittedShape,
    /// What was believed about it before.
    pub prior: ShapePrior,
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// Where a glance was enough.
    pub dismissed: Vec<Point<BoardMm>>,
}

impl Search<'_> {
    /// Discs nearer than this to one another cannot both be, mm.
    pub fn apart_mm(&self) -> f64 {
        OVERLAP_SHARE * 2.0 * self.shape.shape.radius_mm
    }

    /// Fits a candidate from `fit`, read as often as it takes to be read where it lies, and weighs it.
    fn weigh(&self, settled: Settled, mut fit: Fitting) -> Candidate {
        let shape = &self.shape.shape;
        for _ in 1..MOST_READINGS {
            fit::fit_alone(&mut fit, &self.scene.sight, shape, &COARSE_MM);
            if fit.at.distance(fit.origin) < REREAD_MM {
                break;
            }
            fit = self.scene.start(shape, fit.at);
        }
        fit::fit_alone(&mut fit, &self.scene.sight, shape, &COARSE_MM);
        let evidence = evidence::measure(&fit, &self.scene.sight, shape);
        let interior = colour::of_disc(&self.view, &self.ground, &self.scene.sight, &fit, shape);
        let probability = evidence::probability(&settled, &evidence);
        Candidate { settled, fit, evidence, interior, probability }
    }

    /// True when a glance at a few lines does not rule a disc out.
    fn at_a_glance(&self, settled: &Settled) -> bool {
        let mut quick = self.scene.start_coarse(&self.shape.shape, settled.at, GLANCE_EVERY);
        fit::fit_alone(&mut quick, &self.scene.sight, &self.shape.shape, &COARSE_MM);
        let likelihood = evidence::likelihood(&quick, &self.scene.sight, &self.shape.shape);
        10.0 * settled.support + likelihood as f64 > GLANCE
    }

    /// A shadow beside a disc and the disc itself make one outline of nearly the right size: what is not clear is tried
    /// again from around where it was found.
    fn look_around(&self, found: Candidate) -> Candidate {
        if found.probability < WORTH_ANOTHER_LOOK || found.evidence.likelihood > CLEAR_LIKELIHOOD {
            return found;
        }
        let middle = found.fit.at;
        let mut best = found;
        for k in 0..LOOKS {
            let (s, c) = (k as f64 / LOOKS as f64 * std::f64::consts::TAU).sin_cos();
            let start = self.scene.start(&self.shape.shape, middle.offset(LOOK_MM * c, LOOK_MM * s));
            let other = self.weigh(best.settled, start);
            if other.evidence.likelihood > best.evidence.likelihood {
                best = other;
            }
        }
        best
    }

    /// Lets the sure candidates tell the others the colours of play.
    fn compare_colours(&mut self) {
        let apart_mm = self.apart_mm();
        let mut kin: Vec<(Point<BoardMm>, [f32; 3])> = Vec::new();
        for c in &self.candidates {
            let sure = c.probability > SURE_PROBABILITY && c.fit.at.norm() > HOLE_REACH_MM;
            if sure && kin.iter().all(|(at, _)| at.distance(c.fit.at) > apart_mm) {
                kin.push((c.fit.at, c.interior.lab));
            }
        }
        for c in &mut self.candidates {
            c.evidence.kin = kin
                .iter()
                .filter(|(at, _)| at.distance(c.fit.at) > apart_mm)
                .map(|(_, lab)| colour::distance(*lab, c.interior.lab))
                .reduce(f32::min)
                .unwrap_or(evidence::NO_KIN);
            c.probability = evidence::probability(&c.settled, &c.evidence);
        }
        self.kin = kin.into_iter().map(|k| k.1).collect();
    }
}

/// Finds and measures candidates.
pub fn search<'a>(picture: Raster<'a>, registration: &'a Registration, config: &Config) -> Search<'a> {
    let plane_mm = config.shape.height_mm / 2.0;
    let camera = &registration.camera;
    let sight = Sight::of(camera, plane_mm);
    let reach_mm = registration.surface_mm + BEYOND_RIM_MM;
    let mut view = TopView::of(picture, camera, reach_mm + VIEW_MARGIN_MM, plane_mm, config.view_px_per_mm);
    view.planes.smooth();
    let scene = Scene { picture, camera, sight, plane_mm };
    let (shape, settled) = settled_set(&view, &sight, config, reach_mm);
    let prior = ShapePrior { mean: shape, sigma: config.shape_sigma_mm };
    let mut sure: Vec<Fitting> = sure(&settled, &shape).map(|s| scene.start(&shape, s.at)).collect();
    let fitted = fit::fit_together(&mut sure, &sight, shape, &prior, &COARSE_MM);
    let mut bands: Vec<f64> = registration.rings.iter().rev().map(|r| r.inner_mm).collect();
    bands.push(registration.surface_mm);
    let ground = Ground::of(&view, &bands);
    let mut search = Search {
        scene,
        view,
        ground,
        kin: Vec::new(),
        shape: fitted,
        prior,
        candidates: Vec::new(),
        dismissed: Vec::new(),
    };
    for s in settled {
        // The sure ones have been read already.
        let read = sure.iter().find(|f| f.origin == s.at).cloned();
        if read.is_none() && !search.at_a_glance(&s) {
            search.dismissed.push(s.at);
            continue;
        }
        let start = read.unwrap_or_else(|| search.scene.start(&search.shape.shape, s.at));
        let candidate = search.look_around(search.weigh(s, start));
        search.candidates.push(candidate);
    }
    search.candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    search.compare_colours();
    search.candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    search
}

/// So many sure discs of a size out of proportion make a set; one may be something else.
const LEAST_OVERSIZE: usize = 2;

/// The shape to start from and the circles found with it: discs of the usual size, or where none of those is sure and
/// several large ones are, large ones.
fn settled_set(view: &TopView, sight: &Sight, config: &Config, reach_mm: f64) -> (Shape, Vec<Settled>) {
    let map = EdgeMap::of(view);
    let usual = settled(view, &map, sight, &config.shape, config.radii_mm, reach_mm);
    if sure(&usual, &config.shape).next().is_none() {
        let share = config.oversize_mm / config.shape.radius_mm;
        let shape = Shape { radius_mm: config.oversize_mm, ..config.shape };
        let large = settled(view, &map, sight, &shape, config.radii_mm.map(|r| r * share), reach_mm);
        if sure(&large, &shape).count() >= LEAST_OVERSIZE {
            return (shape, large);
        }
    }
    (config.shape, usual)
}

/// Those of `settled` (best first) that are surely discs of about `shape`, none over another.
fn sure<'s>(settled: &'s [Settled], shape: &Shape) -> impl Iterator<Item = &'s Settled> {
    let (radius_mm, mut kept) = (shape.radius_mm, Vec::<Point<BoardMm>>::new());
    settled.iter().filter(move |s| {
        let apart = kept.iter().all(|at| at.distance(s.at) > OVERLAP_SHARE * 2.0 * radius_mm);
        let fits = (s.radius_mm - radius_mm).abs() < SURE_RADIUS_MM && s.at.norm() > HOLE_REACH_MM;
        let sure = s.support > SURE_SUPPORT && fits && apart;
        if sure {
            kept.push(s.at);
        }
        sure
    })
}

/// Circles of a radius in `radii_mm` through the edges of the view, best support first, no two the same.
fn settled(
    view: &TopView,
    map: &EdgeMap,
    sight: &Sight,
    shape: &Shape,
    radii_mm: [f64; 2],
    reach_mm: f64,
) -> Vec<Settled> {
    let mut all: Vec<Settled> = propose::propose(view, map, sight, shape, radii_mm)
        .iter()
        .map(|at| settle(view, map, sight, shape, *at))
        .filter(|s| s.at.norm() < reach_mm)
        .collect();
    all.sort_by(|a, b| b.support.total_cmp(&a.support));
    let mut kept: Vec<Settled> = Vec::new();
    for s in all {
        if kept.len() < MOST_CANDIDATES && kept.iter().all(|k| k.at.distance(s.at) > SAME_MM) {
            kept.push(s);
        }
    }
    kept
}
