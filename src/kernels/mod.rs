//! Hot loops over pixels: shrink, sample, gradients. Views in, values out; no configuration, no logging.

pub mod edges;
pub mod picture;
