//! Discs keep their identity from one settled board to the next.
//!
//! In: the discs of a settled board. Kept: which disc is which. Out: what was placed, moved and removed since the last
//! one. A disc that lies where one lay is that one; the others are paired by side and distance, the nearest first. What
//! lay in the hole does not come out of it by itself: it was taken away.
//!
//! Where the picture around a disc did not change, a detector that changes its mind is outvoted by what it said before.

use crate::board::{Side, State, Zone};
use crate::count::Scene;
use crate::detect::{Detections, DiscFit};
use crate::geometry::{BoardMm, Point};

/// A disc nearer than this to where one lay has not moved, mm: three deviations of a place from two single pictures.
const STILL_MM: f64 = 2.5;
/// A disc whose surroundings did not change has not moved further than this, mm, whatever the fit says.
const SAME_MM: f64 = 6.0;
/// A disc in the ditch begins where its middle is this far beyond the rim of the surface, mm.
const RIM_MM: f64 = -2.0;
/// A vote that a former judgement keeps against a new one.
const MEMORY: f64 = 0.8;

/// A disc on the board.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its number in this round, from 1.
    pub id: u32,
    /// Whose it is.
    pub side: Option<Side>,
    /// Centre of its contact circle.
    pub base: Point<BoardMm>,
    /// What it scores.
    pub zone: Zone,
    /// How it lies.
    pub state: State,
    /// What the detector said of it last.
    fit: DiscFit,
    /// Votes for it being side a, side b.
    votes: [f64; 2],
    /// Votes for it being there and for it being a mistake.
    seen: f64,
    unseen: f64,
}

/// What happened to a disc.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It was not there before.
    Placed(Moment),
    /// It lies elsewhere; where it was.
    Moved(Moment, Point<BoardMm>),
    /// It is gone; as it was.
    Removed(Moment),
}

/// A disc at the time of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Its number in this round.
    pub id: u32,
    /// Whose it is.
    pub side: Option<Side>,
    /// Centre of its contact circle.
    pub base: Point<BoardMm>,
    /// What it scores.
    pub zone: Zone,
    /// How it lies.
    pub state: State,
}

impl Known {
    /// The disc as it is now.
    pub fn moment(&self) -> Moment {
        Moment { id: self.id, side: self.side, base: self.base, zone: self.zone, state: self.state }
    }
}

/// The discs of a round.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    discs: Vec<Known>,
    last_id: u32,
}

impl Tracker {
    /// The discs on the surface now.
    pub fn discs(&self) -> &[Known] {
        &self.discs
    }

    /// The board was turned: all discs went with it.
    pub fn turn(&mut self, angle_rad: f64) {
        let (s, c) = angle_rad.sin_cos();
        for disc in &mut self.discs {
            let at = disc.base;
            disc.base = Point::new(c * at.x - s * at.y, s * at.x + c * at.y);
        }
    }

    /// Side a and side b change their names.
    pub fn swap_sides(&mut self) {
        for disc in &mut self.discs {
            disc.votes.swap(0, 1);
            disc.side = disc.side.map(other);
        }
    }

    /// Brings detections into line with what was seen before, wherever `unchanged` says that the picture is the same.
    pub fn steady(&mut self, detections: &mut Detections, unchanged: impl Fn(Point<BoardMm>) -> bool) {
        for disc in &mut self.discs {
            if disc.state == State::InHole || !unchanged(disc.base) {
                continue;
            }
            // A shadow may shift a fit: no second disc lies within a disc of this one.
            let near = |fit: &&mut DiscFit| fit.base.distance(disc.base) < detections.set.radius_mm;
            match detections.discs.iter_mut().find(near) {
                Some(fit) => {
                    vote(&mut disc.votes, fit);
                    disc.seen = MEMORY * disc.seen + fit.confidence;
                    disc.unseen *= MEMORY;
                    if fit.base.distance(disc.base) > SAME_MM {
                        *fit = disc.fit.clone();
                    }
                    fit.side = favoured(&disc.votes).or(fit.side);
                }
                None => {
                    disc.unseen = MEMORY * disc.unseen + 0.7;
                    disc.seen *= MEMORY;
                    if disc.seen >= disc.unseen {
                        detections.discs.push(disc.fit.clone());
                    }
                }
            }
        }
        detections.discs.sort_by(|a, b| a.base.norm().total_cmp(&b.base.norm()));
    }

    /// Takes a settled board and tells what changed, in the order removed, moved, placed.
    pub fn update(&mut self, scene: &Scene) -> Vec<Change> {
        let surface_mm = scene.registration.surface_mm;
        let mut new: Vec<Known> = (scene.detections.discs.iter().zip(&scene.placed).zip(&scene.verdicts))
            .filter(|((_, placed), _)| placed.base.norm() < surface_mm + RIM_MM)
            .map(|((fit, placed), verdict)| {
                let mut votes = [0.0; 2];
                vote(&mut votes, fit);
                let (seen, unseen) = (fit.confidence, 0.0);
                let (zone, state) = (verdict.zone, verdict.state);
                Known { id: 0, side: fit.side, base: placed.base, zone, state, fit: fit.clone(), votes, seen, unseen }
            })
            .collect();
        let mut old: Vec<Option<Known>> = std::mem::take(&mut self.discs).into_iter().map(Some).collect();
        let mut moved = Vec::new();
        for (i, j) in pairs(&old, &new) {
            let Some(before) = old[i].take() else { continue };
            let now = &mut new[j];
            now.id = before.id;
            if before.base.distance(now.base) < STILL_MM && before.side == now.side {
                (now.votes, now.seen, now.unseen) = (before.votes, before.seen, before.unseen);
            } else if before.base.distance(now.base) >= STILL_MM {
                moved.push(Change::Moved(now.moment(), before.base));
            }
        }
        let mut changes: Vec<Change> = old.into_iter().flatten().map(|gone| Change::Removed(gone.moment())).collect();
        changes.append(&mut moved);
        for disc in new.iter_mut().filter(|disc| disc.id == 0) {
            self.last_id += 1;
            disc.id = self.last_id;
            changes.push(Change::Placed(disc.moment()));
        }
        self.discs = new;
        changes
    }
}

/// Pairs of old and new discs that are the same disc.
fn pairs(old: &[Option<Known>], new: &[Known]) -> Vec<(usize, usize)> {
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for (i, before) in old.iter().enumerate() {
        for (j, now) in new.iter().enumerate() {
            let Some(before) = before else { continue };
            let distance = before.base.distance(now.base);
            let stays = distance < STILL_MM;
            let in_hole = [before.state, now.state].map(|state| state == State::InHole);
            let possible = match in_hole {
                // What lies in the hole lies there until it is taken away, whatever else arrives.
                [true, true] => before.side == now.side,
                [true, false] => false,
                _ => stays || before.side == now.side,
            };
            if possible {
                all.push((if stays { 0.0 } else { distance }, i, j));
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut used_old, mut used_new) = (vec![false; old.len()], vec![false; new.len()]);
    let free = |(_, i, j): &(f64, usize, usize)| {
        let free = !used_old[*i] && !used_new[*j];
        if free {
            (used_old[*i], used_new[*j]) = (true, true);
        }
        free
    };
    all.into_iter().filter(free).map(|(_, i, j)| (i, j)).collect()
}

/// The turn of the board between two settled views of the same discs, radians; None where fewer than two agree.
pub fn turn_between(before: &[Known], now: &Scene) -> Option<f64> {
    let discs: Vec<(Option<Side>, Point<BoardMm>)> =
        now.detections.discs.iter().zip(&now.placed).map(|(fit, placed)| (fit.side, placed.base)).collect();
    let mut best: Option<(usize, f64)> = None;
    for known in before.iter().filter(|known| known.base.norm() > 30.0) {
        for (side, at) in &discs {
            if *side != known.side || (at.norm() - known.base.norm()).abs() > SAME_MM {
                continue;
            }
            let angle = at.y.atan2(at.x) - known.base.y.atan2(known.base.x);
            let (s, c) = angle.sin_cos();
            let agrees = |known: &&Known| {
                let turned = Point::new(c * known.base.x - s * known.base.y, s * known.base.x + c * known.base.y);
                discs.iter().any(|(side, at)| *side == known.side && at.distance(turned) < SAME_MM)
            };
            let agreeing = before.iter().filter(agrees).count();
            // Of turns that agree as well, the smallest.
            let turn = (angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
            if best.is_none_or(|(most, least)| agreeing > most || (agreeing == most && turn.abs() < least.abs())) {
                best = Some((agreeing, turn));
            }
        }
    }
    best.filter(|(agreeing, _)| *agreeing >= 2).map(|(_, turn)| turn)
}

fn vote(votes: &mut [f64; 2], fit: &DiscFit) {
    votes.iter_mut().for_each(|vote| *vote *= MEMORY);
    match fit.side {
        Some(Side::A) => votes[0] += fit.confidence,
        Some(Side::B) => votes[1] += fit.confidence,
        None => {}
    }
}

fn favoured(votes: &[f64; 2]) -> Option<Side> {
    match votes {
        [a, b] if a > b => Some(Side::A),
        [a, b] if b > a => Some(Side::B),
        _ => None,
    }
}

pub(super) fn other(side: Side) -> Side {
    match side {
        Side::A => Side::B,
        Side::B => Side::A,
    }
}
