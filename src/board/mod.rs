//! The vocabulary of the board: zones, sides, disc states, board models.

pub mod models;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use models::BoardModel;

/// Radius of the shooting line that fixes the millimetre scale unless a board model says otherwise (12 in).
pub const SHOOTING_LINE_MM: f64 = 304.8;

/// What a disc scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Touching the shooting line, beyond it, or in the ditch.
    Out,
    /// Inside the shooting line.
    Five,
    /// Inside the 10 line.
    Ten,
    /// Inside the 15 line.
    Fifteen,
    /// Flat in the hole.
    Twenty,
}

impl Zone {
    /// All zones, best first.
    pub const ALL: [Zone; 5] = [Zone::Twenty, Zone::Fifteen, Zone::Ten, Zone::Five, Zone::Out];

    /// Points.
    pub const fn value(self) -> u32 {
        match self {
            Zone::Out => 0,
            Zone::Five => 5,
            Zone::Ten => 10,
            Zone::Fifteen => 15,
            Zone::Twenty => 20,
        }
    }

    /// The next lower zone, where there is one.
    pub const fn lower(self) -> Option<Zone> {
        match self {
            Zone::Out => None,
            Zone::Five => Some(Zone::Out),
            Zone::Ten => Some(Zone::Five),
            Zone::Fifteen => Some(Zone::Ten),
            Zone::Twenty => Some(Zone::Fifteen),
        }
    }
}

/// One of the three scoring lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub enum Line {
    /// The shooting line, outermost.
    #[serde(rename = "5")]
    Five,
    /// Between the 5 and the 10 zone.
    #[serde(rename = "10")]
    Ten,
    /// Between the 10 and the 15 zone; the pegs stand on it.
    #[serde(rename = "15")]
    Fifteen,
}

impl Line {
    /// The lines, outermost first: the order of every `[_; 3]` that is kept per line.
    pub const ALL: [Line; 3] = [Line::Five, Line::Ten, Line::Fifteen];

    /// The name used in output.
    pub const fn name(self) -> &'static str {
        match self {
            Line::Five => "5",
            Line::Ten => "10",
            Line::Fifteen => "15",
        }
    }

    /// The zone just inside this line.
    pub const fn inside(self) -> Zone {
        match self {
            Line::Five => Zone::Five,
            Line::Ten => Zone::Ten,
            Line::Fifteen => Zone::Fifteen,
        }
    }
}

/// A side of the game. A is the darker colour unless the caller names colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = BoardSide)]
pub enum Side {
    /// The first side.
    A,
    /// The second side.
    B,
}

impl Side {
    /// The opponent.
    pub const fn other(self) -> Self {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// How a disc lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = DiscState)]
pub enum State {
    /// Flat on the playing surface, inside the shooting line.
    Flat,
    /// Flat on the hole's floor.
    InHole,
    /// Tilted over the hole's edge, or overhanging it.
    Leaning,
    /// Touching or beyond the shooting line, or in the ditch.
    Off,
}
