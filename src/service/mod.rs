//! The long-running parts, wired with channels; they serve no HTTP.
//!
//! ```text
//! camera | sample | folder -> board thread -> events -> hub -> whoever listens
//!                                  |                     ^
//!                                  +-> rounds -> referee -+-> match log
//!                                  people's commands -^
//! photos -> counter -> counts, audits
//! hub, match log -> connectors -> programs elsewhere
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`board`] | the thread that watches a board, and starts again by itself |
//! | [`hall`] | all boards, each with its thread, hub and referee |
//! | [`hub`] | events with numbers, kept for those who come back, and the state they come to |
//! | [`referee`] | the only writer of the match log |
//! | [`connectors`] | what happens, told to programs elsewhere: webhooks, croki.nl, MQTT |
//! | [`counter`] | photos that are sent in, a bounded queue |
//! | [`audits`] | photos against a sheet, in folders that go away |
//! | [`setup`] | what a person chose for a board, over its configuration |
//! | [`pictures`], [`figures`] | the newest picture, and what is counted |
//! | [`gather`], [`proposal`], [`new_match`] | a round's evidence, its proposal, a match as asked for; also for the command line |

pub mod audits;
pub mod board;
#[cfg(feature = "opencv")]
pub mod camera;
pub mod connectors;
pub mod counter;
pub mod figures;
pub mod gather;
pub mod hall;
pub mod hub;
#[cfg(feature = "opencv")]
mod mailbox;
pub mod new_match;
pub mod pictures;
pub mod proposal;
pub mod referee;
pub mod setup;
