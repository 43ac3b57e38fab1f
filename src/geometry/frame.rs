//! Frames of reference as types: a point carries the frame it is measured in.
//!
//! | marker | unit | meaning |
//! |---|---|---|
//! | [`ImagePx`] | px | as a viewer shows the picture; (0, 0) is the centre of the top-left pixel, x right, y down |
//! | [`BoardMm`] | mm | a plane parallel to the playing surface, origin above the hole's centre, x right, y down as seen |
//! | [`ViewPx`] | px | rectified top view |

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Pixels of the picture as a viewer shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImagePx {}
/// Millimetres on (or parallel to) the playing surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardMm {}
/// Pixels of the rectified top view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPx {}

/// A position in the frame of reference `F`.
pub struct Point<F> {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    frame: PhantomData<F>,
}

impl<F> Point<F> {
    /// The point (x, y).
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, frame: PhantomData }
    }

    /// Distance to another point of the same frame, in the frame's unit.
    pub fn distance(self, other: Self) -> f64 {
        Self::new(self.x - other.x, self.y - other.y).norm()
    }

    /// Distance from the origin of the frame, in the frame's unit.
    pub fn norm(self) -> f64 {
        // No coordinate here overflows when squared, and hypot() takes five times as long.
        (self.x * self.x + self.y * self.y).sqrt()
    }

    /// This point moved by (dx, dy).
    pub fn offset(self, dx: f64, dy: f64) -> Self {
        Self::new(self.x + dx, self.y + dy)
    }

    /// The coordinates as an array, for output.
    pub const fn to_array(self) -> [f64; 2] {
        [self.x, self.y]
    }
}

impl Point<ImagePx> {
    /// The same place in the picture resampled by `scale` (0.5 halves it): pixel centres are at whole numbers.
    pub fn rescaled(self, scale: f64) -> Self {
        Self::new((self.x + 0.5) * scale - 0.5, (self.y + 0.5) * scale - 0.5)
    }
}

// By hand: derives would ask the marker for the same traits.
impl<F> Clone for Point<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Point<F> {}
impl<F> PartialEq for Point<F> {
    fn eq(&self, other: &Self) -> bool {
        self.x == other.x && self.y == other.y
    }
}
/// `[x, y]`.
impl<F> Serialize for Point<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_array().serialize(serializer)
    }
}
impl<'de, F> Deserialize<'de> for Point<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <[f64; 2]>::deserialize(deserializer).map(|[x, y]| Self::new(x, y))
    }
}
impl<F> fmt::Debug for Point<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_a_picture_keeps_pixel_centres_in_place() {
        let corner = Point::<ImagePx>::new(0.0, 0.0).rescaled(0.5);
        assert_eq!(corner.to_array(), [-0.25, -0.25]);
        let back = corner.rescaled(2.0);
        assert_eq!(back.to_array(), [0.0, 0.0]);
    }
}
