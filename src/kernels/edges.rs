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
    /// Gradient magnitude, grey levels a pixel.
    pub strength: f32,
}

/// Side of a tile, px.
const TILE: usize = 32;

/// The strongest edges of every tile of 32 x 32 px, at least `threshold` grey levels a pixel strong, at most
/// `per_tile` of them, in reading order of the tiles.
pub fn edges(picture: &RgbImage, threshold: f32, per_tile: usize) -> Vec<Edge> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if width < 8 || height < 8 {
        return Vec::new();
    }
    let gradient = gradients(picture);
    let tiles_x = width.div_ceil(TILE);
    let mut tiles: Vec<Vec<Edge>> = vec![Vec::new(); tiles_x * height.div_ceil(TILE)];
    // Sobel weights sum to 8 for a ramp of one grey level a pixel.
    let floor = (threshold * 8.0).powi(2);
    for y in 2..height - 2 {
        for x in 2..width - 2 {
            let (gx, gy, square) = gradient.at(x, y, width);
            if square < floor {
                continue;
            }
            if let Some(edge) = peak(&gradient, x, y, width, gx, gy, square) {
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
    for y in 1..height - 1 {
        let (a, b, c) = (
            &raw[(y - 1) * stride..y * stride],
            &raw[y * stride..(y + 1) * stride],
            &raw[(y + 1) * stride..(y + 2) * stride],
        );
        let row = &mut field[y * width * 2..(y + 1) * width * 2];
        for x in 1..width - 1 {
            let (mut best, mut gx_best, mut gy_best) = (-1i32, 0i32, 0i32);
            for channel in 0..3 {
                let (l, m, r) = ((x - 1) * 3 + channel, x * 3 + channel, (x + 1) * 3 + channel);
                let at = |line: &[u8], i: usize| i32::from(line[i]);
                let gx = at(a, r) - at(a, l) + 2 * (at(b, r) - at(b, l)) + at(c, r) - at(c, l);
                let gy = at(c, l) - at(a, l) + 2 * (at(c, m) - at(a, m)) + at(c, r) - at(a, r);
                let square = gx * gx + gy * gy;
                if square > best {
                    (best, gx_best, gy_best) = (square, gx, gy);
                }
            }
            row[x * 2] = gx_best as i16;
            row[x * 2 + 1] = gy_best as i16;
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

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn a_vertical_step_is_found_between_its_pixels() {
        let picture = RgbImage::from_fn(40, 40, |x, _| Rgb([if x < 20 { 40 } else { 140 }; 3]));
        let found = edges(&picture, 5.0, 100);
        assert!(!found.is_empty());
        for edge in found {
            assert!((edge.x - 19.5).abs() < 0.51, "{edge:?}");
            assert!(edge.nx > 0.99);
        }
    }

    #[test]
    fn an_edge_between_equally_bright_colours_is_seen() {
        let picture = RgbImage::from_fn(40, 40, |x, _| if x < 20 { Rgb([120, 40, 40]) } else { Rgb([40, 80, 120]) });
        assert!(!edges(&picture, 5.0, 100).is_empty());
    }
}
