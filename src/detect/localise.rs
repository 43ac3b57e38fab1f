//! Where on a line across it the outline of a disc lies: a small net that has learnt what edges of discs look like.
//!
//! The steepest change of colour is not the outline. A disc's edge is rounded and shades off before it ends, its side
//! is darker than its top, where it meets the board there is a dark contact shadow, and a cast shadow follows; the
//! steepest change lies up to 1.2 mm inside or outside of the true outline, to one side for light discs and to the
//! other for dark ones. The net reads 10 mm of colours across the expected outline and gives the probability of
//! each of 25 distances, and of the outline not being there at all. It was trained on lines of the rendered pictures
//! (sets dev, more, fixed, fixed-home), whose outlines are known exactly; its input is relative to the disc's own
//! colour and contrast, and it was shown every line with channels exchanged, gains, blur and noise, so that no colour is
//! special. With a fifth of the pictures held out the median error of a line is 0.24 mm, against 0.21 mm on the rest.

use std::sync::OnceLock;

use ndarray::{Array2, aview1};

use crate::kernels::perceptron::Perceptron;

use super::colour::median;
use super::fit::{DIRECTIONS, Profiles, SAMPLES, direction};

/// Distances that are told apart.
pub const BINS: usize = 25;
/// Spacing of the distances, mm.
pub const BIN_MM: f64 = 0.3;
/// Raw values of a line: colours, lean, colour inside the disc, the light round the disc.
pub const LINE_VALUES: usize = 3 * SAMPLES + 4 + LIGHT_VALUES;

const LIGHT_VALUES: usize = 2 * ZONES.len() + 1;
const INPUTS: usize = 3 * SAMPLES + 5 + LIGHT_VALUES;
/// Sizes of the net's layers; the last output is that there is no outline.
const LAYERS: [usize; 4] = [INPUTS, 96, 48, BINS + 1];

/// Zones about the outline in which the light round the disc is measured, first and last sample from the outline.
const ZONES: [(i32, i32); 3] = [(-4, -1), (1, 4), (6, 10)];

/// How bright the surroundings of the outline are all round a disc: where the light comes from shows on the lit and on
/// the shaded side together, and decides whether the end of the disc can be seen in a line at all.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Median colour inside.
    inside: [f32; 3],
    /// By zone: mean, and first harmonic along x and y, of brightness against the inside.
    zones: [[f32; 3]; ZONES.len()],
    /// Spread of all that, grey levels.
    spread: f32,
}

impl Light {
    /// Measures the light round the disc.
    pub fn of(profiles: &Profiles) -> Self {
        let inside = colour_inside(profiles);
        let grey = |c: &[f32; 3]| (c[0] + c[1] + c[2]) / 3.0;
        let base = grey(&inside);
        let mut zones = [[0.0; 3]; ZONES.len()];
        let (mut seen, mut squares) = (0.0f32, 0.0);
        for k in (0..DIRECTIONS).filter(|&k| profiles.seen[k]) {
            seen += 1.0;
            let n = direction(k).map(|v| v as f32);
            for (sum, (from, to)) in zones.iter_mut().zip(ZONES) {
                let middle = (SAMPLES / 2) as i32;
                let samples = &profiles.colour[k][(middle + from) as usize..=(middle + to) as usize];
                let mean = samples.iter().map(|c| grey(c) - base).sum::<f32>() / samples.len() as f32;
                sum[0] += mean;
                sum[1] += 2.0 * mean * n[0];
                sum[2] += 2.0 * mean * n[1];
                squares += mean * mean;
            }
        }
        let n = seen.max(1.0);
        Self {
            inside,
            zones: zones.map(|z| z.map(|v| v / n)),
            spread: (squares / (n * ZONES.len() as f32)).sqrt() + 4.0,
        }
    }
}

static WEIGHTS: &[u8] = include_bytes!("../../models/outline.f32");

/// Probability of the outline by its distance beyond the expected one.
#[derive(Clone, Debug)]
pub struct Likelihood {
    /// Probability of each distance.
    pub bins: [f32; BINS],
}

impl Likelihood {
    /// Mass, mean and mean square of the probability seen through a window: a normal curve of `sigma_mm` about
    /// `at_mm`. Means are distances from `at_mm`, not yet divided by the mass.
    pub fn through(&self, at_mm: f64, sigma_mm: f64) -> [f64; 3] {
        // The curve by recurrence: w(b + 1) = w(b) g(b), g(b + 1) = g(b) q. Two exponentials instead of 25.
        let step = BIN_MM / sigma_mm;
        let first = (bin_mm(0) - at_mm) / sigma_mm;
        let mut weight = (-0.5 * first * first).exp();
        let mut growth = (-step * first - 0.5 * step * step).exp();
        let shrink = (-step * step).exp();
        let mut d = bin_mm(0) - at_mm;
        let mut sums = [0.0; 3];
        for p in &self.bins {
            let w = *p as f64 * weight;
            sums[0] += w;
            sums[1] += w * d;
            sums[2] += w * d * d;
            weight *= growth;
            growth *= shrink;
            d += BIN_MM;
        }
        sums
    }
}

/// Distance that bin `b` stands for, mm.
pub fn bin_mm(b: usize) -> f64 {
    (b as f64 - (BINS / 2) as f64) * BIN_MM
}

/// The likelihood on each line of `profiles`; None where the line leaves the picture.
pub fn localise(profiles: &Profiles, lean: [f64; 2]) -> Vec<Option<Likelihood>> {
    static NET: OnceLock<Option<Perceptron>> = OnceLock::new();
    let Some(net) = NET.get_or_init(|| Perceptron::from_bytes(LAYERS, WEIGHTS)) else { return vec![None; DIRECTIONS] };
    let light = Light::of(profiles);
    let seen: Vec<usize> = (0..DIRECTIONS).filter(|&k| profiles.seen[k]).collect();
    let mut inputs = Array2::zeros((seen.len(), INPUTS));
    for (mut row, &k) in inputs.rows_mut().into_iter().zip(&seen) {
        row.assign(&aview1(&normalised(&line_values(profiles, lean, &light, k))));
    }
    let mut out = vec![None; DIRECTIONS];
    for (probabilities, k) in net.run(inputs.view()).rows().into_iter().zip(seen) {
        out[k] = Some(Likelihood { bins: std::array::from_fn(|bin| probabilities[bin]) });
    }
    out
}

/// Median colour of the innermost samples of all lines.
fn colour_inside(profiles: &Profiles) -> [f32; 3] {
    let mut deep: [Vec<f32>; 3] = Default::default();
    for (line, seen) in profiles.colour.iter().zip(&profiles.seen) {
        if *seen {
            for c in &line[..4] {
                (0..3).for_each(|i| deep[i].push(c[i]));
            }
        }
    }
    [0, 1, 2].map(|i| median(&mut deep[i]))
}

/// The colours of line `k` (each averaged with its neighbour lines'), the lean along it (positive on the far side) and
/// the colour inside the disc and the light round it: what training stores.
pub fn line_values(profiles: &Profiles, lean: [f64; 2], light: &Light, k: usize) -> [f32; LINE_VALUES] {
    let mut out = [0.0; LINE_VALUES];
    let neighbours = [(k + DIRECTIONS - 1) % DIRECTIONS, k, (k + 1) % DIRECTIONS];
    let mut total = 0.0;
    for (line, weight) in neighbours.into_iter().zip([1.0, 2.0, 1.0]) {
        if !profiles.seen[line] {
            continue;
        }
        total += weight;
        for (slot, colour) in out.chunks_exact_mut(3).zip(&profiles.colour[line]) {
            (0..3).for_each(|i| slot[i] += weight * colour[i]);
        }
    }
    out.iter_mut().for_each(|v| *v /= total.max(1.0));
    let n = direction(k);
    out[3 * SAMPLES] = (lean[0] * n[0] + lean[1] * n[1]) as f32;
    out[3 * SAMPLES + 1..3 * SAMPLES + 4].copy_from_slice(&light.inside);
    let (n, spread) = (n.map(|v| v as f32), light.spread);
    for (slot, zone) in out[3 * SAMPLES + 4..].chunks_exact_mut(2).zip(&light.zones) {
        slot[0] = zone[0] / spread;
        slot[1] = (zone[1] * n[0] + zone[2] * n[1]) / spread;
    }
    out[LINE_VALUES - 1] = spread.ln() - 3.0;
    out
}

/// The net's input: colours relative to the inside, in units of their own spread.
fn normalised(values: &[f32; LINE_VALUES]) -> [f32; INPUTS] {
    let inside = [0, 1, 2].map(|i| values[3 * SAMPLES + 1 + i]);
    let mut out = [0.0; INPUTS];
    let mut squares = 0.0;
    for j in 0..3 * SAMPLES {
        out[j] = values[j] - inside[j % 3];
        squares += out[j] * out[j];
    }
    let spread = (squares / (3 * SAMPLES) as f32).sqrt() + 4.0;
    out[..3 * SAMPLES].iter_mut().for_each(|v| *v /= spread);
    out[3 * SAMPLES] = 3.0 * values[3 * SAMPLES];
    out[3 * SAMPLES + 1] = spread.ln() - 3.0;
    for i in 0..3 {
        out[3 * SAMPLES + 2 + i] = (inside[i] - 100.0) / 80.0;
    }
    out[3 * SAMPLES + 5..].copy_from_slice(&values[3 * SAMPLES + 4..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_by_recurrence_is_the_window_by_exponentials() {
        let bins = std::array::from_fn(|b| ((b * 37) % 11) as f32 / 100.0);
        let likelihood = Likelihood { bins };
        for (at, sigma) in [(0.0, 0.5), (-2.3, 0.35), (3.1, 1.5), (5.0, 0.7)] {
            let got = likelihood.through(at, sigma);
            let mut plain = [0.0; 3];
            for (b, p) in bins.iter().enumerate() {
                let d = bin_mm(b) - at;
                let w = *p as f64 * (-0.5 * (d / sigma).powi(2)).exp();
                (0..3).for_each(|i| plain[i] += w * d.powi(i as i32));
            }
            for i in 0..3 {
                assert!((got[i] - plain[i]).abs() < 1e-9, "{got:?} for {plain:?}");
            }
        }
    }

    #[test]
    fn the_weights_file_fits_the_net() {
        assert!(Perceptron::from_bytes(LAYERS, WEIGHTS).is_some());
    }
}
