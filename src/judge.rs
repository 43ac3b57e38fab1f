//! The line rule: a disc's place to its value, with the margin and the chance that the call is wrong.
//!
//! In: where a disc's contact circle lies, in millimetres, and the inner edges of the lines, both with what may be wrong
//! about them. Out: a [`Verdict`]. No pixel is seen here.
//!
//! A disc takes the lowest value of any region that it touches, and a line belongs to the region outside it (NCA rules
//! 6b, 6d; 6e judges the disc by its bottom edge). With `rho` the distance of the disc's centre from a line's and `r`
//! its contact radius, the value is 15 if rho + r < e15, else 10 if < e10, else 5 if < e5, else 0, where e is the *inner*
//! edge of a painted line. The margin is e - (rho + r) for the line nearest to the disc's far edge.

use crate::board::{Line, State, Zone};
use crate::geometry::{BoardMm, Point};

/// How strict a call is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A call is close when the chance that it is wrong exceeds this. 1 in 1,000 lets about one wrong call of a
    /// perfectly known board pass in a season of 60 rounds of 16 discs.
    pub close_level: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { close_level: 0.001 }
    }
}

/// The edges that decide, mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edges {
    /// Inner edges of the painted lines, outermost first (order of [`Line::ALL`]).
    pub inner_mm: [f64; 3],
    /// Centres of the lines, in that order: off the board's by what the workshop left.
    pub centres: [Point<BoardMm>; 3],
    /// Radius of the hole.
    pub hole_mm: f64,
}

/// A disc to be judged.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Centre of the circle that touches the board.
    pub base: Point<BoardMm>,
    /// Radius of that circle, mm.
    pub radius_mm: f64,
    /// Standard deviation of the centre along its radius that belongs to this disc alone, mm.
    pub random_sigma_mm: f64,
    /// As detected: flat, in the hole or leaning.
    pub state: State,
    /// What would be found if one thing that all discs share were wrong by one standard deviation.
    pub alternatives: Vec<Alternative>,
}

/// A disc as it would be placed under one shared error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative {
    /// Centre of the contact circle.
    pub base: Point<BoardMm>,
    /// Its radius, mm.
    pub radius_mm: f64,
    /// Inner edges of the lines, mm, outermost first.
    pub inner_mm: [f64; 3],
    /// Centres of the lines, outermost first.
    pub centres: [Point<BoardMm>; 3],
}

/// What a disc scores, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// As judged: [`State::Off`] where the shooting line is touched.
    pub state: State,
    /// The value.
    pub zone: Zone,
    /// The call at a line; None for a disc flat in the hole.
    pub call: Option<Call>,
}

/// A disc's edge against a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The line nearest to the disc's far edge.
    pub line: Line,
    /// Distance of that far edge inside the line's inner edge, mm; negative when touching or beyond.
    pub margin_mm: f64,
    /// One standard deviation of the margin, mm.
    pub sigma_mm: f64,
    /// Chance that the disc lies on the other side of that edge.
    pub error_chance: f64,
    /// The value there.
    pub otherwise: Zone,
    /// True when that chance exceeds the configured level.
    pub close: bool,
}

impl Verdict {
    /// The value that the disc would have on the other side of a close line.
    pub fn close_other(&self) -> Option<Zone> {
        self.call.filter(|call| call.close).map(|call| call.otherwise)
    }
}

/// Judges one disc.
pub fn judge(disc: &Placed, edges: &Edges, config: &Config) -> Verdict {
    let margins_mm = [0, 1, 2].map(|i| edges.inner_mm[i] - disc.base.distance(edges.centres[i]) - disc.radius_mm);
    match settled_state(disc, edges) {
        State::InHole => Verdict { state: State::InHole, zone: Zone::Twenty, call: None },
        // Over the hole's edge the disc is far inside the 15 line: no line can be close.
        State::Leaning => {
            let call = call_at(disc, Line::Fifteen, &margins_mm, config);
            Verdict { state: State::Leaning, zone: Zone::Fifteen, call: Some(Call { close: false, ..call }) }
        }
        State::Flat | State::Off => {
            let zone = zone_of(&margins_mm);
            let state = if zone == Zone::Out { State::Off } else { State::Flat };
            Verdict { state, zone, call: Some(call_at(disc, nearest(&margins_mm), &margins_mm, config)) }
        }
    }
}

/// Slack on geometry about the hole, mm: what a hole's chamfer and a worn edge allow.
const HOLE_SLACK_MM: f64 = 1.0;

/// The detected state, unless the hole's geometry forbids it: a disc flat in the hole is within hole radius minus disc
/// radius of the centre, and a flat disc cannot rest on the hole's edge with its centre closer to the middle than
/// sqrt(hole radius² - disc radius²), it tips.
fn settled_state(disc: &Placed, edges: &Edges) -> State {
    let rho = disc.base.norm();
    let doubt = HOLE_SLACK_MM + 3.0 * disc.random_sigma_mm;
    let play = (edges.hole_mm - disc.radius_mm).max(0.0);
    let tipping = (edges.hole_mm.powi(2) - disc.radius_mm.powi(2)).max(0.0).sqrt();
    match disc.state {
        State::InHole if rho > play + doubt => State::Leaning,
        State::Flat if rho < tipping - doubt => State::Leaning,
        state => state,
    }
}

/// The value of a disc whose far edge lies `margins_mm` inside the three lines.
fn zone_of(margins_mm: &[f64; 3]) -> Zone {
    let inside = Line::ALL.into_iter().zip(margins_mm).rev().find(|(_, margin)| **margin > 0.0);
    inside.map_or(Zone::Out, |(line, _)| line.inside())
}

/// The line whose inner edge is nearest to the disc's far edge.
fn nearest(margins_mm: &[f64; 3]) -> Line {
    let distance = |line: Line| margins_mm[line as usize].abs();
    let [five, ten, fifteen] = Line::ALL;
    let outer = if distance(ten) < distance(five) { ten } else { five };
    if distance(fifteen) < distance(outer) { fifteen } else { outer }
}

fn call_at(disc: &Placed, line: Line, margins_mm: &[f64; 3], config: &Config) -> Call {
    let index = line as usize;
    let margin_mm = margins_mm[index];
    let shared: f64 = disc
        .alternatives
        .iter()
        .map(|other| {
            let far_mm = other.base.distance(other.centres[index]) + other.radius_mm;
            (other.inner_mm[index] - far_mm - margin_mm).powi(2)
        })
        .sum();
    let sigma_mm = (disc.random_sigma_mm.powi(2) + shared).sqrt();
    let error_chance = if sigma_mm > 0.0 { normal_tail(margin_mm.abs() / sigma_mm) } else { 0.0 };
    let inside = line.inside();
    let otherwise = if margin_mm > 0.0 { inside.lower().unwrap_or(Zone::Out) } else { inside };
    Call { line, margin_mm, sigma_mm, error_chance, otherwise, close: error_chance > config.close_level }
}

/// Chance that a standard normal variable exceeds `z` >= 0: the power series of the integral near the middle, Laplace's
/// continued fraction in the tail; relative error below 1e-9 up to z = 30.
pub fn normal_tail(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        let mut term = z;
        let mut sum = z;
        for n in 1..80 {
            term *= z * z / f64::from(2 * n + 1);
            sum += term;
        }
        0.5 - density * sum
    } else {
        density / (1..=100).rev().fold(z, |fraction, n| z + f64::from(n) / fraction)
    }
}

#[cfg(test)]
mod tests;
