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
const SCALES_MM: [f64; 4] = [2.4, 1.6, 1.1, 0.8];
/// Edges further from the outline than this are not looked at, mm.
const REACH_MM: f64 = 5.0;
/// An edge supports the outline within this, one sigma, mm,
const NEAR_MM: f64 = 0.7;
/// or within this where pixels are coarser.
const NEAR_PX: f64 = 0.6;
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
    let around = around(view, map, sight, shape, start);
    let mut at = start;
    let mut radius = shape.radius_mm;
    for spread in SCALES_MM {
        let mut normal = Normal3::default();
        let fit = Shape { radius_mm: radius, ..*shape };
        let lean = sight.lean(at);
        for e in &around {
            if let Some((m, residual)) = e.against(&fit, sight, lean, at) {
                let w = e.weight / (1.0 + (residual / spread).powi(2)).powi(2);
                normal.add([m[0], m[1], 1.0], residual, w);
            }
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
    let fit = Shape { radius_mm: radius, ..*shape };
    let lean = sight.lean(at);
    let sigma_mm = NEAR_MM.max(NEAR_PX / view.px_per_mm);
    for e in &around {
        if let Some((m, residual)) = e.against(&fit, sight, lean, at) {
            let turn = m[1].atan2(m[0]).rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU;
            let bin = ((turn * BINS as f64) as usize).min(BINS - 1);
            bins[bin] = bins[bin].max(e.weight * (-0.5 * (residual / sigma_mm).powi(2)).exp());
        }
    }
    Settled { at, radius_mm: radius, support: bins.iter().sum::<f64>() / BINS as f64 }
}

/// An edge point near a candidate, in millimetres.
struct Around {
    at: Point<BoardMm>,
    normal: [f64; 2],
    weight: f64,
}

impl Around {
    /// The outward normal and the distance beyond the outline of `shape` at `middle`, where the edge may belong to it:
    /// an edge that lies elsewhere than its direction says belongs to something else.
    fn against(
        &self,
        shape: &Shape,
        sight: &Sight,
        lean: [f64; 2],
        middle: Point<BoardMm>,
    ) -> Option<([f64; 2], f64)> {
        let rel = [self.at.x - middle.x, self.at.y - middle.y];
        let along = rel[0] * self.normal[0] + rel[1] * self.normal[1];
        let distance2 = rel[0] * rel[0] + rel[1] * rel[1];
        let slack = 0.5 * shape.height_mm * (lean[0].abs() + lean[1].abs());
        if (along.abs() + slack).powi(2) < ALIGNED * ALIGNED * distance2 {
            return None;
        }
        let sign = if along < 0.0 { -1.0 } else { 1.0 };
        let m = self.normal.map(|v| v * sign);
        let point = shape.outline(sight, lean, m).offset;
        let residual = (rel[0] - point[0]) * m[0] + (rel[1] - point[1]) * m[1];
        (residual.abs() < REACH_MM).then_some((m, residual))
    }
}

/// The edges in the ring about `start` where the outline of a disc near there may be.
fn around(view: &TopView, map: &EdgeMap, sight: &Sight, shape: &Shape, start: Point<BoardMm>) -> Vec<Around> {
    let (cx, cy) = view.px(start);
    let lean = sight.lean(start);
    let outer = shape.radius_mm + 0.5 * shape.height_mm * lean[0].hypot(lean[1]) + REACH_MM;
    let inner = shape.radius_mm - REACH_MM;
    let mut out = Vec::with_capacity(256);
    for e in map.near(cx, cy, outer * view.px_per_mm) {
        let at = view.mm(e.x as f64, e.y as f64);
        let distance2 = (at.x - start.x).powi(2) + (at.y - start.y).powi(2);
        if distance2 < outer * outer && distance2 > inner * inner {
            out.push(Around { at, normal: [e.nx as f64, e.ny as f64], weight: map.weight(e) as f64 });
        }
    }
    out
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
