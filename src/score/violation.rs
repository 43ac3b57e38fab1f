//! Why a command was refused. Each reason carries its numbers; the state is unchanged.

use serde::Serialize;

use super::format::{Format, Party, Seat};

/// A refused command.
///
/// As JSON it is `{"code": .., "values": {..}}`, for pages and programs that have sentences of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "code", content = "values", rename_all = "snake_case")]
pub enum Violation {
    /// Nothing has been started.
    #[error("there is no match yet: the first command must create one")]
    NotCreated,
    /// The match is already there.
    #[error("the match exists already")]
    AlreadyCreated,
    /// The number of sides does not fit the format.
    #[error("{} takes {needed} sides, {found} were given", .format.name())]
    Sides {
        /// The format.
        format: Format,
        /// Sides it takes.
        needed: usize,
        /// Sides given.
        found: usize,
    },
    /// The number of players of a side does not fit the format.
    #[error("side {party} of {} has {needed} player(s), {found} were named", .format.name())]
    Players {
        /// The format.
        format: Format,
        /// The side.
        party: Party,
        /// Players it has.
        needed: usize,
        /// Players named.
        found: usize,
    },
    /// A player has no name.
    #[error("side {party} has a player without a name")]
    Unnamed {
        /// The side.
        party: Party,
    },
    /// A name that cannot be shown.
    #[error("{what} is named with control characters, or with more than {most}: give a plain name of one line")]
    Unpresentable {
        /// Whose name.
        what: &'static str,
        /// Most characters.
        most: usize,
    },
    /// The rules themselves are out of bounds.
    #[error("the rules cannot be played: {0}")]
    Rules(String),
    /// No such seat.
    #[error("there is no seat {}: {} has seats 0 to {}", .seat.0, .format.name(), .format.seats() - 1)]
    Seat {
        /// The format.
        format: Format,
        /// The seat asked for.
        seat: Seat,
    },
    /// No such player.
    #[error("there is no player {party}{player} in {}", .format.name())]
    NoPlayer {
        /// The format.
        format: Format,
        /// The side.
        party: Party,
        /// The player, from 1.
        player: usize,
    },
    /// No such side.
    #[error("there is no side {party} in {}", .format.name())]
    NoSide {
        /// The format.
        format: Format,
        /// The side asked for.
        party: Party,
    },
    /// A negative number.
    #[error("side {party}: {value} {what} is negative")]
    Negative {
        /// The side.
        party: Party,
        /// What was counted.
        what: &'static str,
        /// The number.
        value: i64,
    },
    /// A number no round can hold.
    #[error("side {party}: {value} {what} is more than any round can hold")]
    TooLarge {
        /// The side.
        party: Party,
        /// What was counted.
        what: &'static str,
        /// The number.
        value: i64,
    },
    /// More discs than the rules allow.
    #[error("side {party}: {found} discs (board and 20s together), the rules allow {allowed}")]
    TooManyDiscs {
        /// The side.
        party: Party,
        /// Discs counted.
        found: u32,
        /// Discs allowed.
        allowed: u32,
    },
    /// The total does not follow from the zones.
    #[error("side {party}: a total of {stated} was given, but its zones add up to {sum}")]
    TotalNotSum {
        /// The side.
        party: Party,
        /// As given.
        stated: u32,
        /// As counted.
        sum: u32,
    },
    /// The number of 20s does not follow from what was counted.
    #[error("side {party}: {stated} 20s were given, but {counted} were counted")]
    TwentiesNotCounted {
        /// The side.
        party: Party,
        /// As given.
        stated: u32,
        /// As counted.
        counted: u32,
    },
    /// No count gives this total.
    #[error("side {party}: a total of {total} is not a multiple of 5")]
    NotMultipleOfFive {
        /// The side.
        party: Party,
        /// The total.
        total: u32,
    },
    /// More than all discs in the hole.
    #[error("side {party}: a total of {total} is more than {discs} discs can score ({most})")]
    AboveMaximum {
        /// The side.
        party: Party,
        /// The total.
        total: u32,
        /// The most there is.
        most: u32,
        /// Discs of the side.
        discs: u32,
    },
    /// The total cannot hold that many 20s, or not with so few.
    #[error("side {party}: a total of {total} does not go with {twenties} 20s")]
    TwentiesUnlikeTotal {
        /// The side.
        party: Party,
        /// The total.
        total: u32,
        /// The 20s.
        twenties: u32,
    },
    /// Zones and points were both given.
    #[error("side {party}: points follow from the zones, give one of them")]
    PointsBesideZones {
        /// The side.
        party: Party,
    },
    /// Nothing was given.
    #[error("side {party}: give zones, a total, or points")]
    NothingEntered {
        /// The side.
        party: Party,
    },
    /// Some sides have points written down, some have totals.
    #[error("points were given for some sides and not for all")]
    MixedEntry,
    /// Points that the conversion never gives.
    #[error("points {found:?} cannot come from one round under {conversion}")]
    PointsImpossible {
        /// As given.
        found: Vec<u32>,
        /// The conversion's name.
        conversion: &'static str,
    },
    /// Points that do not follow from the totals beside them.
    #[error("points {stated:?} were given, but the totals make {computed:?}")]
    PointsUnlikeTotals {
        /// As given.
        stated: Vec<u32>,
        /// As computed.
        computed: Vec<u32>,
    },
    /// The match is over.
    #[error("the match is over ({how}): correct, void or undo a round instead")]
    MatchOver {
        /// How it ended.
        how: String,
    },
    /// The match waits for its shoot-out.
    #[error("the match is level and waits for the winner of the shoot-out")]
    AwaitingShootOut,
    /// A shoot-out is between the sides that are level at the top.
    #[error("{party} is not level with the best: a shoot-out is between those that are")]
    NotLevel {
        /// The side named.
        party: Party,
    },
    /// A shoot-out winner was given although none is due.
    #[error("no shoot-out is due")]
    NoShootOut,
    /// No such round.
    #[error("there is no round {round}; {rounds} have been recorded")]
    NoRound {
        /// Asked for.
        round: u32,
        /// Recorded.
        rounds: u32,
    },
    /// The round does not count any more.
    #[error("round {round} is void")]
    RoundIsVoid {
        /// Which.
        round: u32,
    },
    /// No such proposal.
    #[error("there is no proposal {proposal}")]
    NoProposal {
        /// Which.
        proposal: u64,
    },
    /// The proposal was dealt with already.
    #[error("proposal {proposal} is no longer open")]
    ProposalClosed {
        /// Which.
        proposal: u64,
    },
    /// The proposal needs a person's numbers.
    #[error("proposal {proposal} cannot be taken as it is: {reason}")]
    ProposalHeld {
        /// Which.
        proposal: u64,
        /// Why.
        reason: String,
    },
    /// The same picture was used before.
    #[error("this {kind} was already given for {place}")]
    SameEvidence {
        /// What it is.
        kind: String,
        /// Where it hangs.
        place: String,
    },
    /// A reason is missing.
    #[error("a reason is needed")]
    NoReason,
    /// The correction changes nothing.
    #[error("that changes nothing")]
    NothingChanged,
    /// Nothing to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// Nothing to do again.
    #[error("there is nothing to do again")]
    NothingToRedo,
    /// Something else happened since.
    #[error("event {expected} is not the latest: {found} came after it")]
    NotLatest {
        /// What was to be undone.
        expected: u64,
        /// What would be undone.
        found: u64,
    },
}
