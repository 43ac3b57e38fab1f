//! A scene to a picture: trace, blur, noise, bytes.

use super::colour::{Encoder, Linear, srgb};
use super::random::Random;
use super::scene::{Scene, Sensor};
use super::trace::Tracer;
use crokeye::capture::{Frame, LensHint};
use image::RgbImage;
use rayon::prelude::*;

/// Rays of a pixel in which two things meet: (x, y) in sixteenths, each row and column once (n-rooks).
const SUBPIXELS: [(u8, u8); 16] = [
    (0, 0),
    (1, 8),
    (2, 4),
    (3, 12),
    (4, 2),
    (5, 10),
    (6, 6),
    (7, 14),
    (8, 1),
    (9, 9),
    (10, 5),
    (11, 13),
    (12, 3),
    (13, 11),
    (14, 7),
    (15, 15),
];

impl Scene {
    /// The picture of this scene, as the pipeline takes it: nothing is known about the lens.
    pub fn frame(&self) -> Frame {
        Frame { source: format!("synthetic {}", self.seed), rgb: self.picture(), lens: LensHint::default() }
    }

    /// The picture of this scene.
    pub fn picture(&self) -> RgbImage {
        let tracer = Tracer::new(self);
        let (w, h) = (self.view.width_px as usize, self.view.height_px as usize);
        let mut light = vec![[0f32; 3]; w * h];
        let mut ids = vec![0u32; w * h];
        light.par_chunks_mut(w).zip(ids.par_chunks_mut(w)).enumerate().for_each(|(y, (light, ids))| {
            for x in 0..w {
                let seen = tracer.see(x as f64, y as f64, 1.0);
                light[x] = seen.light;
                ids[x] = seen.id;
            }
        });
        light.par_chunks_mut(w).enumerate().for_each(|(y, row)| {
            let above = &ids[y.saturating_sub(1) * w..][..w];
            let here = &ids[y * w..][..w];
            let below = &ids[(y + 1).min(h - 1) * w..][..w];
            for x in 0..w {
                let (from, to) = (x.saturating_sub(1), (x + 1).min(w - 1));
                let id = here[x];
                if [above, here, below].iter().any(|line| line[from..=to].iter().any(|&other| other != id)) {
                    row[x] = closer(&tracer, x as f64, y as f64);
                }
            }
        });
        drop(ids);
        let light = smear(light, w, h, &self.sensor);
        let light = blur(light, w, h, self.sensor.blur_px);
        develop(&light, w, &self.sensor, self.seed)
    }

    /// The picture as a JPEG file of the given quality.
    pub fn jpeg(&self, quality: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
        self.picture().write_with_encoder(encoder).expect("a picture in memory can be encoded");
        bytes
    }
}

fn closer(tracer: &Tracer, x: f64, y: f64) -> Linear {
    let mut sum = [0f32; 3];
    for (sx, sy) in SUBPIXELS {
        let at = |v: u8| (f64::from(v) + 0.5) / 16.0 - 0.5;
        let light = tracer.see(x + at(sx), y + at(sy), 0.25).light;
        sum = [0, 1, 2].map(|i| sum[i] + light[i]);
    }
    sum.map(|v| v / SUBPIXELS.len() as f32)
}

/// Averages along the way that the camera moved while it looked.
fn smear(light: Vec<Linear>, w: usize, h: usize, sensor: &Sensor) -> Vec<Linear> {
    let [dx, dy] = sensor.smear_px;
    let steps = dx.abs().max(dy.abs()).ceil() as i32;
    if steps == 0 {
        return light;
    }
    let mut out = vec![[0f32; 3]; w * h];
    out.par_chunks_mut(w).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            for step in 0..=steps {
                let share = f64::from(step) / f64::from(steps) - 0.5;
                let at = |v: usize, d: f64, end: usize| (v as f64 + d * share).round().clamp(0.0, end as f64 - 1.0);
                let from = light[at(y, dy, h) as usize * w + at(x, dx, w) as usize];
                *pixel = [0, 1, 2].map(|i| pixel[i] + from[i] / (steps + 1) as f32);
            }
        }
    });
    out
}

/// Gaussian blur, columns then rows; the picture's edge goes on outside.
fn blur(light: Vec<Linear>, w: usize, h: usize, sigma_px: f64) -> Vec<Linear> {
    if sigma_px <= 0.0 {
        return light;
    }
    let reach = (3.0 * sigma_px).ceil() as usize;
    let weights: Vec<f32> = {
        let raw: Vec<f64> =
            (0..=2 * reach).map(|i| (-(i as f64 - reach as f64).powi(2) / (2.0 * sigma_px * sigma_px)).exp()).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|v| (v / sum) as f32).collect()
    };
    let mut columns = vec![[0f32; 3]; w * h];
    columns.par_chunks_mut(w).enumerate().for_each(|(y, row)| {
        for (i, &weight) in weights.iter().enumerate() {
            let from = &light[(y + i).saturating_sub(reach).min(h - 1) * w..][..w];
            for (pixel, source) in row.iter_mut().zip(from) {
                for c in 0..3 {
                    pixel[c] += weight * source[c];
                }
            }
        }
    });
    let mut out = light;
    out.par_chunks_mut(w).zip(columns.par_chunks(w)).for_each(|(row, from)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            let mut sum = [0f32; 3];
            if x >= reach && x + reach < w {
                for (source, &weight) in from[x - reach..=x + reach].iter().zip(&weights) {
                    for c in 0..3 {
                        sum[c] += weight * source[c];
                    }
                }
            } else {
                for (i, &weight) in weights.iter().enumerate() {
                    let source = from[(x + i).saturating_sub(reach).min(w - 1)];
                    for c in 0..3 {
                        sum[c] += weight * source[c];
                    }
                }
            }
            *pixel = sum;
        }
    });
    out
}

/// Noise (as shot noise grows, with the root of the light, over a small floor) and the way to sRGB bytes.
fn develop(light: &[Linear], w: usize, sensor: &Sensor, seed: u64) -> RgbImage {
    const FLOOR: f32 = 0.02;
    let encoder = Encoder::new();
    let mut bytes = vec![0u8; light.len() * 3];
    bytes.par_chunks_mut(w * 3).zip(light.par_chunks(w)).enumerate().for_each(|(y, (bytes, light))| {
        let mut random = Random::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ y as u64);
        for (bytes, pixel) in bytes.chunks_exact_mut(3).zip(light) {
            for (byte, &value) in bytes.iter_mut().zip(pixel) {
                let mut value = value * sensor.exposure;
                if sensor.noise > 0.0 {
                    value += sensor.noise * (value.max(0.0) + FLOOR).sqrt() * random.normal() as f32;
                }
                *byte = encoder.byte(value);
            }
        }
    });
    let height = (light.len() / w) as u32;
    RgbImage::from_raw(w as u32, height, bytes).expect("three bytes a pixel")
}

/// A grey picture of the given size without anything on it.
pub fn blank(width: u32, height: u32, hex: u32) -> RgbImage {
    let [r, g, b] = srgb(hex).map(|v| Encoder::new().byte(v));
    RgbImage::from_pixel(width, height, image::Rgb([r, g, b]))
}
