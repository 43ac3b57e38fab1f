//! Evidence: what speaks for a candidate being a disc, in numbers that can be weighed.

use super::colour::median;
use super::fit::{DIRECTIONS, Fitting, SAMPLES, STEP_MM};
use super::settle::Settled;
use super::shape::{Shape, Sight};

/// Arcs over which the outline is summed up.
const ARCS: usize = 8;
/// Distances from the outline at which the ring profile is taken, in samples.
const REACH: usize = 7;
/// Window about the outline in which the localiser's probability counts, one sigma, mm.
const NEAR_MM: f64 = 0.5;
/// Least probability of a line: one line may be wrong altogether.
const LEAST: f64 = 0.02;
/// Stands for the distance of a candidate's colour from the other discs' where there are none.
pub const NO_KIN: f32 = 12.0;
/// Colours further apart than this begin to speak against a candidate.
const KIN_FREE: f64 = 15.0;
/// They speak no louder beyond this.
const KIN_MOST: f64 = 45.0;

/// What was measured about one candidate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// Colour change at the outline, averaged along arcs, over the usual change elsewhere on the same lines (log).
    pub ring: f32,
    /// Share of the outline seen by the localiser.
    pub visible: f32,
    /// RMS of the localiser's residuals, mm.
    pub residual_mm: f32,
    /// Mean over the lines of the log of the probability near the fitted outline.
    pub likelihood: f32,
    /// The same over the third of the arcs that say least.
    pub likelihood_low: f32,
    /// Distance of its colour from that of the nearest sure disc; [`NO_KIN`] where there is no other.
    pub kin: f32,
}

/// Probability that a candidate is a disc: a logistic regression on 8,300 candidates of the 100 rendered pictures, on
/// which it misses none of 1,149 and takes one glare spot for a disc.
pub fn probability(settled: &Settled, e: &Evidence) -> f64 {
    let strange = (e.kin as f64).min(KIN_MOST) - KIN_FREE;
    let z = -0.45 + 14.6 * settled.support + 0.74 * e.ring as f64 + 7.6 * e.visible as f64 - 1.5 * e.residual_mm as f64
        + 0.81 * e.likelihood as f64
        + 1.65 * e.likelihood_low as f64
        - 0.17 * strange.max(0.0);
    1.0 / (1.0 + (-z).exp())
}

/// Measures `disc` as fitted with `shape`.
pub fn measure(disc: &Fitting, sight: &Sight, shape: &Shape) -> Evidence {
    let predicted = disc.all_predicted(sight, shape);
    let (likelihood, likelihood_low) = likelihoods(disc, &predicted);
    Evidence {
        ring: ring(disc, &predicted),
        visible: disc.visible as f32,
        residual_mm: disc.residual_mm as f32,
        likelihood,
        likelihood_low,
        kin: NO_KIN,
    }
}

/// Mean over the lines of the log of the probability near the outline: [`Evidence::likelihood`] alone.
pub fn likelihood(disc: &Fitting, sight: &Sight, shape: &Shape) -> f32 {
    likelihoods(disc, &disc.all_predicted(sight, shape)).0
}

fn arc_of(k: usize) -> usize {
    k * ARCS / DIRECTIONS
}

/// Mean log probability over all lines, and over the third of the arcs where it is least.
fn likelihoods(disc: &Fitting, predicted: &[f64]) -> (f32, f32) {
    let mut sums = [0.0f32; ARCS];
    let mut counts = [0.0f32; ARCS];
    for (k, line) in disc.lines.iter().enumerate() {
        let Some(line) = line else { continue };
        let near = line.through(predicted[k], NEAR_MM)[0];
        sums[arc_of(k)] += (near + LEAST).ln() as f32;
        counts[arc_of(k)] += 1.0;
    }
    let all = counts.iter().sum::<f32>();
    if all == 0.0 {
        return (LEAST.ln() as f32, LEAST.ln() as f32);
    }
    let mut arcs: Vec<f32> = sums.iter().zip(&counts).filter(|(_, n)| **n > 0.0).map(|(s, n)| s / n).collect();
    arcs.sort_by(f32::total_cmp);
    let low = arcs.len().div_ceil(3);
    (sums.iter().sum::<f32>() / all, arcs.iter().take(low).sum::<f32>() / low as f32)
}

/// Colour change at the outline over that elsewhere on the lines, see [`Evidence::ring`]. Noise averages out along an
/// arc, a change of the surroundings from arc to arc does not matter.
fn ring(disc: &Fitting, predicted: &[f64]) -> f32 {
    let middle = (SAMPLES / 2) as i32;
    let mut profile = [0.0f32; 2 * REACH + 1];
    for arc in 0..ARCS {
        let mut change = [[0.0f32; 3]; 2 * REACH + 1];
        let mut n = 0.0f32;
        for k in (0..DIRECTIONS).filter(|&k| arc_of(k) == arc && disc.profiles.seen[k]) {
            n += 1.0;
            let line = &disc.profiles.colour[k];
            let shift = (predicted[k] / STEP_MM).round() as i32 + middle - REACH as i32;
            let at = |j: i32| &line[j.clamp(0, SAMPLES as i32 - 1) as usize];
            for (slot, sum) in change.iter_mut().enumerate() {
                let j = slot as i32 + shift;
                let (a, b, c, d) = (at(j + 1), at(j + 2), at(j - 1), at(j - 2));
                (0..3).for_each(|i| sum[i] += a[i] + b[i] - c[i] - d[i]);
            }
        }
        for (slot, sum) in profile.iter_mut().zip(&change) {
            *slot += sum.iter().map(|v| v * v).sum::<f32>().sqrt() / (6.0 * n.max(1.0));
        }
    }
    let peak = profile[REACH - 1].max(profile[REACH]).max(profile[REACH + 1]);
    let mut elsewhere: Vec<f32> =
        profile.iter().enumerate().filter(|(s, _)| s.abs_diff(REACH) > 2).map(|(_, v)| *v).collect();
    // A change of a fifth of a grey level is nothing.
    (peak.max(0.2) / median(&mut elsewhere).max(0.2 * ARCS as f32)).ln()
}
