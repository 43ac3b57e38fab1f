//! The live part: what a camera sees over time becomes events.
//!
//! ```text
//! frame -> gate: moving, resting, still (fused) -> watcher: board, discs, cover -> rounds: what happened -> events
//! ```
//!
//! All of it is arithmetic on what it is given: time comes in with each frame, nothing is read from a clock, drawn or
//! printed. [`Gate`] looks at every frame and costs little; [`Watcher`] takes what the gate lets through ([`Input`]), counts
//! it and owns what is known of board, colours and round. The same inputs give the same events: a recording holds the
//! inputs.

mod advice;
mod colours;
pub mod event;
mod fuse;
mod gate;
mod hole;
pub mod input;
mod light;
mod player;
mod round;
mod scenery;
mod thumb;
mod tracker;
mod tray;
mod watcher;

pub use colours::Colours;
pub use event::{Event, What};
pub use fuse::Fuse;
pub use gate::{Area, Gate, Glimpse};
pub use input::{Input, Key};
pub use light::Light;
pub use player::Player;
pub use round::Phase;
pub use tray::Region;
pub use watcher::{Counted, Settings, Standing, Watcher};

/// Settings of the gate.
pub use gate::Config as GateConfig;
/// Settings of rounds.
pub use round::Config as RoundConfig;
