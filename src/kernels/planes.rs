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
    let mut before = vec![0.0; columns];
    for row in data.chunks_exact_mut(columns) {
        before.copy_from_slice(row);
        let (first, last) = (before[0], before[columns - 1]);
        for (value, near) in row[1..].iter_mut().zip(before.windows(3)) {
            *value = 0.25 * (near[0] + near[2]) + 0.5 * near[1];
        }
        row[0] = 0.25 * (first + before[1]) + 0.5 * first;
        row[columns - 1] = 0.25 * before[columns - 2] + 0.75 * last;
    }
    // Downwards with a copy of the unsmoothed row above.
    let mut above = data[..columns].to_vec();
    for y in 0..rows {
        let (upper, lower) = data.split_at_mut((y + 1) * columns);
        let here = &mut upper[y * columns..];
        let below = lower.get(..columns);
        for x in 0..columns {
            let value = here[x];
            let under = below.map_or(value, |b| b[x]);
            here[x] = 0.25 * (above[x] + under) + 0.5 * value;
            above[x] = value;
        }
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
