//! How the board lies turned: quadrant lines between the 10 line and the shooting line, pegs on the 15 line.
//!
//! Both repeat themselves round the board, four and eight times: the picture along the ring is folded onto one repeat
//! by the median, so that a few discs, a hand or two missing pegs change nothing.

use image::RgbImage;

use crate::geometry::{Camera, Point};
use crate::kernels::picture::sample_rgb;

/// Samples round the board: eighth of a degree.
const SAMPLES: usize = 2880;

/// Direction of one quadrant line in the board's frame, radians in [0, π/2), and how far it stands out.
pub fn quadrants(picture: &RgbImage, camera: &Camera, r10_mm: f64, r5_mm: f64) -> Option<(f64, f32)> {
    let gap = r5_mm - r10_mm;
    let places: Vec<(f64, f64)> = (0..10).map(|i| (r10_mm + gap * (0.15 + 0.07 * f64::from(i)), 0.0)).collect();
    repeat(picture, camera, &places, 4, 1.2)
}

/// Direction of one peg in the board's frame, radians in [0, π/4), and how far it stands out.
pub fn pegs(picture: &RgbImage, camera: &Camera, r15_mm: f64) -> Option<(f64, f32)> {
    // Up their axes: they are 12 to 20 mm tall and seen from the side.
    let places: Vec<(f64, f64)> = (0..7).map(|i| (r15_mm, 2.0 * f64::from(i))).collect();
    repeat(picture, camera, &places, 8, 3.0)
}

/// Strongest place, and its deviation over the typical one, of what repeats `times` round the board, seen at the given radii and heights (mm); features are
/// about `width_deg` wide.
fn repeat(
    picture: &RgbImage,
    camera: &Camera,
    places: &[(f64, f64)],
    times: usize,
    width_deg: f64,
) -> Option<(f64, f32)> {
    let mut ring = vec![[f32::NAN; 3]; SAMPLES];
    for (i, value) in ring.iter_mut().enumerate() {
        let (sin, cos) = (i as f64 / SAMPLES as f64 * std::f64::consts::TAU).sin_cos();
        let (mut sum, mut count) = ([0.0f32; 3], 0.0f32);
        for (radius, height) in places {
            let seen = camera.project(Point::new(radius * cos, radius * sin), *height);
            if let Some(rgb) = seen.and_then(|p| sample_rgb(picture, p.x, p.y)) {
                (0..3).for_each(|c| sum[c] += rgb[c]);
                count += 1.0;
            }
        }
        if count > 0.0 {
            *value = sum.map(|s| s / count);
        }
    }
    let reach = (width_deg / 360.0 * SAMPLES as f64).round() as usize;
    // How a place differs from its neighbours on both sides, sign kept, channel by channel.
    let local: Vec<[f32; 3]> = (0..SAMPLES)
        .map(|i| {
            let (before, after) = (ring[(i + SAMPLES - reach) % SAMPLES], ring[(i + reach) % SAMPLES]);
            [0, 1, 2].map(|c| ring[i][c] - (before[c] + after[c]) / 2.0)
        })
        .collect();
    let length = SAMPLES / times;
    let mut folded: Vec<f32> = Vec::with_capacity(length);
    let mut values = Vec::with_capacity(times);
    for i in 0..length {
        let mut strongest = 0.0f32;
        for channel in 0..3 {
            values.clear();
            values.extend(local.iter().skip(i).step_by(length).map(|l| l[channel]).filter(|v| v.is_finite()));
            if values.len() * 2 < times {
                return None;
            }
            let middle = values.len() / 2;
            let median = *values.select_nth_unstable_by(middle, f32::total_cmp).1;
            strongest = if median.abs() > strongest { median.abs() } else { strongest };
        }
        folded.push(strongest);
    }
    let mut sorted = folded.clone();
    let typical = sorted.select_nth_unstable_by(length / 2, f32::total_cmp).1.max(0.25);
    let (index, value) =
        folded.iter().enumerate().fold((0, 0.0f32), |best, (i, &v)| if v > best.1 { (i, v) } else { best });
    let ratio = value / typical;
    Some((index as f64 / SAMPLES as f64 * std::f64::consts::TAU, ratio))
}
