//! The hole: empty, a disc flat on its floor (20), or a disc leaning over its edge (15).
//!
//! The hole's own rim is a circle of nearly a disc's size, and its floor may have a team's colour. What tells them
//! apart is measured by a circle fitted at the height where a fallen disc's top would be: a disc in the hole keeps its
//! own radius and lies wholly within the rim; a leaning one shows its side and reaches beyond the rim; an empty hole
//! has the hole's radius and another colour.

use crate::board::State;
use crate::geometry::{BoardMm, Point};

use super::colour::{self, Interior};
use super::evidence::{self, Evidence, NO_KIN};
use super::fit::{Fitting, Scene, ShapePrior, fit_together};
use super::search::Search;
use super::shape::{Shape, Sight};

/// Height of the widest visible circle of a disc lying in the hole, above the playing surface, mm: its top stands
/// 1.5 to 4 mm out, less the rounding of its edge.
pub const RIM_HEIGHT_MM: f64 = 0.5;
/// Robust scales of the fit, mm.
const SCALES_MM: [f64; 4] = [1.5, 1.0, 0.8, 0.6];

/// What was measured at the hole.
#[derive(Clone, Debug)]
pub struct HoleFit {
    /// Middle of the circle, on the plane [`RIM_HEIGHT_MM`] above the surface.
    pub at: Point<BoardMm>,
    /// Its radius, mm.
    pub radius_mm: f64,
    /// How far it reaches beyond the hole's rim, mm.
    pub reach_mm: f64,
    /// How much darker than disc and board the ring just inside the rim is, as a share of the brightness within; a
    /// quartile over the arcs, negative for darker. Round a fallen disc there is a dark gap nearly everywhere.
    pub gap: f64,
    /// How uneven the brightness within is from arc to arc, as a share of it.
    pub uneven: f64,
    /// What the outline looks like, taken as a disc's.
    pub evidence: Evidence,
    /// Colour within.
    pub interior: Interior,
    /// How far its saturation is from that of what holes are made of, see [`colour::tint`].
    pub tint: f64,
    /// The fit.
    pub fit: Fitting,
}

/// What is registered as the hole's rim, with a radius within these shares of a disc's, is a disc in the hole or the
/// hole's floor: a hole that takes discs has more room.
const NO_RIM: std::ops::Range<f64> = 0.9..1.06;
/// Radius of a hole as a share of its disc's: 1 3/8 in for a disc of 1 1/4 in.
const HOLE_SHARE: f64 = 1.1;

/// Radius of the hole's rim, mm: as registered, unless a disc in the hole, or its floor, was taken for the rim.
pub fn rim_mm(registered_mm: f64, disc_radius_mm: f64) -> f64 {
    if NO_RIM.contains(&(registered_mm / disc_radius_mm)) { HOLE_SHARE * disc_radius_mm } else { registered_mm }
}

/// Fits a circle to what is in the hole, and reads the rim.
pub fn measure(search: &Search<'_>, hole_mm: f64) -> HoleFit {
    let Search { scene, view, ground, .. } = search;
    let shape = search.shape.shape;
    let scene_here = Scene { sight: Sight::of(scene.camera, RIM_HEIGHT_MM), plane_mm: RIM_HEIGHT_MM, ..*scene };
    let sight = &scene_here.sight;
    // Sunk in the hole there is no lower edge to be seen: a disc without height, of any radius up to the hole's.
    let flat = Shape { height_mm: 2.0 * shape.edge_mm, radius_mm: 0.5 * (shape.radius_mm + hole_mm), ..shape };
    let prior = ShapePrior { mean: flat, sigma: [1.5, 0.02, 0.02] };
    let mut fits = [scene_here.start(&flat, Point::new(0.0, 0.0))];
    let first = fit_together(&mut fits, sight, flat, &prior, &SCALES_MM);
    let mut fits = [scene_here.start(&first.shape, fits[0].at)];
    let fitted = fit_together(&mut fits, sight, first.shape, &prior, &SCALES_MM);
    let [fit] = fits;
    // The view is of a higher plane: the same place appears shifted by the lean.
    let on_view = scene
        .camera
        .project(fit.at, RIM_HEIGHT_MM)
        .and_then(|p| scene.camera.board_at(p, scene.plane_mm))
        .unwrap_or(fit.at);
    let rim = colour::rim(&fit.profiles, &fit.all_predicted(sight, &fitted.shape));
    let (gap, uneven) = rim_profile(scene, hole_mm);
    let interior = colour::interior(view, ground, on_view, shape.radius_mm, rim);
    HoleFit {
        at: fit.at,
        radius_mm: fitted.shape.radius_mm,
        reach_mm: fit.at.norm() + fitted.shape.radius_mm - hole_mm,
        gap,
        uneven,
        evidence: evidence::measure(&fit, sight, &fitted.shape),
        interior,
        tint: foreign_tint(interior.lab, ground.around_hole()),
        fit,
    }
}

/// How what is in or over the hole was judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Probability that a disc lies in or leans over the hole.
    pub probability: f64,
    /// In the hole, or leaning.
    pub state: State,
}

/// A disc whose circle reaches further beyond the hole's rim than this shows its side there: it leans, mm. Rendered
/// discs flat in the hole: at most 0.7; leaning: at least 0.96.
const LEANING_REACH_MM: f64 = 0.83;
/// Within this of [`LEANING_REACH_MM`] the state is doubtful, mm.
const REACH_SIGMA_MM: f64 = 0.12;

/// Wood of holes, CIE L*a*b*.
const WOOD: [f32; 3] = [50.0, 8.0, 28.0];
/// Grey, or black.
const GREY: [f32; 3] = [50.0, 0.0, 0.0];

/// How far the saturation of a colour is from all that holes are made of: the board's own material, wood, or grey.
fn foreign_tint(colour: [f32; 3], board: [f32; 3]) -> f64 {
    [board, WOOD, GREY].map(|floor| f64::from(colour::tint(colour, floor))).into_iter().fold(f64::MAX, f64::min)
}

/// A saturation this far from those of floors, from first to full, is rarely that of an empty hole.
const FOREIGN_TINT: [f64; 2] = [0.4, 0.6];
/// Where it is a side's colour as well, it speaks so much for a disc (log of the ratio of its odds), ...
const FOREIGN_ODDS: f64 = 4.0;
/// ... and by as much less as it is further from that colour, one standard deviation.
const FOREIGN_KIN: f64 = 8.0;

/// Log of the odds for a disc from a colour that is the discs' and foreign to the board.
fn foreign(tint: f64, kin: f64) -> f64 {
    let share = ((tint - FOREIGN_TINT[0]) / (FOREIGN_TINT[1] - FOREIGN_TINT[0])).clamp(0.0, 1.0);
    FOREIGN_ODDS * share * (-(kin / FOREIGN_KIN).powi(2)).exp()
}

/// Judges what is at the hole. `kin` is the distance of its colour from the nearest disc's, None without one, `upright` the
/// probability that a disc stands there as seen by the search for discs lying on the board.
///
/// The weights are two logistic regressions on 150 rendered holes (15 with a disc in them, 6 with one leaning), with the
/// features clipped to where they were seen. [`foreign`] comes on top for a disc within the rim alone: vivid ones are too few to
/// learn from, and of whether a disc leans its colour says nothing.
pub fn judge(hole: &HoleFit, kin: Option<f64>, upright: f64) -> Verdict {
    let uneven = hole.uneven.min(0.2);
    let foreign = kin.map_or(0.0, |kin| foreign(hole.tint, kin));
    let kin = kin.unwrap_or(f64::from(NO_KIN)).min(20.0);
    let likelihood = (hole.evidence.likelihood as f64).max(-1.2);
    let gap = hole.gap.clamp(-0.4, 0.1);
    let leaning = 1.0 / (1.0 + (-(hole.reach_mm - LEANING_REACH_MM) / REACH_SIGMA_MM).exp());
    let in_hole = logistic(1.82 - 0.357 * kin - 11.2 * gap - 12.6 * uneven + 2.15 * likelihood + foreign);
    let over = logistic(
        1.33 - 0.356 * kin + 6.1 * gap - 17.4 * uneven
            + 2.45 * likelihood
            + 0.88 * hole.reach_mm.clamp(-1.0, 2.5)
            + 0.65 * hole.at.norm(),
    ) * upright;
    if leaning < 0.5 {
        Verdict { probability: in_hole * (1.0 - leaning), state: State::InHole }
    } else {
        Verdict { probability: over.max(in_hole * (1.0 - leaning)) * leaning, state: State::Leaning }
    }
}

fn logistic(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// Arcs of the hole's rim.
const ARCS: usize = 24;
/// Lines averaged in an arc.
const ARC_LINES: usize = 5;
/// Zones about the rim, mm from it: within, the gap, the board.
const WITHIN_MM: [f64; 2] = [-9.0, -4.5];
const GAP_MM: [f64; 2] = [-3.0, -0.5];
const BOARD_MM: [f64; 2] = [1.0, 2.5];
/// Grey levels that are added to a brightness before it divides: below it all is black.
const BLACK: f64 = 10.0;

/// Depth of the dark gap and unevenness within, see [`HoleFit`].
fn rim_profile(scene: &Scene<'_>, hole_mm: f64) -> (f64, f64) {
    let grey = |arc: usize, offset_mm: f64| {
        let (mut sum, mut n) = (0.0, 0.0);
        for line in 0..ARC_LINES {
            let turn = (arc as f64 + line as f64 / ARC_LINES as f64) / ARCS as f64 * std::f64::consts::TAU;
            let r = hole_mm + offset_mm;
            let p = scene.camera.project(Point::new(r * turn.cos(), r * turn.sin()), 0.0);
            if let Some(c) = p.and_then(|p| scene.picture.sample(p.x as f32, p.y as f32)) {
                sum += (c[0] + c[1] + c[2]) as f64 / 3.0;
                n += 1.0;
            }
        }
        if n > 0.0 { sum / n } else { 0.0 }
    };
    let steps = |zone: [f64; 2]| {
        let n = ((zone[1] - zone[0]) / 0.5).round() as usize;
        (0..=n).map(move |i| zone[0] + 0.5 * i as f64)
    };
    let mean = |arc, zone| {
        let values: Vec<f64> = steps(zone).map(|o| grey(arc, o)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mut dips = Vec::with_capacity(ARCS);
    let mut within = Vec::with_capacity(ARCS);
    for arc in 0..ARCS {
        let inner = mean(arc, WITHIN_MM);
        let darkest = steps(GAP_MM).map(|o| grey(arc, o)).fold(f64::MAX, f64::min);
        dips.push(darkest - inner.min(mean(arc, BOARD_MM)));
        within.push(inner);
    }
    let brightness = within.iter().sum::<f64>() / ARCS as f64;
    let spread = (within.iter().map(|v| (v - brightness).powi(2)).sum::<f64>() / ARCS as f64).sqrt();
    dips.sort_by(f64::total_cmp);
    (dips[ARCS * 3 / 4] / (brightness + BLACK), spread / (brightness + BLACK))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIRCH: [f32; 3] = [79.0, 1.0, 19.0];

    #[test]
    fn a_vivid_colour_of_the_discs_speaks_for_a_disc() {
        let blue = foreign_tint([32.0, 16.0, -42.0], BIRCH);
        assert!(foreign(blue, 3.0) > 3.0);
        assert!(foreign(blue, 20.0) < 0.1, "a red floor under blue discs says nothing");
    }

    #[test]
    fn the_colours_of_floors_say_nothing() {
        let felt_of_a_blue_board = ([30.0, 14.0, -41.0], [30.0, 14.0, -41.0]);
        for (floor, board) in [([43.0, 4.0, 25.0], BIRCH), ([13.0, 3.0, 10.0], BIRCH), felt_of_a_blue_board] {
            assert!(foreign(foreign_tint(floor, board), 0.0) < 0.1, "{floor:?}");
        }
        let wood_in_a_blue_board = foreign_tint([26.0, 12.0, 16.0], felt_of_a_blue_board.1);
        assert!(foreign(wood_in_a_blue_board, 0.0) < 0.1);
    }
}
