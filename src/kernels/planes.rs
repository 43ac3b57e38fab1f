//! Colour planes: an interleaved 8-bit picture to three `f32` planes that can be smoothed and sampled fast.

use ndarray::Array2;

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
        let inner = row[1..columns - 1].iter_mut();
        for ((out, left), (here, right)) in inner.zip(&before).zip(before[1..].iter().zip(&before[2..])) {
            *out = 0.25 * (left + right) + 0.5 * here;
        }
        row[0] = 0.75 * before[0] + 0.25 * before[1];
        row[columns - 1] = 0.75 * before[columns - 1] + 0.25 * before[columns - 2];
    }
    // Downwards with a copy of the row above as it was.
    before.copy_from_slice(&data[..columns]);
    for y in 0..rows - 1 {
        let (upper, lower) = data.split_at_mut((y + 1) * columns);
        let here = &mut upper[y * columns..];
        for ((here, above), below) in here.iter_mut().zip(&mut before).zip(&lower[..columns]) {
            let value = *here;
            *here = 0.25 * (*above + below) + 0.5 * value;
            *above = value;
        }
    }
    for (here, above) in data[(rows - 1) * columns..].iter_mut().zip(&before) {
        *here = 0.25 * above + 0.75 * *here;
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

/// Steps of [`Raster::sample_line`] within a pixel.
pub const FIXED_ONE: i32 = 1 << FIXED_BITS;
const FIXED_BITS: i32 = 12;

impl Raster<'_> {
    /// True where a bilinear sample at `(x, y)` has all four pixels.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        x >= 0.0 && y >= 0.0 && x < self.columns as f32 - 2.0 && y < self.rows as f32 - 2.0
    }

    /// Bilinear samples at `start`, `start + step`, ... into the three channels, positions in [`FIXED_ONE`]ths of a
    /// pixel. Both ends must lie within the raster ([`Raster::contains`]); what does not becomes black.
    pub fn sample_line(&self, start: [i32; 2], step: [i32; 2], [red, green, blue]: [&mut [f32]; 3]) {
        let [mut x, mut y] = start;
        let unit = 1.0 / (FIXED_ONE as f32 * FIXED_ONE as f32);
        let stride = self.columns * 3;
        for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
            let at = (y >> FIXED_BITS) as usize * stride + (x >> FIXED_BITS) as usize * 3;
            let (fx, fy) = (x & (FIXED_ONE - 1), y & (FIXED_ONE - 1));
            if let Some([a, b, c, d, e, f]) = self.bytes.get(at..).and_then(|p| p.first_chunk::<6>())
                && let Some([g, h, i, j, k, l]) = self.bytes.get(at + stride..).and_then(|p| p.first_chunk::<6>())
            {
                let mix = |p: &u8, q: &u8, r: &u8, s: &u8| {
                    let upper = (*p as i32) * FIXED_ONE + (*q as i32 - *p as i32) * fx;
                    let lower = (*r as i32) * FIXED_ONE + (*s as i32 - *r as i32) * fx;
                    // 255 × 2^12 × 2^12 is too much for 32 bits by half a bit.
                    ((upper >> 1) * FIXED_ONE + ((lower - upper) >> 1) * fy) as f32 * (2.0 * unit)
                };
                *red = mix(a, d, g, j);
                *green = mix(b, e, h, k);
                *blue = mix(c, f, i, l);
            }
            x += step[0];
            y += step[1];
        }
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
        let mut bytes = vec![0u8; columns * rows * 3];
        let mut sums = vec![0u32; columns * 3];
        let area = (block * block) as u32;
        for row in 0..rows {
            sums.fill(0);
            for y in 0..block {
                let start = ((top + row * block + y) * source.columns + left) * 3;
                let line = &source.bytes[start..start + columns * block * 3];
                for (sum, pixels) in sums.chunks_exact_mut(3).zip(line.chunks_exact(block * 3)) {
                    for pixel in pixels.chunks_exact(3) {
                        for c in 0..3 {
                            sum[c] += pixel[c] as u32;
                        }
                    }
                }
            }
            for (out, sum) in bytes[row * columns * 3..].iter_mut().zip(&sums) {
                *out = ((sum + area / 2) / area) as u8;
            }
        }
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

    fn noise(rows: usize, columns: usize) -> Vec<u8> {
        (0..rows * columns * 3).map(|i| ((i * 7919 + i / 13 * 104_729) % 256) as u8).collect()
    }

    #[test]
    fn a_sampled_line_is_what_single_samples_give() {
        let bytes = noise(40, 50);
        let raster = Raster { bytes: &bytes, columns: 50, rows: 40 };
        let (mut r, mut g, mut b) = ([0.0f32; 20], [0.0f32; 20], [0.0f32; 20]);
        let (start, step) = ([5 * FIXED_ONE + 1000, 3 * FIXED_ONE + 77], [FIXED_ONE + 321, FIXED_ONE / 2 + 5]);
        raster.sample_line(start, step, [&mut r, &mut g, &mut b]);
        for i in 0..20 {
            let x = (start[0] + i as i32 * step[0]) as f32 / FIXED_ONE as f32;
            let y = (start[1] + i as i32 * step[1]) as f32 / FIXED_ONE as f32;
            let single = raster.sample(x, y).unwrap();
            for (got, expected) in [r[i], g[i], b[i]].into_iter().zip(single) {
                assert!((got - expected).abs() < 0.05, "{got} for {expected}");
            }
        }
    }

    #[test]
    fn smoothing_keeps_the_sum_inside_and_a_flat_plane_flat() {
        let mut planes = Planes::new(9, 9);
        planes.rgb[0].fill(7.0);
        planes.rgb[1][[4, 4]] = 16.0;
        planes.smooth();
        assert!(planes.rgb[0].iter().all(|v| (v - 7.0).abs() < 1e-5));
        assert_eq!(planes.rgb[1][[4, 4]], 4.0);
        assert_eq!(planes.rgb[1][[3, 4]], 2.0);
        assert_eq!(planes.rgb[1][[3, 3]], 1.0);
        assert!((planes.rgb[1].sum() - 16.0).abs() < 1e-5);
    }

    #[test]
    fn blocks_are_averaged_and_cut_ones_dropped() {
        let bytes = noise(11, 13);
        let reduced = Reduced::of(Raster { bytes: &bytes, columns: 13, rows: 11 }, [2, 1, 13, 11], 3);
        assert_eq!((reduced.columns, reduced.rows), (3, 3));
        let mut sum = 0u32;
        for y in 4..7 {
            for x in 5..8 {
                sum += bytes[(y * 13 + x) * 3 + 1] as u32;
            }
        }
        assert_eq!(reduced.bytes[(3 + 1) * 3 + 1] as u32, (sum + 4) / 9);
    }
}
