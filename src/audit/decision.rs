//! What a person decided about a picture.
//!
//! Decisions are kept in `decisions.json` beside the results, oldest first, and never edited: a later one about the same
//! thing counts, a withdrawal takes all of a picture back. They belong to the content of a picture and to a place on its
//! board, so that they survive another name, another run and other numbers of the discs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::board::Side;
use crate::count::report::{Report, Review, Status};

/// Name and version of the format.
pub const SCHEMA: &str = "crokeye.decisions/1";

/// A decision holds for the disc within this distance of its place, mm: half a disc's radius.
const SAME_DISC_MM: f64 = 8.0;

/// All decisions of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decisions {
    /// [`SCHEMA`].
    pub schema: String,
    /// Oldest first.
    pub decisions: Vec<Decision>,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Name of the picture, for people.
    pub picture: String,
    /// Hash of its content.
    pub sha256: String,
    /// What was decided.
    #[serde(flatten)]
    pub change: Change,
    /// Who.
    pub author: String,
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[schema(as = AuditDecision)]
pub enum Change {
    /// A disc has this value.
    Value {
        /// Its number when it was decided.
        disc: u32,
        /// Its place on the board, mm.
        at_mm: [f64; 2],
        /// 20, 15, 10, 5 or 0.
        value: u32,
    },
    /// A disc belongs to this side.
    Owner {
        /// Its number when it was decided.
        disc: u32,
        /// Its place on the board, mm.
        at_mm: [f64; 2],
        /// Whose it is.
        side: Side,
    },
    /// It is no disc.
    NoDisc {
        /// Its number when it was decided.
        disc: u32,
        /// Its place on the board, mm.
        at_mm: [f64; 2],
    },
    /// A disc was missed.
    Missed {
        /// Whose it is.
        side: Side,
        /// Its value.
        value: u32,
    },
    /// The count is right as it stands.
    Accept,
    /// All earlier decisions about this picture are taken back.
    Withdraw,
}

/// Why decisions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecisionsError {
    /// Not the format.
    #[error("the decisions cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Another format or a newer one.
    #[error("the decisions are of the format {0:?}, this crokeye reads {SCHEMA:?}")]
    Schema(String),
    /// A value that no disc has.
    #[error("{0} is no value of a disc: 20, 15, 10, 5 or 0")]
    Value(u32),
}

impl Default for Decisions {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), decisions: Vec::new() }
    }
}

impl Decisions {
    /// Reads a file.
    ///
    /// # Errors
    /// See [`DecisionsError`].
    pub fn read(bytes: &[u8]) -> Result<Self, DecisionsError> {
        let read: Self = serde_json::from_slice(bytes)?;
        if read.schema != SCHEMA {
            return Err(DecisionsError::Schema(read.schema));
        }
        for decision in &read.decisions {
            if let Change::Value { value, .. } | Change::Missed { value, .. } = decision.change {
                is_value(value)?;
            }
        }
        Ok(read)
    }

    /// Adds those of `other` that are not here yet, by their time.
    pub fn merge(&mut self, other: Self) {
        for decision in other.decisions {
            if !self.decisions.contains(&decision) {
                self.decisions.push(decision);
            }
        }
        self.decisions.sort_by_key(|decision| decision.at);
    }

    /// Those that hold for the picture of this content.
    pub fn of(&self, sha256: &str) -> Vec<&Decision> {
        let mut held: Vec<&Decision> = Vec::new();
        for decision in self.decisions.iter().filter(|decision| decision.sha256 == sha256) {
            if decision.change == Change::Withdraw {
                held.clear();
            } else {
                held.retain(|earlier| !earlier.change.is_replaced_by(&decision.change));
                held.push(decision);
            }
        }
        held
    }
}

/// Whether a disc can have that value.
///
/// # Errors
/// It cannot.
pub fn is_value(value: u32) -> Result<(), DecisionsError> {
    if [20, 15, 10, 5, 0].contains(&value) { Ok(()) } else { Err(DecisionsError::Value(value)) }
}

impl Change {
    fn place(&self) -> Option<[f64; 2]> {
        match self {
            Self::Value { at_mm, .. } | Self::Owner { at_mm, .. } | Self::NoDisc { at_mm, .. } => Some(*at_mm),
            Self::Missed { .. } | Self::Accept | Self::Withdraw => None,
        }
    }

    fn is_replaced_by(&self, later: &Self) -> bool {
        let same_place = self.place().zip(later.place()).is_some_and(|(one, two)| distance(one, two) < SAME_DISC_MM);
        match (self, later) {
            (Self::Value { .. } | Self::NoDisc { .. }, Self::Value { .. } | Self::NoDisc { .. })
            | (Self::Owner { .. }, Self::Owner { .. }) => same_place,
            (Self::Accept, Self::Accept) => true,
            _ => false,
        }
    }
}

/// Changes a report as was decided. Gives back the numbers of the decided discs, and the decisions that found no disc at
/// their place.
pub fn apply<'a>(report: &mut Report, decisions: &[&'a Decision]) -> (Vec<u32>, Vec<&'a Decision>) {
    let (mut decided, mut stale) = (Vec::new(), Vec::new());
    if report.sides.is_empty() {
        return (decided, decisions.to_vec());
    }
    let before = totals(report);
    for decision in decisions {
        match &decision.change {
            Change::Missed { side, value } => add(report, *side, *value, 1),
            Change::Accept => report.review.clear(),
            Change::Withdraw => {}
            change => match disc_at(report, change) {
                Some(at) => {
                    let id = change_disc(report, at, change);
                    report.review.retain(|doubt| doubt.disc != Some(id));
                    decided.push(id);
                }
                None => stale.push(*decision),
            },
        }
    }
    let after = totals(report);
    for Review { total_if_other, .. } in &mut report.review {
        for (side, total) in total_if_other {
            // What another call would make moves along with the total.
            let of = |totals: &BTreeMap<Side, u32>| totals.get(side).copied().unwrap_or(0);
            *total = (*total + of(&after)).saturating_sub(of(&before));
        }
    }
    report.status = if report.review.is_empty() { Status::Counted } else { Status::Review };
    (decided, stale)
}

fn totals(report: &Report) -> BTreeMap<Side, u32> {
    report.sides.iter().map(|side| (side.side, side.total)).collect()
}

fn disc_at(report: &Report, change: &Change) -> Option<usize> {
    let place = change.place()?;
    let apart = |at: usize| distance(report.discs[at].base_mm, place);
    (0..report.discs.len()).filter(|&at| apart(at) < SAME_DISC_MM).min_by(|&a, &b| apart(a).total_cmp(&apart(b)))
}

fn change_disc(report: &mut Report, at: usize, change: &Change) -> u32 {
    let (id, side, value) = (report.discs[at].id, report.discs[at].side, report.discs[at].value);
    if let Some(side) = side {
        add(report, side, value, -1);
    }
    let disc = &mut report.discs[at];
    disc.close = false;
    match change {
        Change::Value { value, .. } => disc.value = *value,
        Change::Owner { side, .. } => disc.side = Some(*side),
        _ => {
            report.discs.remove(at);
            return id;
        }
    }
    if let Some(side) = report.discs[at].side {
        add(report, side, report.discs[at].value, 1);
    }
    id
}

/// Adds a disc of that value to a side, or takes one away.
fn add(report: &mut Report, side: Side, value: u32, discs: i32) {
    for total in report.sides.iter_mut().filter(|total| total.side == side) {
        let slot = total.count.slot(value);
        *slot = slot.saturating_add_signed(discs);
        total.total = total.total.saturating_add_signed(discs * value as i32);
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing;

    fn decision(second: i64, change: Change) -> Decision {
        Decision {
            picture: "x.jpg".to_owned(),
            sha256: "f00d".to_owned(),
            change,
            author: "Ann".to_owned(),
            at: Timestamp::from_second(second).unwrap(),
            reason: None,
        }
    }

    /// 15 and 10 for black, 5 for natural; the 10 is close to the 15 line.
    fn report() -> Report {
        let mut report = testing::report(&[15, 10], &[5]);
        report.status = Status::Review;
        report.discs[1].close = true;
        let doubt = |disc, total| Review {
            disc: Some(disc),
            reason: "close".to_owned(),
            at_mm: None,
            total_if_other: [(Side::A, total)].into(),
        };
        report.review = vec![doubt(1, 20), doubt(2, 30)];
        report
    }

    fn at(report: &Report, id: usize) -> [f64; 2] {
        report.discs[id - 1].base_mm
    }

    #[test]
    fn a_decided_value_changes_the_total_and_settles_its_doubt() {
        let mut report = report();
        let value = decision(1, Change::Value { disc: 2, at_mm: at(&report, 2), value: 15 });
        let (decided, stale) = apply(&mut report, &[&value]);
        assert_eq!((decided, stale.len()), (vec![2], 0));
        assert_eq!((report.sides[0].total, report.sides[0].count.fifteen, report.discs[1].close), (30, 2, false));
        assert_eq!((report.status, report.review.len()), (Status::Review, 1));
        assert_eq!(report.review[0].total_if_other[&Side::A], 25, "the other doubt starts from the new total");
        apply(&mut report, &[&decision(2, Change::Accept)]);
        assert_eq!(report.status, Status::Counted);
    }

    #[test]
    fn a_disc_can_change_sides_vanish_or_be_added() {
        let mut report = report();
        let changes = [
            Change::Owner { disc: 1, at_mm: at(&report, 1), side: Side::B },
            Change::NoDisc { disc: 2, at_mm: at(&report, 2) },
            Change::Missed { side: Side::A, value: 20 },
        ]
        .map(|change| decision(1, change));
        apply(&mut report, &changes.iter().collect::<Vec<_>>());
        assert_eq!(report.sides.iter().map(|side| side.total).collect::<Vec<_>>(), [20, 20]);
        assert_eq!((report.discs.len(), report.status), (2, Status::Counted));
    }

    #[test]
    fn a_decision_about_a_place_without_a_disc_is_told_and_changes_nothing() {
        let mut report = report();
        let before = report.clone();
        let nowhere = decision(1, Change::NoDisc { disc: 2, at_mm: [300.0, 0.0] });
        let (_, stale) = apply(&mut report, &[&nowhere]);
        assert_eq!(stale, [&nowhere]);
        assert_eq!(report, before);
    }

    #[test]
    fn the_latest_decision_about_a_disc_holds_and_a_withdrawal_clears_all() {
        let value = |value| Change::Value { disc: 4, at_mm: [10.0, 0.0], value };
        let mut decisions = Decisions {
            decisions: vec![
                decision(1, value(10)),
                decision(2, Change::Owner { disc: 4, at_mm: [10.5, 0.0], side: Side::A }),
                decision(3, Change::Value { disc: 5, at_mm: [12.0, 0.0], value: 5 }),
            ],
            ..Decisions::default()
        };
        let held: Vec<&Change> = decisions.of("f00d").into_iter().map(|decision| &decision.change).collect();
        assert_eq!(held, [&decisions.decisions[1].change, &decisions.decisions[2].change]);
        assert!(decisions.of("other").is_empty());
        decisions.decisions.push(decision(4, Change::Withdraw));
        assert!(decisions.of("f00d").is_empty());
    }

    #[test]
    fn files_come_back_as_they_were_and_merge_without_doubles() {
        let mut decisions = Decisions::default();
        decisions.decisions.push(decision(5, Change::Accept));
        let bytes = serde_json::to_vec(&decisions).unwrap();
        let mut read = Decisions::read(&bytes).unwrap();
        assert_eq!(read, decisions);
        let mut other = decisions.clone();
        other.decisions.push(decision(3, Change::Missed { side: Side::B, value: 20 }));
        read.merge(other);
        assert_eq!(read.decisions.len(), 2);
        assert_eq!(read.decisions[0].at.as_second(), 3);
    }

    #[test]
    fn a_foreign_file_is_refused() {
        let wrong = |text: &str| Decisions::read(text.as_bytes()).unwrap_err().to_string();
        assert!(wrong("[]").contains("cannot be read"));
        assert!(wrong(r#"{"schema":"crokeye.decisions/9","decisions":[]}"#).contains("decisions/9"));
        let seven = r#"{"schema":"crokeye.decisions/1","decisions":[{"picture":"x","sha256":"f","decision":"missed",
            "side":"a","value":7,"author":"Ann","at":"2026-11-30T20:15:00Z"}]}"#;
        assert!(wrong(seven).contains('7'));
    }
}
