//! crokeye: point a camera at a crokinole board, and the round counts itself.
//!
//! Code map: see ARCHITECTURE.md. A picture goes `capture` → `register` → `detect` → `judge`, in that order, in
//! [`count`]; [`live`] follows a camera over time; the game's rules live in [`score`] and know no picture.

pub mod audit;
pub mod board;
pub mod capture;
pub mod count;
pub mod detect;
pub mod geometry;
pub mod http;
pub mod judge;
pub mod kernels;
pub mod live;
pub mod register;
pub mod score;
pub mod service;
pub mod store;
