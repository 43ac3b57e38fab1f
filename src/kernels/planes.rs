//! Colour planes: an interleaved 8-bit picture to three `f32` planes that can be smoothed and sampled fast.

use ndarray::Array2;

use super::picture::averaged;

/// Red, green and blue of one raster, each `[row, column]`, 0 to 255 in the picture's own (sRGB) encoding.
#[derive(Clone, Debug)]
pub struct Planes {
    /// The three channels, of one shape.
    pub rgb: [Array2<f32>; 3],
}

impl Planes {
    /// Black planes of the given shape.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { rgb: std::array::from_fn(|_| Array2::zeros((rows, columns))) }
    }

    /// `(rows, columns)`.
    pub fn shape(&self) -> (usize, usize) {
        self.rgb[0].dim()
    }

    /// Bilinear sample at `(x, y)`; None within a pixel of the border or beyond it.
    #[inline]
    pub fn sample(&self, x: f32, y: f32) -> Option<[f32; 3]> {
        let (rows, columns) = self.shape();
        if !(x >= 0.0 && y >= 0.0 && x < columns as f32 - 1.0 && y < rows as f32 - 1.0) {
            return None;
        }
        let (column, row) = (x as u32, y as u32);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let at = row as usize * columns + column as usize;
        let mut out = [0.0; 3];
        for (value, plane) in out.iter_mut().zip(&self.rgb) {
            let plane = flat(plane);
            let (top, bottom) = (&plane[at..at + 2], &plane[at + columns..at + columns + 2]);
            let upper = top[0] + (top[1] - top[0]) * fx;
            let lower = bottom[0] + (bottom[1] - bottom[0]) * fx;
            *value = upper + (lower - upper) * fy;
        }
        Some(out)
    }

    /// Smooths each plane in place with the separable kernel (1 2 1)/4; borders repeat.
    pub fn smooth(&mut self) {
        for plane in &mut self.rgb {
            smooth_121(plane);
        }
    }
}

/// The plane as one row-major slice; planes made here are always contiguous.
#[inline]
pub fn flat(plane: &Array2<f32>) -> &[f32] {
    plane.as_slice().unwrap_or(&[])
}

fn smooth_121(plane: &mut Array2<f32>) {
    let (rows, columns) = plane.dim();
    if rows < 2 || columns < 2 {
        return;
    }
    let Some(data) = plane.as_slice_mut() else { return };
    // A row with its ends repeated.
    let mut row = vec![0.0; columns + 2];
    for values in data.chunks_exact_mut(columns) {
        row[1..=columns].copy_from_slice(values);
        (row[0], row[columns + 1]) = (values[0], values[columns - 1]);
        mix(values, &row, &row[1..], &row[2..]);
    }
    // Downwards with copies of the rows that are written over.
    let (mut above, mut here) = (data[..columns].to_vec(), data[..columns].to_vec());
    for y in 0..rows {
        let below = ((y + 1).min(rows - 1)) * columns;
        let (written, unwritten) = data.split_at_mut(below);
        if y + 1 < rows {
            mix(&mut written[y * columns..], &above, &here, unwritten);
            std::mem::swap(&mut above, &mut here);
            here.copy_from_slice(&unwritten[..columns]);
        } else {
            let last = here.clone();
            mix(unwritten, &above, &here, &last);
        }
    }
}

/// `out = (a + 2 b + c) / 4`, over the length of `out`.
fn mix(out: &mut [f32], a: &[f32], b: &[f32], c: &[f32]) {
    let n = out.len();
    let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
    for i in 0..n {
        out[i] = 0.25 * (a[i] + c[i]) + 0.5 * b[i];
    }
}

/// One interleaved 8-bit RGB raster.
#[derive(Clone, Copy, Debug)]
pub struct Raster<'a> {
    /// `rows * columns * 3` bytes.
    pub bytes: &'a [u8],
    /// Width in pixels.
    pub columns: usize,
    /// Height in pixels.
    pub rows: usize,
}

impl Raster<'_> {
    /// Bilinear sample at `(x, y)`, pixel centres at whole numbers; None outside.
    #[inline]
    pub fn sample(&self, x: f32, y: f32) -> Option<[f32; 3]> {
        // Truncation is the floor here, and far cheaper than floor() on the baseline instruction set.
        if !(x >= 0.0 && y >= 0.0 && x < self.columns as f32 - 1.0 && y < self.rows as f32 - 1.0) {
            return None;
        }
        let (column, row) = (x as u32, y as u32);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let at = (row as usize * self.columns + column as usize) * 3;
        let below = at + self.columns * 3;
        let (top, bottom) = (self.bytes.get(at..at + 6)?, self.bytes.get(below..below + 6)?);
        // Written out: mapping over an array is not inlined here and takes twice as long.
        let at = |c: usize| {
            let upper = top[c] as f32 + (top[c + 3] as f32 - top[c] as f32) * fx;
            let lower = bottom[c] as f32 + (bottom[c + 3] as f32 - bottom[c] as f32) * fx;
            upper + (lower - upper) * fy
        };
        Some([at(0), at(1), at(2)])
    }
}

/// A part of a raster averaged over blocks of `block` × `block` pixels.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Interleaved RGB bytes.
    pub bytes: Vec<u8>,
    /// Width in blocks.
    pub columns: usize,
    /// Height in blocks.
    pub rows: usize,
    /// Left edge of the part in the raster, px.
    pub left: usize,
    /// Top edge of the part in the raster, px.
    pub top: usize,
    /// Side of a block, px.
    pub block: usize,
}

impl Reduced {
    /// Averages the blocks of `source` whose top-left pixel lies in `left..right` × `top..bottom`; blocks cut by the
    /// raster's edge are dropped.
    pub fn of(source: Raster<'_>, [left, top, right, bottom]: [usize; 4], block: usize) -> Self {
        let columns = (right.min(source.columns).saturating_sub(left)) / block;
        let rows = (bottom.min(source.rows).saturating_sub(top)) / block;
        let bytes = averaged(source.bytes, source.columns, [left, top], [columns, rows], block);
        Self { bytes, columns, rows, left, top, block }
    }

    /// The averaged raster.
    pub fn raster(&self) -> Raster<'_> {
        Raster { bytes: &self.bytes, columns: self.columns, rows: self.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_is_the_binomial_window_with_repeated_borders() {
        let (rows, columns) = (5, 7);
        let value = |y: usize, x: usize| ((y * 31 + x * 17) % 23) as f32;
        let mut planes = Planes::new(rows, columns);
        planes.rgb.iter_mut().for_each(|plane| *plane = Array2::from_shape_fn((rows, columns), |(y, x)| value(y, x)));
        planes.smooth();
        for y in 0..rows {
            for x in 0..columns {
                let mut expected = 0.0;
                for (dy, wy) in [(-1, 0.25), (0, 0.5), (1, 0.25)] {
                    for (dx, wx) in [(-1, 0.25), (0, 0.5), (1, 0.25)] {
                        let clamped = |v: usize, d: i32, n: usize| (v as i32 + d).clamp(0, n as i32 - 1) as usize;
                        expected += wy * wx * value(clamped(y, dy, rows), clamped(x, dx, columns));
                    }
                }
                assert!((planes.rgb[1][[y, x]] - expected).abs() < 1e-5, "({x}, {y})");
            }
        }
    }
}
