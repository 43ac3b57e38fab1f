//! From settled boards to a round: what happened, and when it is over.
//!
//! In: settled boards that nothing covers, what the hole showed meanwhile, and the passing of time. Out: events. The board
//! at the end of a round is the last settled one before it was cleared, so former boards are kept until it is known what
//! came of them: a board from which discs only vanished, and that lasted but a moment, is a board being cleared.

use std::time::Duration;

use super::advice;
use super::event::{DiscChange, Ended, RoundResult, RoundSide, What};
use super::tracker::{self, Change, Moment, Tracker};
use crate::board::{Side, State};
use crate::count::Scene;
use crate::count::report::{Report, Review, Status, rounded};
use crate::geometry::{BoardMm, Point};
use crate::score::rules::Rules;

/// How rounds are played and when they are over.
#[derive(Clone, Debug)]
pub struct Config {
    /// The rules of a shot, for advice; None gives no advice.
    pub rules: Option<Rules>,
    /// Discs of a side.
    pub discs: u32,
    /// Rest after the last disc of all that ends a round.
    pub all_shot: Duration,
    /// Rest that ends a round whose last disc was not seen.
    pub quiet: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self { rules: None, discs: 12, all_shot: Duration::from_secs(5), quiet: Duration::from_secs(60) }
    }
}

/// A board from which discs only vanished and that lasted no longer than this was being cleared.
const CLEARING: Duration = Duration::from_millis(2_500);
/// So many discs that vanish at once, while none came and none moved, were taken by hand.
const BY_HAND: usize = 3;
/// Fewer shots than this are no round.
const LEAST_SHOTS: u32 = 4;
/// Settled boards that are kept.
const MOST_STATES: usize = 400;

/// A settled board.
#[derive(Debug)]
pub struct Seen<'a> {
    /// Number of its frame.
    pub frame: u64,
    /// When.
    pub at: Duration,
    /// What lies there.
    pub scene: &'a Scene,
    /// Discs that seem to lie in the ditch.
    pub ditch: u32,
}

/// A settled board that is remembered.
#[derive(Clone, Debug)]
struct Kept {
    frame: u64,
    at: Duration,
    last: Duration,
    discs: usize,
    ditch: u32,
    only_removed: usize,
    report: Option<Report>,
    tray: Option<[Option<u32>; 2]>,
    shots: [u32; 2],
}

impl Kept {
    fn rested(&self) -> Duration {
        self.last - self.at
    }
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The board is empty, or nothing was seen yet.
    #[default]
    Ready,
    /// Discs are shot.
    Playing,
    /// A result was told, the board is not cleared yet.
    Over,
    /// The round is final; the next begins on an empty board.
    Cleared,
}

/// A disc in the hole that was seen while the rest of the board moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glanced {
    side: Side,
    frame: u64,
    at: Duration,
}

/// The rounds of a session.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    config: Config,
    phase: Phase,
    /// Number of the round that is played.
    number: u32,
    told: u32,
    tracker: Tracker,
    /// Whose disc lies in the hole.
    hole: Option<Side>,
    glanced: Vec<Glanced>,
    glance_left: bool,
    set_aside: [u32; 2],
    twenties: [u32; 2],
    /// Frame in which something lay in the hole that was told neither disc nor none, and lies there still.
    untold: Option<u64>,
    /// Frames of such things that are gone and were no 20.
    missed: Vec<u64>,
    shots: [u32; 2],
    into_ditch: u32,
    states: Vec<Kept>,
}

/// An event with the frame it belongs to, where that is not the present one.
pub type Told = (What, Option<(u64, Duration)>);

impl Rounds {
    /// Nothing seen yet.
    pub fn new(config: Config) -> Self {
        Self { config, number: 1, ..Self::default() }
    }

    /// Where the session stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Number of the round, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// 20s that were taken off the board, side a and b.
    pub fn set_aside(&self) -> [u32; 2] {
        self.set_aside
    }

    /// 20s of this round, side a and b.
    pub fn twenties(&self) -> [u32; 2] {
        self.twenties
    }

    /// Whether something lies in the hole at `frame` that no one can tell. Gone without having been a 20, it may have
    /// been one: the round's result then asks.
    pub fn untold(&mut self, frame: u64, lies: bool) {
        if self.hole.is_some() {
            self.untold = None;
        } else if lies {
            self.untold = self.untold.or(Some(frame));
        } else {
            self.missed.extend(self.untold.take());
        }
    }

    /// The discs on the surface.
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// The discs on the surface, to bring them into line with what else is known.
    pub fn tracker_mut(&mut self) -> &mut Tracker {
        &mut self.tracker
    }

    /// What was called side a is side b.
    pub fn swap_sides(&mut self) {
        self.tracker.swap_sides();
        self.hole = self.hole.map(tracker::other);
        self.glanced.iter_mut().for_each(|glanced| glanced.side = tracker::other(glanced.side));
        for pair in [&mut self.set_aside, &mut self.twenties, &mut self.shots] {
            pair.swap(0, 1);
        }
    }

    /// The hole as it was seen while the rest of the board moved: whose disc rests in it.
    pub fn glance(&mut self, content: Option<Side>, frame: u64, at: Duration) {
        if !matches!(self.phase, Phase::Ready | Phase::Playing) {
            return;
        }
        let now = self.glanced.last().map(|glanced| glanced.side).or(self.hole).filter(|_| !self.glance_left);
        match content {
            Some(side) if now != Some(side) => {
                self.glanced.push(Glanced { side, frame, at });
                self.glance_left = false;
            }
            None if now.is_some() => self.glance_left = true,
            _ => {}
        }
    }

    /// Takes a settled board. The report of it comes after, with [`Rounds::keep`]: it needs what is known then.
    pub fn settled(&mut self, seen: &Seen) -> Vec<Told> {
        let changes = self.tracker.update(seen.scene);
        let discs = self.tracker.discs().len();
        if self.phase == Phase::Cleared {
            if discs == 0 {
                self.begin(seen);
            }
            return Vec::new();
        }
        let [placed, moved, removed] = counts(&changes);
        let mut out = Vec::new();
        if self.phase == Phase::Over && placed + moved > 0 {
            self.phase = Phase::Playing;
            out.push((What::Resumed, None));
        }
        // A 20 taken out of the hole is play.
        let set_aside = |change: &&Change| matches!(change, Change::Removed(gone) if gone.state == State::InHole);
        let twenties = changes.iter().filter(set_aside).count();
        let only_removed = if placed + moved == 0 { removed - twenties } else { 0 };
        match self.states.last_mut().filter(|_| changes.is_empty()) {
            // A shot into the ditch shows there alone.
            Some(last) => {
                self.into_ditch += seen.ditch.saturating_sub(last.ditch);
                (last.frame, last.last, last.ditch) = (seen.frame, seen.at, seen.ditch);
            }
            None => {
                let before = self.states.last().map_or(0, |last| last.ditch);
                self.into_ditch += seen.ditch.saturating_sub(before).saturating_sub(removed as u32);
                let (frame, at, ditch) = (seen.frame, seen.at, seen.ditch);
                let (report, tray, shots) = (None, None, self.shots);
                self.states.push(Kept { frame, at, last: at, discs, ditch, only_removed, report, tray, shots });
            }
        }
        if self.states.len() > MOST_STATES {
            self.states.remove(0);
        }
        if let Some(result) = self.cleared() {
            out.extend(changes.iter().map(|change| (disc(change), None)));
            out.extend(self.finish(result));
            if discs == 0 {
                self.begin(seen);
            }
            return out;
        }
        if only_removed >= BY_HAND {
            out.push((What::Clearing, None));
        }
        if discs > 0 && self.phase == Phase::Ready {
            self.phase = Phase::Playing;
        }
        for change in &changes {
            if let Change::Placed(Moment { side: Some(side), .. }) = change {
                self.shots[*side as usize] += 1;
            }
        }
        out.extend(changes.iter().map(|change| (disc(change), None)));
        out.extend(self.twenties_of(seen, &changes));
        if let Some(last) = self.states.last_mut() {
            last.shots = self.shots;
        }
        let radius_mm = seen.scene.detections.set.radius_mm;
        let advice = self.config.rules.as_ref().and_then(|rules| {
            advice::advise(rules, &seen.scene.registration, radius_mm, self.tracker.discs(), &changes)
        });
        out.extend(advice.map(|advice| (advice, None)));
        out
    }

    /// The report of the board that was taken last, and what lies in the trays.
    pub fn keep(&mut self, report: &Report, tray: Option<[Option<u32>; 2]>) {
        if let Some(last) = self.states.last_mut() {
            last.report = Some(report.clone());
            last.tray = tray;
        }
    }

    /// Time passes while the board rests uncovered.
    pub fn resting(&mut self, at: Duration) -> Vec<Told> {
        let Some(last) = self.states.last_mut() else { return Vec::new() };
        last.last = last.last.max(at);
        let rested = last.rested();
        if matches!(self.phase, Phase::Playing | Phase::Over)
            && let Some(result) = self.cleared()
        {
            return self.finish(result);
        }
        if self.phase != Phase::Playing {
            return Vec::new();
        }
        let all = self.total_shots() >= 2 * self.config.discs;
        let ended = match (all && rested >= self.config.all_shot, rested >= self.config.quiet) {
            (true, _) => Ended::AllShot,
            (_, true) if self.total_shots() >= LEAST_SHOTS => Ended::Quiet,
            _ => return Vec::new(),
        };
        self.phase = Phase::Over;
        self.result(self.states.len() - 1, ended).into_iter().collect()
    }

    /// A person says that the round is over.
    pub fn end_by_key(&mut self) -> Vec<Told> {
        match self.phase {
            Phase::Cleared => Vec::new(),
            Phase::Over => {
                self.phase = Phase::Cleared;
                vec![(What::Final { round: self.number }, None)]
            }
            Phase::Ready | Phase::Playing => {
                let result = self.candidate().and_then(|candidate| self.result(candidate, Ended::Key));
                if result.is_some() {
                    self.phase = Phase::Cleared;
                }
                result.into_iter().collect()
            }
        }
    }

    /// The source has ended: the last settled board is the result, unless it was told since.
    pub fn end(&mut self) -> Vec<Told> {
        let lies_there = self.states.last().is_some_and(|last| last.discs > 0) || self.set_aside != [0, 0];
        match self.phase {
            Phase::Over => vec![(What::Final { round: self.number }, None)],
            Phase::Ready | Phase::Playing if lies_there || self.told == 0 => {
                let result = self.candidate().and_then(|candidate| self.result(candidate, Ended::SourceEnded));
                self.phase = Phase::Cleared;
                result.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn total_shots(&self) -> u32 {
        self.shots[0] + self.shots[1] + self.into_ditch
    }

    /// The last board before discs began only to vanish: each board since then lasted but a moment, or was made by hand.
    fn before_vanishing(&self) -> Option<usize> {
        let last = self.states.len().checked_sub(1)?;
        let mut at = last;
        while at > 0 {
            let state = &self.states[at];
            let fleeting = at == last || state.rested() < CLEARING || state.only_removed >= BY_HAND;
            if state.only_removed == 0 || !fleeting {
                break;
            }
            at -= 1;
        }
        Some(at)
    }

    /// The board that counts if the round ends now. One disc taken off at the end is play: an invalid shot, a 20.
    fn candidate(&self) -> Option<usize> {
        let before = self.before_vanishing()?;
        let removed = self.states[before].discs.saturating_sub(self.states.last()?.discs);
        Some(if removed >= BY_HAND { before } else { self.states.len() - 1 })
    }

    /// The board that was cleared, if one was: all discs gone, or nearly all and the rest is left lying.
    fn cleared(&self) -> Option<usize> {
        let last = self.states.last()?;
        let at = self.before_vanishing()?;
        let before = &self.states[at];
        let shots = self.total_shots();
        let by_hand = match (last.discs, before.discs.saturating_sub(last.discs)) {
            (_, 0) => false,
            (0, BY_HAND..) => true,
            // One or two discs may have been shot off the board: then they lie in the ditch.
            (0, _) => last.ditch <= before.ditch && (shots < LEAST_SHOTS || shots >= self.config.discs),
            (left, BY_HAND..) => left <= (before.discs / 4).max(1) && last.rested() >= CLEARING,
            _ => false,
        };
        by_hand.then_some(at)
    }

    /// The board `result` was cleared.
    fn finish(&mut self, result: usize) -> Vec<Told> {
        let mut out = vec![(What::Clearing, None)];
        if self.phase == Phase::Over {
            out.push((What::Final { round: self.number }, None));
        } else if self.total_shots() < LEAST_SHOTS && self.twenties == [0, 0] {
            out.push((What::Abandoned, None));
            self.number -= 1;
        } else {
            out.extend(self.result(result, Ended::Cleared));
        }
        self.phase = Phase::Cleared;
        out
    }

    /// A new round on an empty board.
    fn begin(&mut self, seen: &Seen) {
        let (config, number, told) = (self.config.clone(), self.number + 1, self.told);
        *self = Self { number, told, ..Self::new(config) };
        let (frame, at, ditch) = (seen.frame, seen.at, seen.ditch);
        let (report, tray, shots) = (None, None, [0, 0]);
        self.states.push(Kept { frame, at, last: at, discs: 0, ditch, only_removed: 0, report, tray, shots });
    }

    fn result(&mut self, state: usize, ended: Ended) -> Option<Told> {
        let kept = self.states.get(state)?;
        let report = kept.report.as_ref()?;
        let mut review = report.review.clone();
        let sides: Vec<RoundSide> = report
            .sides
            .iter()
            .map(|side| RoundSide {
                side: side.side,
                colour: side.colour.clone(),
                count: side.count,
                set_aside: side.set_aside,
                total: side.total,
            })
            .collect();
        for (side, tray) in sides.iter().zip(kept.tray.iter().flatten()) {
            if let Some(tray) = tray.filter(|tray| *tray != side.set_aside) {
                let reason = format!("the tray shows {tray} 20s, {} were seen taken off the board", side.set_aside);
                let other = [(side.side, side.total - 20 * side.set_aside + 20 * tray)].into();
                review.push(Review { disc: None, reason, at_mm: None, total_if_other: other });
            }
        }
        for frame in self.missed.iter().chain(&self.untold) {
            let reason = format!("something lay in the hole at frame {frame} and was not counted: a 20 may be missing");
            review.push(Review { disc: None, reason, at_mm: None, total_if_other: Default::default() });
        }
        let status = if review.is_empty() { report.status } else { Status::Review };
        let result = RoundResult {
            round: self.number,
            ended,
            is_final: matches!(ended, Ended::Cleared | Ended::Key | Ended::SourceEnded),
            counted_frame: kept.frame,
            sides,
            status,
            review,
            shots: kept.shots,
            tray: kept.tray,
        };
        self.told += 1;
        Some((What::Round(Box::new(result)), None))
    }

    /// 20s that came since the last settled board, and those that were taken out of the hole.
    fn twenties_of(&mut self, seen: &Seen, changes: &[Change]) -> Vec<Told> {
        let now = self.tracker.discs().iter().find(|disc| disc.state == State::InHole).and_then(|disc| disc.side);
        let mut out = Vec::new();
        let mut glanced = std::mem::take(&mut self.glanced);
        let left = std::mem::take(&mut self.glance_left);
        let last = glanced.last().map(|glanced| glanced.side).or(self.hole).filter(|_| !left);
        let stays = now.is_some() && now == last;
        if let (Some(side), false) = (now, stays) {
            glanced.push(Glanced { side, frame: seen.frame, at: seen.at });
        }
        // A disc that was seen in the hole alone was shot there, unless it is one that had lain on the board.
        let mut gone: Vec<Side> = changes
            .iter()
            .filter_map(|change| match change {
                Change::Removed(moment) if moment.state != State::InHole => moment.side,
                _ => None,
            })
            .collect();
        let mut held = self.hole;
        for (index, glance) in glanced.iter().enumerate() {
            if let Some(side) = held {
                self.set_aside[side as usize] += 1;
            }
            held = Some(glance.side);
            self.twenties[glance.side as usize] += 1;
            let what = What::Twenty { side: glance.side, twenties: self.twenties };
            out.push((what, Some((glance.frame, glance.at))));
            let is_last = index + 1 == glanced.len();
            if !(is_last && now.is_some()) {
                match gone.iter().position(|side| *side == glance.side) {
                    Some(known) => drop(gone.swap_remove(known)),
                    None => self.shots[glance.side as usize] += 1,
                }
            }
        }
        if let (Some(side), None) = (held, now) {
            self.set_aside[side as usize] += 1;
        }
        self.hole = now;
        out
    }
}

fn counts(changes: &[Change]) -> [usize; 3] {
    let mut out = [0; 3];
    for change in changes {
        out[match change {
            Change::Placed(_) => 0,
            Change::Moved(..) => 1,
            Change::Removed(_) => 2,
        }] += 1;
    }
    out
}

fn disc(change: &Change) -> What {
    let (change, moment, from) = match change {
        Change::Placed(moment) => (DiscChange::Placed, moment, None),
        Change::Moved(moment, from) => (DiscChange::Moved, moment, Some(*from)),
        Change::Removed(moment) => (DiscChange::Removed, moment, None),
    };
    What::Disc {
        change,
        disc: moment.id,
        side: moment.side,
        base_mm: point(moment.base),
        from_mm: from.map(point),
        value: moment.zone.value(),
        state: moment.state,
    }
}

fn point(at: Point<BoardMm>) -> [f64; 2] {
    at.to_array().map(|value| rounded(value, 1))
}
