//! The straight line from a frame to a count.
