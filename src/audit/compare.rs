//! Picture against sheet: do they agree, and if not, can a close call be the reason?
//!
//! In: the report of a picture, decisions applied, and the claim about it. Out: a [`Comparison`]. Two things are not
//! written in most sheets and are read off all of it together, from the clear pictures: what the column of 20s counts, and
//! whether its sides a and b are those of the count ([`Conventions`]).

use std::collections::BTreeSet;

use serde::Serialize;

use super::claim::{Claim, SideClaim};
use crate::board::Side;
use crate::count::palette::DiscColour;
use crate::count::report::{Report, Review, Status};

/// What a picture says about its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The picture is clear and has other totals.
    Disagrees,
    /// The picture is not clear, and none of its open calls gives the sheet's totals; or it shows other colours.
    Doubtful,
    /// The picture has open calls, and the sheet's totals are among what they allow.
    Open,
    /// No row speaks of it.
    Unclaimed,
    /// No board was found.
    NoBoard,
    /// The file could not be read.
    Unreadable,
    /// The totals are the same.
    Agrees,
}

impl Verdict {
    /// Name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Disagrees => "disagrees",
            Verdict::Doubtful => "doubtful",
            Verdict::Open => "open",
            Verdict::Unclaimed => "unclaimed",
            Verdict::NoBoard => "no_board",
            Verdict::Unreadable => "unreadable",
            Verdict::Agrees => "agrees",
        }
    }
}

/// What the sheet's 20s count, and whether its totals hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Twenties {
    /// All 20s of the round, those still in the hole too; the total holds them.
    #[default]
    All,
    /// Those taken off the board; the total holds them.
    Aside,
    /// All 20s of the round; the total does not hold them.
    Apart,
    /// Those taken off the board; the total does not hold them.
    Beside,
}

/// How the sheet as a whole is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conventions {
    /// What its 20s count.
    pub twenties: Twenties,
    /// Whether its sides without a colour are the count's a and b in this order; else either order will do.
    pub sides_fixed: bool,
    /// Clear pictures whose row without colours fits in this order alone.
    pub in_order: u32,
    /// Clear pictures whose row without colours fits in the other order alone.
    pub exchanged: u32,
}

/// Something worth knowing about a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Remark {
    /// The sheet's totals fit the other way round.
    Exchanged,
    /// Neither side in the picture has one of the sheet's colours.
    OtherColours,
    /// So many 20s set aside would explain the difference of that side.
    SetAside {
        /// The count's side.
        side: Side,
        /// How many.
        count: u32,
    },
    /// No count gives such a total.
    Impossible {
        /// The count's side.
        side: Side,
        /// The total.
        total: u32,
    },
    /// More 20s lie in the hole than the sheet has.
    MoreTwenties {
        /// The count's side.
        side: Side,
        /// In the picture.
        seen: u32,
        /// In the sheet.
        sheet: u32,
    },
}

/// A picture beside its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The outcome.
    pub verdict: Verdict,
    /// Whether the sheet's first side is the count's side b.
    pub exchanged: bool,
    /// The sheet's totals as typed, in the count's order; None without a row.
    pub claimed: Option<[u32; 2]>,
    /// 20s that the sheet has off the board, in the count's order.
    pub set_aside: [u32; 2],
    /// The picture's totals as the sheet counts, with or without its 20s, in the count's order; None without a board.
    pub counted: Option<[u32; 2]>,
    /// What else is to be said.
    pub remarks: Vec<Remark>,
}

/// Compares a picture with its row.
pub fn compare(report: &Report, claim: Option<&Claim>, conventions: Conventions) -> Comparison {
    let seen = Seen::of(report);
    let counted = seen.as_ref().map(|seen| seen.totals);
    let plain = |verdict| Comparison {
        verdict,
        exchanged: false,
        claimed: claim.map(|claim| [0, 1].map(|side| claim.sides[side].total.unwrap_or_default())),
        set_aside: [0; 2],
        counted,
        remarks: Vec::new(),
    };
    let (seen, claim) = match (report.status, seen, claim) {
        (Status::Error, ..) => return plain(Verdict::Unreadable),
        (_, None, _) => return plain(Verdict::NoBoard),
        (_, Some(_), None) => return plain(Verdict::Unclaimed),
        (_, Some(seen), Some(claim)) => (seen, claim),
    };
    let orders = orders(&seen, claim, conventions.sides_fixed);
    let is_other = orders.is_empty();
    let orders = if is_other { vec![false, true] } else { orders };
    let ways = orders.iter().map(|&exchanged| one_way(&seen, claim, exchanged, conventions.twenties));
    // The best way counts: the one with less between picture and sheet where both are as bad.
    let apart = |way: &Comparison| {
        let sides =
            way.counted.zip(way.claimed).map(|(counted, claimed)| [0, 1].map(|i| counted[i].abs_diff(claimed[i])));
        sides.map_or(0, |[a, b]| a + b)
    };
    let rank = |comparison: &Comparison| match comparison.verdict {
        Verdict::Agrees => 0,
        Verdict::Open => 1,
        _ => 2,
    };
    let mut best = ways.min_by_key(|way| (rank(way), apart(way))).unwrap_or_else(|| plain(Verdict::Unclaimed));
    if is_other {
        best.verdict = Verdict::Doubtful;
        best.remarks.push(Remark::OtherColours);
    } else if rank(&best) > 0 {
        let other = one_way(&seen, claim, !best.exchanged, conventions.twenties);
        if other.verdict == Verdict::Agrees {
            best.remarks.push(Remark::Exchanged);
        }
    }
    best
}

/// The conventions under which the clear pictures agree best with their rows.
pub fn conventions<'a>(pairs: impl Iterator<Item = (&'a Report, &'a Claim)> + Clone) -> Conventions {
    let clear = pairs.filter(|(report, _)| report.status == Status::Counted);
    let mut best = (Twenties::All, 0);
    for twenties in [Twenties::All, Twenties::Aside, Twenties::Apart, Twenties::Beside] {
        let loose = Conventions { twenties, ..Conventions::default() };
        let agree = |(report, claim): &(&Report, &Claim)| {
            let is_telling = claim.sides.iter().any(|side| side.twenties.or(side.set_aside).unwrap_or(0) > 0);
            is_telling && compare(report, Some(claim), loose).verdict == Verdict::Agrees
        };
        let count = clear.clone().filter(agree).count();
        if count > best.1 {
            best = (twenties, count);
        }
    }
    let twenties = best.0;
    let agrees = |report: &Report, claim: &Claim, exchanged: bool| {
        let way = Seen::of(report).map(|seen| one_way(&seen, claim, exchanged, twenties));
        way.is_some_and(|way| way.verdict == Verdict::Agrees)
    };
    let [mut in_order, mut exchanged] = [0; 2];
    // A row that names its colours says itself which side is which.
    for (report, claim) in clear.filter(|(_, claim)| claim.sides.iter().all(|side| side.colour.is_none())) {
        match (agrees(report, claim, false), agrees(report, claim, true)) {
            (true, false) => in_order += 1,
            (false, true) => exchanged += 1,
            _ => {}
        }
    }
    Conventions { twenties, sides_fixed: keeps_order(in_order, exchanged), in_order, exchanged }
}

/// Chance that a person who keeps the order of the sides exchanges them in a row.
const SLIP: f64 = 0.05;

/// So many times more likely than an order with slips a coin for every row must be, before the order is given up.
const CLEAR_ODDS: f64 = 10.0;

/// Whether rows that fit in this order, and rows that fit exchanged, come from a sheet that keeps the order.
fn keeps_order(in_order: u32, exchanged: u32) -> bool {
    let (in_order, exchanged) = (f64::from(in_order), f64::from(exchanged));
    let ordered = in_order * (1.0 - SLIP).ln() + exchanged * SLIP.ln();
    let coin = (in_order + exchanged) * 0.5f64.ln();
    coin - ordered <= CLEAR_ODDS.ln()
}

/// What the board in a picture is worth.
struct Seen {
    /// Totals of side a and b.
    totals: [u32; 2],
    /// 20s in the hole.
    in_hole: [u32; 2],
    /// Totals that the open calls allow.
    possible: [BTreeSet<i64>; 2],
    /// Whether a doubt about the whole board is open: then any total may be that a board can have.
    anything: bool,
    /// Whether nothing is open.
    clear: bool,
    /// Mean colour of each side's discs, CIE L*a*b*.
    colours: [Option<[f32; 3]>; 2],
    /// What each side's colour is called; None where it has no disc.
    names: [Option<String>; 2],
}

impl Seen {
    fn of(report: &Report) -> Option<Self> {
        let [a, b] = report.sides.as_slice() else { return None };
        let totals = [a.total, b.total];
        let mut possible = totals.map(|total| BTreeSet::from([i64::from(total)]));
        for doubt in &report.review {
            for (side, total) in &doubt.total_if_other {
                let index = *side as usize;
                let change = i64::from(*total) - i64::from(totals[index]);
                let more: Vec<i64> = possible[index].iter().map(|total| total + change).collect();
                possible[index].extend(more);
            }
            // What lies there may be a disc of either side.
            if doubt.at_mm.is_some() {
                for totals in &mut possible {
                    let more: Vec<i64> =
                        totals.iter().flat_map(|total| [5, 10, 15, 20].map(|value| total + value)).collect();
                    totals.extend(more);
                }
            }
        }
        let is_whole =
            |doubt: &Review| doubt.disc.is_none() && doubt.at_mm.is_none() && doubt.total_if_other.is_empty();
        let colour = |side| {
            let discs = report.discs.iter().filter(|disc| disc.side == Some(side));
            let labs: Vec<[f64; 3]> = discs.map(|disc| disc.colour.lab).collect();
            let mean = |channel: usize| labs.iter().map(|lab| lab[channel]).sum::<f64>() / labs.len() as f64;
            (!labs.is_empty()).then(|| [0, 1, 2].map(|channel| mean(channel) as f32))
        };
        Some(Self {
            totals,
            in_hole: [a.count.twenty, b.count.twenty],
            possible,
            anything: report.review.iter().any(is_whole),
            clear: report.status == Status::Counted,
            colours: [colour(Side::A), colour(Side::B)],
            names: [a, b].map(|side| side.colour.clone()),
        })
    }
}

/// How sure colours must be of the order, squared standard deviations.
const CLEAR_LEAD: f32 = 2.0;

/// A colour farther than this from that of a side is another one, squared standard deviations of three channels: 0.999.
const SAME_COLOUR: f32 = 16.3;

/// How well a side of the picture bears the colour of a side of the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bears {
    /// It has another one.
    No,
    /// It may: its colour is near, or it has no disc, or the sheet names none.
    Perhaps,
    /// It is called so.
    Exactly,
}

/// The orders in which the sheet's sides may be those of the count, false as they stand, true exchanged; none where the
/// sheet's colours are not in the picture.
fn orders(seen: &Seen, claim: &Claim, sides_fixed: bool) -> Vec<bool> {
    let named = [claim.sides[0].colour, claim.sides[1].colour];
    if named == [None, None] {
        return if sides_fixed { vec![false] } else { vec![false, true] };
    }
    let bears = |(colour, side): (Option<&DiscColour>, usize)| match (colour, seen.colours[side]) {
        (Some(colour), _) if seen.names[side].as_ref() == Some(&colour.name) => Bears::Exactly,
        (Some(colour), Some(lab)) if colour.distance2(lab) > SAME_COLOUR => Bears::No,
        _ => Bears::Perhaps,
    };
    let cost = |order: [usize; 2]| -> f32 {
        let fit = |(colour, side): (Option<&DiscColour>, usize)| {
            colour.zip(seen.colours[side]).map_or(0.0, |(colour, lab)| colour.distance2(lab))
        };
        named.into_iter().zip(order).map(fit).sum()
    };
    // A side that bears a colour of the sheet settles the order: the other colour is the other side's.
    let best = |order: [usize; 2]| named.into_iter().zip(order).map(bears).max();
    let (straight, crossed) = ([0, 1], [1, 0]);
    let (costs, fits) = ((cost(straight), cost(crossed)), (best(straight), best(crossed)));
    match fits {
        (Some(Bears::No), Some(Bears::No)) => Vec::new(),
        (Some(Bears::Exactly), other) if other < Some(Bears::Exactly) => vec![false],
        (other, Some(Bears::Exactly)) if other < Some(Bears::Exactly) => vec![true],
        _ if (costs.0 - costs.1).abs() < CLEAR_LEAD => vec![false, true],
        _ => vec![costs.1 < costs.0],
    }
}

/// What a side of the sheet says about the board in the picture: its points there, and the 20s off it.
fn on_board(claim: &SideClaim, in_hole: u32, twenties: Twenties) -> (i64, u32) {
    let total = i64::from(claim.total.unwrap_or_default());
    let aside = match (claim.set_aside, claim.twenties, twenties) {
        (Some(aside), ..) | (None, Some(aside), Twenties::Aside | Twenties::Beside) => aside,
        (None, Some(all), Twenties::All | Twenties::Apart) => all.saturating_sub(in_hole),
        (None, None, _) => 0,
    };
    let board = match twenties {
        Twenties::All | Twenties::Aside => total - 20 * i64::from(aside),
        Twenties::Apart if claim.twenties.is_some() => total + 20 * i64::from(in_hole),
        Twenties::Apart | Twenties::Beside => total,
    };
    (board, aside)
}

fn one_way(seen: &Seen, claim: &Claim, exchanged: bool, twenties: Twenties) -> Comparison {
    let sides = if exchanged { [&claim.sides[1], &claim.sides[0]] } else { [&claim.sides[0], &claim.sides[1]] };
    let boards = [0, 1].map(|side| on_board(sides[side], seen.in_hole[side], twenties));
    let same = (0..2).all(|side| boards[side].0 == i64::from(seen.totals[side]));
    let possible = (0..2).all(|side| {
        let (board, typed) = (boards[side].0, sides[side].total.unwrap_or_default());
        can_be(typed) && board >= 0 && (seen.anything || seen.possible[side].contains(&board))
    });
    let verdict = match (same, seen.clear, possible) {
        (true, ..) => Verdict::Agrees,
        (false, true, _) => Verdict::Disagrees,
        (false, false, true) => Verdict::Open,
        (false, false, false) => Verdict::Doubtful,
    };
    let set_aside = boards.map(|(_, aside)| aside);
    // The picture's total as the sheet counts it.
    let counted = |side: usize| {
        let typed = i64::from(sides[side].total.unwrap_or_default());
        u32::try_from(typed + i64::from(seen.totals[side]) - boards[side].0).unwrap_or_default()
    };
    Comparison {
        verdict,
        exchanged,
        claimed: Some([0, 1].map(|side| sides[side].total.unwrap_or_default())),
        set_aside,
        counted: Some([0, 1].map(counted)),
        remarks: remarks(seen, sides, &boards, same, twenties),
    }
}

fn remarks(
    seen: &Seen,
    claims: [&SideClaim; 2],
    boards: &[(i64, u32); 2],
    same: bool,
    twenties: Twenties,
) -> Vec<Remark> {
    let are_all = matches!(twenties, Twenties::All | Twenties::Apart);
    let mut out = Vec::new();
    for (index, side) in [Side::A, Side::B].into_iter().enumerate() {
        let total = claims[index].total.unwrap_or_default();
        if !can_be(total) {
            out.push(Remark::Impossible { side, total });
        }
        let sheet = claims[index].twenties.or(claims[index].set_aside);
        if let Some(sheet) = claims[index].twenties.filter(|sheet| are_all && *sheet < seen.in_hole[index]) {
            out.push(Remark::MoreTwenties { side, seen: seen.in_hole[index], sheet });
        }
        let missing = boards[index].0 - i64::from(seen.totals[index]);
        if !same && sheet.is_none() && missing > 0 && missing % 20 == 0 {
            out.push(Remark::SetAside { side, count: (missing / 20) as u32 });
        }
    }
    out
}

/// Twelve discs in the hole: the most that any rule set allows.
const MOST_POINTS: u32 = 240;

/// Whether a side can have that total at all.
fn can_be(total: u32) -> bool {
    total.is_multiple_of(5) && total <= MOST_POINTS
}

#[cfg(test)]
mod tests;
