//! Shapes of answers that are put together as JSON, for the document of the API. Where a shape has a type of its own, the
//! document takes that one. Tests and Schemathesis hold these to what is really answered.

#![allow(dead_code, reason = "shapes are described here, never built")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::score::event::{Evidence, Player, Source};
use crate::score::format::{Format, Party, Seat};
use crate::score::game::{Amendment, Proposal, Status};
use crate::score::tally::{Oddity, SideScore};
use crate::service::connectors::croki::Table;
use crate::service::connectors::state::State as Connector;
use crate::store::Listed;

/// A refusal or failure (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "type": "about:blank", "title": "Conflict", "status": 409, "kind": "conflict",
    "detail": "the match has changed meanwhile: it is at step 5, not 4; look at it again"
}))]
pub struct Problem {
    /// Always `about:blank`: `kind` says what it is.
    r#type: String,
    /// The status in words.
    title: String,
    /// The status.
    status: u16,
    /// What it is; stable.
    kind: String,
    /// A sentence for people.
    detail: String,
    /// Why the rules refuse: a `code`, and the numbers that belong to it.
    #[schema(value_type = Option<Object>, required = false)]
    violation: Option<Value>,
}

/// A match as it stands, `crokeye.match/1`.
#[derive(Serialize, ToSchema)]
pub struct Match {
    /// `crokeye.match/1`.
    #[schema(example = "crokeye.match/1")]
    schema: String,
    /// Number of events in its log; `expected` of a command.
    revision: u64,
    /// Its number here.
    number: i64,
    /// Its identity everywhere.
    id: Uuid,
    /// What an undo would take back.
    #[schema(required)]
    undoable: Option<u64>,
    /// When it was played.
    played_at: Timestamp,
    /// The rules it is played by.
    rules: RulesOfMatch,
    format: Format,
    /// The event it belongs to.
    #[schema(required)]
    event: Option<String>,
    /// What it is called elsewhere, such as `croki.match_code`.
    refs: BTreeMap<String, String>,
    sides: Vec<SideOfMatch>,
    status: Status,
    /// Who starts the next round; null once no round is to come.
    #[schema(required)]
    next_first: Option<NextFirst>,
    rounds_counted: u32,
    rounds: Vec<Round>,
    /// Proposed rounds that wait for a decision.
    proposals: Vec<Proposal>,
    /// What a person should know, a sentence each.
    notices: Vec<String>,
    /// The log; of `GET /matches/{id}` only.
    #[schema(required = false)]
    log: Option<Vec<Record>>,
    /// What a command has added to the log; of commands only.
    #[schema(required = false)]
    appended: Option<Vec<Record>>,
}

/// The rules of a match.
#[derive(Serialize, ToSchema)]
pub struct RulesOfMatch {
    name: String,
    /// Parameters chosen, as `name=value`.
    choices: Vec<String>,
    /// Defaults taken because the rule set is silent.
    defaults_taken: Vec<Value>,
    /// Every parameter.
    #[schema(value_type = Object)]
    parameters: Value,
}

/// A side of a match.
#[derive(Serialize, ToSchema)]
pub struct SideOfMatch {
    side: Party,
    name: String,
    players: Vec<Player>,
    /// Colour of its discs.
    #[schema(required)]
    colour: Option<String>,
    /// Points of the match.
    points: u64,
    /// Sum of its totals; null where one of them is not known.
    #[schema(required)]
    total: Option<u64>,
    /// Sum of its 20s; null where some are not known.
    #[schema(required)]
    twenties: Option<u64>,
}

/// Who starts the next round.
#[derive(Serialize, ToSchema)]
pub struct NextFirst {
    seat: Seat,
    side: Party,
    /// Which player of the side, from 0.
    player: usize,
}

/// A seat and its side.
#[derive(Serialize, ToSchema)]
pub struct SeatAndSide {
    seat: Seat,
    side: Party,
}

/// A round of a match.
#[derive(Serialize, ToSchema)]
pub struct Round {
    /// Its number, from 1.
    round: u32,
    /// Does it count? Not when void, and not when played after the end.
    counts: bool,
    sides: Vec<SideOfRound>,
    first: SeatAndSide,
    last: SeatAndSide,
    source: Source,
    odd: Vec<Oddity>,
    evidence: Vec<Evidence>,
    at: Timestamp,
    author: String,
    /// Corrections, oldest first.
    amendments: Vec<Amendment>,
    /// Why and by whom it was voided.
    #[schema(required)]
    void: Option<Amendment>,
}

/// A side's round.
#[derive(Serialize, ToSchema)]
pub struct SideOfRound {
    side: Party,
    /// Points of the match.
    points: u32,
    #[schema(required)]
    total: Option<u32>,
    #[schema(required)]
    twenties: Option<u32>,
    entry: SideScore,
}

/// An event of a match's log; what else it holds depends on the event.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "revision": 3, "at": "2026-12-01T20:14:03Z", "author": "Carol", "event": "first_set", "seat": 1
}))]
pub struct Record {
    /// Its place, from 1, without gaps.
    revision: u64,
    at: Timestamp,
    author: String,
    event: String,
}

/// Matches, newest first.
#[derive(Serialize, ToSchema)]
pub struct Matches {
    matches: Vec<Listed>,
}

/// Board and match now, `crokeye.state/1`.
#[derive(Serialize, ToSchema)]
pub struct State {
    /// `crokeye.state/1`.
    schema: String,
    /// `snapshot`.
    event: String,
    /// The latest event in it.
    id: String,
    /// What the board shows: what the events of the board have told, by their names.
    #[schema(value_type = Option<Object>, required)]
    board: Value,
    #[schema(required)]
    r#match: Option<Match>,
    connectors: Vec<Connector>,
}

/// All boards.
#[derive(Serialize, ToSchema)]
pub struct Boards {
    boards: Vec<BoardAtAGlance>,
}

/// A board, as a hall wants to see it.
#[derive(Serialize, ToSchema)]
pub struct BoardAtAGlance {
    id: String,
    #[schema(required)]
    name: Option<String>,
    /// What it shows, without the geometry.
    #[schema(value_type = Option<Object>, required)]
    board: Value,
    /// What is played, without its past.
    #[schema(value_type = Option<Object>, required)]
    r#match: Value,
    /// Age of the newest frame, s.
    #[schema(required)]
    frame_age_s: Option<f64>,
}

/// The published rule sets.
#[derive(Serialize, ToSchema)]
pub struct RuleSets {
    rules: Vec<RuleSetTitle>,
}

/// A rule set by name.
#[derive(Serialize, ToSchema)]
pub struct RuleSetTitle {
    name: String,
    title: String,
}

/// A rule set, `crokeye.rules/1`.
#[derive(Serialize, ToSchema)]
pub struct RuleSet {
    /// `crokeye.rules/1`.
    schema: String,
    name: String,
    title: String,
    sources: Vec<String>,
    /// Each with its value, its mark and its source.
    #[schema(value_type = Vec<Object>)]
    parameters: Vec<Value>,
}

/// A key that was pressed.
#[derive(Serialize, ToSchema)]
pub struct Pressed {
    /// Which one.
    pressed: String,
}

/// Who asks.
#[derive(Serialize, ToSchema)]
pub struct Session {
    /// `viewer` or `referee`; null for nobody known.
    #[schema(required)]
    role: Option<String>,
    /// Is a password asked for here?
    #[schema(required = false)]
    password: Option<bool>,
}

/// How the connectors do.
#[derive(Serialize, ToSchema)]
pub struct Connectors {
    connectors: Vec<Connector>,
}

/// What is played at which table of a championship.
#[derive(Serialize, ToSchema)]
pub struct Tables {
    matches: Vec<Table>,
}
