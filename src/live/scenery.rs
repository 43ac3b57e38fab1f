//! What the board looks like where no disc lies, and what covers it now.
//!
//! In: settled pictures with the discs found in them. Kept: the colour of every place on the board, in board millimetres,
//! so that it outlives a bump of the camera. Out, for a further picture: what differs and is no disc. A hand that holds
//! still, a sleeve, a cup must not be counted around; a shadow or another lamp must not stop the count.
//!
//! Colours are compared as logarithms of their ratio: a shadow darkens all channels alike, a thing has another colour or
//! is much darker.

use image::RgbImage;

use crate::geometry::{BoardMm, Point};
use crate::register::Registration;

/// Side of a place, mm: half of a finger's width.
const CELL_MM: f64 = 6.0;
/// The places reach this far, mm: the ditch and its rail are seen too.
const REACH_MM: f64 = 384.0;
/// Places in a row.
const SIDE: usize = (2.0 * REACH_MM / CELL_MM) as usize;
/// Added before logarithms, levels: noise of dark colours stays small.
const DARK_LEVELS: f32 = 10.0;
/// Difference of one channel's logarithm from the mean of all that makes another colour: 5 deviations of a place's noise.
const OTHER_COLOUR: f32 = 0.07;
/// Logarithm of brightness below which it is no shadow any more, and above which it is no light spot.
const DARKER: f32 = -0.45;
const BRIGHTER: f32 = 0.30;
/// How far around a disc its shadow and its blur change places, mm.
const DISC_BEYOND_MM: f64 = 11.0;
/// Least difference of a channel, levels: noise of a place in the dark exceeds any ratio.
const LEAST_LEVELS: f32 = 10.0;
/// A region that comes in from the ditch is a hand if it covers this much of the surface, mm²: two fingertips.
const HAND_MM2: f64 = 280.0;
/// More than this in the ditch, in one piece, is no disc, mm²: two discs that touch have 1,600.
const ARM_MM2: f64 = 2_200.0;
/// A round of this radius, mm, is filled to this share by hands and arms, never by a disc and its shadow.
const THICK_MM: f64 = 24.0;
const THICK_SHARE: f64 = 0.85;
/// A thing on the surface that is no disc: from this area on, mm². A disc's own picture has 800.
const THING_MM2: f64 = 1_300.0;
/// A region of a disc's size: it may be a disc that was not found, mm².
const DISC_MM2: std::ops::Range<f64> = 450.0..THING_MM2;
/// Beyond the surface's rim by this much, mm, every board is ditch all round.
const DITCH_MM: std::ops::Range<f64> = 8.0..36.0;
/// A place looks better if it is nearer to its ring by this factor; in the ditch, whose light differs from side to side,
/// it must have been stranger than this before, levels of the three channels together.
const BETTER: f32 = 0.6;
const STRANGE_LEVELS: f32 = 60.0;
/// Parts of one ghost are no further apart than this, mm.
const GHOST_GAP_MM: f64 = 30.0;
/// Areas of one disc in the ditch, mm².
const DITCH_DISC_MM2: f64 = 700.0;
/// Share of the surface from which a difference is another light, provided that the lines are seen.
const LIGHT_SHARE: f64 = 0.3;
/// Weight of a new picture against what is known of a place.
const LEARN: f32 = 0.2;

/// Something that covers the board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// Where.
    pub at: Point<BoardMm>,
    /// Does it only reach over the ditch, so that the surface is in view?
    pub beside: bool,
}

/// What differs in a picture from the known board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// A hand, an arm, a cup.
    pub cover: Option<Cover>,
    /// Regions of a disc's size that no disc explains.
    pub unexplained: Vec<Point<BoardMm>>,
    /// Discs that seem to lie in the ditch.
    pub ditch: u32,
    /// Share of the surface that differs, 0 to 1.
    pub share: f64,
}

/// Colours of the places, RGB levels; None where a place is not in the picture or was never seen uncovered.
pub type Places = Vec<Option<[f32; 3]>>;

/// The known board.
#[derive(Clone, Debug, Default)]
pub struct Scenery {
    known: Places,
}

/// Reads the colour of every place.
pub fn places(rgb: &RgbImage, board: &Registration) -> Places {
    let read = |x: f64, y: f64| {
        let at = board.camera.project(Point::new(x, y), 0.0)?;
        let (column, row) = (at.x.round(), at.y.round());
        let inside = column >= 0.0 && row >= 0.0 && column < f64::from(rgb.width()) && row < f64::from(rgb.height());
        inside.then(|| rgb.get_pixel(column as u32, row as u32).0.map(f32::from))
    };
    let third = CELL_MM / 3.0;
    (0..SIDE * SIDE)
        .map(|place| {
            let at = middle(place);
            if at.norm() > REACH_MM {
                return None;
            }
            let mut sum = [0f32; 3];
            for (dx, dy) in (0..9).map(|i| (f64::from(i % 3 - 1) * third, f64::from(i / 3 - 1) * third)) {
                let seen = read(at.x + dx, at.y + dy)?;
                sum = [0, 1, 2].map(|i| sum[i] + seen[i]);
            }
            Some(sum.map(|value| value / 9.0))
        })
        .collect()
}

/// Tells whether two pictures agree around a point within a radius, mm; where either was not seen they do not.
pub fn agreement<'a>(before: &'a Places, now: &'a Places) -> impl Fn(Point<BoardMm>, f64) -> bool + 'a {
    let gain = gain(before, now, |_| true);
    move |at, radius_mm| {
        let (mut same, mut other) = (0, 0);
        for place in near(at, radius_mm) {
            match (before.get(place), now.get(place)) {
                (Some(Some(b)), Some(Some(n))) if !differs(b, n, gain) => same += 1,
                _ => other += 1,
            }
        }
        same > 0 && other * 8 <= same
    }
}

impl Scenery {
    /// What is known of the places.
    pub fn known(&self) -> &Places {
        &self.known
    }

    /// Is anything known?
    pub fn is_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// The board was turned by `angle_rad` under its own centre.
    pub fn turn(&mut self, angle_rad: f64) {
        if !self.is_known() {
            return;
        }
        let (s, c) = angle_rad.sin_cos();
        let known = std::mem::take(&mut self.known);
        let from = |place: usize| {
            let at = middle(place);
            place_at(Point::new(c * at.x + s * at.y, c * at.y - s * at.x)).and_then(|from| known[from])
        };
        self.known = (0..SIDE * SIDE).map(from).collect();
    }

    /// Compares a picture with the known board. `discs` are the discs found in it, with their radius; `surface_mm` the
    /// rim of the playing surface. Nothing known: nothing differs.
    pub fn compare(&self, now: &Places, discs: &[Point<BoardMm>], radius_mm: f64, surface_mm: f64) -> Difference {
        if !self.is_known() {
            return Difference::default();
        }
        let explained = explained(discs, radius_mm);
        let gain = gain(&self.known, now, |place| !explained[place] && middle(place).norm() < surface_mm);
        let different: Vec<bool> = (0..now.len())
            .map(|place| match (&self.known[place], &now[place]) {
                (Some(known), Some(now)) => differs(known, now, gain),
                _ => false,
            })
            .collect();
        let on_surface = |place: usize| middle(place).norm() < surface_mm - CELL_MM / 2.0;
        let surface = (0..now.len()).filter(|place| on_surface(*place)).count().max(1);
        let changed = (0..now.len()).filter(|place| different[*place] && !explained[*place] && on_surface(*place));
        let mut out = Difference { share: changed.count() as f64 / surface as f64, ..Difference::default() };
        let area = |places: &[usize]| places.len() as f64 * CELL_MM * CELL_MM;
        let split =
            |region: Vec<usize>| -> (Vec<usize>, Vec<usize>) { region.into_iter().partition(|at| on_surface(*at)) };
        let cover = |places: &[usize], beside| Some(Cover { at: mean(places), beside });
        let unexplained: Vec<bool> =
            different.iter().zip(&explained).map(|(differs, explained)| *differs && !explained).collect();
        // A hand is one piece with the disc that it holds.
        for (inner, outer) in regions(&different).into_iter().map(split) {
            if area(&inner) > HAND_MM2 && area(&outer) > ARM_MM2 {
                out.cover = out.cover.or(cover(&inner, false));
            }
        }
        for (inner, outer) in regions(&unexplained).into_iter().map(split) {
            if area(&inner) > THING_MM2 {
                out.cover = out.cover.or(cover(&inner, false));
            } else if DISC_MM2.contains(&area(&inner)) {
                out.unexplained.push(mean(&inner));
            }
            if outer.iter().any(|place| is_thick(&unexplained, *place)) {
                let beside = area(&inner) < HAND_MM2;
                out.cover = out.cover.filter(|cover| !cover.beside || beside).or(cover(&outer, beside));
            }
            if inner.len() < outer.len() && area(&outer) > DITCH_DISC_MM2 / 2.5 && area(&outer) < 5.0 * DITCH_DISC_MM2 {
                out.ditch += (area(&outer) / DITCH_DISC_MM2).round().max(1.0) as u32;
            }
        }
        out
    }

    /// Does another light explain the difference? Then so much differs that a thing of that size would hide the lines.
    pub fn is_other_light(difference: &Difference, coverage: f64, usual_coverage: f64) -> bool {
        difference.share > LIGHT_SHARE && coverage > usual_coverage - 0.08
    }

    /// Learns from a settled picture in which nothing but `discs` lies on the board; `anew` forgets what was known where
    /// the picture shows it.
    pub fn learn(&mut self, now: &Places, discs: &[Point<BoardMm>], radius_mm: f64, surface_mm: f64, anew: bool) {
        if self.known.len() != now.len() {
            self.known = vec![None; now.len()];
        }
        let explained = explained(discs, radius_mm);
        for (place, (known, now)) in self.known.iter_mut().zip(now).enumerate() {
            let Some(now) = now else { continue };
            if explained[place] {
                continue;
            }
            *known = Some(match known {
                // A disc that came to lie in the ditch does not become a part of it.
                Some(known) if !anew && middle(place).norm() > surface_mm && differs(known, now, [0.0; 3]) => *known,
                Some(known) if !anew => [0, 1, 2].map(|i| known[i] + LEARN * (now[i] - known[i])),
                _ => *now,
            });
        }
    }

    /// Takes over the present look of regions that look more like the rest of their rings than what is known of them: a
    /// hand that lay on the board when it was first seen leaves no ghost. Surface and ditch are alike all round, rail and
    /// table are not, so a region is told by the part of it that lies there. Returns whether anything was taken over.
    pub fn heal(&mut self, now: &Places, discs: &[Point<BoardMm>], radius_mm: f64, surface_mm: f64) -> bool {
        if self.known.len() != now.len() {
            return false;
        }
        let explained = explained(discs, radius_mm);
        let rings = ring_medians(now);
        let different: Vec<bool> = (0..now.len())
            .map(|place| match (&self.known[place], &now[place]) {
                (Some(known), Some(now)) => !explained[place] && differs(known, now, [0.0; 3]),
                _ => false,
            })
            .collect();
        // Is this place a better part of its ring now than it was?
        let better = |place: &&usize| match (&self.known[**place], &now[**place], &rings[ring(**place)]) {
            (Some(known), Some(now), Some(ring)) => {
                let off = |colour: &[f32; 3]| (0..3).map(|i| (colour[i] - ring[i]).abs()).sum::<f32>();
                let on_surface = middle(**place).norm() < surface_mm;
                off(now) < BETTER * off(known) && (on_surface || off(known) > STRANGE_LEVELS)
            }
            _ => false,
        };
        let is_ghost = |region: &Vec<usize>| {
            let alike = |at: &usize| {
                let beyond_mm = middle(*at).norm() - surface_mm;
                beyond_mm < -2.0 * CELL_MM || DITCH_MM.contains(&beyond_mm)
            };
            let part: Vec<usize> = region.iter().copied().filter(alike).collect();
            let tells = part.len() as f64 * CELL_MM * CELL_MM > HAND_MM2;
            tells && 3 * part.iter().filter(better).count() > 2 * part.len()
        };
        let (mut ghosts, others): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            regions(&different).into_iter().partition(is_ghost);
        // The rim parts an arm in two: what continues a ghost is one too.
        let continues = |region: &&Vec<usize>| {
            let close = |place: &usize| {
                ghosts.iter().flatten().any(|ghost| middle(*ghost).distance(middle(*place)) < GHOST_GAP_MM)
            };
            region.iter().any(close)
        };
        let more: Vec<Vec<usize>> = others.iter().filter(continues).cloned().collect();
        ghosts.extend(more);
        let ghosts = ghosts.concat();
        ghosts.iter().for_each(|place| self.known[*place] = now[*place]);
        !ghosts.is_empty()
    }
}

/// Is nearly all around a place marked?
fn is_thick(marked: &[bool], place: usize) -> bool {
    let (mut all, mut filled) = (0, 0);
    for place in near(middle(place), THICK_MM).filter(|place| middle(*place).norm() <= REACH_MM) {
        all += 1;
        filled += usize::from(marked[place]);
    }
    filled as f64 >= THICK_SHARE * f64::from(all) && all > 24
}

/// Median colour by distance from the centre.
fn ring_medians(now: &Places) -> Vec<Option<[f32; 3]>> {
    let mut rings: Vec<[Vec<f32>; 3]> = vec![Default::default(); SIDE];
    for (place, colour) in now.iter().enumerate() {
        if let Some(colour) = colour {
            (0..3).for_each(|i| rings[ring(place)][i].push(colour[i]));
        }
    }
    rings.into_iter().map(|mut ring| (!ring[0].is_empty()).then(|| [0, 1, 2].map(|i| median(&mut ring[i])))).collect()
}

fn ring(place: usize) -> usize {
    ((middle(place).norm() / CELL_MM) as usize).min(SIDE - 1)
}

fn median(values: &mut [f32]) -> f32 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

fn log_ratio(before: &[f32; 3], now: &[f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|i| ((now[i] + DARK_LEVELS) / (before[i] + DARK_LEVELS)).ln())
}

/// Median of the logarithms of ratios over the places asked for: the change of the light.
fn gain(before: &Places, now: &Places, counts: impl Fn(usize) -> bool) -> [f32; 3] {
    let mut ratios: [Vec<f32>; 3] = Default::default();
    for (place, (before, now)) in before.iter().zip(now).enumerate() {
        if let (Some(before), Some(now), true) = (before, now, counts(place)) {
            let ratio = log_ratio(before, now);
            (0..3).for_each(|i| ratios[i].push(ratio[i]));
        }
    }
    [0, 1, 2].map(|i| median(&mut ratios[i]))
}

fn differs(before: &[f32; 3], now: &[f32; 3], gain: [f32; 3]) -> bool {
    let ratio = log_ratio(before, now);
    let ratio = [0, 1, 2].map(|i| ratio[i] - gain[i]);
    let mean = ratio.iter().sum::<f32>() / 3.0;
    let other = !(DARKER..BRIGHTER).contains(&mean) || ratio.iter().any(|r| (r - mean).abs() > OTHER_COLOUR);
    let levels = (0..3).map(|i| (ratio[i].exp() - 1.0).abs() * (before[i] + DARK_LEVELS)).fold(0.0, f32::max);
    other && levels > LEAST_LEVELS
}

fn middle(place: usize) -> Point<BoardMm> {
    let at = |index: usize| (index as f64 + 0.5) * CELL_MM - REACH_MM;
    Point::new(at(place % SIDE), at(place / SIDE))
}

fn place_at(at: Point<BoardMm>) -> Option<usize> {
    let index = |value: f64| {
        let index = ((value + REACH_MM) / CELL_MM).floor();
        (index >= 0.0 && index < SIDE as f64).then_some(index as usize)
    };
    Some(index(at.y)? * SIDE + index(at.x)?)
}

/// Places whose middle is within `radius_mm` of `at`.
fn near(at: Point<BoardMm>, radius_mm: f64) -> impl Iterator<Item = usize> {
    let index = |value: f64| ((value + REACH_MM) / CELL_MM).clamp(0.0, SIDE as f64 - 1.0) as usize;
    let (rows, columns) =
        (index(at.y - radius_mm)..=index(at.y + radius_mm), index(at.x - radius_mm)..=index(at.x + radius_mm));
    rows.flat_map(move |row| columns.clone().map(move |column| row * SIDE + column))
        .filter(move |place| middle(*place).distance(at) <= radius_mm)
}

fn explained(discs: &[Point<BoardMm>], radius_mm: f64) -> Vec<bool> {
    let mut out = vec![false; SIDE * SIDE];
    for disc in discs {
        near(*disc, radius_mm + DISC_BEYOND_MM).for_each(|place| out[place] = true);
    }
    out
}

fn mean(places: &[usize]) -> Point<BoardMm> {
    let count = places.len().max(1) as f64;
    let sum = |of: fn(Point<BoardMm>) -> f64| places.iter().map(|place| of(middle(*place))).sum::<f64>() / count;
    Point::new(sum(|at| at.x), sum(|at| at.y))
}

/// Mean colours, RGB levels, within `radius_mm` of the centre: as known and as they are now. None where not all was seen.
pub fn centre(known: &Places, now: &Places, radius_mm: f64) -> Option<[[f32; 3]; 2]> {
    let places: Vec<usize> = near(Point::new(0.0, 0.0), radius_mm).collect();
    let mean = |of: &Places| {
        let colours =
            places.iter().map(|place| of.get(*place).copied().flatten()).collect::<Option<Vec<[f32; 3]>>>()?;
        let count = colours.len().max(1) as f32;
        Some([0, 1, 2].map(|i| colours.iter().map(|colour| colour[i]).sum::<f32>() / count))
    };
    Some([mean(known)?, mean(now)?])
}

/// The connected regions (sides, not corners) of `marked` places.
fn regions(marked: &[bool]) -> Vec<Vec<usize>> {
    let mut left = marked.to_vec();
    let mut out = Vec::new();
    for start in 0..left.len() {
        if !left[start] {
            continue;
        }
        let mut region = Vec::new();
        let mut open = vec![start];
        left[start] = false;
        while let Some(place) = open.pop() {
            region.push(place);
            let (row, column) = (place / SIDE, place % SIDE);
            let mut visit = |row: usize, column: usize| {
                if left.get(row * SIDE + column) == Some(&true) {
                    left[row * SIDE + column] = false;
                    open.push(row * SIDE + column);
                }
            };
            if row > 0 {
                visit(row - 1, column);
            }
            if row + 1 < SIDE {
                visit(row + 1, column);
            }
            if column > 0 {
                visit(row, column - 1);
            }
            if column + 1 < SIDE {
                visit(row, column + 1);
            }
        }
        out.push(region);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURFACE_MM: f64 = 330.0;
    const WOOD: [f32; 3] = [190.0, 160.0, 120.0];

    fn board(painted: &[(f64, f64, f64, [f32; 3])]) -> Places {
        (0..SIDE * SIDE)
            .map(|place| {
                let at = middle(place);
                let thing = painted.iter().rev().find(|(x, y, r, _)| at.distance(Point::new(*x, *y)) < *r);
                (at.norm() <= REACH_MM).then(|| thing.map_or(WOOD, |thing| thing.3))
            })
            .collect()
    }

    fn known() -> Scenery {
        let mut scenery = Scenery::default();
        scenery.learn(&board(&[]), &[], 16.0, SURFACE_MM, false);
        scenery
    }

    const SKIN: [f32; 3] = [200.0, 140.0, 115.0];

    #[test]
    fn a_hand_from_outside_covers_and_a_disc_does_not() {
        let hand = board(&[(310.0, 0.0, 40.0, SKIN)]);
        assert!(known().compare(&hand, &[], 16.0, SURFACE_MM).cover.is_some_and(|cover| !cover.beside));
        let beside = board(&[(375.0, 0.0, 40.0, SKIN)]);
        assert!(known().compare(&beside, &[], 16.0, SURFACE_MM).cover.is_some_and(|cover| cover.beside));
        let disc = board(&[(100.0, 0.0, 16.0, [30.0; 3])]);
        let found = known().compare(&disc, &[Point::new(100.0, 0.0)], 16.0, SURFACE_MM);
        assert_eq!((found.cover, found.unexplained.len()), (None, 0));
        let missed = known().compare(&disc, &[], 16.0, SURFACE_MM);
        assert_eq!((missed.cover, missed.unexplained.len()), (None, 1));
    }

    #[test]
    fn a_cup_on_the_surface_covers_and_a_disc_in_the_ditch_is_counted_as_one() {
        let cup = board(&[(-100.0, 50.0, 35.0, [240.0, 240.0, 250.0])]);
        assert!(known().compare(&cup, &[], 16.0, SURFACE_MM).cover.is_some());
        let ditch = board(&[(0.0, 356.0, 16.0, [30.0; 3]), (356.0, 0.0, 16.0, [30.0; 3])]);
        let found = known().compare(&ditch, &[], 16.0, SURFACE_MM);
        assert_eq!((found.cover, found.ditch), (None, 2));
    }

    #[test]
    fn shadows_and_dimmed_lamps_are_no_things() {
        let shadow = board(&[(150.0, 0.0, 80.0, WOOD.map(|v| v * 0.75))]);
        assert_eq!(known().compare(&shadow, &[], 16.0, SURFACE_MM).cover, None);
        let dimmed: Places = board(&[]).iter().map(|p| p.map(|c| c.map(|v| v * 0.4))).collect();
        assert_eq!(known().compare(&dimmed, &[], 16.0, SURFACE_MM).share, 0.0);
    }

    #[test]
    fn a_hand_that_was_there_first_leaves_no_ghost() {
        let mut scenery = Scenery::default();
        scenery.learn(&board(&[(200.0, 0.0, 60.0, SKIN)]), &[], 16.0, SURFACE_MM, false);
        let bare = board(&[]);
        assert!(scenery.compare(&bare, &[], 16.0, SURFACE_MM).cover.is_some());
        assert!(scenery.heal(&bare, &[], 16.0, SURFACE_MM));
        assert_eq!(scenery.compare(&bare, &[], 16.0, SURFACE_MM).cover, None);
        assert!(
            !scenery.heal(&board(&[(200.0, 0.0, 60.0, SKIN)]), &[], 16.0, SURFACE_MM),
            "a hand is never taken for the board"
        );
    }

    #[test]
    fn a_turned_board_is_known_again() {
        let mut scenery = Scenery::default();
        scenery.learn(&board(&[(200.0, 0.0, 40.0, SKIN)]), &[], 16.0, SURFACE_MM, false);
        scenery.turn(std::f64::consts::FRAC_PI_2);
        let found = scenery.compare(&board(&[(0.0, 200.0, 40.0, SKIN)]), &[], 16.0, SURFACE_MM);
        assert!(found.share < 0.01, "{}", found.share);
    }

    #[test]
    fn places_that_did_not_change_agree() {
        let (bare, disc) = (board(&[]), board(&[(50.0, 50.0, 16.0, [30.0; 3])]));
        let at = Point::new(50.0, 50.0);
        assert!(agreement(&disc, &disc)(at, 16.0));
        assert!(!agreement(&bare, &disc)(at, 16.0));
        assert!(!agreement(&Vec::new(), &disc)(at, 16.0));
    }
}
