//! Pictures that show the same thing: copies of one file, and one board state taken twice.
//!
//! In: the hashes and reports of all pictures. Out: a group number for each picture that has a double. Two states are the
//! same when every disc of one lies where one of the same side lies in the other, turned about the centre by any angle:
//! the board's axes are those of the camera, and people walk around a table.

use std::collections::BTreeMap;

use crate::board::Side;
use crate::count::report::{Disc, Report};

/// Discs of one state lie within this of each other in two pictures, mm: twice what two bad views differ by.
const SAME_PLACE_MM: f64 = 5.0;

/// With fewer discs than this on the board two states look alike by chance.
const FEWEST_DISCS: usize = 3;

/// Groups of pictures that show the same, as group numbers counted from 0; None for a picture without a double.
pub fn groups(pictures: &[(&str, &Report)]) -> Vec<Option<usize>> {
    let mut leader: Vec<usize> = (0..pictures.len()).collect();
    let mut by_content: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_count: BTreeMap<Vec<(Option<Side>, usize)>, Vec<usize>> = BTreeMap::new();
    for (at, (sha256, report)) in pictures.iter().enumerate() {
        if let Some(&first) = by_content.get(sha256) {
            leader[at] = leader[first];
            continue;
        }
        by_content.insert(sha256, at);
        let discs = on_board(report);
        if discs.len() < FEWEST_DISCS {
            continue;
        }
        let sides = [Some(Side::A), Some(Side::B), None];
        let key = sides.map(|side| (side, discs.iter().filter(|disc| disc.side == side).count())).to_vec();
        let alike = by_count.entry(key).or_default();
        let double = alike.iter().find(|&&other| same_state(&discs, &on_board(pictures[other].1)));
        match double {
            Some(&other) => leader[at] = leader[other],
            None => alike.push(at),
        }
    }
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut members: BTreeMap<usize, usize> = BTreeMap::new();
    leader.iter().for_each(|&first| *members.entry(first).or_default() += 1);
    leader
        .iter()
        .map(|first| {
            let next = numbers.len();
            (members[first] > 1).then(|| *numbers.entry(*first).or_insert(next))
        })
        .collect()
}

/// Discs inside the shooting line, from the centre outwards.
fn on_board(report: &Report) -> Vec<&Disc> {
    report.discs.iter().filter(|disc| disc.value > 0).collect()
}

fn same_state(one: &[&Disc], two: &[&Disc]) -> bool {
    if one.len() != two.len() {
        return false;
    }
    // The outermost disc tells the angle best; it may be any of the other state's at its distance.
    let Some(guide) = one.iter().max_by(|a, b| rho(a).total_cmp(&rho(b))) else { return false };
    let partners = two.iter().filter(|disc| disc.side == guide.side && (rho(disc) - rho(guide)).abs() < SAME_PLACE_MM);
    partners.into_iter().any(|partner| {
        let (sin, cos) = (angle(partner) - angle(guide)).sin_cos();
        let mut free: Vec<&&Disc> = two.iter().collect();
        one.iter().all(|disc| {
            let [x, y] = disc.base_mm;
            let turned = [x * cos - y * sin, x * sin + y * cos];
            let apart = |other: &Disc| (other.base_mm[0] - turned[0]).hypot(other.base_mm[1] - turned[1]);
            let found = free.iter().position(|other| other.side == disc.side && apart(other) < SAME_PLACE_MM);
            found.map(|at| free.swap_remove(at)).is_some()
        })
    })
}

fn rho(disc: &Disc) -> f64 {
    disc.base_mm[0].hypot(disc.base_mm[1])
}

fn angle(disc: &Disc) -> f64 {
    disc.base_mm[1].atan2(disc.base_mm[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::report;

    fn turned(report: &Report, angle: f64, wobble_mm: f64) -> Report {
        let (sin, cos) = angle.sin_cos();
        let mut out = report.clone();
        for (at, disc) in out.discs.iter_mut().enumerate() {
            let [x, y] = disc.base_mm;
            let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
            disc.base_mm = [x * cos - y * sin + sign * wobble_mm, x * sin + y * cos];
        }
        out
    }

    #[test]
    fn the_same_state_is_known_from_another_side_of_the_table() {
        let state = report(&[15, 10, 5], &[10, 5]);
        let other = report(&[15, 10, 5], &[10, 10]);
        let pictures =
            [("1", &state), ("2", &other), ("3", &turned(&state, 2.1, 1.0)), ("4", &turned(&state, 2.1, 9.0))];
        assert_eq!(groups(&pictures), [Some(0), None, Some(0), None]);
    }

    #[test]
    fn copies_are_doubles_whatever_they_show() {
        let empty = report(&[], &[]);
        let state = report(&[15, 10, 5], &[10, 5]);
        let pictures = [("1", &empty), ("2", &state), ("1", &empty), ("3", &empty), ("2", &state)];
        assert_eq!(groups(&pictures), [Some(0), Some(1), Some(0), None, Some(1)]);
    }

    #[test]
    fn exchanged_colours_are_another_state() {
        let state = report(&[15, 10], &[10, 5]);
        let mut exchanged = state.clone();
        for disc in &mut exchanged.discs {
            disc.side = disc.side.map(|side| if side == Side::A { Side::B } else { Side::A });
        }
        assert_eq!(groups(&[("1", &state), ("2", &exchanged)]), [None, None]);
    }
}
