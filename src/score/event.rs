//! What can be asked ([`Command`]) and what has happened ([`Event`]).
//!
//! Events are past tense and never edited; readers ignore fields they do not know. What an event means for points is not
//! written in it: it follows from the rules, which the first event carries whole, so that a preset that changes later
//! changes no match already played.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::format::{Format, Party, Seat};
use super::rules::{Rules, Taken};
use super::tally::{Oddity, SideEntry, SideScore};

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Player {
    /// As displayed.
    pub name: String,
    /// Crokinole player ID, where the player has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cid: Option<String>,
}

impl Player {
    /// A player known by name alone.
    pub fn named(name: &str) -> Self {
        Self { name: name.trim().to_owned(), cid: None }
    }
}

/// A side: who plays, and with which colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideInfo {
    /// Its players in seat order.
    pub players: Vec<Player>,
    /// Colour of its discs, as `crokeye count` names colours; without it the darker discs are side A's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

impl SideInfo {
    /// The players' names joined by a slash.
    pub fn name(&self) -> String {
        self.players.iter().map(|player| player.name.as_str()).collect::<Vec<_>>().join("/")
    }
}

/// Where a match belongs; nothing in it changes a score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// When it was played, where that is not when it was entered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played_at: Option<Timestamp>,
    /// Name of the event: tournament, league night.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Keys of other systems: `croki.match_code`, `table`, `reference.division` and the like.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// What an import could not place, under its own names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// Everything that is settled before the first shot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Name of the rule set.
    pub rules_name: String,
    /// The rules themselves.
    pub rules: Rules,
    /// Defaults taken because the rule set is silent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults_taken: Vec<Taken>,
    /// Parameters chosen for this match, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How many play.
    pub format: Format,
    /// The sides in order.
    pub sides: Vec<SideInfo>,
    /// Who starts the first round.
    pub first: Seat,
    /// Where the match belongs.
    #[serde(default)]
    pub context: Context,
}

/// Who or what gave the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
#[schema(as = RoundSource)]
pub enum Source {
    /// A person.
    Person,
    /// A camera's count.
    Camera {
        /// Which one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Another program.
    Program {
        /// Which one.
        name: String,
    },
    /// A file in another system's format: odd totals are marked, not refused.
    Import {
        /// The format.
        format: String,
    },
}

/// A document that shows how a round came to its numbers, kept by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    /// What it is: `photo`, `count`, `clip`, `overlay`, `card`.
    pub kind: String,
    /// Media type of the bytes.
    pub media_type: String,
    /// The file's name when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// How a match is ended by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Finish {
    /// The points as they stand decide.
    AsItStands,
    /// A side gives up, or did not come.
    Forfeit {
        /// Which.
        by: Party,
    },
    /// Broken off without a result.
    Abandoned,
    /// The shoot-out was won.
    ShootOut {
        /// By whom.
        winner: Party,
    },
    /// The result as another system states it.
    Stated {
        /// The winner; none for a draw.
        winner: Option<Party>,
    },
}

/// A round as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundEntry {
    /// One entry a side, in order.
    pub sides: Vec<SideEntry>,
    /// Who started, where that was not the one due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Seat>,
    /// Who shot last, where that was not the seat before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Seat>,
    /// Who gives the numbers.
    #[serde(default = "person")]
    pub source: Source,
    /// What shows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

fn person() -> Source {
    Source::Person
}

/// What can be asked of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Start it.
    Create(Box<Setup>),
    /// A camera or program proposes a round.
    Propose {
        /// The round.
        round: RoundEntry,
        /// Why a person should look at it; empty when nothing is doubtful.
        #[serde(default)]
        review: Vec<String>,
    },
    /// Take a proposal, as it is or with other numbers.
    Accept {
        /// The proposal's number.
        proposal: u64,
        /// Other numbers.
        #[serde(default)]
        sides: Option<Vec<SideEntry>>,
        /// Why they are others.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Reject a proposal.
    Dismiss {
        /// The proposal's number.
        proposal: u64,
        /// Why.
        reason: String,
    },
    /// Add a round.
    Record {
        /// The round.
        round: RoundEntry,
    },
    /// Change a round; the former numbers stay in the log.
    Correct {
        /// Number of the round, from 1.
        round: u32,
        /// New numbers.
        #[serde(default)]
        sides: Option<Vec<SideEntry>>,
        /// Who really started.
        #[serde(default)]
        first: Option<Seat>,
        /// Who really shot last.
        #[serde(default)]
        last: Option<Seat>,
        /// Why.
        reason: String,
    },
    /// A round counts no more.
    Void {
        /// Number of the round, from 1.
        round: u32,
        /// Why.
        reason: String,
    },
    /// Say who starts the next round.
    SetFirst {
        /// The seat.
        seat: Seat,
    },
    /// Correct names or colours.
    Rename {
        /// Which side.
        side: Party,
        /// What it is called from now on.
        info: SideInfo,
    },
    /// Hang a document on a round.
    Attach {
        /// Number of the round, from 1.
        round: u32,
        /// The document.
        evidence: Evidence,
    },
    /// End it by hand.
    Finish {
        /// How.
        finish: Finish,
        /// Why.
        #[serde(default)]
        reason: Option<String>,
    },
    /// Take back the latest event.
    Undo {
        /// Revision of the event that is meant, so that nothing newer is taken back by mistake.
        #[serde(default)]
        of: Option<u64>,
    },
    /// Do again what was taken back.
    Redo,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A match was started.
    MatchCreated(Box<Setup>),
    /// A round was proposed.
    RoundProposed {
        /// As counted, unchecked: a person sees what the camera saw.
        round: RoundEntry,
        /// Why a person should look.
        review: Vec<String>,
        /// Why it cannot be taken as it is.
        held: Vec<String>,
    },
    /// A proposal was rejected.
    ProposalDismissed {
        /// Its number.
        proposal: u64,
        /// Why.
        reason: String,
    },
    /// A round was played and counts.
    RoundRecorded {
        /// One score a side.
        sides: Vec<SideScore>,
        /// Who started.
        first: Seat,
        /// Who shot last.
        last: Seat,
        /// Who gave the numbers.
        source: Source,
        /// What is odd about them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        odd: Vec<Oddity>,
        /// What shows them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Evidence>,
        /// The proposal it came from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<u64>,
        /// Why its numbers are not those proposed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A round's numbers or shooters were changed.
    RoundCorrected {
        /// Number of the round.
        round: u32,
        /// The scores from now on.
        sides: Vec<SideScore>,
        /// Who started.
        first: Seat,
        /// Who shot last.
        last: Seat,
        /// What is odd about the numbers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        odd: Vec<Oddity>,
        /// Why.
        reason: String,
    },
    /// A round counts no more.
    RoundVoided {
        /// Number of the round.
        round: u32,
        /// Why.
        reason: String,
    },
    /// It was said who starts the next round.
    FirstSet {
        /// The seat.
        seat: Seat,
    },
    /// A side's names or colour were corrected.
    SideRenamed {
        /// Which side.
        side: Party,
        /// What it is called from now on.
        info: SideInfo,
    },
    /// A document was hung on a round.
    EvidenceAttached {
        /// Number of the round.
        round: u32,
        /// The document.
        evidence: Evidence,
    },
    /// The match was ended by hand.
    MatchFinished {
        /// How.
        finish: Finish,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An event was taken back.
    Undone {
        /// Its revision.
        of: u64,
    },
    /// An event that had been taken back holds again.
    Redone {
        /// Its revision.
        of: u64,
    },
}

impl Event {
    /// The event's name as stored.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::MatchCreated(_) => "match_created",
            Event::RoundProposed { .. } => "round_proposed",
            Event::ProposalDismissed { .. } => "proposal_dismissed",
            Event::RoundRecorded { .. } => "round_recorded",
            Event::RoundCorrected { .. } => "round_corrected",
            Event::RoundVoided { .. } => "round_voided",
            Event::FirstSet { .. } => "first_set",
            Event::SideRenamed { .. } => "side_renamed",
            Event::EvidenceAttached { .. } => "evidence_attached",
            Event::MatchFinished { .. } => "match_finished",
            Event::Undone { .. } => "undone",
            Event::Redone { .. } => "redone",
        }
    }
}

/// An event with its place in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Place in the match's log, from 1, without gaps.
    pub revision: u64,
    /// When it was appended.
    pub at: Timestamp,
    /// Who did it.
    pub author: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
