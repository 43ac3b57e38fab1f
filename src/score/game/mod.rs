//! The state of a match and how events change it.
//!
//! An event becomes a list of [`Change`]s; performing a change gives back its inverse, so undoing is performing the inverse
//! and doing again is performing what that gives back. Nothing is recomputed and nothing can be forgotten: the sums that
//! belong to a state ([`Derived`]) are kept beside the inverse and come back with it.

mod decide;
#[cfg(test)]
mod tests;
mod view;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::event::{Event, Evidence, Finish, Record, RoundEntry, Setup, SideInfo, Source};
use super::format::{Party, Seat};
use super::standing::{How, Standing};
use super::tally::{Oddity, SideScore};

/// A round of the match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// One score a side.
    pub sides: Vec<SideScore>,
    /// Who started.
    pub first: Seat,
    /// Who shot last: the hammer, as most people use the word.
    pub last: Seat,
    /// Who gave the numbers.
    pub source: Source,
    /// What is odd about them.
    pub odd: Vec<Oddity>,
    /// What shows them.
    pub evidence: Vec<Evidence>,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who recorded it.
    pub author: String,
    /// Corrections, oldest first.
    pub amendments: Vec<Amendment>,
    /// Why its numbers are not those proposed.
    pub reason: Option<String>,
    /// Why and by whom it was voided.
    pub void: Option<Amendment>,
}

/// A later change of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Amendment {
    /// Revision of the event.
    pub revision: u64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub author: String,
    /// Why.
    pub reason: String,
}

/// A round that a camera or a program proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Proposal {
    /// Its number: the revision of the event that proposed it.
    pub number: u64,
    /// As counted.
    pub round: RoundEntry,
    /// Why a person should look.
    pub review: Vec<String>,
    /// Why it cannot be taken as it is.
    pub held: Vec<String>,
    /// What became of it.
    pub state: ProposalState,
}

/// What became of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Nobody has decided.
    Open,
    /// It became a round.
    Accepted {
        /// Number of the round.
        round: u32,
    },
    /// It was rejected.
    Dismissed {
        /// Why.
        reason: String,
    },
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
#[schema(as = MatchStatus)]
pub enum Status {
    /// Rounds are still to come.
    Open,
    /// Level; the winner of a shoot-out is to be entered.
    ShootOutDue,
    /// Over.
    Over {
        /// The winner; none for a draw or a match broken off.
        winner: Option<Party>,
        /// How it ended.
        how: How,
    },
}

/// A match, folded from its log.
#[derive(Clone, Debug)]
pub struct Match {
    setup: Setup,
    created: Timestamp,
    rounds: Vec<Round>,
    proposals: Vec<Proposal>,
    finish: Option<(Finish, Option<String>)>,
    derived: Derived,
    revision: u64,
    done: Vec<Step>,
    undone: Vec<Step>,
}

/// Two matches are equal when people could not tell them apart: the log behind them does not matter.
impl PartialEq for Match {
    fn eq(&self, other: &Self) -> bool {
        self.setup == other.setup
            && self.rounds == other.rounds
            && self.proposals == other.proposals
            && self.finish == other.finish
            && self.derived == other.derived
    }
}

/// What follows from the rest of the state, kept so that it need not be summed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Derived {
    standing: Standing,
    /// Who starts the next round, where somebody said so.
    first_set: Option<Seat>,
}

/// An event's trace in the state: what undoes it (or, once undone, what does it again) and the sums on the other side.
#[derive(Clone, Debug)]
struct Step {
    revision: u64,
    changes: Vec<Change>,
    derived: Derived,
}

/// A reversible change. Indices are valid where they are used: `decide` checked them, and inverses run in reverse order.
#[derive(Clone, Debug)]
enum Change {
    PushRound(Box<Round>),
    PopRound,
    SwapRound(usize, Box<Round>),
    PushProposal(Box<Proposal>),
    PopProposal,
    SetProposal(usize, ProposalState),
    SetFinish(Option<(Finish, Option<String>)>),
    SetSide(usize, SideInfo),
}

impl Match {
    /// Folds one event into the state. Events that `decide` gave always fit; anything else is ignored, never a panic.
    pub fn apply(state: &mut Option<Match>, record: &Record) {
        match (state.as_mut(), &record.event) {
            (None, Event::MatchCreated(setup)) => {
                *state = Some(Match {
                    setup: (**setup).clone(),
                    created: record.at,
                    rounds: Vec::new(),
                    proposals: Vec::new(),
                    finish: None,
                    derived: Derived::default(),
                    revision: record.revision,
                    done: Vec::new(),
                    undone: Vec::new(),
                });
            }
            (Some(game), event) => {
                game.revision = record.revision;
                match event {
                    Event::Undone { of } => game.undo(*of),
                    Event::Redone { of } => game.redo(*of),
                    event => game.take(record, event),
                }
            }
            (None, _) => {}
        }
    }

    /// Folds a whole log.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Match> {
        let mut state = None;
        for record in records {
            Match::apply(&mut state, record);
        }
        state
    }

    fn take(&mut self, record: &Record, event: &Event) {
        let amendment = |reason: &str| Amendment {
            revision: record.revision,
            at: record.at,
            author: record.author.clone(),
            reason: reason.to_owned(),
        };
        let mut first_set = self.derived.first_set;
        let changes = match event {
            Event::RoundRecorded { sides, first, last, source, odd, evidence, proposal, reason } => {
                first_set = None;
                let round = Round {
                    sides: sides.clone(),
                    first: *first,
                    last: *last,
                    source: source.clone(),
                    odd: odd.clone(),
                    evidence: evidence.clone(),
                    at: record.at,
                    author: record.author.clone(),
                    reason: reason.clone(),
                    amendments: Vec::new(),
                    void: None,
                };
                let mut changes = vec![Change::PushRound(Box::new(round))];
                if let Some(at) = proposal.and_then(|number| self.proposal_at(number)) {
                    let round = self.rounds.len() as u32 + 1;
                    changes.push(Change::SetProposal(at, ProposalState::Accepted { round }));
                }
                changes
            }
            Event::RoundProposed { round, review, held } => {
                vec![Change::PushProposal(Box::new(Proposal {
                    number: record.revision,
                    round: round.clone(),
                    review: review.clone(),
                    held: held.clone(),
                    state: ProposalState::Open,
                }))]
            }
            Event::ProposalDismissed { proposal, reason } => match self.proposal_at(*proposal) {
                Some(at) => vec![Change::SetProposal(at, ProposalState::Dismissed { reason: reason.clone() })],
                None => return,
            },
            Event::RoundCorrected { round, sides, first, last, odd, reason } => {
                let Some((at, old)) = self.round_at(*round) else { return };
                let mut amendments = old.amendments.clone();
                amendments.push(amendment(reason));
                let new = Round {
                    sides: sides.clone(),
                    first: *first,
                    last: *last,
                    odd: odd.clone(),
                    amendments,
                    ..old.clone()
                };
                vec![Change::SwapRound(at, Box::new(new))]
            }
            Event::RoundVoided { round, reason } => {
                let Some((at, old)) = self.round_at(*round) else { return };
                vec![Change::SwapRound(at, Box::new(Round { void: Some(amendment(reason)), ..old.clone() }))]
            }
            Event::EvidenceAttached { round, evidence } => {
                let Some((at, old)) = self.round_at(*round) else { return };
                let mut all = old.evidence.clone();
                all.push(evidence.clone());
                vec![Change::SwapRound(at, Box::new(Round { evidence: all, ..old.clone() }))]
            }
            Event::FirstSet { seat } => {
                first_set = Some(*seat);
                Vec::new()
            }
            Event::SideRenamed { side, info } => {
                if side.index() >= self.setup.sides.len() {
                    return;
                }
                vec![Change::SetSide(side.index(), info.clone())]
            }
            Event::MatchFinished { finish, reason } => {
                vec![Change::SetFinish(Some((finish.clone(), reason.clone())))]
            }
            Event::MatchCreated(_) | Event::Undone { .. } | Event::Redone { .. } => return,
        };
        let before = self.derived;
        let restep = changes.iter().any(|change| matches!(change, Change::SwapRound(..)));
        let inverse = self.perform(changes);
        self.derived.first_set = first_set;
        if restep {
            self.derived.standing = self.sum();
        } else if let (Event::RoundRecorded { .. }, Some(round)) = (event, self.rounds.last()) {
            self.derived.standing.step(&self.setup.rules, self.setup.format, &round.sides);
        }
        self.done.push(Step { revision: record.revision, changes: inverse, derived: before });
        self.undone.clear();
    }

    fn undo(&mut self, of: u64) {
        if let Some(step) = self.done.pop_if(|step| step.revision == of) {
            let forward = self.reverse(step);
            self.undone.push(forward);
        }
    }

    fn redo(&mut self, of: u64) {
        if let Some(step) = self.undone.pop_if(|step| step.revision == of) {
            let back = self.reverse(step);
            self.done.push(back);
        }
    }

    fn reverse(&mut self, step: Step) -> Step {
        let derived = std::mem::replace(&mut self.derived, step.derived);
        Step { revision: step.revision, changes: self.perform(step.changes), derived }
    }

    /// Performs changes in order; gives back what undoes them, in the order to undo them in.
    fn perform(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let mut inverse: Vec<Change> = changes.into_iter().filter_map(|change| self.perform_one(change)).collect();
        inverse.reverse();
        inverse
    }

    fn perform_one(&mut self, change: Change) -> Option<Change> {
        Some(match change {
            Change::PushRound(round) => {
                self.rounds.push(*round);
                Change::PopRound
            }
            Change::PopRound => Change::PushRound(Box::new(self.rounds.pop()?)),
            Change::SwapRound(at, round) => {
                Change::SwapRound(at, Box::new(std::mem::replace(self.rounds.get_mut(at)?, *round)))
            }
            Change::PushProposal(proposal) => {
                self.proposals.push(*proposal);
                Change::PopProposal
            }
            Change::PopProposal => Change::PushProposal(Box::new(self.proposals.pop()?)),
            Change::SetProposal(at, state) => {
                Change::SetProposal(at, std::mem::replace(&mut self.proposals.get_mut(at)?.state, state))
            }
            Change::SetFinish(finish) => Change::SetFinish(std::mem::replace(&mut self.finish, finish)),
            Change::SetSide(at, info) => Change::SetSide(at, std::mem::replace(self.setup.sides.get_mut(at)?, info)),
        })
    }

    /// The standing summed from nothing: what `derived.standing` must always equal.
    fn sum(&self) -> Standing {
        let mut standing = Standing::default();
        for round in self.rounds.iter().filter(|round| round.void.is_none()) {
            standing.step(&self.setup.rules, self.setup.format, &round.sides);
        }
        standing
    }

    fn proposal_at(&self, number: u64) -> Option<usize> {
        self.proposals.iter().rposition(|proposal| proposal.number == number)
    }

    fn round_at(&self, number: u32) -> Option<(usize, &Round)> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((at, self.rounds.get(at)?))
    }
}
