//! Who plays: formats, sides, seats and turn order.
//!
//! Seats run clockwise from 0. Turn order is clockwise in every rule text that names one (S0, S1, S3, S4, MAY), partners
//! sit opposite each other, and players who are alone against two shoot every other turn from one place (MAY), which is
//! the same as holding both seats of their side.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::rules::Rules;
use crate::board::Side;

/// A side of the match: one player, two partners, or one of three rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// The first side.
    A,
    /// The second side.
    B,
    /// The third, in cut-throat only.
    C,
}

impl Party {
    /// All of them, in order.
    pub const ALL: [Party; 3] = [Party::A, Party::B, Party::C];

    /// Position in every list kept per side.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The letter used in tables.
    pub const fn letter(self) -> char {
        match self {
            Party::A => 'A',
            Party::B => 'B',
            Party::C => 'C',
        }
    }
}

impl From<Side> for Party {
    fn from(side: Side) -> Self {
        match side {
            Side::A => Party::A,
            Side::B => Party::B,
        }
    }
}

impl std::fmt::Display for Party {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.letter())
    }
}

/// A place at the board, numbered clockwise from 0. Seat 0 belongs to side A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Seat(pub u8);

/// How many play, and how they are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = MatchFormat)]
pub enum Format {
    /// One against one.
    Singles,
    /// Two against two, two colours.
    Doubles,
    /// Side A has two players, side B one who shoots every other turn.
    TwoVersusOne,
    /// Three players, three colours, each alone.
    CutThroat,
}

impl Format {
    /// How many sides.
    pub const fn sides(self) -> usize {
        match self {
            Format::CutThroat => 3,
            _ => 2,
        }
    }

    /// The sides in order.
    pub fn parties(self) -> &'static [Party] {
        &Party::ALL[..self.sides()]
    }

    /// How many places at the board take turns.
    pub const fn seats(self) -> u8 {
        match self {
            Format::Singles => 2,
            Format::Doubles | Format::TwoVersusOne => 4,
            Format::CutThroat => 3,
        }
    }

    /// How many players a side has.
    pub const fn players(self, party: Party) -> usize {
        match (self, party) {
            (Format::Doubles, _) | (Format::TwoVersusOne, Party::A) => 2,
            _ => 1,
        }
    }

    /// The side of a seat: sides alternate round the board.
    pub fn party_at(self, seat: Seat) -> Party {
        Party::ALL[usize::from(seat.0) % self.sides()]
    }

    /// The player of a seat, as an index into the side's players.
    pub fn player_at(self, seat: Seat) -> usize {
        (usize::from(seat.0) / self.sides()) % self.players(self.party_at(seat))
    }

    /// Is there such a seat?
    pub const fn has(self, seat: Seat) -> bool {
        seat.0 < self.seats()
    }

    /// The next seat clockwise: who shoots next, and (under every published rule) who starts the next round.
    pub const fn next(self, seat: Seat) -> Seat {
        Seat((seat.0 + 1) % self.seats())
    }

    /// Who shoots last in a round that `first` starts: the seat before it, as all have the same number of turns.
    pub const fn last_of(self, first: Seat) -> Seat {
        Seat((first.0 + self.seats() - 1) % self.seats())
    }

    /// The seat that shoots shot number `shot` (from 0) of a round that `first` starts.
    pub const fn shooter(self, first: Seat, shot: u32) -> Seat {
        Seat(((first.0 as u32 + shot) % self.seats() as u32) as u8)
    }

    /// How many discs a side has in a round.
    pub const fn discs(self, rules: &Rules) -> u32 {
        match self {
            Format::Singles | Format::CutThroat => rules.discs_singles,
            Format::Doubles | Format::TwoVersusOne => 2 * rules.discs_doubles,
        }
    }

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Singles => "singles",
            Format::Doubles => "doubles",
            Format::TwoVersusOne => "two_versus_one",
            Format::CutThroat => "cut_throat",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_sit_opposite_and_turns_go_clockwise() {
        let order: Vec<(Party, usize)> = (0..4)
            .map(|shot| Format::Doubles.shooter(Seat(0), shot))
            .map(|seat| (Format::Doubles.party_at(seat), Format::Doubles.player_at(seat)))
            .collect();
        assert_eq!(order, [(Party::A, 0), (Party::B, 0), (Party::A, 1), (Party::B, 1)]);
    }

    #[test]
    fn the_lone_player_shoots_every_other_turn() {
        let sides: Vec<Party> =
            (0..6).map(|shot| Format::TwoVersusOne.party_at(Format::TwoVersusOne.shooter(Seat(1), shot))).collect();
        assert_eq!(sides, [Party::B, Party::A, Party::B, Party::A, Party::B, Party::A]);
        assert_eq!(Format::TwoVersusOne.player_at(Seat(3)), 0);
    }

    #[test]
    fn the_last_shooter_sits_before_the_first() {
        assert_eq!(Format::Singles.last_of(Seat(0)), Seat(1));
        assert_eq!(Format::Doubles.last_of(Seat(0)), Seat(3));
        assert_eq!(Format::CutThroat.last_of(Seat(1)), Seat(0));
        let shots = 4 * 6;
        assert_eq!(Format::Doubles.shooter(Seat(2), shots - 1), Format::Doubles.last_of(Seat(2)));
    }
}
