//! Where a painted line begins and ends: the mean profile across each line, blur taken off.
//!
//! The strongest change across a thin line lies outside its true edge, by up to the lens's blur. So the profile across
//! the line, averaged all the way round, is fitted with what it physically is: a level inside, a level on the line, a
//! level outside, both edges blurred by the same Gaussian; one blur for all three lines of a picture. Width and blur
//! are partly alike in what they do, so both carry priors, and the inner edge's standard deviation says what is left.

use image::RgbImage;

use crate::geometry::robust::{self, Prior, Problem};
use crate::geometry::{Camera, Point};
use crate::kernels::picture::sample;

/// A line to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Painted {
    /// Radius of the middle as solved, mm.
    pub middle_mm: f64,
    /// Channel weights that bring out the line.
    pub weights: [f32; 3],
    /// Expected width, mm.
    pub width_mm: f64,
    /// Its standard deviation, mm.
    pub width_sigma_mm: f64,
}

/// A measured line.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Radius of the inner edge, mm.
    pub inner_mm: f64,
    /// Its standard deviation, mm.
    pub inner_sigma_mm: f64,
    /// Radius of the outer edge, mm.
    pub outer_mm: f64,
}

/// Half the length of a profile, px, and the distance of its samples.
const HALF_PX: f64 = 6.0;
const STEP_PX: f64 = 0.25;
/// Directions that a profile averages.
const DIRECTIONS: usize = 240;
/// Blur of a picture that was neither shaken nor sharpened, px: the pixel's own square, the demosaicing, the lens.
const BLUR: Prior = Prior { mean: 0.66, sigma: 0.17 };
/// Profiles are scaled to a contrast of one. No lens blurs like a Gaussian to better than this share of it; told that
/// it did, the fit would read the width off the curvature of the flanks, and be wrong by half a millimetre.
const PROFILE_FLOOR: f64 = 0.08;
/// Parameters of a line: shift and width (px), levels inside, on and outside the line.
const LINE_PARAMETERS: usize = 5;

/// Measures up to three lines together; None for one that does not stand out.
pub fn measure(picture: &RgbImage, camera: &Camera, lines: &[Option<Painted>; 3]) -> [Option<Measured>; 3] {
    let profiles = lines.map(|line| line.and_then(|line| Profile::new(picture, camera, &line)));
    let used: Vec<usize> = (0..3).filter(|&i| profiles[i].is_some()).collect();
    let data: Vec<&Profile> = profiles.iter().flatten().collect();
    let mut out = [None; 3];
    if data.is_empty() {
        return out;
    }
    let samples = data[0].values.len();
    let residuals = |x: &[f64], out: &mut [f64]| {
        for (i, profile) in data.iter().enumerate() {
            let p = &x[1 + LINE_PARAMETERS * i..][..LINE_PARAMETERS];
            let block = &mut out[i * samples..(i + 1) * samples];
            for (j, (r, value)) in block.iter_mut().zip(&profile.values).enumerate() {
                *r = model(p, x[0], j as f64 * STEP_PX - HALF_PX) - value;
            }
        }
    };
    let free = Prior { mean: 0.0, sigma: f64::INFINITY };
    let (mut start, mut priors, mut steps) = (vec![BLUR.mean], vec![BLUR], vec![1e-3]);
    for (profile, &index) in data.iter().zip(&used) {
        let Some(line) = lines[index] else { continue };
        let width = line.width_mm * profile.px_per_mm;
        let (inside, on, outside) = profile.levels();
        start.extend([0.0, width, inside, on, outside]);
        let spread = line.width_sigma_mm * profile.px_per_mm;
        priors.extend([Prior { mean: 0.0, sigma: 1.5 }, Prior { mean: width, sigma: spread }, free, free, free]);
        steps.extend([1e-3, 1e-3, 1e-3, 1e-3, 1e-3]);
    }
    let weights = vec![1.0; samples * data.len()];
    let problem = Problem {
        residuals: &residuals,
        observations: weights.len(),
        weights: &weights,
        priors: &priors,
        steps: &steps,
        derivative: &|_, _, _| false,
        floor: PROFILE_FLOOR,
        correlated: 1.0 / STEP_PX,
    };
    let Some(solution) = robust::solve(&problem, &start, 30) else { return out };
    for (i, (profile, &index)) in data.iter().zip(&used).enumerate() {
        let at = 1 + LINE_PARAMETERS * i;
        let (shift, width) = (solution.x[at], solution.x[at + 1].max(0.0));
        let c = &solution.covariance;
        let variance = c[(at, at)] + c[(at + 1, at + 1)] / 4.0 - c[(at, at + 1)];
        let Some(line) = lines[index] else { continue };
        let inner = line.middle_mm + (shift - width / 2.0) / profile.px_per_mm;
        out[index] = Some(Measured {
            inner_mm: inner,
            inner_sigma_mm: variance.max(0.0).sqrt() / profile.px_per_mm,
            outer_mm: inner + width / profile.px_per_mm,
        });
    }
    out
}

/// Level at `d` px outside the middle as solved.
fn model(p: &[f64], blur: f64, d: f64) -> f64 {
    let blur = blur.max(0.1);
    let inner = normal_cdf((d - p[0] + p[1] / 2.0) / blur);
    let outer = normal_cdf((d - p[0] - p[1] / 2.0) / blur);
    p[2] + (p[3] - p[2]) * inner + (p[4] - p[3]) * outer
}

/// Cumulative normal distribution (logistic approximation with cubic term, Page 1977: off by at most 1.4e-4).
fn normal_cdf(z: f64) -> f64 {
    1.0 / (1.0 + (-z * (1.5976 + 0.070_565_6 * z * z)).exp())
}

/// The mean across a line.
struct Profile {
    /// Level at `STEP_PX` steps from `-HALF_PX` to `HALF_PX`, scaled so that its span is one.
    values: Vec<f64>,
    px_per_mm: f64,
}

impl Profile {
    /// Median over all directions in which the whole profile lies in the picture. None where the picture is flat.
    fn new(picture: &RgbImage, camera: &Camera, line: &Painted) -> Option<Self> {
        let samples = (2.0 * HALF_PX / STEP_PX) as usize + 1;
        let mut columns: Vec<Vec<f32>> = Vec::with_capacity(DIRECTIONS);
        let mut scales = 0.0;
        for i in 0..DIRECTIONS {
            let (sin, cos) = (i as f64 / DIRECTIONS as f64 * std::f64::consts::TAU).sin_cos();
            let at = |mm: f64| camera.project(Point::new(mm * cos, mm * sin), 0.0);
            let (Some(middle), Some(ahead)) = (at(line.middle_mm), at(line.middle_mm + 1.0)) else { continue };
            let scale = ahead.distance(middle);
            let (ux, uy) = ((ahead.x - middle.x) / scale, (ahead.y - middle.y) / scale);
            let column: Option<Vec<f32>> = (0..samples)
                .map(|j| {
                    let d = j as f64 * STEP_PX - HALF_PX;
                    sample(picture, middle.x + d * ux, middle.y + d * uy, line.weights)
                })
                .collect();
            if let Some(column) = column {
                columns.push(column);
                scales += scale;
            }
        }
        if columns.len() < DIRECTIONS / 8 {
            return None;
        }
        // Each direction about its own mean: slow shading round the board is not noise.
        for column in &mut columns {
            let mean = column.iter().sum::<f32>() / samples as f32;
            column.iter_mut().for_each(|v| *v -= mean);
        }
        let mut across = Vec::with_capacity(columns.len());
        let values: Vec<f64> = (0..samples)
            .map(|j| {
                across.clear();
                across.extend(columns.iter().map(|c| c[j]));
                trimmed_mean(&mut across)
            })
            .collect();
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        let span = high - low;
        (span > 0.5).then(|| Self {
            values: values.iter().map(|v| v / span).collect(),
            px_per_mm: scales / columns.len() as f64,
        })
    }

    /// Levels at the inner end, in the middle, at the outer end.
    fn levels(&self) -> (f64, f64, f64) {
        let n = self.values.len();
        let mean = |from: usize, to: usize| self.values[from..to].iter().sum::<f64>() / (to - from) as f64;
        (mean(0, n / 4), self.values[n / 2], mean(n - n / 4, n))
    }
}

/// Mean of the middle half.
fn trimmed_mean(values: &mut [f32]) -> f64 {
    values.sort_unstable_by(f32::total_cmp);
    let n = values.len();
    let middle = &values[n / 4..n - n / 4];
    middle.iter().map(|v| f64::from(*v)).sum::<f64>() / middle.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    /// A flat board straight below, one pixel a millimetre, one dark line with exact coverage of pixels.
    fn ring(radius: f64, width: f64) -> (RgbImage, Camera) {
        let camera = Camera {
            focal_px: 1000.0,
            principal: Point::new(249.5, 249.5),
            k1: 0.0,
            k2: 0.0,
            rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            translation_mm: [0.0, 0.0, 1000.0],
        };
        let picture = RgbImage::from_fn(500, 500, |x, y| {
            let mut dark = 0;
            for i in 0..8 {
                for j in 0..8 {
                    let p = (
                        f64::from(x) - 249.5 + (f64::from(i) - 3.5) / 8.0,
                        f64::from(y) - 249.5 + (f64::from(j) - 3.5) / 8.0,
                    );
                    dark += u32::from((p.0.hypot(p.1) - radius).abs() < width / 2.0);
                }
            }
            Rgb([(180.0 - 130.0 * f64::from(dark) / 64.0) as u8; 3])
        });
        (picture, camera)
    }

    #[test]
    fn the_inner_edge_of_a_line_is_found_within_its_standard_deviation() {
        for width in [1.2, 1.8, 3.0] {
            let (picture, camera) = ring(150.0, width);
            let painted = Painted { middle_mm: 150.2, weights: [0.577; 3], width_mm: 1.7, width_sigma_mm: 0.6 };
            let found = measure(&picture, &camera, &[Some(painted), None, None])[0].unwrap();
            let error = found.inner_mm - (150.0 - width / 2.0);
            assert!(error.abs() < 0.35, "width {width}: {found:?} is off by {error}");
            assert!(error.abs() < 3.0 * found.inner_sigma_mm, "width {width}: {found:?}");
        }
    }

    #[test]
    fn a_flat_picture_has_no_line() {
        let (_, camera) = ring(150.0, 1.0);
        let picture = RgbImage::from_pixel(500, 500, Rgb([90; 3]));
        let painted = Painted { middle_mm: 150.0, weights: [0.577; 3], width_mm: 1.7, width_sigma_mm: 0.5 };
        assert!(measure(&picture, &camera, &[Some(painted), None, None])[0].is_none());
    }
}
