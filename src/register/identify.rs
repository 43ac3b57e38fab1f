//! Which circle is which: from a good camera on an unknown scale to named lines.
//!
//! First the camera is sharpened with whatever circles the edges show, unnamed. Then the profile over all radii is set
//! against the pattern of a board: the shooting line with a 10 and a 15 line, a hole and a rim at the ratios that boards
//! have, and nothing strong where boards have nothing (targets and dials do).

use super::rings::{Profile, Track};
use super::solve::{self, CameraPriors, CircleLine, Observation};
use crate::board::SHOOTING_LINE_MM;
use crate::geometry::robust::Prior;
use crate::geometry::{Camera, Point};
use crate::kernels::edges::Edge;

/// A circle with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Circle {
    /// The shooting line.
    Five,
    /// The 10 line.
    Ten,
    /// The 15 line.
    Fifteen,
    /// The hole's edge.
    Hole,
    /// The rim of the playing surface.
    Rim,
}

/// Named circles in a camera whose scale is right.
#[derive(Clone, Debug)]
pub struct Identified {
    /// The camera, the shooting line at 304.8 mm.
    pub camera: Camera,
    /// The lines for the joint solve, and their names.
    pub lines: Vec<(Circle, CircleLine)>,
    /// The edges to follow; `Track::line` is an index into `lines`.
    pub tracks: Vec<Track>,
    /// Sum of the evidence, see [`PATTERN`].
    pub score: f64,
}

impl Identified {
    /// A board of which nothing was followed: nothing can be tracked from it.
    pub(crate) fn nothing() -> Self {
        let camera = solve::unpack(&[0.0; solve::CAMERA_PARAMETERS]);
        Self { camera, lines: Vec::new(), tracks: Vec::new(), score: 0.0 }
    }
}

/// Where each circle may lie as a fraction of the shooting line's radius, and what it adds to the score when its
/// coherence is full. The ranges are those measured on boards of nine kinds, a little widened.
const PATTERN: [(Circle, f64, f64, f64); 5] = [
    (Circle::Five, 0.994, 1.006, 1.0),
    (Circle::Ten, 0.622, 0.735, 1.0),
    (Circle::Fifteen, 0.297, 0.365, 1.0),
    (Circle::Hole, 0.048, 0.077, 0.5),
    (Circle::Rim, 1.05, 1.13, 0.4),
];
/// Where no board has a circle; the strongest one there is held against the candidate.
const GAPS: [(f64, f64); 3] = [(0.12, 0.27), (0.40, 0.58), (0.77, 0.955)];
/// Weight of that.
const GAP_WEIGHT: f64 = 1.5;
/// Coherence below this is grain.
const NOISE: f64 = 0.22;
/// The two edges of one painted line are at most this far apart, mm or px, whichever is more.
const LINE_MM: f64 = 6.5;
const LINE_PX: f64 = 5.0;
/// The outer edge of the shooting line lies within this share of its radius: no board's rim does.
const BEFORE_RIM: f64 = 1.04;
/// Painted lines are concentric to about this, mm (per coordinate).
const LINE_CENTRE_SIGMA_MM: f64 = 0.4;
/// The visible edges of hole and rim are rounded and stand a little above or below the surface, mm.
const STEP_CENTRE_SIGMA_MM: f64 = 1.5;

/// Edge points of a circle that are enough while only the camera is sought.
const ROUGH_POINTS: usize = 64;
/// How many neighbouring edge points share one error while only the camera is sought.
const ROUGH_CORRELATION: f64 = 4.0;

/// Sharpens `seed` with unnamed circles found among the edges. None where there are too few.
pub fn sharpen(edges: &[Edge], seed: &Camera, priors: &CameraPriors) -> Option<Camera> {
    let mut camera = seed.clone();
    for (width, gate, iterations) in [(0.025, 0.03, 4), (0.012, 0.014, 4), (0.006, 0.008, 5)] {
        let placed = place(edges, &camera);
        let circles = circles(&placed, width);
        if circles.len() < 2 {
            return None;
        }
        let lines: Vec<CircleLine> = circles
            .iter()
            .enumerate()
            .map(|(i, &(radius, _))| CircleLine {
                middle_mm: radius,
                half_mm: 0.0,
                // One radius fixes the scale, the strongest.
                middle_prior: Prior { mean: radius, sigma: if i == 0 { 0.0 } else { f64::INFINITY } },
                half_prior: Prior { mean: 0.0, sigma: 0.0 },
                centre_sigma_mm: 0.0,
            })
            .collect();
        let mut observations = Vec::new();
        for (line, &(radius, sign)) in circles.iter().enumerate() {
            let near: Vec<&Placed> = placed
                .iter()
                .filter(|p| p.outward == sign && (p.radius_mm - radius).abs() < gate * radius + 1.0)
                .collect();
            let stride = near.len().div_ceil(ROUGH_POINTS).max(1);
            observations.extend(near.iter().step_by(stride).map(|p| Observation {
                at: Point::new(f64::from(p.edge.x), f64::from(p.edge.y)),
                line,
                side: 0.0,
                weight: 1.0,
            }));
        }
        camera = solve::solve(&camera, &lines, &observations, priors, iterations, ROUGH_CORRELATION)?.camera;
    }
    Some(camera)
}

/// A guess that took the 10 line for the shooting line shows the real one here, mm.
const FURTHEST_MM: f64 = 480.0;

struct Placed<'a> {
    edge: &'a Edge,
    radius_mm: f64,
    direction: u32,
    outward: bool,
}

/// Edges that run along circles about the board's centre.
fn place<'a>(edges: &'a [Edge], camera: &Camera) -> Vec<Placed<'a>> {
    const ALONG: f64 = 0.13;
    edges
        .iter()
        .filter_map(|edge| {
            let (x, y) = (f64::from(edge.x), f64::from(edge.y));
            let (nx, ny) = (f64::from(edge.nx), f64::from(edge.ny));
            let p = camera.board_at(Point::new(x, y), 0.0)?;
            let radius_mm = p.norm();
            if !(8.0..FURTHEST_MM).contains(&radius_mm) {
                return None;
            }
            let q = camera.board_at(Point::new(x - ny, y + nx), 0.0)?;
            let (tx, ty) = (q.x - p.x, q.y - p.y);
            if (tx * p.x + ty * p.y).abs() > ALONG * radius_mm * tx.hypot(ty) {
                return None;
            }
            let ahead = camera.board_at(Point::new(x + nx, y + ny), 0.0)?;
            let turn = (p.y.atan2(p.x) / std::f64::consts::TAU + 1.0) * 64.0;
            Some(Placed { edge, radius_mm, direction: turn as u32 % 64, outward: ahead.norm() > radius_mm })
        })
        .collect()
}

/// Radii and signs of the circles, told apart by `width` of their radius, that edges cover for more than a quarter of
/// the way, best covered first.
fn circles(placed: &[Placed], width: f64) -> Vec<(f64, bool)> {
    const MOST: usize = 10;
    let step = 1.0 + width;
    let bins = ((FURTHEST_MM / 4.0f64).ln() / step.ln()) as usize + 4;
    let mut cover = [vec![0u64; bins], vec![0u64; bins]];
    for p in placed {
        let bin = (p.radius_mm / 4.0).ln() / step.ln();
        if let Some(mask) = cover[usize::from(p.outward)].get_mut(bin as usize) {
            *mask |= 1 << p.direction;
        }
    }
    let mut found: Vec<(u32, f64, bool)> = Vec::new();
    for (outward, masks) in cover.iter().enumerate() {
        let joined: Vec<u32> =
            (0..masks.len()).map(|i| (masks[i] | masks.get(i + 1).copied().unwrap_or(0)).count_ones()).collect();
        for i in 2..joined.len() - 2 {
            if joined[i] >= 18 && (i - 2..=i + 2).all(|j| joined[j] < joined[i] || (joined[j] == joined[i] && j >= i)) {
                found.push((joined[i], 4.0 * step.powf(i as f64 + 1.0), outward == 1));
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    found.truncate(MOST);
    found.into_iter().map(|(_, radius, outward)| (radius, outward)).collect()
}

/// Names the circles seen by `camera`, whose scale may be wrong by up to `1.15 / 0.55`. None where no scale makes sense.
pub fn identify(profile: &Profile, camera: &Camera) -> Option<Identified> {
    let px_per_mm = camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0)?;
    let peaks = peaks(profile);
    let apart = LINE_MM.max(LINE_PX / px_per_mm);
    let mut best: Option<(f64, f64)> = None;
    for (i, a) in peaks.iter().enumerate() {
        // A candidate for the shooting line: an edge, or the middle of two opposite ones.
        let partners = peaks[i + 1..].iter().take_while(|b| b.radius_mm - a.radius_mm < apart);
        let middles = partners.filter(|b| b.value * a.value < 0.0).map(|b| (a.radius_mm + b.radius_mm) / 2.0);
        for r5 in std::iter::once(a.radius_mm).chain(middles) {
            let score = pattern_score(&peaks, r5);
            if best.is_none_or(|(value, _)| score > value) {
                best = Some((score, r5));
            }
        }
    }
    let (score, r5) = best?;
    let scale = SHOOTING_LINE_MM / r5;
    let mut out = Identified {
        camera: Camera { translation_mm: camera.translation_mm.map(|v| v * scale), ..camera.clone() },
        lines: Vec::new(),
        tracks: Vec::new(),
        score,
    };
    for (circle, from, to, _) in PATTERN {
        let lines_apart = if matches!(circle, Circle::Hole | Circle::Rim) { 0.0 } else { apart };
        add_line(&mut out, profile, &peaks, circle, (from * r5, to * r5), lines_apart, scale);
    }
    out.tracks.iter().any(|t| t.line == 0).then_some(out)
}

#[derive(Clone, Copy)]
struct Peak {
    index: usize,
    radius_mm: f64,
    value: f64,
}

/// Local extremes of the coherence, by radius.
fn peaks(profile: &Profile) -> Vec<Peak> {
    let values: Vec<f64> = (0..profile.len()).map(|i| f64::from(profile.strongest(i))).collect();
    (1..values.len().saturating_sub(1))
        .filter(|&i| {
            let v = values[i];
            let higher = |o: f64| o * v > 0.0 && o.abs() > v.abs();
            v.abs() > NOISE && !higher(values[i - 1]) && !(higher(values[i + 1]) || values[i + 1] == v)
        })
        .map(|index| Peak { index, radius_mm: profile.radius_mm(index), value: values[index] })
        .collect()
}

fn pattern_score(peaks: &[Peak], r5: f64) -> f64 {
    let strongest = |from: f64, to: f64| {
        peaks
            .iter()
            .filter(|p| (from * r5..=to * r5).contains(&p.radius_mm))
            .map(|p| ((p.value.abs() - NOISE) / (0.8 - NOISE)).min(1.0))
            .fold(0.0, f64::max)
    };
    let seen: f64 = PATTERN.iter().map(|&(_, from, to, weight)| weight * strongest(from, to)).sum();
    // An edge right at the candidate counts in full only where it is as strong as its surroundings' strongest.
    let foreign = GAPS.iter().map(|&(from, to)| strongest(from, to)).fold(0.0, f64::max);
    seen - GAP_WEIGHT * foreign
}

/// Adds the strongest line within `range` (mm on the profile's scale): two opposite edges, or one step.
fn add_line(
    out: &mut Identified,
    profile: &Profile,
    peaks: &[Peak],
    circle: Circle,
    range: (f64, f64),
    apart: f64,
    scale: f64,
) {
    let slack = if circle == Circle::Five { apart } else { 0.0 };
    let Some(main) = peaks
        .iter()
        .filter(|p| (range.0 - slack..=range.1 + slack).contains(&p.radius_mm))
        .max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))
    else {
        return;
    };
    let partner = peaks
        .iter()
        .filter(|p| p.value * main.value < 0.0 && (p.radius_mm - main.radius_mm).abs() < apart)
        // Seen from afar the rim is as near to the shooting line as a line's own other edge may be.
        .filter(|p| circle != Circle::Five || p.radius_mm < range.1 * BEFORE_RIM)
        .filter(|p| p.value.abs() > 0.35 * main.value.abs())
        .max_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
    let line = out.lines.len();
    let centre_sigma_mm = match circle {
        Circle::Five => 0.0,
        Circle::Ten | Circle::Fifteen => LINE_CENTRE_SIGMA_MM,
        Circle::Hole | Circle::Rim => STEP_CENTRE_SIGMA_MM,
    };
    let mut track = |peak: &Peak, side: f64| {
        let weights = profile.weights(peak.index);
        out.tracks.push(Track {
            radius_mm: peak.radius_mm * scale,
            // The weights point along the change: outwards it always grows.
            sign: 1.0,
            weights,
            line,
            side,
            weight: 1.0,
        });
    };
    let (middle, half) = match partner {
        Some(partner) => {
            let (inner, outer) = if partner.radius_mm < main.radius_mm { (partner, main) } else { (main, partner) };
            track(inner, -1.0);
            track(outer, 1.0);
            ((inner.radius_mm + outer.radius_mm) / 2.0, (outer.radius_mm - inner.radius_mm) / 2.0)
        }
        None => {
            track(main, 0.0);
            (main.radius_mm, 0.0)
        }
    };
    let free = f64::INFINITY;
    out.lines.push((
        circle,
        CircleLine {
            middle_mm: middle * scale,
            half_mm: half * scale,
            middle_prior: Prior { mean: middle * scale, sigma: if circle == Circle::Five { 0.0 } else { free } },
            half_prior: Prior { mean: half * scale, sigma: if partner.is_some() { free } else { 0.0 } },
            centre_sigma_mm,
        },
    ));
}
