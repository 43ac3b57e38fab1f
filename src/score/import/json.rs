//! crokeye's own JSON (`crokeye.match/1`), one object a line: the log comes back event by event, authors and times as they
//! were.
//!
//! Nothing in a file is believed: each event is turned back into the command it came from, decided again, and must come out
//! the same.

use serde::Deserialize;
use uuid::Uuid;

use super::{ImportError, Plan};
use crate::score::event::{Command, Event, Record, RoundEntry};
use crate::score::export::json::SCHEMA;
use crate::score::game::Match;
use crate::score::tally::SideEntry;

#[derive(Deserialize)]
struct Line {
    schema: String,
    id: Uuid,
    log: Vec<Record>,
}

/// Reads the matches of a file.
///
/// # Errors
/// Not of this form, or an event that does not follow from what was before it.
pub fn read(bytes: &[u8]) -> Result<Vec<Plan>, ImportError> {
    let mut plans = Vec::new();
    for (number, line) in (1..).zip(serde_json::Deserializer::from_slice(bytes).into_iter::<Line>()) {
        let wrong =
            |reason: String| ImportError::Parse { format: SCHEMA, reason: format!("object {number}: {reason}") };
        let line = line.map_err(|error| wrong(error.to_string()))?;
        if line.schema != SCHEMA {
            return Err(wrong(format!("its schema is {:?}", line.schema)));
        }
        let mut state = None;
        for (due, record) in (1..).zip(&line.log) {
            let wrong = |reason: String| wrong(format!("event {}: {reason}", record.revision));
            if record.revision != due {
                return Err(wrong(format!("event {due} is missing")));
            }
            let command = command(state.as_ref(), &record.event);
            let events = Match::decide(state.as_ref(), &command).map_err(|reason| wrong(reason.to_string()))?;
            if events != [record.event.clone()] {
                return Err(wrong("it does not follow from the events before it".to_owned()));
            }
            Match::apply(&mut state, record);
        }
        let game = state.ok_or_else(|| wrong("its log is empty".to_owned()))?;
        plans.push(Plan { id: Some(line.id), log: line.log, notes: Vec::new(), game });
    }
    if plans.is_empty() {
        return Err(ImportError::Parse { format: SCHEMA, reason: "it holds no match".to_owned() });
    }
    Ok(plans)
}

/// The command that makes an event.
fn command(state: Option<&Match>, event: &Event) -> Command {
    match event.clone() {
        Event::MatchCreated(setup) => Command::Create(setup),
        Event::RoundProposed { round, review, .. } => Command::Propose { round, review },
        Event::ProposalDismissed { proposal, reason } => Command::Dismiss { proposal, reason },
        Event::RoundRecorded { sides, proposal: Some(proposal), reason, .. } => {
            Command::Accept { proposal, sides: Some(sides.iter().map(SideEntry::from).collect()), reason }
        }
        Event::RoundRecorded { sides, first, last, source, evidence, .. } => Command::Record {
            round: RoundEntry {
                sides: sides.iter().map(SideEntry::from).collect(),
                first: Some(first),
                last: Some(last),
                source,
                evidence,
            },
        },
        Event::RoundCorrected { round, sides, first, last, reason, .. } => {
            let at = (round as usize).checked_sub(1);
            let old = state.and_then(|game| at.and_then(|at| game.rounds().get(at)));
            let same = old.is_some_and(|old| old.sides == sides);
            let sides = (!same).then(|| sides.iter().map(SideEntry::from).collect());
            Command::Correct { round, sides, first: Some(first), last: Some(last), reason }
        }
        Event::RoundVoided { round, reason } => Command::Void { round, reason },
        Event::FirstSet { seat } => Command::SetFirst { seat },
        Event::SideRenamed { side, info } => Command::Rename { side, info },
        Event::EvidenceAttached { round, evidence } => Command::Attach { round, evidence },
        Event::MatchFinished { finish, reason } => Command::Finish { finish, reason },
        Event::Undone { of } => Command::Undo { of: Some(of) },
        Event::Redone { .. } => Command::Redo,
    }
}
