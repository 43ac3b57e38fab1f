//! The scoring core.
