//! Rings in the picture: which radii carry edges, and where exactly each edge runs.
//!
//! Along many directions from the board's centre the picture is sampled on the board's plane. Averaged over the
//! directions, even a faint line stands out of the grain (its gradient keeps its sign all the way round); single
//! directions then give the edge points for the joint solve.

use image::RgbImage;
use rayon::prelude::*;

use super::solve::Observation;
use crate::geometry::{Camera, ImagePx, Point};
use crate::kernels::picture::{sample, sample_rgb};

/// How consistently the picture changes across the circles about the centre.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Radius of the first entry, mm.
    pub from_mm: f64,
    /// Distance of entries, mm.
    pub step_mm: f64,
    /// Per radius and channel: mean outward change over its RMS, -1 to 1: +-1 where every direction agrees.
    pub coherence: Vec<[f32; 3]>,
    /// Per radius and channel: mean outward change, grey levels a pixel, outliers clipped.
    pub change: Vec<[f32; 3]>,
    /// Share of directions that lie in the picture, 0 to 1.
    pub inside: Vec<f32>,
}

/// Directions that a profile averages.
const DIRECTIONS: usize = 120;

impl Profile {
    /// Samples radii `from_mm` to `to_mm` in steps of `step_mm`; changes are taken over +-`reach_px`.
    pub fn new(picture: &RgbImage, camera: &Camera, from_mm: f64, to_mm: f64, step_mm: f64, reach_px: f64) -> Self {
        let count = (((to_mm - from_mm) / step_mm) as usize).clamp(1, 4000);
        let px_per_mm = camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(1.0);
        let reach = (reach_px / px_per_mm / step_mm).max(1.0).round() as usize;
        let columns: Vec<Vec<Option<[f32; 3]>>> = (0..DIRECTIONS)
            .into_par_iter()
            .map(|i| {
                let (sin, cos) = (i as f64 / DIRECTIONS as f64 * std::f64::consts::TAU).sin_cos();
                (0..count + 2 * reach)
                    .map(|j| {
                        let radius = from_mm + (j as f64 - reach as f64) * step_mm;
                        let p = camera.project(Point::new(radius * cos, radius * sin), 0.0)?;
                        sample_rgb(picture, p.x, p.y)
                    })
                    .collect()
            })
            .collect();
        let norm = 1.0 / (2 * reach) as f32 / (step_mm * px_per_mm) as f32;
        let mut out = Self {
            from_mm,
            step_mm,
            coherence: Vec::with_capacity(count),
            change: Vec::with_capacity(count),
            inside: Vec::with_capacity(count),
        };
        let mut changes: Vec<f32> = Vec::with_capacity(DIRECTIONS);
        for j in 0..count {
            let (mut coherence, mut change) = ([0.0; 3], [0.0; 3]);
            let mut inside = 0;
            for channel in 0..3 {
                changes.clear();
                for column in &columns {
                    if let (Some(before), Some(after)) = (column[j], column[j + 2 * reach]) {
                        changes.push((after[channel] - before[channel]) * norm);
                    }
                }
                inside = changes.len();
                (coherence[channel], change[channel]) = coherent(&mut changes);
            }
            out.coherence.push(coherence);
            out.change.push(change);
            out.inside.push(inside as f32 / DIRECTIONS as f32);
        }
        out
    }

    /// Number of radii.
    pub fn len(&self) -> usize {
        self.coherence.len()
    }

    /// True when there is no radius.
    pub fn is_empty(&self) -> bool {
        self.coherence.is_empty()
    }

    /// Index of a radius, where the profile has it.
    pub fn index(&self, radius_mm: f64) -> Option<usize> {
        let i = ((radius_mm - self.from_mm) / self.step_mm).round();
        (i >= 0.0 && (i as usize) < self.len()).then_some(i as usize)
    }

    /// Radius of an index, mm.
    pub fn radius_mm(&self, index: usize) -> f64 {
        self.from_mm + index as f64 * self.step_mm
    }

    /// Signed coherence of the channel that agrees best at an index, discounted where less than half of the circle
    /// lies in the picture.
    pub fn strongest(&self, index: usize) -> f32 {
        let c = self.coherence[index];
        let best = c.into_iter().fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a });
        best * (self.inside[index] * 2.0).min(1.0)
    }

    /// Channel weights that bring out the change at an index: unit vector along the mean change.
    pub fn weights(&self, index: usize) -> [f32; 3] {
        let c = self.change[index];
        let norm = (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]).sqrt();
        if norm < 1e-6 { [0.299, 0.587, 0.114] } else { c.map(|v| v / norm) }
    }
}

/// Mean over RMS, and mean, of values clipped at three times their median size.
fn coherent(values: &mut [f32]) -> (f32, f32) {
    if values.len() < 12 {
        return (0.0, 0.0);
    }
    let mut sizes: Vec<f32> = values.iter().map(|v| v.abs()).collect();
    let middle = sizes.len() / 2;
    let clip = 3.0 * sizes.select_nth_unstable_by(middle, f32::total_cmp).1.max(0.15);
    let (mut sum, mut square) = (0.0f64, 0.0f64);
    for v in values.iter() {
        let v = f64::from(v.clamp(-clip, clip));
        sum += v;
        square += v * v;
    }
    let n = values.len() as f64;
    let (mean, rms) = (sum / n, (square / n).sqrt());
    // Noise of half a grey level must not pass for agreement.
    ((mean / (rms + 0.1)) as f32, mean as f32)
}

/// A circular edge to be followed round the board.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    /// Radius, mm.
    pub radius_mm: f64,
    /// +1 where the weighted channels grow outwards, -1 where they fall.
    pub sign: f32,
    /// Channel weights.
    pub weights: [f32; 3],
    /// Index of the line in the solve, and the side of it.
    pub line: usize,
    /// -1 inner edge, +1 outer, 0 step.
    pub side: f64,
    /// Weight of its observations.
    pub weight: f64,
}

/// Half the width of the derivative filter, and the distance of its samples, as shares of the unit.
const FILTER: f64 = 1.0;
const STEP: f64 = 0.5;

/// A short line in the picture along which an edge is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Where the edge is expected.
    pub at: Point<ImagePx>,
    /// Unit vector across the edge.
    pub along: [f64; 2],
    /// Channel weights: the edge is where the weighted sum grows along the line.
    pub weights: [f32; 3],
}

impl Crossing {
    /// The crossing of the circle of `radius_mm` in the direction `turn_rad`, outwards. None outside the camera's view.
    pub fn of_circle(camera: &Camera, radius_mm: f64, turn_rad: f64, weights: [f32; 3]) -> Option<Self> {
        let (sin, cos) = turn_rad.sin_cos();
        let seen = |mm: f64| camera.project(Point::new(mm * cos, mm * sin), 0.0);
        Some(Self::between(seen(radius_mm)?, seen(radius_mm + 1.0)?, weights))
    }

    /// The crossing at `at` in the direction of `ahead`.
    pub fn between(at: Point<ImagePx>, ahead: Point<ImagePx>, weights: [f32; 3]) -> Self {
        let length = ahead.distance(at);
        Self { at, along: [(ahead.x - at.x) / length, (ahead.y - at.y) / length], weights }
    }

    /// The strongest growth within `gate` units: its distance from where it was expected, px, and its strength. A unit of
    /// `unit_px` is as fine as the edge is looked at. `values` is room to work in.
    pub fn find(&self, picture: &RgbImage, gate: f64, unit_px: f64, values: &mut Vec<f32>) -> Option<(f64, f32)> {
        let lag = (2.0 * FILTER / STEP) as usize;
        let half = (gate / STEP).ceil() as usize;
        let place = |j: f64| self.at.offset(j * STEP * unit_px * self.along[0], j * STEP * unit_px * self.along[1]);
        values.clear();
        for j in 0..2 * half + 1 + lag {
            let p = place(j as f64 - (half + lag / 2) as f64);
            values.push(sample(picture, p.x, p.y, self.weights)?);
        }
        let change = |j: usize| values[j + lag] - values[j];
        let (mut best, mut top) = (0.0f32, None);
        for j in 0..=2 * half {
            let d = (j as f64 - half as f64) * STEP / gate;
            let value = change(j) * (1.0 - 0.5 * (d * d) as f32);
            if value > best {
                (best, top) = (value, Some(j));
            }
        }
        let j = top.filter(|&j| j > 0 && j < 2 * half)?;
        let (a, b, c) = (change(j - 1), change(j), change(j + 1));
        let bend = a - 2.0 * b + c;
        let shift = if bend < -1e-6 { f64::from(0.5 * (a - c) / bend).clamp(-1.0, 1.0) } else { 0.0 };
        Some(((j as f64 + shift - half as f64) * STEP * unit_px, b))
    }
}

/// Follows `track` in `directions` directions: in each, the strongest change of the track's sign within `gate_px`.
pub fn follow(picture: &RgbImage, camera: &Camera, track: &Track, gate_px: f64, directions: usize) -> Vec<Observation> {
    let weights = track.weights.map(|w| w * track.sign);
    let mut values = Vec::new();
    let found: Vec<(Point<ImagePx>, f32)> = (0..directions)
        .filter_map(|i| {
            let turn_rad = (i as f64 + 0.5) / directions as f64 * std::f64::consts::TAU;
            let crossing = Crossing::of_circle(camera, track.radius_mm, turn_rad, weights)?;
            let (d, strength) = crossing.find(picture, gate_px, 1.0, &mut values)?;
            Some((crossing.at.offset(d * crossing.along[0], d * crossing.along[1]), strength))
        })
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    // Edges much weaker or much stronger than the ring's usual one are something else (a disc's rim, a shadow).
    let mut strengths: Vec<f32> = found.iter().map(|f| f.1).collect();
    let middle = strengths.len() / 2;
    let usual = *strengths.select_nth_unstable_by(middle, f32::total_cmp).1;
    found
        .into_iter()
        .filter(|(_, s)| *s > 0.3 * usual && *s < 4.0 * usual)
        .map(|(at, _)| Observation { at, line: track.line, side: track.side, weight: track.weight })
        .collect()
}
