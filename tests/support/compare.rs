//! A count held against the truth of its scene.

use super::scene::Scene;
use super::truth::TruthDisc;
use crokeye::board::{Side, State};
use crokeye::count::report::{Disc, Report, Status};
use crokeye::geometry::Point;

/// How a count compares with the truth.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Discs that were found.
    pub pairs: Vec<Pair>,
    /// Discs on the board that were not.
    pub missed: Vec<TruthDisc>,
    /// Scoring discs that are none.
    pub invented: usize,
    /// Whether both totals, proposals included, are right.
    pub exact: bool,
    /// Whether a wrong total was given as certain.
    pub silent: bool,
}

/// What was found further than this from a disc is not that disc measured, mm: it was missed.
const MEASURED_MM: f64 = 5.0;

/// A disc and what was said about it.
#[derive(Clone, Debug)]
pub struct Pair {
    pub truth: TruthDisc,
    pub disc: Disc,
    /// Distance of the bases, mm, on the true board.
    pub position_mm: f64,
    /// What was said of the margin less the truth, mm; for flat discs, to the line that was named.
    pub margin_error_mm: Option<f64>,
}

impl Pair {
    /// The margin's error in standard deviations.
    pub fn z(&self) -> Option<f64> {
        Some(self.margin_error_mm? / self.disc.margin_sigma_mm?)
    }

    /// Whether a disc lying on the board was measured: its value is a line's, and it was found where it lies.
    pub fn is_measured(&self) -> bool {
        let lies = |state| matches!(state, State::Flat | State::Off);
        lies(self.truth.state) && lies(self.disc.state) && self.position_mm < MEASURED_MM
    }

    /// Whether the value is wrong.
    pub fn is_wrong(&self) -> bool {
        self.disc.value != self.truth.zone.value()
    }
}

impl Comparison {
    /// Compares `report` with the truth of `scene`. Sides may be named the other way round: a is the darker colour for
    /// the counter, the first one for the scene.
    pub fn new(scene: &Scene, report: &Report) -> Self {
        let (camera, truth) = (scene.camera(), scene.truth());
        let inner_mm = scene.board.as_ref().map_or([0.0; 3], |board| board.inner_mm());
        let mut distances = Vec::new();
        for (i, disc) in truth.discs.iter().enumerate() {
            for (j, found) in report.discs.iter().enumerate() {
                let at = camera.board_at(Point::new(found.base_px[0], found.base_px[1]), scene.floor_of(disc));
                let apart = at.map_or(f64::INFINITY, |at| at.distance(disc.base));
                if apart < scene.set.radius_mm {
                    distances.push((apart, i, j));
                }
            }
        }
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut pairs: Vec<Pair> = Vec::new();
        let (mut used_truth, mut used_found) = (vec![false; truth.discs.len()], vec![false; report.discs.len()]);
        for (position_mm, i, j) in distances {
            if used_truth[i] || used_found[j] {
                continue;
            }
            (used_truth[i], used_found[j]) = (true, true);
            let (disc, truth) = (report.discs[j].clone(), truth.discs[i]);
            let margin_error_mm = match (disc.margin_mm, disc.line, truth.state) {
                (Some(margin), Some(line), State::Flat | State::Off) => {
                    let edge = crokeye::board::Line::ALL.iter().position(|&other| other == line);
                    edge.map(|edge| margin - (inner_mm[edge] - truth.base.norm() - scene.set.radius_mm))
                }
                _ => None,
            };
            pairs.push(Pair { truth, disc, position_mm, margin_error_mm });
        }
        let missed = (0..truth.discs.len()).filter(|&i| !used_truth[i]).map(|i| truth.discs[i]);
        let missed: Vec<TruthDisc> = missed.filter(|disc| disc.zone.value() > 0).collect();
        let invented = (0..report.discs.len()).filter(|&j| !used_found[j] && report.discs[j].value > 0).count();
        let found = [Side::A, Side::B]
            .map(|side| report.sides.iter().filter(|row| row.side == side).map(|row| row.total).sum::<u32>());
        let [a, b] = truth.totals;
        let exact = report.status != Status::NoBoard && (found == [a, b] || found == [b, a]);
        let silent = report.status == Status::Counted && !exact;
        Self { pairs, missed, invented, exact, silent }
    }
}

impl Scene {
    /// Height of the face that a disc of this truth stands on, mm.
    fn floor_of(&self, disc: &TruthDisc) -> f64 {
        match (disc.state, &self.board) {
            (State::InHole, Some(board)) => -board.hole_depth_mm,
            _ => 0.0,
        }
    }
}

/// The value below which the share `q` of `values` lies; NaN of none.
pub fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        return f64::NAN;
    }
    values[((values.len() as f64 * q) as usize).min(values.len() - 1)]
}
