//! The joint solve: one camera and all circles at once, from edge points on the circles.
//!
//! Parameters: focal length, principal point, two radial distortion terms, two tilts, the picture position of the
//! board's centre, its scale, and per line a radius, a half width and a small offset of its own centre (no workshop
//! cuts perfectly concentric rings; a hole or a rim seen from the side is off more). A residual is the distance of an
//! edge point from its circle, measured on the board and brought to pixels with the local scale. What one view cannot tell (focal length
//! against height, distortion against ring proportions) is held by priors and shows in the covariance.

use nalgebra::DMatrix;

use crate::capture::LensHint;
use crate::geometry::robust::{self, Prior, Problem};
use crate::geometry::{BoardMm, Camera, ImagePx, Point};

/// Number of camera parameters, see [`Pose`].
pub const CAMERA_PARAMETERS: usize = 10;
/// Number of parameters of a line: middle, half width, centre x and y.
pub const LINE_PARAMETERS: usize = 4;

/// A circle about the board's centre in the plane of the surface: radius = `middle + side * half`.
///
/// The two edges of one painted line share a middle and a half width; a step has half width 0.
#[derive(Clone, Copy, Debug)]
pub struct CircleLine {
    /// Radius of the line's middle, mm.
    pub middle_mm: f64,
    /// Half the distance between its two edges, mm.
    pub half_mm: f64,
    /// What is believed of the middle, mm.
    pub middle_prior: Prior,
    /// What is believed of the half width, mm.
    pub half_prior: Prior,
    /// Standard deviation of each coordinate of its centre, mm; 0 for a line that is concentric by definition.
    pub centre_sigma_mm: f64,
}

/// An edge point seen in the picture and the circle that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// Where the edge was seen.
    pub at: Point<ImagePx>,
    /// Index of its line.
    pub line: usize,
    /// -1 for the line's inner edge, +1 for the outer, 0 for a step.
    pub side: f64,
    /// Relative weight.
    pub weight: f64,
}

/// What is believed of the camera before looking at the board.
#[derive(Clone, Copy, Debug)]
pub struct CameraPriors {
    /// Expected focal length, px.
    pub focal_px: f64,
    /// Standard deviation of its logarithm.
    pub focal_sigma: f64,
    /// Expected principal point.
    pub principal: Point<ImagePx>,
    /// Standard deviation of each of its coordinates, px.
    pub principal_sigma_px: f64,
    /// The two distortion terms.
    pub distortion: [Prior; 2],
}

/// Ratio of focal length to the picture's longer side for the middle of the lenses that people use: 66 degrees.
const TYPICAL_FOCAL: f64 = 0.77;
/// Spread of its logarithm: webcams and phones are 51 to 80 degrees wide.
const TYPICAL_FOCAL_SIGMA: f64 = 0.15;
/// Lens axes of uncropped cameras miss the picture's centre by about this share of its longer side.
const AXIS_SIGMA: f64 = 0.008;
/// The same where the picture may have been cropped.
const CROPPED_AXIS_SIGMA: f64 = 0.06;
/// Ordinary lenses: barrel distortion up to -0.25, seldom a cushion.
const K1_PRIOR: Prior = Prior { mean: -0.05, sigma: 0.10 };
/// The second term of ordinary lenses is small.
const K2_PRIOR: Prior = Prior { mean: 0.01, sigma: 0.02 };

/// What a dozen views of a sheet leave open of the lens axis, px, and of the distortion.
const MEASURED_AXIS_SIGMA_PX: f64 = 2.0;
const MEASURED_DISTORTION_SIGMA: f64 = 0.01;

impl CameraPriors {
    /// Priors for a picture of `width` x `height` px with what its file says.
    pub fn new(width: f64, height: f64, lens: &LensHint) -> Self {
        let long = width.max(height);
        let (focal_px, focal_sigma) = lens.focal_px.unwrap_or((TYPICAL_FOCAL * long, TYPICAL_FOCAL_SIGMA));
        let axis = if lens.uncropped { AXIS_SIGMA } else { CROPPED_AXIS_SIGMA };
        Self {
            focal_px,
            focal_sigma,
            principal: Point::new((width - 1.0) / 2.0, (height - 1.0) / 2.0),
            principal_sigma_px: axis * long,
            distortion: [K1_PRIOR, K2_PRIOR],
        }
        .measured(lens)
    }

    /// These priors with what a calibration measured.
    fn measured(self, lens: &LensHint) -> Self {
        let Some(measured) = lens.measured else { return self };
        let [x, y] = measured.principal_px;
        Self {
            principal: Point::new(x, y),
            principal_sigma_px: MEASURED_AXIS_SIGMA_PX,
            distortion: measured.distortion.map(|mean| Prior { mean, sigma: MEASURED_DISTORTION_SIGMA }),
            ..self
        }
    }

    /// These priors for the picture resampled by `scale`.
    pub fn rescaled(&self, scale: f64) -> Self {
        Self {
            focal_px: self.focal_px * scale,
            focal_sigma: self.focal_sigma,
            principal: self.principal.rescaled(scale),
            principal_sigma_px: self.principal_sigma_px * scale,
            distortion: self.distortion,
        }
    }
}

/// The camera as a vector: `[ln f, cx, cy, k1, k2, rx, ry, u, v, ln s]` with (u, v) the board's centre in the picture
/// without distortion, s the scale there in px per mm, (rx, ry) the rotation vector (no twist about the axis).
pub fn pack(camera: &Camera) -> [f64; CAMERA_PARAMETERS] {
    let [tx, ty, tz] = camera.translation_mm;
    let r = &camera.rotation;
    // The rotation turns z into the third column about an axis in the picture's plane.
    let (sx, sy) = (-r[1][2], r[0][2]);
    let sine = sx.hypot(sy);
    let angle = sine.atan2(r[2][2]);
    let unit = if sine > 1e-12 { angle / sine } else { 1.0 };
    let f = camera.focal_px;
    [
        f.ln(),
        camera.principal.x,
        camera.principal.y,
        camera.k1,
        camera.k2,
        sx * unit,
        sy * unit,
        camera.principal.x + f * tx / tz,
        camera.principal.y + f * ty / tz,
        (f / tz).ln(),
    ]
}

/// The inverse of [`pack`].
pub fn unpack(x: &[f64]) -> Camera {
    let f = x[0].exp();
    let tz = f / x[9].exp();
    Camera {
        focal_px: f,
        principal: Point::new(x[1], x[2]),
        k1: x[3],
        k2: x[4],
        rotation: rotation(x[5], x[6]),
        translation_mm: [(x[7] - x[1]) * tz / f, (x[8] - x[2]) * tz / f, tz],
    }
}

/// Rotation by the vector (rx, ry, 0).
fn rotation(rx: f64, ry: f64) -> [[f64; 3]; 3] {
    let angle = rx.hypot(ry);
    if angle < 1e-12 {
        return [[1.0, 0.0, ry], [0.0, 1.0, -rx], [-ry, rx, 1.0]];
    }
    let (s, c) = angle.sin_cos();
    let (x, y) = (rx / angle, ry / angle);
    let k = 1.0 - c;
    [[c + x * x * k, x * y * k, y * s], [x * y * k, c + y * y * k, -x * s], [-y * s, x * s, c]]
}

/// The solved camera and lines.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The camera.
    pub camera: Camera,
    /// The lines with their solved radii.
    pub lines: Vec<CircleLine>,
    /// All parameters: the camera's, then those of each line.
    pub x: Vec<f64>,
    /// Their posterior covariance.
    pub covariance: DMatrix<f64>,
    /// Scale of good residuals, px.
    pub sigma_px: f64,
    /// Final cost.
    pub cost: f64,
    /// How many neighbouring observations share one error.
    pub correlated: f64,
    /// Residual of every observation, px.
    pub residuals: Vec<f64>,
}

/// Neighbouring edge points along a circle share the errors of grain, print and workshop: how many count as one is
/// read off the residuals, within these bounds.
const CORRELATED: (f64, f64) = (2.0, 40.0);
/// Edge points further apart than this share nothing.
const LONGEST_LAG: usize = 40;
/// A correlation below this is none.
const UNCORRELATED: f64 = 0.05;
/// No edge is located better than this, px.
const FLOOR_PX: f64 = 0.05;

/// Solves for camera and lines. None where the observations do not suffice.
pub fn solve(
    start: &Camera,
    lines: &[CircleLine],
    observations: &[Observation],
    priors: &CameraPriors,
    iterations: usize,
    correlated: f64,
) -> Option<Solved> {
    if observations.len() < 24 {
        return None;
    }
    let scales: Vec<f64> = observations.iter().map(|o| radial_scale(start, o.at).unwrap_or(f64::NAN)).collect();
    let weights: Vec<f64> = observations.iter().map(|o| o.weight).collect();
    let residuals = |x: &[f64], out: &mut [f64]| {
        let camera = unpack(x);
        for (r, o) in out.iter_mut().zip(observations) {
            let line = &x[CAMERA_PARAMETERS + LINE_PARAMETERS * o.line..][..LINE_PARAMETERS];
            *r =
                off_circle(&camera, o.at, Point::new(line[2], line[3]), line[0] + o.side * line[1]).unwrap_or(f64::NAN);
        }
    };
    // A line's own parameters act on its own points alone, and simply; the camera's are differentiated numerically.
    let directions: Vec<(f64, f64)> = observations
        .iter()
        .map(|o| start.board_at(o.at, 0.0).map_or((0.0, 0.0), |p| (p.x / p.norm(), p.y / p.norm())))
        .collect();
    let derivative = |index: usize, _: &[f64], out: &mut [f64]| {
        let Some(index) = index.checked_sub(CAMERA_PARAMETERS) else { return false };
        let (line, which) = (index / LINE_PARAMETERS, index % LINE_PARAMETERS);
        for (i, (d, o)) in out.iter_mut().zip(observations).enumerate() {
            let factor = [1.0, o.side, directions[i].0, directions[i].1][which];
            *d = if o.line == line { -factor * scales[i] } else { 0.0 };
        }
        true
    };
    let free = Prior { mean: 0.0, sigma: f64::INFINITY };
    let mut prior = vec![
        Prior { mean: priors.focal_px.ln(), sigma: priors.focal_sigma },
        Prior { mean: priors.principal.x, sigma: priors.principal_sigma_px },
        Prior { mean: priors.principal.y, sigma: priors.principal_sigma_px },
        priors.distortion[0],
        priors.distortion[1],
        free,
        free,
        free,
        free,
        free,
    ];
    let mut x = pack(start).to_vec();
    let mut steps = vec![1e-4, 0.05, 0.05, 1e-4, 1e-4, 1e-5, 1e-5, 0.01, 0.01, 1e-5];
    for line in lines {
        x.extend([line.middle_mm, line.half_mm, 0.0, 0.0]);
        let centre = Prior { mean: 0.0, sigma: line.centre_sigma_mm };
        prior.extend([line.middle_prior, line.half_prior, centre, centre]);
        steps.extend([0.005; LINE_PARAMETERS]);
    }
    let problem = Problem {
        residuals: &residuals,
        observations: observations.len(),
        weights: &weights,
        priors: &prior,
        steps: &steps,
        derivative: &derivative,
        floor: FLOOR_PX,
        correlated,
    };
    let solution = robust::solve(&problem, &x, iterations)?;
    let mut left = vec![0.0; observations.len()];
    residuals(&solution.x, &mut left);
    let correlated = correlation(observations, &left, solution.sigma);
    let camera = unpack(&solution.x);
    let lines = lines
        .iter()
        .enumerate()
        .map(|(i, line)| CircleLine {
            middle_mm: solution.x[CAMERA_PARAMETERS + LINE_PARAMETERS * i],
            half_mm: solution.x[CAMERA_PARAMETERS + LINE_PARAMETERS * i + 1],
            ..*line
        })
        .collect();
    (camera.height_mm() > 50.0).then_some(Solved {
        camera,
        lines,
        x: solution.x,
        covariance: solution.covariance,
        sigma_px: solution.sigma,
        cost: solution.cost,
        correlated,
        residuals: left,
    })
}

/// How many neighbours share one error: the integrated autocorrelation `1 + 2 Σ ρ(k)` of the residuals along the circles,
/// up to the first lag at which nothing is left of it.
fn correlation(observations: &[Observation], residuals: &[f64], sigma: f64) -> f64 {
    let same = |a: &Observation, b: &Observation| a.line == b.line && a.side == b.side;
    let mut sum = 1.0;
    for lag in 1..=LONGEST_LAG {
        let (mut together, mut alone) = (0.0, 1e-12);
        for (i, (first, r)) in observations.iter().zip(residuals).enumerate() {
            let (Some(second), Some(q)) = (observations.get(i + lag), residuals.get(i + lag)) else { break };
            if same(first, second) && r.abs() < 3.0 * sigma && q.abs() < 3.0 * sigma {
                together += r * q;
                alone += (r * r + q * q) / 2.0;
            }
        }
        let share = together / alone;
        if share < UNCORRELATED {
            break;
        }
        sum += 2.0 * share;
    }
    sum.clamp(CORRELATED.0, CORRELATED.1)
}

/// Distance of the picture point `at` from a circle on the board, px, outwards positive.
///
/// Measured in the picture: with distances on the board brought to pixels by a fixed scale, a solve gains by shrinking
/// the board under its noise, and distortion terms drift upwards.
fn off_circle(camera: &Camera, at: Point<ImagePx>, centre: Point<BoardMm>, radius_mm: f64) -> Option<f64> {
    let p = camera.board_at(at, 0.0)?;
    let (dx, dy) = (p.x - centre.x, p.y - centre.y);
    let rho = dx.hypot(dy).max(1e-9);
    let on = camera.project(centre.offset(dx / rho * radius_mm, dy / rho * radius_mm), 0.0)?;
    Some(on.distance(at).copysign(rho - radius_mm))
}

/// Pixels per millimetre along the radius at the picture point `at`.
fn radial_scale(camera: &Camera, at: Point<ImagePx>) -> Option<f64> {
    let p: Point<BoardMm> = camera.board_at(at, 0.0)?;
    let norm = p.norm().max(1e-6);
    let ahead = camera.project(p.offset(p.x / norm, p.y / norm), 0.0)?;
    Some(ahead.distance(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn camera() -> Camera {
        unpack(&[900f64.ln(), 640.0, 480.0, -0.08, 0.01, 0.3, -0.2, 600.0, 500.0, 0.0])
    }

    #[test]
    fn a_packed_camera_unpacks_to_itself() {
        let before = camera();
        let after = unpack(&pack(&before));
        for (a, b) in [(before.focal_px, after.focal_px), (before.k1, after.k1)] {
            assert_relative_eq!(a, b, epsilon = 1e-9);
        }
        for i in 0..3 {
            assert_relative_eq!(before.translation_mm[i], after.translation_mm[i], epsilon = 1e-6);
            for j in 0..3 {
                assert_relative_eq!(before.rotation[i][j], after.rotation[i][j], epsilon = 1e-9);
            }
        }
    }

    #[test]
    fn exact_circles_give_back_camera_and_ring_proportions() {
        let truth = camera();
        let held = |mm: f64, sigma: f64| CircleLine {
            middle_mm: mm,
            half_mm: 0.0,
            middle_prior: Prior { mean: mm, sigma },
            half_prior: Prior { mean: 0.0, sigma: 0.0 },
            centre_sigma_mm: 0.0,
        };
        let lines = [held(304.8, 0.0), held(200.0, 20.0), held(100.0, 10.0)];
        let mut observations = Vec::new();
        for (line, radius) in [304.8, 210.0, 97.0].into_iter().enumerate() {
            for i in 0..90 {
                let a = f64::from(i) * 0.0698;
                let at = truth.project(Point::new(radius * a.cos(), radius * a.sin()), 0.0).unwrap();
                observations.push(Observation { at, line, side: 0.0, weight: 1.0 });
            }
        }
        let priors = CameraPriors {
            focal_px: 900.0,
            focal_sigma: 0.1,
            principal: Point::new(640.0, 480.0),
            principal_sigma_px: 5.0,
            distortion: [K1_PRIOR, K2_PRIOR],
        };
        let mut start = pack(&truth);
        start[5] += 0.05;
        start[7] += 4.0;
        start[9] += 0.02;
        let solved = solve(&unpack(&start), &lines, &observations, &priors, 40, 2.0).unwrap();
        assert_relative_eq!(solved.lines[1].middle_mm, 210.0, epsilon = 0.2);
        assert_relative_eq!(solved.lines[2].middle_mm, 97.0, epsilon = 0.2);
        let foot = truth.foot().distance(solved.camera.foot());
        assert!(foot < 12.0, "{foot} mm");
    }
}
