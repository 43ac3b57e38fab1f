//! From a count's public JSON (`crokeye.count/1`) to a proposed round.
//!
//! Reads only what a round needs and ignores the rest. The sides of a count are colours, the sides of a match are people:
//! where the match names its colours they are matched by name, otherwise the darker discs (the count's side a) are side A's.

use serde::Deserialize;

use super::event::Setup;
use super::format::Party;
use super::tally::{SideEntry, ZoneEntry};
use crate::board::Side;

/// Why a count cannot become a round.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// Not JSON, or not of this form.
    #[error("not a crokeye.count/1 object: {0}")]
    Parse(String),
    /// Another schema.
    #[error("schema {0:?} is not crokeye.count/1")]
    Schema(String),
    /// There was nothing to count.
    #[error("the picture was not counted: {0}")]
    NotCounted(String),
    /// A count knows two colours.
    #[error("a count knows two colours; a match of {0} sides needs its rounds typed")]
    Sides(usize),
}

/// A count, ready to propose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intake {
    /// One entry a side of the match.
    pub sides: Vec<SideEntry>,
    /// Why a person should look; empty when nothing is doubtful.
    pub review: Vec<String>,
}

#[derive(Deserialize)]
struct Count {
    schema: String,
    status: String,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    sides: Vec<CountSide>,
    #[serde(default)]
    discs: Vec<CountDisc>,
    #[serde(default)]
    review: Vec<Reason>,
}

#[derive(Deserialize)]
struct CountSide {
    side: Side,
    #[serde(default)]
    colour: Option<String>,
    count: ZoneTolerant,
    #[serde(default)]
    set_aside: i64,
    #[serde(default)]
    total: Option<i64>,
}

/// Zone counts of a count: fields added later are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ZoneTolerant {
    #[serde(rename = "20")]
    twenty: i64,
    #[serde(rename = "15")]
    fifteen: i64,
    #[serde(rename = "10")]
    ten: i64,
    #[serde(rename = "5")]
    five: i64,
    #[serde(rename = "0")]
    out: i64,
}

#[derive(Deserialize)]
struct CountDisc {
    #[serde(default)]
    side: Option<Side>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(default)]
    disc: Option<u32>,
    reason: String,
}

/// Reads a count for a match.
///
/// # Errors
/// See [`IntakeError`].
pub fn from_count(json: &[u8], setup: &Setup) -> Result<Intake, IntakeError> {
    let count: Count = serde_json::from_slice(json).map_err(|error| IntakeError::Parse(error.to_string()))?;
    if count.schema != "crokeye.count/1" {
        return Err(IntakeError::Schema(count.schema));
    }
    if setup.sides.len() != 2 {
        return Err(IntakeError::Sides(setup.sides.len()));
    }
    let mut review: Vec<String> = count
        .review
        .iter()
        .map(|reason| match reason.disc {
            Some(disc) => format!("disc {disc}: {}", reason.reason),
            None => reason.reason.clone(),
        })
        .collect();
    match count.status.as_str() {
        "counted" => {}
        "review" if review.is_empty() => review.push("the count asks for a look".to_owned()),
        "review" => {}
        other => return Err(IntakeError::NotCounted(count.error.unwrap_or_else(|| other.to_owned()))),
    }
    let strays = count.discs.iter().filter(|disc| disc.side.is_none()).count();
    if strays > 0 {
        review.push(format!("{strays} disc(s) have a colour of neither side"));
    }
    let mut sides = vec![SideEntry::of_total(0); 2];
    let mut seen = [false; 2];
    let swapped = swapped(&count.sides, setup, &mut review);
    for side in &count.sides {
        let party = match (side.side, swapped) {
            (Side::A, false) | (Side::B, true) => Party::A,
            (Side::A, true) | (Side::B, false) => Party::B,
        };
        seen[party.index()] = true;
        sides[party.index()] = SideEntry {
            zones: Some(ZoneEntry {
                twenty: side.count.twenty,
                fifteen: side.count.fifteen,
                ten: side.count.ten,
                five: side.count.five,
                out: side.count.out,
            }),
            set_aside: Some(side.set_aside),
            total: side.total,
            ..SideEntry::default()
        };
    }
    if seen != [true; 2] {
        return Err(IntakeError::Parse("it needs one entry for side a and one for side b".to_owned()));
    }
    Ok(Intake { sides, review })
}

/// Is the count's side a the match's side B?
fn swapped(counted: &[CountSide], setup: &Setup, review: &mut Vec<String>) -> bool {
    let [Some(colour_a), Some(colour_b)] = [0, 1].map(|at| setup.sides[at].colour.as_deref().map(str::trim)) else {
        return false;
    };
    let found = |side: Side| counted.iter().find(|entry| entry.side == side).and_then(|entry| entry.colour.as_deref());
    let (a, b) = (found(Side::A), found(Side::B));
    let is = |found: Option<&str>, colour: &str| found.is_some_and(|found| found.eq_ignore_ascii_case(colour));
    // One colour is enough when the other side has no disc on the board; two must not contradict each other.
    let straight = (is(a, colour_a), is(b, colour_b));
    let crossed = (is(a, colour_b), is(b, colour_a));
    match (straight, crossed) {
        ((true, true), _) => false,
        (_, (true, true)) => true,
        ((true, _), _) if b.is_none() => false,
        ((_, true), _) if a.is_none() => false,
        (_, (true, _)) if b.is_none() => true,
        (_, (_, true)) if a.is_none() => true,
        _ => {
            review.push(format!(
                "the count sees {} and {}, the match is played with {colour_a} and {colour_b}",
                a.unwrap_or("no colour"),
                b.unwrap_or("no colour"),
            ));
            // One that fits still tells more than none.
            (crossed.0 || crossed.1) && !(straight.0 || straight.1)
        }
    }
}

#[cfg(test)]
mod tests;
