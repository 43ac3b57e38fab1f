//! The fine fit: outlines measured in the picture itself, all discs of the set together.
//!
//! Across the outline of each disc, in many directions, the picture's colour is read along the outline's normal. Where
//! the colour changes fastest is an edge; which of them is the outline is settled by a robust least-squares fit of all
//! discs' middles with one shape, whose robust scale shrinks from step to step.

use nalgebra::{Matrix2, Matrix2x3, Matrix3, Vector2, Vector3};

use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::planes::Raster;

use super::shape::{Shape, Sight};

/// Directions in which the outline is measured.
pub const DIRECTIONS: usize = 48;
/// Neighbouring lines that are averaged for one direction: noise goes down, the arc of 2 mm is still nearly straight.
const LINES: usize = 3;
/// Samples along a line, symmetric about the outline.
pub const SAMPLES: usize = 21;
/// Distance between them, mm.
pub const STEP_MM: f64 = 0.5;
/// Most edges kept along one line.
const MOST_EDGES: usize = 4;

/// What the picture shows across one outline.
#[derive(Clone, Debug)]
pub struct Profiles {
    /// Colour per direction and sample, inside to outside; sRGB 0 to 255.
    pub colour: Vec<[[f32; 3]; SAMPLES]>,
    /// False where the line leaves the picture.
    pub seen: Vec<bool>,
}

/// An edge on a line across the outline.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineEdge {
    /// Distance beyond the outline as sampled, mm.
    pub offset_mm: f64,
    /// Colour change per sample.
    pub strength: f32,
    /// Direction of the colour change, outwards; unit.
    pub change: [f32; 3],
}

/// A disc in the course of being fitted.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// Where the lines were taken about.
    pub origin: Point<BoardMm>,
    /// Shape whose outline the lines were taken across.
    pub origin_shape: Shape,
    /// Middle as fitted, on the middle plane.
    pub at: Point<BoardMm>,
    /// The lines.
    pub profiles: Profiles,
    /// Edges on each line.
    pub edges: Vec<Vec<LineEdge>>,
    /// Median colour change per sample over all lines: what is ordinary here.
    pub ordinary: f32,
    /// Information about the middle, mm⁻², before scaling by the residual variance.
    pub information: Matrix2<f64>,
    /// Robust residual, mm.
    pub residual_mm: f64,
    /// Share of the outline that was seen as an edge, 0 to 1.
    pub visible: f64,
}

/// Unit vector of direction `k` of [`DIRECTIONS`], with a part of a step added.
fn direction(k: usize, part: f64) -> [f64; 2] {
    let (s, c) = ((k as f64 + part) / DIRECTIONS as f64 * std::f64::consts::TAU).sin_cos();
    [c, s]
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
    pub fn profiles(&self, shape: &Shape, at: Point<BoardMm>) -> Profiles {
        let lean = self.sight.lean(at);
        let mut out = Profiles { colour: vec![[[0.0; 3]; SAMPLES]; DIRECTIONS], seen: vec![true; DIRECTIONS] };
        for k in 0..DIRECTIONS {
            for line in 0..LINES {
                let n = direction(k, (line as f64 - (LINES - 1) as f64 / 2.0) / LINES as f64);
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
        let profiles = self.profiles(shape, at);
        let mut strengths = Vec::with_capacity(DIRECTIONS * SAMPLES);
        let mut edges = Vec::with_capacity(DIRECTIONS);
        for (line, seen) in profiles.colour.iter().zip(&profiles.seen) {
            edges.push(if *seen { line_edges(line, &mut strengths) } else { Vec::new() });
        }
        let ordinary = if strengths.is_empty() {
            1.0
        } else {
            let middle = strengths.len() / 2;
            (*strengths.select_nth_unstable_by(middle, f32::total_cmp).1).max(0.5)
        };
        Fitting {
            origin: at,
            origin_shape: *shape,
            at,
            profiles,
            edges,
            ordinary,
            information: Matrix2::identity(),
            residual_mm: 1.0,
            visible: 0.0,
        }
    }
}

/// Local maxima of the colour change along one line, strongest first; all strengths are added to `strengths`.
fn line_edges(line: &[[f32; 3]; SAMPLES], strengths: &mut Vec<f32>) -> Vec<LineEdge> {
    let mut change = [[0.0f32; 3]; SAMPLES];
    let mut strength = [0.0f32; SAMPLES];
    for j in 2..SAMPLES - 2 {
        change[j] = [0, 1, 2].map(|c| (line[j + 1][c] + line[j + 2][c] - line[j - 1][c] - line[j - 2][c]) / 6.0);
        strength[j] = change[j].iter().map(|v| v * v).sum::<f32>().sqrt();
        strengths.push(strength[j]);
    }
    let mut out: Vec<LineEdge> = Vec::new();
    for j in 3..SAMPLES - 3 {
        let (b, s, a) = (strength[j - 1], strength[j], strength[j + 1]);
        if s < b || s <= a || s < 0.5 {
            continue;
        }
        let curve = b - 2.0 * s + a;
        let shift = if curve < -1e-6 { (0.5 * (b - a) / curve).clamp(-0.5, 0.5) } else { 0.0 };
        out.push(LineEdge {
            offset_mm: (j as f64 - (SAMPLES / 2) as f64 + shift as f64) * STEP_MM,
            strength: s,
            change: change[j].map(|v| v / s),
        });
    }
    out.sort_by(|p, q| q.strength.total_cmp(&p.strength));
    out.truncate(MOST_EDGES);
    out
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
    /// Weight of an edge by its strength alone.
    fn weight(&self, e: &LineEdge) -> f64 {
        let s = (e.strength / (3.0 * self.ordinary)).powi(2) as f64;
        s / (1.0 + s)
    }

    /// Predicted distance of the outline of `shape` at `self.at` beyond the sampled one, and its derivatives by the
    /// shape's radius, height and edge.
    pub fn predicted(&self, sight: &Sight, shape: &Shape, k: usize) -> (f64, [f64; 2], Vector3<f64>) {
        let n = direction(k, 0.0);
        let support = |s: &Shape, at: Point<BoardMm>| {
            let p = s.outline(sight, sight.lean(at), n).offset;
            (at.x + p[0]) * n[0] + (at.y + p[1]) * n[1]
        };
        let lean = sight.lean(self.at);
        let q = (lean[0] * n[0] + lean[1] * n[1]).abs();
        let here = support(shape, self.at) - support(&self.origin_shape, self.origin);
        // d/de of (r - e) + (h/2 - e) q + e sqrt(1 + q²)
        let by_edge = (1.0 + q * q).sqrt() - 1.0 - q;
        (here, n, Vector3::new(1.0, 0.5 * q, by_edge))
    }
}

/// Fits one middle with the shape given.
pub fn fit_alone(disc: &mut Fitting, sight: &Sight, shape: &Shape, scales_mm: &[f64]) {
    for &scale in scales_mm {
        let part = accumulate(disc, sight, shape, scale);
        let Some(inverse) = part.a.try_inverse() else { return };
        let step = inverse * part.r_middle;
        disc.at = disc.at.offset(step[0].clamp(-1.5, 1.5), step[1].clamp(-1.5, 1.5));
        disc.information = part.a;
        disc.residual_mm = part.residual_mm;
        disc.visible = part.visible;
    }
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
    let mut covariance = Matrix3::from_diagonal(&Vector3::from(prior.sigma.map(|s| s * s)));
    for &scale in scales_mm {
        let mut shared = Matrix3::zeros();
        let mut shared_b = Vector3::zeros();
        for (i, s) in prior.sigma.iter().enumerate() {
            shared[(i, i)] += 1.0 / (s * s);
        }
        shared_b += Vector3::new(
            (prior.mean.radius_mm - shape.radius_mm) / prior.sigma[0].powi(2),
            (prior.mean.height_mm - shape.height_mm) / prior.sigma[1].powi(2),
            (prior.mean.edge_mm - shape.edge_mm) / prior.sigma[2].powi(2),
        );
        let mut parts = Vec::with_capacity(discs.len());
        for disc in discs.iter_mut() {
            let part = accumulate(disc, sight, &shape, scale);
            if let Some(inverse) = part.a.try_inverse() {
                // Marginalise the middle (Schur complement). Neighbouring lines and all discs of one picture share
                // light and blur: the shape's information is worth a fraction of what independence would make it.
                shared += part.c - part.b.transpose() * inverse * part.b;
                shared_b += part.r_shape - part.b.transpose() * inverse * part.r_middle;
                parts.push(Some((inverse, part)));
            } else {
                parts.push(None);
            }
        }
        let Some(inverse) = shared.try_inverse() else { break };
        let step = inverse * shared_b;
        covariance = inverse;
        shape.radius_mm += step[0].clamp(-1.5, 1.5);
        shape.height_mm += step[1].clamp(-1.5, 1.5);
        shape.edge_mm = (shape.edge_mm + step[2].clamp(-0.5, 0.5)).clamp(0.5, 3.5);
        for (disc, part) in discs.iter_mut().zip(&parts) {
            let Some((inverse, part)) = part else { continue };
            let move_mm: Vector2<f64> = inverse * (part.r_middle - part.b * step);
            disc.at = disc.at.offset(move_mm[0].clamp(-1.5, 1.5), move_mm[1].clamp(-1.5, 1.5));
            disc.information = part.a;
            disc.residual_mm = part.residual_mm;
            disc.visible = part.visible;
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
    visible: f64,
}

/// Standard deviation of one line's edge position that a weight of 1 stands for, mm.
const LINE_SIGMA_MM: f64 = 0.35;
/// An edge within this of the outline shows it, mm.
const VISIBLE_MM: f64 = 0.8;

fn accumulate(disc: &Fitting, sight: &Sight, shape: &Shape, scale: f64) -> Part {
    let mut part = Part {
        a: Matrix2::identity() * 0.1,
        b: Matrix2x3::zeros(),
        c: Matrix3::zeros(),
        r_middle: Vector2::zeros(),
        r_shape: Vector3::zeros(),
        residual_mm: 0.0,
        visible: 0.0,
    };
    let (mut sum_w, mut sum_wr2) = (1e-6, 0.0);
    let unit = 1.0 / (LINE_SIGMA_MM * LINE_SIGMA_MM);
    for (k, edges) in disc.edges.iter().enumerate() {
        if edges.is_empty() {
            continue;
        }
        let (predicted, n, by_shape) = disc.predicted(sight, shape, k);
        let n = Vector2::new(n[0], n[1]);
        let mut shown = 0.0f64;
        for e in edges {
            let residual = e.offset_mm - predicted;
            let strength = disc.weight(e);
            let robust = 1.0 / (1.0 + (residual / scale).powi(2)).powi(2);
            let w = strength * robust * unit;
            part.a += w * n * n.transpose();
            part.b += w * n * by_shape.transpose();
            part.c += w * by_shape * by_shape.transpose();
            part.r_middle += w * residual * n;
            part.r_shape += w * residual * by_shape;
            sum_w += strength * robust;
            sum_wr2 += strength * robust * residual * residual;
            shown = shown.max(strength * (-0.5 * (residual / VISIBLE_MM).powi(2)).exp());
        }
        part.visible += shown / DIRECTIONS as f64;
    }
    part.residual_mm = (sum_wr2 / sum_w).sqrt();
    part
}
