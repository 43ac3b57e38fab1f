//! What the live part tells, `crokeye.event/1`: one JSON object an event.
//!
//! Names and meaning are what other programs rely on: fields and events may be added, never renamed. Lengths are
//! millimetres unless a name ends in `_px`, times are milliseconds on the source's own clock.

use serde::Serialize;

use crate::board::{Side, State};
use crate::count::report::{Board, Report, Review, Status, ZoneCount};
use crate::score::shot::{Breach, Why};

/// Name and version of the format.
pub const SCHEMA: &str = "crokeye.event/1";

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
    /// When.
    pub at_ms: u64,
    /// Number of the frame that shows it, from 0.
    pub frame: u64,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The board was found, lost, or moved.
    Board {
        /// Which of these.
        change: BoardChange,
        /// How far it moved in the picture, px.
        #[serde(skip_serializing_if = "Option::is_none")]
        moved_px: Option<f64>,
        /// How far it was turned, degrees.
        #[serde(skip_serializing_if = "Option::is_none")]
        turned_deg: Option<f64>,
        /// Where it is now; null where it is lost.
        board: Option<Box<Board>>,
    },
    /// The board is still and in full view.
    Settled {
        /// Frames that were fused.
        fused: u32,
        /// Identities of the count's discs, in its order; null in the ditch.
        discs: Vec<Option<u32>>,
        /// Discs that seem to lie in the ditch.
        ditch: u32,
        /// The count.
        count: Box<Report>,
    },
    /// A disc was placed, moved or removed.
    Disc {
        /// Which of these.
        change: DiscChange,
        /// Its number in this round.
        disc: u32,
        /// Whose it is.
        side: Option<Side>,
        /// Its place, or the one it was removed from.
        base_mm: [f64; 2],
        /// Where it was before it moved.
        #[serde(skip_serializing_if = "Option::is_none")]
        from_mm: Option<[f64; 2]>,
        /// What it scores (or did).
        value: u32,
        /// How it lies (or did).
        state: State,
    },
    /// A disc came to rest in the hole.
    Twenty {
        /// Whose it is.
        side: Side,
        /// 20s of side a and side b in this round so far.
        twenties: [u32; 2],
    },
    /// The colours of the sides are known now, or are others than was believed.
    Sides {
        /// Side a.
        a: Option<String>,
        /// Side b.
        b: Option<String>,
    },
    /// What the rules say about the last shot. Advice: the camera does not see every touch.
    Advice {
        /// Who shot.
        side: Side,
        /// The rule that was broken, if one was.
        breach: Option<Breach>,
        /// Discs that should be taken off, with the reason.
        remove: Vec<Removal>,
        /// The rule set's parameters that decided.
        decided_by: Vec<String>,
        /// The same as a sentence.
        text: String,
    },
    /// The count is held: something covers the board, or the board cannot be found.
    Held {
        /// Why.
        reason: String,
    },
    /// The board is being cleared.
    Clearing,
    /// A round is over.
    Round(Box<RoundResult>),
    /// The board was cleared after a round that had been told already: its result stands.
    Final {
        /// Number of the round.
        round: u32,
    },
    /// Play went on after a round had seemed to be over: its result will come again.
    Resumed,
    /// What had begun was no round: too few discs were shot before the board was cleared.
    Abandoned,
    /// The source fails, comes back, or gives pictures that are black or do not change.
    Camera {
        /// Which of these.
        state: CameraState,
    },
}

/// What happened to the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardChange {
    /// It is there.
    Found,
    /// It is no longer seen.
    Lost,
    /// It, or the camera, was moved.
    Moved,
}

/// What happened to a disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscChange {
    /// It is new on the board.
    Placed,
    /// It lies elsewhere.
    Moved,
    /// It is gone.
    Removed,
}

/// A disc that should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// Its number in this round.
    pub disc: u32,
    /// Why.
    pub why: Why,
}

/// How the source does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraState {
    /// No frame for two seconds.
    Lost,
    /// Frames come again.
    Back,
    /// Black, or without any contrast: covered, or the light is off.
    Dark,
    /// The same picture for seconds, without any noise.
    Frozen,
}

/// Why a round is taken for over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Hands cleared the board.
    Cleared,
    /// All discs were shot.
    AllShot,
    /// Nothing happened for long after the last shot.
    Quiet,
    /// A person said so.
    Key,
    /// The source ended.
    SourceEnded,
}

/// A round's result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundResult {
    /// Number of the round in this session, from 1.
    pub round: u32,
    /// Why it is taken for over.
    pub ended: Ended,
    /// True where the board was cleared or a person said so: play cannot go on.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Number of the settled frame that was counted.
    pub counted_frame: u64,
    /// Side a and side b.
    pub sides: Vec<RoundSide>,
    /// Whether the totals can be trusted.
    pub status: Status,
    /// What a person should look at.
    pub review: Vec<Review>,
    /// Shots seen, side a and side b.
    pub shots: [u32; 2],
    /// Discs in the trays, where they are watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tray: Option<[Option<u32>; 2]>,
}

/// A side's round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundSide {
    /// Which side.
    pub side: Side,
    /// Its colour, where known.
    pub colour: Option<String>,
    /// Discs on the board by value.
    pub count: ZoneCount,
    /// 20s that were taken off the board.
    pub set_aside: u32,
    /// Points.
    pub total: u32,
}
