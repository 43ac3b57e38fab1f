//! Evidence: what speaks for a candidate being a disc, in numbers that can be weighed.

use super::fit::{DIRECTIONS, Fitting, SAMPLES, STEP_MM};
use super::localise::bin_mm;
use super::settle::Settled;
use super::shape::{Shape, Sight};

/// Arcs over which colour changes are averaged before their size is taken: noise averages out, a change of the
/// surroundings from arc to arc does not matter.
const ARCS: usize = 8;
/// Distances from the outline at which the ring profile is taken, in samples.
const REACH: usize = 7;

/// Stands for the distance of a candidate's colour from the other discs' where there are none.
pub const NO_KIN: f32 = 12.0;

/// What was measured about one candidate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// Colour change at the outline, averaged along arcs, over the usual change elsewhere on the same lines (log).
    pub ring: f32,
    /// Colour change at the outline, averaged along arcs, grey levels per mm.
    pub contrast: f32,
    /// Share of the outline seen as an edge.
    pub visible: f32,
    /// Share of arcs in which the outside differs from the disc's colour by more than the inside does.
    pub enclosed: f32,
    /// Spread of the colour within the outline, grey levels.
    pub spread: f32,
    /// Least arc's change over the mean's.
    pub weakest: f32,
    /// Mean over the lines of the log of the probability near the fitted outline.
    pub likelihood: f32,
    /// The same over the third of the arcs that say least.
    pub likelihood_low: f32,
    /// Distance of its colour from that of the nearest sure disc; [`NO_KIN`] where there is no other.
    pub kin: f32,
    /// Mean colour inside.
    pub inside: [f32; 3],
    /// Mean colour outside.
    pub outside: [f32; 3],
}

/// Probability that a candidate is a disc.
pub fn probability(settled: &Settled, e: &Evidence) -> f64 {
    let z = 5.2 + 3.46 * settled.support - 0.37 * e.ring as f64
        + 1.07 * (e.contrast as f64).ln_1p()
        + 3.07 * e.visible as f64
        - 0.87 * (e.spread as f64).ln_1p()
        + 5.6 * e.weakest as f64
        + 2.27 * e.likelihood as f64
        + 1.63 * e.likelihood_low as f64
        - 0.03 * (e.kin as f64 - 15.0).clamp(0.0, 30.0)
        - 2.0;
    1.0 / (1.0 + (-z).exp())
}

/// Measures `disc` as fitted with `shape`.
pub fn measure(disc: &Fitting, sight: &Sight, shape: &Shape) -> Evidence {
    let mut ring = [0.0f32; 2 * REACH + 1];
    let mut arc_changes = [0.0f32; ARCS];
    let mut enclosed = 0.0;
    let mut arcs_seen = 0;
    let lines: Vec<(usize, i32)> = (0..DIRECTIONS)
        .filter(|&k| disc.profiles.seen[k])
        .map(|k| (k, (disc.predicted(sight, shape, k).0 / STEP_MM).round() as i32))
        .collect();
    let at = |k: usize, j: i32| {
        let j = (j + (SAMPLES / 2) as i32).clamp(0, SAMPLES as i32 - 1) as usize;
        disc.profiles.colour[k][j]
    };
    let mut deep: [Vec<f32>; 3] = Default::default();
    let mut out_all = [0.0f32; 3];
    for &(k, p) in &lines {
        for o in -9..=-5 {
            let c = at(k, p + o);
            (0..3).for_each(|i| deep[i].push(c[i]));
        }
        let c = at(k, p + 4);
        (0..3).for_each(|i| out_all[i] += c[i] / lines.len() as f32);
    }
    if lines.len() < DIRECTIONS / 3 {
        return Evidence { ring: 0.0, spread: 255.0, ..Evidence::default() };
    }
    let inside = [0, 1, 2].map(|i| super::colour::median(&mut deep[i]));
    let mut off: Vec<f32> = deep[1].iter().map(|v| (v - inside[1]).abs()).collect();
    let spread = super::colour::median(&mut off);
    for arc in 0..ARCS {
        let members: Vec<_> = lines.iter().filter(|(k, _)| k * ARCS / DIRECTIONS == arc).collect();
        if members.is_empty() {
            continue;
        }
        arcs_seen += 1;
        let n = members.len() as f32;
        for (slot, value) in ring.iter_mut().enumerate() {
            let o = slot as i32 - REACH as i32;
            let mut change = [0.0f32; 3];
            for &&(k, p) in &members {
                let (a, b) = (at(k, p + o + 1), at(k, p + o + 2));
                let (c, d) = (at(k, p + o - 1), at(k, p + o - 2));
                (0..3).for_each(|i| change[i] += (a[i] + b[i] - c[i] - d[i]) / n);
            }
            let size = change.iter().map(|v| v * v).sum::<f32>().sqrt() / 6.0;
            *value += size;
            if (-1..=1).contains(&o) {
                arc_changes[arc] = arc_changes[arc].max(size);
            }
        }
        let mean = |from: i32, to: i32| {
            let mut sum = [0.0f32; 3];
            for &&(k, p) in &members {
                for o in from..=to {
                    let c = at(k, p + o);
                    (0..3).for_each(|i| sum[i] += c[i] / (n * (to - from + 1) as f32));
                }
            }
            sum
        };
        let far = |c: [f32; 3]| (0..3).map(|i| (c[i] - inside[i]).powi(2)).sum::<f32>().sqrt();
        if far(mean(2, 5)) > far(mean(-5, -2)) + 2.0 {
            enclosed += 1.0;
        }
    }
    let mut shown = [0.0f32; ARCS];
    let mut counts = [0.0f32; ARCS];
    for k in 0..DIRECTIONS {
        let Some(line) = &disc.lines[k] else { continue };
        let predicted = disc.predicted(sight, shape, k).0;
        let near: f64 = line
            .bins
            .iter()
            .enumerate()
            .map(|(b, p)| *p as f64 * (-0.5 * ((bin_mm(b) - predicted) / 0.5).powi(2)).exp())
            .sum();
        let arc = k * ARCS / DIRECTIONS;
        shown[arc] += (near + 0.02).ln() as f32;
        counts[arc] += 1.0;
    }
    let likelihood = shown.iter().sum::<f32>() / counts.iter().sum::<f32>().max(1.0);
    let mut by_arc: Vec<f32> = shown.iter().zip(&counts).filter(|(_, n)| **n > 0.0).map(|(s, n)| s / n).collect();
    by_arc.sort_by(f32::total_cmp);
    let low = by_arc.len().div_ceil(3).max(1);
    let likelihood_low = by_arc.iter().take(low).sum::<f32>() / low as f32;
    let n = arcs_seen.max(1) as f32;
    let peak = ring[REACH - 1].max(ring[REACH]).max(ring[REACH + 1]) / n;
    let mut elsewhere: Vec<f32> =
        ring.iter().enumerate().filter(|(s, _)| s.abs_diff(REACH) > 2).map(|(_, v)| v / n).collect();
    let usual = super::colour::median(&mut elsewhere).max(0.2);
    let mean_change = arc_changes.iter().sum::<f32>() / n;
    arc_changes.sort_by(f32::total_cmp);
    Evidence {
        ring: (peak / usual).ln(),
        contrast: peak / STEP_MM as f32,
        visible: disc.visible as f32,
        enclosed: enclosed / n,
        spread,
        weakest: arc_changes[1] / mean_change.max(0.2),
        likelihood,
        likelihood_low,
        kin: NO_KIN,
        inside,
        outside: out_all,
    }
}
