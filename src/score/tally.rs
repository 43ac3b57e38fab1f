//! One side's round: from what was entered ([`SideEntry`]) to what it is once checked ([`SideScore`]).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::format::Party;
use super::violation::Violation;
use crate::board::Zone;

/// How many discs of a side lie in each zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ZoneCounts {
    /// Flat in the hole.
    #[serde(rename = "20")]
    pub twenty: u32,
    /// Inside the 15 line.
    #[serde(rename = "15")]
    pub fifteen: u32,
    /// Inside the 10 line.
    #[serde(rename = "10")]
    pub ten: u32,
    /// Inside the shooting line.
    #[serde(rename = "5")]
    pub five: u32,
    /// Beyond the shooting line or in the ditch, as far as they were counted.
    #[serde(rename = "0")]
    pub out: u32,
}

impl ZoneCounts {
    /// Number of discs in a zone.
    pub const fn get(&self, zone: Zone) -> u32 {
        match zone {
            Zone::Twenty => self.twenty,
            Zone::Fifteen => self.fifteen,
            Zone::Ten => self.ten,
            Zone::Five => self.five,
            Zone::Out => self.out,
        }
    }

    /// All discs, those out included.
    pub const fn discs(&self) -> u32 {
        self.twenty
            .saturating_add(self.fifteen)
            .saturating_add(self.ten)
            .saturating_add(self.five)
            .saturating_add(self.out)
    }

    /// Points on the board.
    pub const fn total(&self) -> u32 {
        20u32
            .saturating_mul(self.twenty)
            .saturating_add(15u32.saturating_mul(self.fifteen))
            .saturating_add(10u32.saturating_mul(self.ten))
            .saturating_add(5u32.saturating_mul(self.five))
    }
}

/// Zones as entered: signed, so that a negative count is refused with its reason and not as a parse error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ZoneEntry {
    /// Flat in the hole at the count.
    #[serde(rename = "20")]
    pub twenty: i64,
    /// Inside the 15 line.
    #[serde(rename = "15")]
    pub fifteen: i64,
    /// Inside the 10 line.
    #[serde(rename = "10")]
    pub ten: i64,
    /// Inside the shooting line.
    #[serde(rename = "5")]
    pub five: i64,
    /// Out, as far as counted.
    #[serde(rename = "0")]
    pub out: i64,
}

impl From<ZoneCounts> for ZoneEntry {
    fn from(zones: ZoneCounts) -> Self {
        Self {
            twenty: zones.twenty.into(),
            fifteen: zones.fifteen.into(),
            ten: zones.ten.into(),
            five: zones.five.into(),
            out: zones.out.into(),
        }
    }
}

/// What was entered for one side. Any part may be missing; what is there must agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SideEntry {
    /// Discs per zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneEntry>,
    /// 20s taken off the board during the round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<i64>,
    /// The side's total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// How many 20s the total holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twenties: Option<i64>,
    /// The round's points, where the scorer writes those down (2, 1, 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<i64>,
}

impl SideEntry {
    /// An entry of a total alone.
    pub fn of_total(total: i64) -> Self {
        Self { total: Some(total), ..Self::default() }
    }

    /// An entry of zones, with 20s set aside.
    pub fn of_zones(zones: ZoneCounts, set_aside: u32) -> Self {
        Self { zones: Some(zones.into()), set_aside: Some(set_aside.into()), ..Self::default() }
    }
}

/// One side's round, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SideScore {
    /// Counted disc by disc.
    Zones {
        /// Discs per zone at the count.
        zones: ZoneCounts,
        /// 20s taken off during the round.
        set_aside: u32,
    },
    /// Only the total is known.
    Total {
        /// The side's total.
        total: u32,
        /// Its 20s, where they were noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        twenties: Option<u32>,
    },
    /// The round's points were written down.
    Points {
        /// Points of the match.
        points: u32,
        /// The total, where it was noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u32>,
        /// The 20s, where they were noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        twenties: Option<u32>,
    },
}

impl SideScore {
    /// The total, where it is known.
    pub const fn total(&self) -> Option<u32> {
        match self {
            Self::Zones { zones, set_aside } => Some(zones.total().saturating_add(set_aside.saturating_mul(20))),
            Self::Total { total, .. } => Some(*total),
            Self::Points { total, .. } => *total,
        }
    }

    /// The number of 20s, in the hole or set aside, where it is known.
    pub const fn twenties(&self) -> Option<u32> {
        match self {
            Self::Zones { zones, set_aside } => Some(zones.twenty.saturating_add(*set_aside)),
            Self::Total { twenties, .. } | Self::Points { twenties, .. } => *twenties,
        }
    }

    /// Discs per zone with the 20s set aside counted in, where they are known.
    pub const fn zones(&self) -> Option<ZoneCounts> {
        match self {
            Self::Zones { zones, set_aside } => {
                Some(ZoneCounts { twenty: zones.twenty.saturating_add(*set_aside), ..*zones })
            }
            _ => None,
        }
    }
}

/// A checked score as it would be entered again.
impl From<&SideScore> for SideEntry {
    fn from(score: &SideScore) -> Self {
        let (points, total, twenties) = match *score {
            SideScore::Zones { zones, set_aside } => return SideEntry::of_zones(zones, set_aside),
            SideScore::Total { total, twenties } => (None, Some(total), twenties),
            SideScore::Points { points, total, twenties } => (Some(points), total, twenties),
        };
        let wide = |number: Option<u32>| number.map(i64::from);
        SideEntry { points: wide(points), total: wide(total), twenties: wide(twenties), ..SideEntry::default() }
    }
}

/// What is odd about a round that came from elsewhere and was accepted all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Oddity {
    /// A total no count can give.
    NotMultipleOfFive,
    /// More than all the side's discs could score.
    AboveMaximum,
    /// The 20s alone are worth more than the total, or the rest is more than the other discs could score.
    TwentiesUnlikeTotal,
    /// The points do not follow from the totals.
    PointsUnlikeTotals,
}

/// How strictly an entry is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Entered here: what cannot be is refused.
    Own,
    /// Taken over from elsewhere: odd totals are marked.
    Foreign,
}

/// Checks one side's entry against the number of discs that side has.
///
/// # Errors
/// Negative counts, more discs than the rules allow, a total that is not the sum of its zones, nothing entered; from one's
/// own scorer also totals that no count can give.
pub fn check(
    party: Party,
    entry: &SideEntry,
    discs_allowed: u32,
    strictness: Strictness,
    odd: &mut Vec<Oddity>,
) -> Result<SideScore, Violation> {
    let number = |what: &'static str, value: i64| -> Result<u32, Violation> {
        if value < 0 {
            return Err(Violation::Negative { party, what, value });
        }
        u32::try_from(value).map_err(|_| Violation::TooLarge { party, what, value })
    };
    let optional = |what, value: Option<i64>| value.map(|value| number(what, value)).transpose();
    let total = optional("total", entry.total)?;
    let twenties = optional("20s", entry.twenties)?;
    let set_aside = optional("20s set aside", entry.set_aside)?;
    let points = optional("points", entry.points)?;

    // 20s set aside and nothing else: nothing lies on the board.
    let bare = entry.set_aside.is_some() && [entry.total, entry.twenties, entry.points] == [None; 3];
    if let Some(zones) = entry.zones.or(bare.then(ZoneEntry::default)) {
        let zones = ZoneCounts {
            twenty: number("discs in the hole", zones.twenty)?,
            fifteen: number("discs in the 15 zone", zones.fifteen)?,
            ten: number("discs in the 10 zone", zones.ten)?,
            five: number("discs in the 5 zone", zones.five)?,
            out: number("discs out", zones.out)?,
        };
        if points.is_some() {
            return Err(Violation::PointsBesideZones { party });
        }
        let set_aside = set_aside.unwrap_or(0);
        let found = zones.discs().saturating_add(set_aside);
        if found > discs_allowed {
            return Err(Violation::TooManyDiscs { party, found, allowed: discs_allowed });
        }
        let score = SideScore::Zones { zones, set_aside };
        if let (Some(stated), Some(sum)) = (total, score.total())
            && stated != sum
        {
            return Err(Violation::TotalNotSum { party, stated, sum });
        }
        if let (Some(stated), Some(counted)) = (twenties, score.twenties())
            && stated != counted
        {
            return Err(Violation::TwentiesNotCounted { party, stated, counted });
        }
        return Ok(score);
    }

    // Without zones, 20s set aside are simply the 20s.
    let twenties = match (twenties, set_aside) {
        (Some(stated), Some(counted)) if stated != counted => {
            return Err(Violation::TwentiesNotCounted { party, stated, counted });
        }
        (stated, counted) => stated.or(counted),
    };
    check_total(party, total, twenties, discs_allowed, strictness, odd)?;
    match (points, total) {
        (Some(points), total) => Ok(SideScore::Points { points, total, twenties }),
        (None, Some(total)) => Ok(SideScore::Total { total, twenties }),
        (None, None) => Err(Violation::NothingEntered { party }),
    }
}

fn check_total(
    party: Party,
    total: Option<u32>,
    twenties: Option<u32>,
    discs_allowed: u32,
    strictness: Strictness,
    odd: &mut Vec<Oddity>,
) -> Result<(), Violation> {
    let mut object = |violation, oddity| match strictness {
        Strictness::Own => Err(violation),
        Strictness::Foreign => {
            if !odd.contains(&oddity) {
                odd.push(oddity);
            }
            Ok(())
        }
    };
    if let Some(twenties) = twenties
        && twenties > discs_allowed
    {
        let violation = Violation::TooManyDiscs { party, found: twenties, allowed: discs_allowed };
        object(violation, Oddity::AboveMaximum)?;
    }
    let Some(total) = total else { return Ok(()) };
    if !total.is_multiple_of(5) {
        object(Violation::NotMultipleOfFive { party, total }, Oddity::NotMultipleOfFive)?;
    }
    let most = discs_allowed.saturating_mul(20);
    if total > most {
        object(Violation::AboveMaximum { party, total, most, discs: discs_allowed }, Oddity::AboveMaximum)?;
    }
    if let Some(twenties) = twenties {
        let inside = twenties.saturating_mul(20);
        let rest = discs_allowed.saturating_sub(twenties).saturating_mul(15);
        if total < inside || total - inside > rest {
            object(Violation::TwentiesUnlikeTotal { party, total, twenties }, Oddity::TwentiesUnlikeTotal)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(entry: &SideEntry, discs: u32) -> Result<SideScore, Violation> {
        check(Party::A, entry, discs, Strictness::Own, &mut Vec::new())
    }

    #[test]
    fn a_side_with_all_discs_in_the_hole_scores_160_or_240() {
        for (discs, most) in [(8, 160), (12, 240)] {
            let entry = SideEntry::of_zones(ZoneCounts { twenty: 1, ..ZoneCounts::default() }, discs - 1);
            assert_eq!(own(&entry, discs).unwrap().total(), Some(most));
            assert!(matches!(
                own(&SideEntry::of_total(i64::from(most) + 5), discs),
                Err(Violation::AboveMaximum { .. })
            ));
        }
    }

    #[test]
    fn discs_in_the_ditch_count_towards_the_limit_when_they_were_counted() {
        let zones = ZoneCounts { fifteen: 5, out: 2, ..ZoneCounts::default() };
        assert!(own(&SideEntry::of_zones(zones, 1), 8).is_ok());
        let refused = own(&SideEntry::of_zones(zones, 2), 8);
        assert_eq!(refused, Err(Violation::TooManyDiscs { party: Party::A, found: 9, allowed: 8 }));
    }

    #[test]
    fn a_total_must_be_the_sum_of_its_zones() {
        let mut entry = SideEntry::of_zones(ZoneCounts { fifteen: 2, five: 1, ..ZoneCounts::default() }, 1);
        entry.total = Some(55);
        assert!(own(&entry, 8).is_ok());
        entry.total = Some(50);
        assert_eq!(own(&entry, 8), Err(Violation::TotalNotSum { party: Party::A, stated: 50, sum: 55 }));
    }

    #[test]
    fn foreign_totals_are_marked_instead_of_refused() {
        let entry = SideEntry { total: Some(21), twenties: Some(2), ..SideEntry::default() };
        assert!(own(&entry, 12).is_err());
        let mut odd = Vec::new();
        let score = check(Party::B, &entry, 12, Strictness::Foreign, &mut odd).unwrap();
        assert_eq!(score.total(), Some(21));
        assert_eq!(odd, [Oddity::NotMultipleOfFive, Oddity::TwentiesUnlikeTotal]);
    }

    #[test]
    fn the_largest_numbers_neither_overflow_nor_pass() {
        let entry = SideEntry {
            zones: Some(ZoneEntry {
                twenty: i64::from(u32::MAX),
                fifteen: i64::from(u32::MAX),
                ..ZoneEntry::default()
            }),
            set_aside: Some(i64::from(u32::MAX)),
            ..SideEntry::default()
        };
        assert!(matches!(own(&entry, 12), Err(Violation::TooManyDiscs { .. })));
        assert!(matches!(own(&SideEntry::of_total(i64::MAX), 12), Err(Violation::TooLarge { .. })));
        assert!(matches!(own(&SideEntry::of_total(i64::MIN), 12), Err(Violation::Negative { .. })));
    }
}
