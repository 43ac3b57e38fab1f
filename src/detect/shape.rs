//! The shape that is looked for: an upright cylinder with rounded edges, and its outline as a camera sees it.
//!
//! All is said on the *middle plane*, parallel to the board at half the disc's height. A point `u` mm above that plane
//! appears there moved away from the camera's foot F by `u L`, with the lean `L = (C - F) / (H - h/2)` for a disc at
//! C. Seen along oblique rays the rounded cylinder is the sum (Minkowski) of a disc of radius r - e, a stick of length
//! h - 2e along L, and a ball of radius e; so its outline's distance from C in the direction n is
//! `(r - e) + (h/2 - e)|L·n| + e sqrt(1 + (L·n)²)`. It is symmetric about C: the middle of the outline is the middle
//! of the disc, whatever r, h and e.

use crate::geometry::{BoardMm, Camera, Point};

/// Measures of a disc, mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Radius of the widest circle.
    pub radius_mm: f64,
    /// Height.
    pub height_mm: f64,
    /// Radius of the rounding of its edges.
    pub edge_mm: f64,
}

/// How the camera looks on a plane above the board: enough to tell every disc's lean.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    /// The camera's foot point.
    pub foot: Point<BoardMm>,
    /// Height of the camera above the plane, mm.
    pub above_mm: f64,
}

impl Sight {
    /// The sight of `camera` on the plane `plane_mm` above the playing surface.
    pub fn of(camera: &Camera, plane_mm: f64) -> Self {
        Self { foot: camera.foot(), above_mm: (camera.height_mm() - plane_mm).max(1.0) }
    }

    /// Lean at `at`: how far a point moves outwards for each mm it stands above the plane.
    pub fn lean(&self, at: Point<BoardMm>) -> [f64; 2] {
        [(at.x - self.foot.x) / self.above_mm, (at.y - self.foot.y) / self.above_mm]
    }
}

/// A point of an outline relative to the disc's middle, with what it depends on.
#[derive(Clone, Copy, Debug)]
pub struct OutlinePoint {
    /// From the middle of the disc to the outline, mm on the middle plane.
    pub offset: [f64; 2],
    /// Change of the outline's distance along its normal by the radius (about 1).
    pub by_radius: f64,
    /// The same by the height.
    pub by_height: f64,
}

impl Shape {
    /// Where the outline of a disc with the given lean has the outward normal `n` (unit).
    pub fn outline(&self, sight: &Sight, lean: [f64; 2], n: [f64; 2]) -> OutlinePoint {
        let q = lean[0] * n[0] + lean[1] * n[1];
        let half = self.height_mm / 2.0 - self.edge_mm;
        let sign = if q < 0.0 { -1.0 } else { 1.0 };
        // The rim on the far side is nearer to the camera and looks larger, the near one smaller.
        let nearer = 1.0 + sign * half / sight.above_mm;
        let flat = (self.radius_mm - self.edge_mm) * nearer;
        let slant = (1.0 + q * q).sqrt();
        let ball = self.edge_mm / slant;
        OutlinePoint {
            offset: [0, 1].map(|i| flat * n[i] + sign * half * lean[i] + ball * (n[i] + q * lean[i])),
            by_radius: nearer,
            by_height: 0.5 * q.abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    const SHAPE: Shape = Shape { radius_mm: 16.0, height_mm: 10.0, edge_mm: 2.0 };

    #[test]
    fn straight_below_the_camera_the_outline_is_the_widest_circle() {
        let sight = Sight { foot: Point::new(0.0, 0.0), above_mm: 1000.0 };
        for k in 0..8 {
            let (s, c) = (k as f64 * 0.7).sin_cos();
            let p = SHAPE.outline(&sight, [0.0, 0.0], [c, s]);
            assert_relative_eq!(p.offset[0].hypot(p.offset[1]), 16.0, epsilon = 0.05);
        }
    }

    #[test]
    fn the_outline_encloses_every_point_of_the_rounded_cylinder_and_touches_some() {
        let sight = Sight { foot: Point::new(0.0, 0.0), above_mm: 1000.0 };
        let at = Point::<BoardMm>::new(700.0, 100.0);
        let lean = sight.lean(at);
        for k in 0..12 {
            let (ns, nc) = (k as f64 * 0.52 + 0.1).sin_cos();
            let p = SHAPE.outline(&sight, lean, [nc, ns]);
            let reach = p.offset[0] * nc + p.offset[1] * ns;
            let mut furthest = f64::MIN;
            // Points of the surface: the rounded edges, both of them, all round.
            for side in [-1.0, 1.0] {
                for turn in 0..360 {
                    let (s, c) = (turn as f64).to_radians().sin_cos();
                    for roll in 0..=90 {
                        let (up, out) = (roll as f64).to_radians().sin_cos();
                        let r = 14.0 + 2.0 * out;
                        let z = side * (3.0 + 2.0 * up);
                        let k = sight.above_mm / (sight.above_mm - z);
                        let x = (at.x + r * c) * k - at.x;
                        let y = (at.y + r * s) * k - at.y;
                        furthest = furthest.max(x * nc + y * ns);
                    }
                }
            }
            assert!((furthest - reach).abs() < 0.06, "{reach} for {furthest}");
        }
    }
}
