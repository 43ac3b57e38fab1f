//! A disc in the hole that a single picture does not show.
//!
//! A dark disc in a dark hole, or one in deep shadow, may be no disc to the detector; yet the hole looks other than it did
//! when it was known to be empty. In: the known and the present look of the hole. Out: a disc in the hole, its side by the
//! colour that is there now, where that is clear.

use super::colours::Colours;
use super::scenery::{self, Places};
use crate::board::{Side, State};
use crate::detect::colour::{distance, lab};
use crate::detect::hole::RIM_HEIGHT_MM;
use crate::detect::{Detections, DiscFit};
use crate::geometry::Point;
use crate::register::Registration;

/// Share of the hole's radius that is looked at: its wall is in shadow.
const INNER_SHARE: f64 = 0.6;
/// The hole must have changed by this much (unit of [`distance`]) to hold something.
const CHANGED: f32 = 22.0;
/// What lies there must be this near to a side's colour, and the other side's this many times further.
const NEAR: f32 = 22.0;
const CLEAR: f32 = 1.6;
/// A disc whose middle is so near, mm, covers the hole: what is seen there is that disc.
const COVERS_MM: f64 = 36.0;
/// How sure such a disc is: more than what goes to review, less than any that was seen.
const CONFIDENCE: f64 = 0.8;

/// Adds the disc in the hole to what was detected, where the look of the hole alone tells of one.
pub fn fill(detections: &mut Detections, board: &Registration, known: &Places, now: &Places, colours: &Colours) {
    if detections.discs.iter().any(|disc| disc.base.norm() < COVERS_MM) {
        return;
    }
    let Some([empty, now]) = scenery::centre(known, now, INNER_SHARE * board.hole_mm) else { return };
    let (empty, now) = (lab(empty), lab(now));
    if distance(empty, now) < CHANGED {
        return;
    }
    let far = colours.known().map(|colour| colour.map_or(f32::MAX, |colour| distance(colour, now)));
    let (side, near, other) = if far[0] <= far[1] { (Side::A, far[0], far[1]) } else { (Side::B, far[1], far[0]) };
    if near > NEAR || other < CLEAR * near {
        return;
    }
    let base = Point::new(0.0, 0.0);
    let Some(middle_px) = board.camera.project(base, RIM_HEIGHT_MM) else { return };
    let disc = DiscFit {
        middle_px,
        middle_height_mm: RIM_HEIGHT_MM,
        covariance_px2: [[1.0, 0.0], [0.0, 1.0]],
        base,
        state: State::InHole,
        lab: now,
        side: Some(side),
        visible: 1.0,
        confidence: CONFIDENCE,
    };
    detections.discs.insert(0, disc);
    // It is counted now: that it may be one is no doubt any more.
    detections.rejected.retain(|rejected| rejected.base.norm() > board.hole_mm);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::testing::overhead;

    const BLACK: [f32; 3] = [15.0, 1.0, 2.0];
    const RED: [f32; 3] = [40.0, 50.0, 30.0];

    fn look(rgb: [f32; 3]) -> Places {
        let size = overhead(&[]).frame.rgb;
        scenery::places(&size, &overhead(&[]).registration).into_iter().map(|place| place.map(|_| rgb)).collect()
    }

    fn filled(places: &[(f64, f64)], now: [f32; 3]) -> Detections {
        let truth = overhead(places);
        let mut detections = truth.detections;
        let colours = Colours::remembered([Some(BLACK), Some(RED)]);
        fill(&mut detections, &truth.registration, &look([150.0, 110.0, 70.0]), &look(now), &colours);
        detections
    }

    #[test]
    fn a_hole_that_has_turned_black_holds_the_black_sides_disc() {
        let found = filled(&[(100.0, 0.0)], [38.0, 37.0, 36.0]);
        assert_eq!((found.discs.len(), found.discs[0].state, found.discs[0].side), (2, State::InHole, Some(Side::A)));
    }

    #[test]
    fn an_unchanged_hole_a_strange_colour_or_a_disc_over_it_holds_none() {
        assert_eq!(filled(&[(100.0, 0.0)], [148.0, 112.0, 71.0]).discs.len(), 1);
        assert_eq!(filled(&[(100.0, 0.0)], [40.0, 200.0, 60.0]).discs.len(), 1);
        assert_eq!(filled(&[(20.0, 0.0)], [38.0, 37.0, 36.0]).discs.len(), 1);
    }
}
