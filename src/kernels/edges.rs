//! Colour edges with sub-pixel position and direction.
//!
//! Of the three channels the one with the strongest Sobel gradient speaks for a pixel; a pixel is an edge where that
//! gradient is the largest along its own direction. The strongest edges of every tile are kept, so that a striped
//! cloth beside the board does not use up the budget of a faint line on it.

use image::RgbImage;

/// One edge point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Position, px.
    pub x: f32,
    /// Position, px.
    pub y: f32,
    /// Unit gradient, towards the brighter side.
    pub nx: f32,
    /// Unit gradient, towards the brighter side.
    pub ny: f32,
    /// Gradient magnitude, or its mean along the edge (see [`Rank`]), grey levels a pixel.
    pub strength: f32,
}

/// Side of a tile, px.
const TILE: usize = 32;

/// By what the edges of a tile are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// Gradient magnitude: the shortest edge is as good as a long one.
    Strength,
    /// Mean over [`ALONG`] px of the gradient across the edge: grain has no neighbours of its direction.
    Continuity,
}

/// Length over which continuity is looked at, px either way.
const ALONG: isize = 3;

/// The best edges by `rank` of every tile of 32 x 32 px, at least `threshold` grey levels a pixel strong, at most
/// `per_tile` of them, in reading order of the tiles.
pub fn edges(picture: &RgbImage, threshold: f32, per_tile: usize, rank: Rank) -> Vec<Edge> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if width < 8 || height < 8 {
        return Vec::new();
    }
    let gradient = gradients(picture);
    let tiles_x = width.div_ceil(TILE);
    let border = match rank {
        Rank::Strength => 2,
        Rank::Continuity => ALONG as usize,
    };
    let mut tiles: Vec<Vec<Edge>> = vec![Vec::new(); tiles_x * height.div_ceil(TILE)];
    // Sobel weights sum to 8 for a ramp of one grey level a pixel.
    let floor = (threshold * 8.0).powi(2);
    for y in border..height - border {
        for x in border..width - border {
            let (gx, gy, square) = gradient.at(x, y, width);
            if square < floor {
                continue;
            }
            if let Some(mut edge) = peak(&gradient, x, y, width, gx, gy, square) {
                if rank == Rank::Continuity {
                    edge.strength = along(&gradient, x, y, width, &edge);
                }
                tiles[(y / TILE) * tiles_x + x / TILE].push(edge);
            }
        }
    }
    let mut out = Vec::new();
    for tile in &mut tiles {
        tile.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        out.extend_from_slice(&tile[..tile.len().min(per_tile)]);
    }
    out
}

struct Gradients {
    /// (d/dx, d/dy) in Sobel units, two values a pixel.
    field: Vec<i16>,
}

impl Gradients {
    #[inline]
    fn at(&self, x: usize, y: usize, width: usize) -> (f32, f32, f32) {
        let i = (y * width + x) * 2;
        let (gx, gy) = (f32::from(self.field[i]), f32::from(self.field[i + 1]));
        (gx, gy, gx * gx + gy * gy)
    }
}

fn gradients(picture: &RgbImage) -> Gradients {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let raw = picture.as_raw();
    let stride = width * 3;
    let mut field = vec![0i16; width * height * 2];
    // Sobel's filters are sums of three rows, then differences along them; and the other way round.
    let mut sums = vec![0i16; stride];
    let mut falls = vec![0i16; stride];
    let mut slopes = vec![(0i16, 0i16, 0i32); stride];
    for y in 1..height - 1 {
        let rows = &raw[(y - 1) * stride..(y + 2) * stride];
        let (above, rest) = rows.split_at(stride);
        let (here, below) = rest.split_at(stride);
        for ((((sum, fall), a), b), c) in sums.iter_mut().zip(&mut falls).zip(above).zip(here).zip(below) {
            let (a, b, c) = (i16::from(*a), i16::from(*b), i16::from(*c));
            *sum = a + 2 * b + c;
            *fall = c - a;
        }
        let across = sums.iter().zip(&sums[6..]);
        let down = falls.iter().zip(&falls[3..]).zip(&falls[6..]);
        for (((left, right), ((before, at), after)), slope) in across.zip(down).zip(&mut slopes[3..]) {
            let (gx, gy) = (right - left, before + 2 * at + after);
            let (wide_x, wide_y) = (i32::from(gx), i32::from(gy));
            *slope = (gx, gy, wide_x * wide_x + wide_y * wide_y);
        }
        let row = &mut field[(y * width + 1) * 2..(y * width + width - 1) * 2];
        for (out, channels) in row.chunks_exact_mut(2).zip(slopes[3..].chunks_exact(3)) {
            // Of equals the first.
            let mut best = channels[0];
            for channel in &channels[1..] {
                best = if channel.2 > best.2 { *channel } else { best };
            }
            (out[0], out[1]) = (best.0, best.1);
        }
    }
    Gradients { field }
}

/// The edge at pixel (x, y), if its gradient is the largest across the edge; position by a parabola.
#[inline]
fn peak(g: &Gradients, x: usize, y: usize, width: usize, gx: f32, gy: f32, square: f32) -> Option<Edge> {
    let strength = square.sqrt();
    let (nx, ny) = (gx / strength, gy / strength);
    // Neighbours across the edge: interpolated between the two pixels that the direction passes.
    let across = |sign: f32| {
        let (ax, ay) = (nx.abs(), ny.abs());
        let (sx, sy) = ((nx * sign).signum() as isize, (ny * sign).signum() as isize);
        let at = |dx: isize, dy: isize| g.at((x as isize + dx) as usize, (y as isize + dy) as usize, width).2.sqrt();
        if ax > ay {
            let t = ay / ax;
            ((1.0 - t) * at(sx, 0) + t * at(sx, sy), (1.0 + t * t).sqrt())
        } else {
            let t = ax / ay;
            ((1.0 - t) * at(0, sy) + t * at(sx, sy), (1.0 + t * t).sqrt())
        }
    };
    let ((before, step), (after, _)) = (across(-1.0), across(1.0));
    if strength < before || strength <= after {
        return None;
    }
    let bend = before - 2.0 * strength + after;
    let shift = if bend < 0.0 { (0.5 * (before - after) / bend * step).clamp(-0.7, 0.7) } else { 0.0 };
    Some(Edge { x: x as f32 + shift * nx, y: y as f32 + shift * ny, nx, ny, strength: strength / 8.0 })
}

/// Mean gradient across `edge` over the pixels along it, grey levels a pixel.
fn along(g: &Gradients, x: usize, y: usize, width: usize, edge: &Edge) -> f32 {
    let sum: f32 = (-ALONG..=ALONG)
        .map(|step| {
            let (dx, dy) = ((-edge.ny * step as f32).round() as isize, (edge.nx * step as f32).round() as isize);
            let (gx, gy, _) = g.at((x as isize + dx) as usize, (y as isize + dy) as usize, width);
            gx * edge.nx + gy * edge.ny
        })
        .sum();
    sum / (2 * ALONG + 1) as f32 / 8.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn a_vertical_step_is_found_between_its_pixels() {
        let picture = RgbImage::from_fn(40, 40, |x, _| Rgb([if x < 20 { 40 } else { 140 }; 3]));
        let found = edges(&picture, 5.0, 100, Rank::Strength);
        assert!(!found.is_empty());
        for edge in found {
            assert!((edge.x - 19.5).abs() < 0.51, "{edge:?}");
            assert!(edge.nx > 0.99);
        }
    }

    #[test]
    fn gradients_are_those_of_the_plain_sobel_filter() {
        let picture =
            RgbImage::from_fn(17, 9, |x, y| Rgb([(x * 37 + y * 91) as u8, (x * y * 13) as u8, (y * 29) as u8]));
        let gradients = gradients(&picture);
        for y in 1..8 {
            for x in 1..16 {
                let at = |dx: i32, dy: i32, c: usize| {
                    i32::from(picture.get_pixel((x as i32 + dx) as u32, (y as i32 + dy) as u32).0[c])
                };
                let plain = |c: usize| {
                    let side = |d: i32| at(d, -1, c) + 2 * at(d, 0, c) + at(d, 1, c);
                    let level = |d: i32| at(-1, d, c) + 2 * at(0, d, c) + at(1, d, c);
                    (side(1) - side(-1), level(1) - level(-1))
                };
                let square = |(gx, gy): (i32, i32)| gx * gx + gy * gy;
                let strongest = (0..3).map(plain).map(square).max().unwrap();
                assert_eq!(gradients.at(x, y, 17).2 as i32, strongest, "({x}, {y})");
            }
        }
    }

    #[test]
    fn a_faint_line_in_grain_is_ranked_by_its_continuity() {
        let mut state = 7u32;
        let picture = RgbImage::from_fn(96, 96, |x, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let grain = (state >> 24) as f32 / 255.0 * 60.0;
            Rgb([(if x < 48 { 80.0 } else { 98.0 } + grain) as u8; 3])
        });
        let on_the_line = |rank| {
            let found = edges(&picture, 2.5, 10, rank);
            found.iter().filter(|e| (e.x - 47.5).abs() < 1.5 && e.nx > 0.9).count()
        };
        let (long, strong) = (on_the_line(Rank::Continuity), on_the_line(Rank::Strength));
        assert!(2 * long > 3 * strong, "{long} against {strong}");
    }

    #[test]
    fn an_edge_between_equally_bright_colours_is_seen() {
        let picture = RgbImage::from_fn(40, 40, |x, _| if x < 20 { Rgb([120, 40, 40]) } else { Rgb([40, 80, 120]) });
        assert!(!edges(&picture, 5.0, 100, Rank::Strength).is_empty());
    }
}
