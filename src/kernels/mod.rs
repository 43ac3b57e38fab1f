//! Hot loops over pixel arrays: views in, values out; no allocation beyond the result, no configuration, no logging.

pub mod edges;
pub mod gradient;
pub mod perceptron;
pub mod picture;
pub mod planes;
pub mod vote;
