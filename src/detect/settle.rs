//! From a peak of votes to a circle: a robust fit to the edge points of the top view around it.

use crate::geometry::{BoardMm, Point};

use super::propose::EdgeMap;
use super::shape::{Shape, Sight};
use super::view::TopView;

/// Directions in which the outline is asked for an edge.
const BINS: usize = 36;
/// An edge point belongs to an outline whose normal it has within this cosine (25 degrees).
const ALIGNED: f64 = 0.9;
/// Scales of the robust fit, coarse to fine, mm.
const SCALES_MM: [f64; 5] = [2.4, 1.8, 1.3, 1.0, 0.8];
/// How far the radius of a disc strays from the prior, mm.
const RADIUS_SIGMA_MM: f64 = 1.0;

/// A circle (the outline of a disc of some radius) fitted to edges of the view.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    /// Middle, on the middle plane.
    pub at: Point<BoardMm>,
    /// Radius that fits best.
    pub radius_mm: f64,
    /// Strength-weighted share of the outline that has an edge, 0 to 1.
    pub support: f64,
}

/// Fits a disc of about `shape` near `start`. The radius is free within its prior.
pub fn settle(view: &TopView, map: &EdgeMap, sight: &Sight, shape: &Shape, start: Point<BoardMm>) -> Settled {
    let mut at = start;
    let mut radius = shape.radius_mm;
    let scale = view.px_per_mm;
    for spread in SCALES_MM {
        let mut normal = Normal3::default();
        for (m, residual, weight) in outline_edges(view, map, sight, &Shape { radius_mm: radius, ..*shape }, at) {
            let w = weight / (1.0 + (residual / spread).powi(2)).powi(2);
            normal.add([m[0], m[1], 1.0], residual, w);
        }
        // A vote or two must not tear the radius away; without edges nothing moves.
        let prior = 4.0 / (RADIUS_SIGMA_MM * RADIUS_SIGMA_MM);
        normal.add_prior(2, shape.radius_mm - radius, prior);
        normal.add_prior(0, 0.0, 0.5);
        normal.add_prior(1, 0.0, 0.5);
        let Some(step) = normal.solve() else { break };
        at = at.offset(step[0].clamp(-3.0, 3.0), step[1].clamp(-3.0, 3.0));
        radius = (radius + step[2]).clamp(shape.radius_mm - 3.0, shape.radius_mm + 4.0);
    }
    let mut bins = [0.0f64; BINS];
    for (m, residual, weight) in outline_edges(view, map, sight, &Shape { radius_mm: radius, ..*shape }, at) {
        let turn = m[1].atan2(m[0]).rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU;
        let bin = ((turn * BINS as f64) as usize).min(BINS - 1);
        let near = weight * (-0.5 * (residual / (0.7f64).max(0.6 / scale)).powi(2)).exp();
        bins[bin] = bins[bin].max(near);
    }
    Settled { at, radius_mm: radius, support: bins.iter().sum::<f64>() / BINS as f64 }
}

/// Edges that may belong to the outline of `shape` at `at`: outward normal, distance beyond the outline (mm), weight.
fn outline_edges<'a>(
    view: &'a TopView,
    map: &'a EdgeMap,
    sight: &'a Sight,
    shape: &Shape,
    at: Point<BoardMm>,
) -> impl Iterator<Item = ([f64; 2], f64, f64)> + 'a {
    let shape = *shape;
    let lean = sight.lean(at);
    let (cx, cy) = view.px(at);
    let scale = view.px_per_mm;
    let sideways_mm = 0.5 * shape.height_mm * lean[0].hypot(lean[1]);
    let reach_mm = shape.radius_mm + sideways_mm + 5.0;
    let inner_mm = shape.radius_mm - 5.0;
    map.near(cx, cy, reach_mm * scale).filter_map(move |e| {
        let rel = [(e.x as f64 - cx) / scale, (e.y as f64 - cy) / scale];
        let distance2 = rel[0] * rel[0] + rel[1] * rel[1];
        if distance2 > reach_mm * reach_mm || distance2 < inner_mm * inner_mm {
            return None;
        }
        let along = rel[0] * e.nx as f64 + rel[1] * e.ny as f64;
        // Beside the outline's point with its normal, an edge belongs to something else: the same as asking that its
        // direction from the middle fits its normal.
        if along.abs() < ALIGNED * distance2.sqrt() - sideways_mm {
            return None;
        }
        let sign = if along < 0.0 { -1.0 } else { 1.0 };
        let m = [sign * e.nx as f64, sign * e.ny as f64];
        let point = shape.outline(sight, lean, m);
        let off = [rel[0] - point.offset[0], rel[1] - point.offset[1]];
        let residual = off[0] * m[0] + off[1] * m[1];
        (residual.abs() < 5.0).then(|| (m, residual, map.weight(e) as f64))
    })
}

/// Normal equations in three unknowns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Normal3 {
    a: [[f64; 3]; 3],
    b: [f64; 3],
}

impl Normal3 {
    /// Adds an observation: `row · x = value`, with a weight.
    pub fn add(&mut self, row: [f64; 3], value: f64, weight: f64) {
        for i in 0..3 {
            for j in 0..3 {
                self.a[i][j] += weight * row[i] * row[j];
            }
            self.b[i] += weight * row[i] * value;
        }
    }

    /// Adds a belief about one unknown.
    pub fn add_prior(&mut self, unknown: usize, value: f64, weight: f64) {
        self.a[unknown][unknown] += weight;
        self.b[unknown] += weight * value;
    }

    /// The least-squares solution; None where the equations do not determine it.
    pub fn solve(&self) -> Option<[f64; 3]> {
        let a = nalgebra::Matrix3::from_fn(|i, j| self.a[i][j]);
        let b = nalgebra::Vector3::from(self.b);
        let x = a.cholesky()?.solve(&b);
        x.iter().all(|v| v.is_finite()).then(|| [x[0], x[1], x[2]])
    }
}
