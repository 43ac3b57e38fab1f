//! The fine fit: outlines measured in the picture itself, all discs of the set together.
//!
//! Across the outline of each disc, in many directions, the picture's colour is read along the outline's normal. Where
//! the colour changes fastest is an edge; which of them is the outline is settled by a robust least-squares fit of all
//! discs' middles with one shape, whose robust scale shrinks from step to step.

use std::sync::LazyLock;

use nalgebra::{Matrix2, Matrix2x3, Matrix3, Vector2, Vector3};

use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::planes::Raster;

use super::localise::{Likelihood, localise};
use super::shape::{Shape, Sight};

/// Directions in which the outline is measured.
pub const DIRECTIONS: usize = 48;
/// Neighbouring lines that are averaged for one direction: noise goes down, the arc of 2 mm is still nearly straight.
const LINES: usize = 3;
/// Samples along a line, symmetric about the outline.
pub const SAMPLES: usize = 21;
/// Distance between them, mm.
pub const STEP_MM: f64 = 0.5;

/// Robust scales of a fit that may have to move, mm.
pub const COARSE_MM: [f64; 4] = [1.5, 1.2, 0.9, 0.7];
/// Robust scales of a fit that is nearly there, mm.
pub const FINE_MM: [f64; 4] = [0.7, 0.5, 0.4, 0.35];

/// What the picture shows across one outline.
#[derive(Clone, Debug)]
pub struct Profiles {
    /// Colour per direction and sample, inside to outside; sRGB 0 to 255.
    pub colour: Vec<[[f32; 3]; SAMPLES]>,
    /// False where the line leaves the picture.
    pub seen: Vec<bool>,
}

/// A disc in the course of being fitted.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// Where the lines were taken about.
    pub origin: Point<BoardMm>,
    /// How far along its direction, from the board's centre, each line's middle lies, mm.
    pub reach_mm: Vec<f64>,
    /// Middle as fitted, on the middle plane.
    pub at: Point<BoardMm>,
    /// The lines.
    pub profiles: Profiles,
    /// Where the outline may be on each line.
    pub lines: Vec<Option<Likelihood>>,
    /// Covariance of the middle, mm², what is not known of the shape included.
    pub covariance_mm2: Matrix2<f64>,
    /// Robust residual, mm.
    pub residual_mm: f64,
    /// Share of the outline that was seen as an edge, 0 to 1.
    pub visible: f64,
}

/// Unit vectors of all lines, [`LINES`] a direction.
static LINE_NORMALS: LazyLock<[[f64; 2]; DIRECTIONS * LINES]> = LazyLock::new(|| {
    std::array::from_fn(|line| {
        let middle = (LINES - 1) as f64 / 2.0;
        let (s, c) = ((line as f64 - middle) / (DIRECTIONS * LINES) as f64 * std::f64::consts::TAU).sin_cos();
        [c, s]
    })
});

/// Unit vector of direction `k` of [`DIRECTIONS`].
pub fn direction(k: usize) -> [f64; 2] {
    LINE_NORMALS[k * LINES + LINES / 2]
}

/// The picture, the camera and the plane on which discs are fitted.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The picture.
    pub picture: Raster<'a>,
    /// Its camera.
    pub camera: &'a Camera,
    /// How the camera sees the middle plane.
    pub sight: Sight,
    /// Height of the middle plane above the playing surface, mm.
    pub plane_mm: f64,
}

impl Scene<'_> {
    /// Reads the lines across the outline of `shape` at `at`.
    pub fn profiles(&self, shape: &Shape, at: Point<BoardMm>, every: usize) -> Profiles {
        let lean = self.sight.lean(at);
        let mut out = Profiles { colour: vec![[[0.0; 3]; SAMPLES]; DIRECTIONS], seen: vec![true; DIRECTIONS] };
        for k in 0..DIRECTIONS {
            if k % every != 0 {
                out.seen[k] = false;
                continue;
            }
            for line in 0..LINES {
                let n = LINE_NORMALS[k * LINES + line];
                let point = shape.outline(&self.sight, lean, n).offset;
                let start = at.offset(point[0], point[1]);
                let ends = (
                    self.camera.project(start, self.plane_mm),
                    self.camera.project(start.offset(n[0], n[1]), self.plane_mm),
                );
                let (Some(p), Some(q)) = ends else {
                    out.seen[k] = false;
                    continue;
                };
                let step = [((q.x - p.x) * STEP_MM) as f32, ((q.y - p.y) * STEP_MM) as f32];
                for (j, colour) in out.colour[k].iter_mut().enumerate() {
                    let o = j as f32 - (SAMPLES / 2) as f32;
                    match self.picture.sample(p.x as f32 + step[0] * o, p.y as f32 + step[1] * o) {
                        Some(c) => (0..3).for_each(|i| colour[i] += c[i] / LINES as f32),
                        None => out.seen[k] = false,
                    }
                }
            }
        }
        out
    }

    /// A disc ready to be fitted.
    pub fn start(&self, shape: &Shape, at: Point<BoardMm>) -> Fitting {
        self.start_coarse(shape, at, 1)
    }

    /// The same from every `every`th line alone.
    pub fn start_coarse(&self, shape: &Shape, at: Point<BoardMm>, every: usize) -> Fitting {
        let profiles = self.profiles(shape, at, every);
        let lines = localise(&profiles, self.sight.lean(at));
        let reach_mm = (0..DIRECTIONS).map(|k| support(&self.sight, shape, at, direction(k))).collect();
        Fitting {
            origin: at,
            reach_mm,
            at,
            profiles,
            lines,
            covariance_mm2: Matrix2::identity(),
            residual_mm: 1.0,
            visible: 0.0,
        }
    }
}

/// How far along `n` from the board's centre the outline of `shape` at `at` reaches, mm.
fn support(sight: &Sight, shape: &Shape, at: Point<BoardMm>, n: [f64; 2]) -> f64 {
    let p = shape.outline(sight, sight.lean(at), n).offset;
    (at.x + p[0]) * n[0] + (at.y + p[1]) * n[1]
}

/// What is believed about the shape: means and standard deviations, mm.
#[derive(Clone, Copy, Debug)]
pub struct ShapePrior {
    /// Expected shape.
    pub mean: Shape,
    /// Standard deviation of radius, height, edge.
    pub sigma: [f64; 3],
}

/// The shared shape with its covariance (radius, height, edge), mm².
#[derive(Clone, Copy, Debug)]
pub struct FittedShape {
    /// The shape.
    pub shape: Shape,
    /// Its covariance.
    pub covariance: Matrix3<f64>,
}

impl Fitting {
    /// How far beyond the middle of each line the outline of `shape` at `self.at` lies, mm.
    pub fn all_predicted(&self, sight: &Sight, shape: &Shape) -> Vec<f64> {
        (0..DIRECTIONS).map(|k| support(sight, shape, self.at, direction(k)) - self.reach_mm[k]).collect()
    }

    /// Predicted distance of the outline of `shape` at `self.at` beyond the sampled one, and its derivatives by the
    /// shape's radius, height and edge.
    fn predicted(&self, sight: &Sight, shape: &Shape, k: usize) -> (f64, [f64; 2], Vector3<f64>) {
        let n = direction(k);
        let lean = sight.lean(self.at);
        let q = (lean[0] * n[0] + lean[1] * n[1]).abs();
        let here = support(sight, shape, self.at, n) - self.reach_mm[k];
        // d/de of (r - e) + (h/2 - e) q + e sqrt(1 + q²)
        let by_edge = (1.0 + q * q).sqrt() - 1.0 - q;
        (here, n, Vector3::new(1.0, 0.5 * q, by_edge))
    }
}

/// Neighbouring lines, and all discs of one picture, share light and blur: what they say about the shape counts for this
/// share of what independent lines would say. More and the height follows the light, less and it stays at the prior.
const SHAPE_SHARE: f64 = 0.12;
/// Of that, this much is believed where a standard deviation is given: with it the radius' error over its sigma has its
/// 68 % point at 1 on rendered pictures.
const SHAPE_HONESTY: f64 = 0.4;
/// The variance of a middle is this many times what independent lines would give, for the same reason.
const LINE_CORRELATION: f64 = 3.0;
/// Share of its outline seen of a disc in the open. Where less is, lines beside each other err together: the standard
/// deviation grows as the share falls (seen on rendered discs below 0.45: 1.4 times what independent lines give).
const WELL_SEEN: f64 = 0.65;
/// No middle is better known than this, mm².
const LEAST_VARIANCE_MM2: f64 = 0.004;

/// Fits one middle with the shape given.
pub fn fit_alone(disc: &mut Fitting, sight: &Sight, shape: &Shape, scales_mm: &[f64]) {
    for (i, &scale) in scales_mm.iter().enumerate() {
        let part = accumulate(disc, sight, shape, scale);
        let Some(inverse) = part.a.try_inverse() else { return };
        if i + 1 == scales_mm.len() {
            disc.visible = visible(disc, sight, shape);
        }
        let step = inverse * part.r_middle;
        disc.at = disc.at.offset(step[0].clamp(-1.5, 1.5), step[1].clamp(-1.5, 1.5));
        disc.covariance_mm2 = middle_covariance(inverse, &part, disc.visible, &Matrix3::zeros());
        disc.residual_mm = part.residual_mm;
    }
}

/// Covariance of a middle: what the lines say, as correlated as they are, and what is not known of the shape.
fn middle_covariance(inverse: Matrix2<f64>, part: &Part, visible: f64, shape: &Matrix3<f64>) -> Matrix2<f64> {
    let gain = inverse * part.b;
    let unseen = (WELL_SEEN / visible.max(0.05)).max(1.0);
    inverse * (LINE_CORRELATION * unseen * unseen)
        + Matrix2::identity() * LEAST_VARIANCE_MM2
        + gain * shape * gain.transpose()
}

/// Fits all middles and the one shape, robust scale shrinking through `scales_mm`.
pub fn fit_together(
    discs: &mut [Fitting],
    sight: &Sight,
    start: Shape,
    prior: &ShapePrior,
    scales_mm: &[f64],
) -> FittedShape {
    let mut shape = start;
    let belief = Matrix3::from_diagonal(&Vector3::from(prior.sigma.map(|s| 1.0 / (s * s))));
    let mut covariance = Matrix3::from_diagonal(&Vector3::from(prior.sigma.map(|s| s * s)));
    for (i, &scale) in scales_mm.iter().enumerate() {
        let mut shared = Matrix3::zeros();
        let mut shared_b = Vector3::zeros();
        shared += belief;
        shared_b += Vector3::new(
            (prior.mean.radius_mm - shape.radius_mm) / prior.sigma[0].powi(2),
            (prior.mean.height_mm - shape.height_mm) / prior.sigma[1].powi(2),
            (prior.mean.edge_mm - shape.edge_mm) / prior.sigma[2].powi(2),
        );
        let mut parts = Vec::with_capacity(discs.len());
        for disc in discs.iter_mut() {
            let part = accumulate(disc, sight, &shape, scale);
            if i + 1 == scales_mm.len() {
                disc.visible = visible(disc, sight, &shape);
            }
            if let Some(inverse) = part.a.try_inverse() {
                // Marginalise the middle (Schur complement).
                shared += SHAPE_SHARE * (part.c - part.b.transpose() * inverse * part.b);
                shared_b += SHAPE_SHARE * (part.r_shape - part.b.transpose() * inverse * part.r_middle);
                parts.push(Some((inverse, part)));
            } else {
                parts.push(None);
            }
        }
        let Some(inverse) = shared.try_inverse() else { break };
        let step = inverse * shared_b;
        let honest = belief + (shared - belief) * SHAPE_HONESTY;
        covariance = honest.try_inverse().unwrap_or(inverse);
        shape.radius_mm += step[0].clamp(-1.5, 1.5);
        shape.height_mm += step[1].clamp(-1.5, 1.5);
        shape.edge_mm = (shape.edge_mm + step[2].clamp(-0.5, 0.5)).clamp(0.5, 3.5);
        for (disc, part) in discs.iter_mut().zip(&parts) {
            let Some((inverse, part)) = part else { continue };
            let move_mm: Vector2<f64> = inverse * (part.r_middle - part.b * step);
            disc.at = disc.at.offset(move_mm[0].clamp(-1.5, 1.5), move_mm[1].clamp(-1.5, 1.5));
            disc.covariance_mm2 = middle_covariance(*inverse, part, disc.visible, &covariance);
            disc.residual_mm = part.residual_mm;
        }
    }
    FittedShape { shape, covariance }
}

struct Part {
    a: Matrix2<f64>,
    b: Matrix2x3<f64>,
    c: Matrix3<f64>,
    r_middle: Vector2<f64>,
    r_shape: Vector3<f64>,
    residual_mm: f64,
}

/// Probability within this of the outline shows it, mm.
const VISIBLE_MM: f64 = 0.6;
/// A line is never trusted to better than this, mm.
const LEAST_SIGMA_MM: f64 = 0.15;
/// Probability near the outline at which a line has half its weight.
const HALF_MASS: f64 = 0.15;

fn accumulate(disc: &Fitting, sight: &Sight, shape: &Shape, scale: f64) -> Part {
    let mut part = Part {
        a: Matrix2::identity() * 0.1,
        b: Matrix2x3::zeros(),
        c: Matrix3::zeros(),
        r_middle: Vector2::zeros(),
        r_shape: Vector3::zeros(),
        residual_mm: 0.0,
    };
    let (mut sum_w, mut sum_wr2) = (1e-6, 0.0);
    for (k, line) in disc.lines.iter().enumerate() {
        let Some(line) = line else { continue };
        let (predicted, n, by_shape) = disc.predicted(sight, shape, k);
        let n = Vector2::new(n[0], n[1]);
        // The likelihood as seen through a window of the robust scale about the prediction.
        let [mass, mean, square] = line.through(predicted, scale);
        let mass = mass + 1e-9;
        let mean = mean / mass;
        let variance = (square / mass - mean * mean).max(1e-4).min(0.9 * scale * scale);
        // Undo what the window did to a normal distribution.
        let own = (variance * scale * scale / (scale * scale - variance)).clamp(LEAST_SIGMA_MM * LEAST_SIGMA_MM, 4.0);
        let residual = (mean * (own + scale * scale) / (scale * scale)).clamp(-2.0, 2.0);
        let w = mass / (mass + HALF_MASS) / own;
        part.a += w * n * n.transpose();
        part.b += w * n * by_shape.transpose();
        part.c += w * by_shape * by_shape.transpose();
        part.r_middle += w * residual * n;
        part.r_shape += w * residual * by_shape;
        sum_w += w;
        sum_wr2 += w * residual * residual;
    }
    part.residual_mm = (sum_wr2 / sum_w).sqrt();
    part
}

/// Share of the outline of `shape` at `disc.at` that the lines show.
fn visible(disc: &Fitting, sight: &Sight, shape: &Shape) -> f64 {
    let mut out = 0.0;
    for (k, line) in disc.lines.iter().enumerate() {
        let Some(line) = line else { continue };
        out += line.through(disc.predicted(sight, shape, k).0, VISIBLE_MM)[0] / DIRECTIONS as f64;
    }
    out
}
