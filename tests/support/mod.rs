//! A synthetic camera: scenes of a board, pictures of them, and the exact truth behind each picture.
//!
//! A [`Scene`] describes a board, its discs, the camera, the light and the sensor in plain numbers. [`Scene::frame`]
//! renders it as `count::run` wants it; [`Scene::truth`] says what the count has to be. Both are pure functions of
//! the scene: the same scene gives the same bytes. [`deal`] makes scenes from a seed.
//!
//! The picture is traced, one ray a pixel and sixteen where two things meet; lines painted on the board are covered
//! analytically, so their edges are where the numbers say to about 0.01 px. Discs are upright cylinders with rounded
//! edges, seen with their height. Shared by tests and benches through `#[path]`, therefore:
#![allow(dead_code, unused_imports, reason = "each test or bench uses its own part of the synthetic camera")]

pub mod board;
pub mod camera;
pub mod colour;
pub mod compare;
pub mod deal;
pub mod evening;
pub mod label;
pub mod mutilate;
pub mod play;
pub mod program;
pub mod random;
pub mod render;
pub mod scene;
pub mod showcase;
pub mod solid;
pub mod trace;
pub mod truth;

pub use board::BoardLook;
pub use deal::Recipe;
pub use random::Random;
pub use scene::Scene;
