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

/// Gradient of the strongest channel at every pixel of some planes; zero on the border.
///
/// It is worked out row by row where it is asked for: a field of the whole raster would be written once and read once,
/// and is larger than the processor's caches.
#[derive(Clone, Copy, Debug)]
pub struct Gradient<'a> {
    planes: [&'a [f32]; 3],
    /// Width, px.
    pub columns: usize,
    /// Height, px.
    pub rows: usize,
}

/// The gradient along one row: components and squared magnitude.
#[derive(Clone, Debug)]
struct Row {
    dx: Vec<f32>,
    dy: Vec<f32>,
    squared: Vec<f32>,
}

impl Row {
    fn new(columns: usize) -> Self {
        Self { dx: vec![0.0; columns], dy: vec![0.0; columns], squared: vec![0.0; columns] }
    }
}

impl<'a> Gradient<'a> {
    /// Central differences of `planes`.
    pub fn of(planes: &'a Planes) -> Self {
        let (rows, columns) = planes.shape();
        Self { planes: planes.rgb.each_ref().map(flat), columns, rows }
    }

    /// Works out columns `from..to` of row `y`; those of the border stay as they are.
    fn fill(&self, out: &mut Row, y: usize, from: usize, to: usize) {
        let (from, to) = (from.max(1), to.min(self.columns - 1));
        if y == 0 || y + 1 >= self.rows || from >= to {
            out.squared.fill(0.0);
            return;
        }
        let start = y * self.columns;
        let (dx, dy) = (&mut out.dx[from..to], &mut out.dy[from..to]);
        let squared = &mut out.squared[from..to];
        let n = to - from;
        for (i, data) in self.planes.iter().enumerate() {
            let above = &data[start - self.columns + from..][..n];
            let below = &data[start + self.columns + from..][..n];
            let (left, right) = (&data[start + from - 1..][..n], &data[start + from + 1..][..n]);
            for x in 0..n {
                let gx = 0.5 * (right[x] - left[x]);
                let gy = 0.5 * (below[x] - above[x]);
                let g = gx * gx + gy * gy;
                let stronger = i == 0 || g > squared[x];
                dx[x] = if stronger { gx } else { dx[x] };
                dy[x] = if stronger { gy } else { dy[x] };
                squared[x] = if stronger { g } else { squared[x] };
            }
        }
    }

    /// Median strength over the disc of `radius` px about `(cx, cy)`, from every seventh pixel; 0 where there is none.
    pub fn median(&self, cx: f32, cy: f32, radius: f32) -> f32 {
        let mut sample = Vec::new();
        for y in (1..self.rows.saturating_sub(1)).step_by(3) {
            let (from, to) = self.chord(y, cx, cy, radius);
            for x in (from..to).step_by(7) {
                let at = y * self.columns + x;
                let squared = self.planes.iter().map(|data| {
                    let gx = 0.5 * (data[at + 1] - data[at - 1]);
                    let gy = 0.5 * (data[at + self.columns] - data[at - self.columns]);
                    gx * gx + gy * gy
                });
                sample.push(squared.fold(0.0, f32::max));
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
        if self.rows < 3 || self.columns < 3 {
            return out;
        }
        let floor = threshold * threshold;
        // Three rows at a time; of each, what its own pixels and those of the rows beside it ask for.
        let mut ring = [0; 3].map(|_| Row::new(self.columns));
        let asked = |y: usize| {
            let chords = [y.max(1) - 1, y, y + 1].map(|y| self.chord(y, cx, cy, radius));
            let chords = chords.iter().filter(|(from, to)| from < to);
            chords.fold((self.columns, 0), |(from, to), c| (from.min(c.0 - 1), to.max(c.1 + 1)))
        };
        for y in 0..self.rows {
            let (from, to) = asked(y);
            self.fill(&mut ring[y % 3], y, from, to);
            if y >= 2 {
                let (from, to) = self.chord(y - 1, cx, cy, radius);
                let [above, here, below] = [0, 1, 2].map(|i| &ring[(y - 2 + i) % 3]);
                maxima(above, here, below, y - 1, from..to, floor, &mut out);
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

/// Adds the maxima along their gradient among the pixels `columns` of row `y`.
fn maxima(
    above: &Row,
    here: &Row,
    below: &Row,
    y: usize,
    columns: std::ops::Range<usize>,
    floor: f32,
    out: &mut Vec<Edge>,
) {
    for x in columns {
        let squared = here.squared[x];
        if squared < floor {
            continue;
        }
        let (dx, dy) = (here.dx[x], here.dy[x]);
        // The neighbours across the edge, by the octant of the gradient.
        let (ax, ay) = (dx.abs(), dy.abs());
        let (before, after, sx, sy) = if ax > 2.414 * ay {
            (here.squared[x - 1], here.squared[x + 1], 1.0, 0.0)
        } else if ay > 2.414 * ax {
            (above.squared[x], below.squared[x], 0.0, 1.0)
        } else if (dx > 0.0) == (dy > 0.0) {
            (above.squared[x - 1], below.squared[x + 1], 1.0, 1.0)
        } else {
            (above.squared[x + 1], below.squared[x - 1], -1.0, 1.0)
        };
        if squared < before || squared <= after {
            continue;
        }
        let strength = squared.sqrt();
        // Sub-pixel: vertex of the parabola through the three strengths.
        let (b, a) = (before.sqrt(), after.sqrt());
        let curve = b - 2.0 * strength + a;
        let shift = if curve < -1e-6 { (0.5 * (b - a) / curve).clamp(-0.5, 0.5) } else { 0.0 };
        out.push(Edge {
            x: x as f32 + shift * sx,
            y: y as f32 + shift * sy,
            nx: dx / strength,
            ny: dy / strength,
            strength,
        });
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
