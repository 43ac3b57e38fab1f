//! Whether the board still lies where it was registered.
//!
//! A camera that stands still sees every edge of the board where it saw it before, and a few dozen edges together tell
//! that to a twentieth of a pixel: then the registration holds, and nothing has to be solved. The edges are read along
//! short lines laid when the board was registered: across every circle that was followed, all the way round, and across
//! quadrant lines or pegs, which alone show that a board was turned about its centre.

use image::RgbImage;

use super::rings::{Crossing, Track};
use crate::geometry::{Camera, Point};

/// Directions in which every circle is crossed.
const DIRECTIONS: usize = 48;
/// Parts of the board that are told apart, and one more group for what shows a turn.
const SECTORS: usize = 8;
const TURN: usize = SECTORS;
/// Edges are looked for this far from where they were expected, px of the level that was registered.
const GATE_PX: f64 = 3.0;
/// The median edge of a part moves by no more while the camera stands still, px of that level: under a tenth of a
/// millimetre, where noise moves it by 0.03.
const MOVED_PX: f64 = 0.1;
/// An edge whose strength is not within these shares of its circle's usual one is another one: a hand's, a disc's.
const SAME_EDGE: [f32; 2] = [0.3, 4.0];
/// Edges that a part needs to be judged.
const LEAST_EDGES: usize = 6;
/// Parts that must stand still; hands may hide the others. Shifts, tilts and zooms leave at most four in place.
const LEAST_SECTORS: usize = 6;
/// When by this share more of the lines show their edge, more can be seen of the board than before.
const UNCOVERED: f64 = 0.15;
/// Weights of brightness, for lines whose colour is not known.
const GREY: [f32; 3] = [0.299, 0.587, 0.114];

/// Edges of a registered board as they were seen.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    size_px: (u32, u32),
    /// Pixels of the picture a pixel of the level that was registered.
    unit_px: f64,
    anchors: Vec<Anchor>,
}

#[derive(Clone, Debug)]
struct Anchor {
    crossing: Crossing,
    group: usize,
    /// Strength of such edges.
    usual: f32,
    /// Distance from where the edge was expected, px.
    seen_px: Option<f64>,
}

impl Anchor {
    /// Where the edge is in `picture`.
    fn find(&self, picture: &RgbImage, unit_px: f64, values: &mut Vec<f32>) -> Option<f64> {
        let (at_px, strength) = self.crossing.find(picture, GATE_PX, unit_px, values)?;
        (strength > SAME_EDGE[0] * self.usual && strength < SAME_EDGE[1] * self.usual).then_some(at_px)
    }
}

/// What shows how a board is turned.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Direction of the first of the repeated features, radians.
    pub first_rad: f64,
    /// How many there are all the way round.
    pub times: usize,
    /// Radii between which they are crossed, mm.
    pub radii_mm: [f64; 2],
    /// Half their width, mm.
    pub half_mm: f64,
}

impl Anchors {
    /// Lays lines across the circles of `tracks` and the features of `turn`, and reads them.
    pub fn lay(picture: &RgbImage, camera: &Camera, tracks: &[Track], turn: Option<Turn>, unit_px: f64) -> Self {
        let mut lines: Vec<Vec<(Crossing, usize)>> = tracks.iter().map(|track| around(camera, track)).collect();
        // Of lines and pegs it is not known whether they are darker than the board or brighter.
        for weights in [GREY, GREY.map(|w| -w)] {
            lines.extend(turn.map(|turn| turn.crossings(camera, weights)));
        }
        let mut values = Vec::new();
        let mut anchors = Vec::new();
        for line in lines {
            let strength = |(crossing, _): &(Crossing, usize)| {
                crossing.find(picture, GATE_PX, unit_px, &mut values).map(|found| f64::from(found.1))
            };
            let usual = median(&line.iter().filter_map(strength).collect::<Vec<_>>()) as f32;
            anchors.extend(line.into_iter().map(|(crossing, group)| {
                let anchor = Anchor { crossing, group, usual, seen_px: None };
                Anchor { seen_px: anchor.find(picture, unit_px, &mut values), ..anchor }
            }));
        }
        Self { size_px: picture.dimensions(), unit_px, anchors }
    }

    /// True where `picture` shows the edges where they were.
    pub fn hold(&self, picture: &RgbImage) -> bool {
        if picture.dimensions() != self.size_px {
            return false;
        }
        let mut moves: [Vec<f64>; SECTORS + 1] = Default::default();
        let mut shows_turn = 0;
        let (mut before, mut now) = (0usize, 0usize);
        let mut values = Vec::new();
        for anchor in &self.anchors {
            let found = anchor.find(picture, self.unit_px, &mut values);
            before += usize::from(anchor.seen_px.is_some());
            now += usize::from(found.is_some());
            shows_turn += usize::from(anchor.group == TURN && anchor.seen_px.is_some());
            if let (Some(from), Some(to)) = (anchor.seen_px, found) {
                moves[anchor.group].push((to - from) / self.unit_px);
            }
        }
        let still = |group: usize| moves[group].len() >= LEAST_EDGES && median(&moves[group]).abs() < MOVED_PX;
        let turned = shows_turn >= LEAST_EDGES && !still(TURN);
        let in_place = (0..SECTORS).filter(|&sector| still(sector)).count();
        in_place >= LEAST_SECTORS && !turned && now as f64 - (before as f64) < UNCOVERED * self.anchors.len() as f64
    }
}

/// Lines across the circle of `track` all the way round, and the sector of each.
fn around(camera: &Camera, track: &Track) -> Vec<(Crossing, usize)> {
    let weights = track.weights.map(|w| w * track.sign);
    let crossing = |i: usize| {
        let turn_rad = (i as f64 + 0.5) / DIRECTIONS as f64 * std::f64::consts::TAU;
        Some((Crossing::of_circle(camera, track.radius_mm, turn_rad, weights)?, i * SECTORS / DIRECTIONS))
    };
    (0..DIRECTIONS).filter_map(crossing).collect()
}

impl Turn {
    /// Lines across both borders of every feature.
    fn crossings(&self, camera: &Camera, weights: [f32; 3]) -> Vec<(Crossing, usize)> {
        const RADII: usize = 6;
        let crossing = |feature: usize, i: usize, side: f64| {
            let turn_rad = self.first_rad + feature as f64 / self.times as f64 * std::f64::consts::TAU;
            let (sin, cos) = turn_rad.sin_cos();
            let share = i as f64 / (RADII - 1) as f64;
            let radius_mm = self.radii_mm[0] + share * (self.radii_mm[1] - self.radii_mm[0]);
            let middle = Point::new(radius_mm * cos, radius_mm * sin);
            let border = |mm: f64| camera.project(middle.offset(-side * mm * sin, side * mm * cos), 0.0);
            Some((Crossing::between(border(self.half_mm)?, border(self.half_mm + 1.0)?, weights), TURN))
        };
        (0..self.times * RADII)
            .flat_map(|k| [-1.0, 1.0].map(|side| (k, side)))
            .filter_map(|(k, side)| crossing(k / RADII, k % RADII, side))
            .collect()
    }
}

/// Median; 0 for none.
fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    const RADIUS_MM: f64 = 150.0;
    const TRACK: Track =
        Track { radius_mm: RADIUS_MM, sign: 1.0, weights: [0.577; 3], line: 0, side: 0.0, weight: 1.0 };
    const TURN_RAD: f64 = 0.3;
    const QUADRANTS: Turn = Turn { first_rad: TURN_RAD, times: 4, radii_mm: [90.0, 135.0], half_mm: 0.0 };

    fn camera() -> Camera {
        Camera {
            focal_px: 1000.0,
            principal: Point::new(249.5, 249.5),
            k1: 0.0,
            k2: 0.0,
            rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            translation_mm: [0.0, 0.0, 1000.0],
        }
    }

    /// One pixel a millimetre: a disc darker than what is round it, with four lines on it, moved and turned.
    fn board(shift: [f64; 2], turn_rad: f64, hand: bool) -> RgbImage {
        RgbImage::from_fn(500, 500, |x, y| {
            let (dx, dy) = (f64::from(x) - 249.5 - shift[0], f64::from(y) - 249.5 - shift[1]);
            let inside = (RADIUS_MM + 0.5 - dx.hypot(dy)).clamp(0.0, 1.0);
            let quarter = std::f64::consts::FRAC_PI_2;
            let turn = (dy.atan2(dx) - turn_rad + quarter / 2.0).rem_euclid(quarter) - quarter / 2.0;
            let line = (1.5 - (turn * dx.hypot(dy)).abs()).clamp(0.0, 1.0);
            // Grain that changes from picture to picture.
            let grain =
                f64::from((x * 7 + y * 13 + (shift[0] * 50.0) as u32 + turn_rad.to_bits() as u32 % 97) % 5) - 2.0;
            let level =
                if hand && dx > 40.0 && dy.abs() < 60.0 { 90.0 } else { 180.0 - 90.0 * inside - 50.0 * inside * line };
            Rgb([(level + grain) as u8; 3])
        })
    }

    fn anchors(picture: &RgbImage) -> Anchors {
        Anchors::lay(picture, &camera(), &[TRACK, Track { sign: 1.0, ..TRACK }], Some(QUADRANTS), 1.0)
    }

    #[test]
    fn a_board_that_lies_still_holds_whatever_the_grain() {
        let anchors = anchors(&board([0.0, 0.0], TURN_RAD, false));
        assert!(anchors.hold(&board([0.021, 0.0], TURN_RAD, false)));
    }

    #[test]
    fn a_quarter_of_a_pixel_in_any_direction_is_seen() {
        let anchors = anchors(&board([0.0, 0.0], TURN_RAD, false));
        for i in 0..8 {
            let (sin, cos) = (f64::from(i) * 0.785).sin_cos();
            assert!(!anchors.hold(&board([0.25 * cos, 0.25 * sin], TURN_RAD, false)), "direction {i}");
        }
    }

    #[test]
    fn a_board_turned_about_its_centre_is_seen() {
        let anchors = anchors(&board([0.0, 0.0], TURN_RAD, false));
        assert!(!anchors.hold(&board([0.0, 0.0], TURN_RAD + 0.004, false)));
    }

    #[test]
    fn a_hand_over_a_quarter_of_the_board_moves_nothing_and_uncovers_it_when_it_leaves() {
        let (free, hidden) = (board([0.0, 0.0], TURN_RAD, false), board([0.0, 0.0], TURN_RAD, true));
        assert!(anchors(&free).hold(&hidden));
        assert!(anchors(&hidden).hold(&hidden));
        assert!(!anchors(&hidden).hold(&free));
    }

    #[test]
    fn a_picture_of_another_size_never_holds() {
        assert!(!anchors(&board([0.0, 0.0], TURN_RAD, false)).hold(&RgbImage::new(499, 500)));
    }
}
