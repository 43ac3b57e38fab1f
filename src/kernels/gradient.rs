//! Edge points of a colour raster: where the colour changes fastest along its own gradient.
//!
//! The gradient at a pixel is that of the channel in which it is strongest, so that a red disc on a green board of
//! the same brightness has an edge too.

use super::planes::{Planes, flat};

/// One edge point: a pixel, the unit gradient there (towards brighter in its channel), its strength a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Column, px.
    pub x: f32,
    /// Row, px.
    pub y: f32,
    /// Gradient direction, unit vector.
    pub nx: f32,
    /// Gradient direction, unit vector.
    pub ny: f32,
    /// Gradient, grey levels a pixel.
    pub strength: f32,
}

/// Gradient field of the strongest channel, row-major: components and squared magnitude; zero on the border.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// d/dx, grey levels a pixel.
    pub dx: Vec<f32>,
    /// d/dy, grey levels a pixel.
    pub dy: Vec<f32>,
    /// dx² + dy².
    pub squared: Vec<f32>,
    /// Width, px.
    pub columns: usize,
    /// Height, px.
    pub rows: usize,
}

impl Gradient {
    /// Central differences of `planes`.
    pub fn of(planes: &Planes) -> Self {
        let (rows, columns) = planes.shape();
        let mut out = Self {
            dx: vec![0.0; rows * columns],
            dy: vec![0.0; rows * columns],
            squared: vec![0.0; rows * columns],
            columns,
            rows,
        };
        if rows < 3 || columns < 3 {
            return out;
        }
        for plane in &planes.rgb {
            let data = flat(plane);
            for y in 1..rows - 1 {
                let start = y * columns;
                let above = &data[start - columns..start];
                let here = &data[start..start + columns];
                let below = &data[start + columns..start + 2 * columns];
                let dx = &mut out.dx[start..start + columns];
                let dy = &mut out.dy[start..start + columns];
                let squared = &mut out.squared[start..start + columns];
                for x in 1..columns - 1 {
                    let gx = 0.5 * (here[x + 1] - here[x - 1]);
                    let gy = 0.5 * (below[x] - above[x]);
                    let g = gx * gx + gy * gy;
                    let stronger = g > squared[x];
                    dx[x] = if stronger { gx } else { dx[x] };
                    dy[x] = if stronger { gy } else { dy[x] };
                    squared[x] = if stronger { g } else { squared[x] };
                }
            }
        }
        out
    }

    /// Median strength over the disc of `radius` px about `(cx, cy)`, from every seventh pixel; 0 where there is none.
    pub fn median(&self, cx: f32, cy: f32, radius: f32) -> f32 {
        let mut sample = Vec::new();
        for y in (1..self.rows.saturating_sub(1)).step_by(3) {
            let (from, to) = self.chord(y, cx, cy, radius);
            for x in (from..to).step_by(7) {
                sample.push(self.squared[y * self.columns + x]);
            }
        }
        if sample.is_empty() {
            return 0.0;
        }
        let middle = sample.len() / 2;
        sample.select_nth_unstable_by(middle, f32::total_cmp).1.sqrt()
    }

    /// Pixels stronger than `threshold` within `radius` px of `(cx, cy)` that are maxima along their gradient, in
    /// raster order.
    pub fn edges(&self, threshold: f32, cx: f32, cy: f32, radius: f32) -> Vec<Edge> {
        let mut out = Vec::new();
        let floor = threshold * threshold;
        for y in 1..self.rows.saturating_sub(1) {
            let (from, to) = self.chord(y, cx, cy, radius);
            for x in from..to {
                let at = y * self.columns + x;
                let squared = self.squared[at];
                if squared < floor {
                    continue;
                }
                let (dx, dy) = (self.dx[at], self.dy[at]);
                // The neighbours across the edge, by the octant of the gradient.
                let (ax, ay) = (dx.abs(), dy.abs());
                let step = if ax > 2.414 * ay {
                    1
                } else if ay > 2.414 * ax {
                    self.columns
                } else if (dx > 0.0) == (dy > 0.0) {
                    self.columns + 1
                } else {
                    self.columns - 1
                };
                let (before, after) = (self.squared[at - step], self.squared[at + step]);
                if squared < before || squared <= after {
                    continue;
                }
                let strength = squared.sqrt();
                // Sub-pixel: vertex of the parabola through the three strengths.
                let (b, a) = (before.sqrt(), after.sqrt());
                let curve = b - 2.0 * strength + a;
                let shift = if curve < -1e-6 { (0.5 * (b - a) / curve).clamp(-0.5, 0.5) } else { 0.0 };
                let (sx, sy) = match step {
                    1 => (1.0, 0.0),
                    s if s == self.columns => (0.0, 1.0),
                    s if s > self.columns => (1.0, 1.0),
                    _ => (-1.0, 1.0),
                };
                out.push(Edge {
                    x: x as f32 + shift * sx,
                    y: y as f32 + shift * sy,
                    nx: dx / strength,
                    ny: dy / strength,
                    strength,
                });
            }
        }
        out
    }

    fn chord(&self, y: usize, cx: f32, cy: f32, radius: f32) -> (usize, usize) {
        let dy = y as f32 - cy;
        let half = radius * radius - dy * dy;
        if half <= 0.0 {
            return (1, 1);
        }
        let half = half.sqrt();
        let from = (cx - half).ceil().max(1.0) as usize;
        let to = ((cx + half).floor() + 1.0).clamp(1.0, self.columns as f32 - 1.0) as usize;
        (from.min(to), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step_at(column: f32) -> Planes {
        let mut planes = Planes::new(9, 20);
        for y in 0..9 {
            for x in 0..20 {
                // A pixel-integrated step from 20 to 120 in green alone.
                let share = (x as f32 + 0.5 - column).clamp(0.0, 1.0);
                planes.rgb[1][[y, x]] = 20.0 + 100.0 * share;
                planes.rgb[0][[y, x]] = 50.0;
            }
        }
        planes
    }

    #[test]
    fn a_step_in_one_channel_alone_is_found_where_it_is() {
        for column in [9.5f32, 9.8, 10.2] {
            let mut planes = step_at(column);
            planes.smooth();
            let edges = Gradient::of(&planes).edges(5.0, 10.0, 4.0, 30.0);
            assert_eq!(edges.len(), 7, "one edge a row");
            for e in edges {
                assert!((e.x - column).abs() < 0.1, "{} for {column}", e.x);
                assert!((e.nx - 1.0).abs() < 1e-3 && e.ny.abs() < 1e-3);
            }
        }
    }

    #[test]
    fn nothing_is_found_outside_the_circle_asked_for() {
        let planes = step_at(10.0);
        assert!(Gradient::of(&planes).edges(5.0, 3.0, 4.0, 3.0).is_empty());
    }
}
