//! The long-running parts: a camera on threads of its own, the evidence of rounds, proposals for a match.

#[cfg(feature = "opencv")]
pub mod camera;
pub mod gather;
#[cfg(feature = "opencv")]
mod mailbox;
pub mod proposal;
