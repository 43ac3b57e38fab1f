//! From rounds to points, and from points to the end of the match. Pure arithmetic over settled rules.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::format::{Format, Party};
use super::rules::{Conversion, End, EndTie, RoundTie, Rules};
use super::tally::SideScore;

/// Points of one round for each side (C's place is 0 where there are two).
///
/// Where points were written down they stand; otherwise they follow from the totals.
pub fn round_points(rules: &Rules, sides: &[SideScore]) -> [u32; 3] {
    let mut points = [0; 3];
    let written: Option<Vec<u32>> = sides
        .iter()
        .map(|side| if let SideScore::Points { points, .. } = side { Some(*points) } else { None })
        .collect();
    let totals: Option<Vec<u32>> = sides.iter().map(SideScore::total).collect();
    match (written, totals) {
        (Some(written), _) => points.iter_mut().zip(written).for_each(|(slot, points)| *slot = points),
        (None, Some(totals)) => points = convert(rules, &totals),
        (None, None) => {}
    }
    points
}

/// Totals to points.
///
/// Among three under 2/1/0 (MAY): 2 to the highest, 1 to the second, 0; two level on top take 1 each and the third 0;
/// two level behind the winner take 0. Three level are not written of; they are read as level on top: 1 each.
pub fn convert(rules: &Rules, totals: &[u32]) -> [u32; 3] {
    let mut points = [0; 3];
    let top = totals.iter().copied().max().unwrap_or(0);
    let on_top = totals.iter().filter(|total| **total == top).count();
    let second = totals.iter().copied().filter(|total| *total < top).max();
    match rules.conversion {
        Conversion::Additive => points.iter_mut().zip(totals).for_each(|(slot, total)| *slot = *total),
        Conversion::Difference => {
            if on_top == 1
                && let Some(slot) = totals.iter().position(|total| *total == top).and_then(|at| points.get_mut(at))
            {
                *slot = top - second.unwrap_or(0);
            }
        }
        Conversion::MatchPoints => {
            let alone_second = totals.iter().filter(|total| Some(**total) == second).count() == 1;
            let tie = match rules.round_tie {
                RoundTie::Shared => 1,
                RoundTie::Nothing => 0,
            };
            for (total, points) in totals.iter().zip(&mut points) {
                *points = if *total == top {
                    if on_top == 1 { 2 } else { tie }
                } else if totals.len() == 3 && on_top == 1 && alone_second && Some(*total) == second {
                    1
                } else {
                    0
                };
            }
        }
    }
    points
}

/// Can these points come from one round in which a side scores at most `most`?
pub fn points_possible(rules: &Rules, points: &[u32], most: u32) -> bool {
    match rules.conversion {
        Conversion::Additive => points.iter().all(|points| *points <= most),
        Conversion::Difference => {
            let a_difference = |points: &u32| *points <= most && points.is_multiple_of(5);
            points.iter().filter(|points| **points > 0).count() <= 1 && points.iter().all(a_difference)
        }
        Conversion::MatchPoints => {
            // Every order of totals that matters, by rank.
            let ranks = 0..3u32.pow(points.len() as u32);
            ranks.into_iter().any(|code| {
                let totals: Vec<u32> = (0..points.len() as u32).map(|side| code / 3u32.pow(side) % 3).collect();
                convert(rules, &totals)[..points.len()] == *points
            })
        }
    }
}

/// How a match came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = HowDecided)]
pub enum How {
    /// All rounds were played.
    Rounds,
    /// The target was reached.
    Target,
    /// The points and the margin were reached.
    FirstTo,
    /// A round added because the match was level.
    ExtraRound,
    /// The one determining round.
    FinalRound,
    /// A shoot-out.
    ShootOut,
    /// Ended by hand, as it stood.
    AsItStands,
    /// A side gave up.
    Forfeit,
    /// Broken off.
    Abandoned,
    /// As another system states it.
    Stated,
}

impl How {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            How::Rounds => "all rounds were played",
            How::Target => "the target was reached",
            How::FirstTo => "the points and the margin were reached",
            How::ExtraRound => "by an extra round",
            How::FinalRound => "by the final round",
            How::ShootOut => "by shoot-out",
            How::AsItStands => "ended as it stood",
            How::Forfeit => "by forfeit",
            How::Abandoned => "abandoned",
            How::Stated => "as stated by its source",
        }
    }
}

/// The end that the rounds alone bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// Somebody won.
    Won {
        /// Who.
        winner: Party,
        /// How.
        how: How,
    },
    /// Level, and that is a result.
    Drawn {
        /// How.
        how: How,
    },
    /// Level, and a shoot-out decides.
    ShootOutDue,
}

/// Sums over the rounds that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Points of the match per side.
    pub points: [u64; 3],
    /// Totals per side, of the rounds whose totals are known.
    pub totals: [u64; 3],
    /// 20s per side, of the rounds whose 20s are known.
    pub twenties: [u64; 3],
    /// Rounds that count.
    pub counted: u32,
    /// Of these, rounds in which some side's total is not known.
    pub without_totals: u32,
    /// Of these, rounds in which some side's 20s are not known.
    pub without_twenties: u32,
    /// Rounds recorded after the end was reached (after a correction moved the end forward); they do not count.
    pub surplus: u32,
    /// Rounds after which the match was at its end, but level.
    pub level_ends: u32,
    /// The end, once reached.
    pub reached: Option<Reached>,
}

impl Standing {
    /// Adds a round that is not void.
    pub fn step(&mut self, rules: &Rules, format: Format, sides: &[SideScore]) {
        if self.reached.is_some() {
            self.surplus = self.surplus.saturating_add(1);
            return;
        }
        let points = round_points(rules, sides);
        for (index, side) in sides.iter().enumerate().take(3) {
            self.points[index] = self.points[index].saturating_add(points[index].into());
            self.totals[index] = self.totals[index].saturating_add(side.total().unwrap_or(0).into());
            self.twenties[index] = self.twenties[index].saturating_add(side.twenties().unwrap_or(0).into());
        }
        self.counted = self.counted.saturating_add(1);
        self.without_totals += u32::from(sides.iter().any(|side| side.total().is_none()));
        self.without_twenties += u32::from(sides.iter().any(|side| side.twenties().is_none()));
        self.reached = self.end(rules, format);
    }

    /// The side that leads alone, and by how much over the next.
    pub fn leader(&self, format: Format) -> Option<(Party, u64)> {
        let mut order: Vec<(u64, Party)> =
            format.parties().iter().map(|party| (self.points[party.index()], *party)).collect();
        order.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
        let lead = order[0].0 - order[1].0;
        (lead > 0).then_some((order[0].1, lead))
    }

    fn end(&mut self, rules: &Rules, format: Format) -> Option<Reached> {
        let most = self.points.iter().copied().max().unwrap_or(0);
        let leader = self.leader(format);
        let how = match rules.end {
            End::Rounds(rounds) if self.counted >= rounds => How::Rounds,
            End::Target(target) if most >= target.into() => How::Target,
            End::FirstTo { points, margin } => {
                let (winner, lead) = leader?;
                let there = most >= points.into() && lead >= margin.into();
                return there.then_some(Reached::Won { winner, how: How::FirstTo });
            }
            _ => return None,
        };
        let added = match rules.end_tie {
            EndTie::FinalRound => How::FinalRound,
            _ => How::ExtraRound,
        };
        if let Some((winner, _)) = leader {
            return Some(Reached::Won { winner, how: if self.level_ends > 0 { added } else { how } });
        }
        self.level_ends = self.level_ends.saturating_add(1);
        match rules.end_tie {
            EndTie::Draw => Some(Reached::Drawn { how }),
            EndTie::ShootOut => Some(Reached::ShootOutDue),
            EndTie::FinalRound if self.level_ends > 1 => Some(Reached::Drawn { how: How::FinalRound }),
            EndTie::ExtraRound | EndTie::FinalRound => None,
        }
    }
}
