//! The scoring core: plays the game. Rules, rounds, matches, corrections, undo, exports, statistics.
//!
//! It knows no picture, no length, no clock and no file: it is fed with counts by cameras, people and programs. State
//! changes only by an event ([`event::Event`]) appended to a match's log; [`Match::decide`] turns a command into events or
//! refuses it with a reason ([`Violation`]), [`Match::apply`] folds an event into the state and cannot fail.
//!
//! | module | what it holds |
//! |---|---|
//! | [`rules`] | published rule sets as data, each parameter with its source |
//! | [`format`] | singles, doubles, three players: sides, seats, turn order, discs |
//! | [`tally`] | a side's round: what was entered, and what it is once checked |
//! | [`event`] | commands and events |
//! | [`game`] | the state, `decide`, `apply`, undo |
//! | [`standing`] | rounds to points, and when the match is over |
//! | [`shot`] | the rules of a single shot, as pure functions |
//! | [`notation`] | how people write scores and seats |
//! | [`intake`] | a count's public JSON to a proposed round |
//! | [`export`], [`import`] | one file a format |
//! | [`stats`] | per player and match, head to head |

pub mod event;
pub mod export;
pub mod format;
pub mod game;
pub mod import;
pub mod intake;
pub mod notation;
pub mod rules;
pub mod shot;
pub mod standing;
pub mod stats;
pub mod tally;
mod violation;

pub use event::{Command, Event, Record};
pub use format::{Format, Party, Seat};
pub use game::Match;
pub use violation::Violation;
