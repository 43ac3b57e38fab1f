//! Pixels: shrinking by whole factors and sampling between pixels.

use image::RgbImage;
use rayon::prelude::*;

/// Largest side of a block that is averaged, px: sums down its columns fit 16 bits.
pub const MOST_BLOCK: usize = 128;

/// The picture averaged over `factor` x `factor` blocks ([`MOST_BLOCK`] at most); the remainder at the right and lower
/// edge is dropped.
///
/// A point p of the picture is at `p.rescaled(1 / factor)` of the result.
pub fn shrink(picture: &RgbImage, factor: u32) -> RgbImage {
    if factor <= 1 {
        return picture.clone();
    }
    let (width, height) = (picture.width() / factor, picture.height() / factor);
    let out = averaged(
        picture.as_raw(),
        picture.width() as usize,
        [0, 0],
        [width as usize, height as usize],
        factor as usize,
    );
    RgbImage::from_raw(width, height, out).unwrap_or_default()
}

/// Means, rounded, of `columns` x `rows` blocks of `block` x `block` pixels (at most [`MOST_BLOCK`]) of an interleaved RGB raster
/// that is `width` pixels wide, from the pixel (`left`, `top`) on.
pub fn averaged(
    bytes: &[u8],
    width: usize,
    [left, top]: [usize; 2],
    [columns, rows]: [usize; 2],
    block: usize,
) -> Vec<u8> {
    let mut out = vec![0u8; columns * rows * 3];
    if out.is_empty() {
        return out;
    }
    let round = (block * block / 2) as u32;
    // Division by the area as a multiplication, exact for all sums of such blocks.
    let share = (1u64 << 40) / (block * block) as u64 + 1;
    // Down the columns first: nearly all bytes are read there, and whole rows are added at once.
    out.par_chunks_exact_mut(columns * 3).enumerate().for_each_init(
        || vec![0u16; columns * block * 3],
        |sums, (row, out)| {
            sums.fill(0);
            for y in 0..block {
                let start = ((top + row * block + y) * width + left) * 3;
                for (sum, value) in sums.iter_mut().zip(&bytes[start..]) {
                    *sum += u16::from(*value);
                }
            }
            for (pixel, sums) in out.chunks_exact_mut(3).zip(sums.chunks_exact(3 * block)) {
                let mut total = [round; 3];
                for column in sums.chunks_exact(3) {
                    (0..3).for_each(|c| total[c] += u32::from(column[c]));
                }
                (0..3).for_each(|c| pixel[c] = ((u64::from(total[c]) * share) >> 40) as u8);
            }
        },
    );
    out
}

/// Bilinear sample of all three channels at (x, y) px, 0 to 255. None outside the picture.
#[inline]
pub fn sample_rgb(picture: &RgbImage, x: f64, y: f64) -> Option<[f32; 3]> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if !(x >= 0.0 && y >= 0.0 && x < (width as f64) - 1.0 && y < (height as f64) - 1.0) {
        return None;
    }
    let (left, top) = (x as usize, y as usize);
    let (fx, fy) = ((x - left as f64) as f32, (y - top as f64) as f32);
    let raw = picture.as_raw();
    let at = (top * width + left) * 3;
    let (upper, lower) = (&raw[at..at + 6], &raw[at + width * 3..at + width * 3 + 6]);
    // Written out: mapping over an array is not inlined here and takes twice as long.
    let at = |c: usize| {
        let a = f32::from(upper[c]) + fx * (f32::from(upper[c + 3]) - f32::from(upper[c]));
        let b = f32::from(lower[c]) + fx * (f32::from(lower[c + 3]) - f32::from(lower[c]));
        a + fy * (b - a)
    };
    Some([at(0), at(1), at(2)])
}

/// Bilinear sample of the channels combined with `weights`. None outside the picture.
#[inline]
pub fn sample(picture: &RgbImage, x: f64, y: f64, weights: [f32; 3]) -> Option<f32> {
    sample_rgb(picture, x, y).map(|v| v[0] * weights[0] + v[1] * weights[1] + v[2] * weights[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn shrinking_averages_whole_blocks_and_drops_the_remainder() {
        let picture = RgbImage::from_fn(5, 4, |x, y| Rgb([(x * 10 + y) as u8, 7, 0]));
        let half = shrink(&picture, 2);
        assert_eq!((half.width(), half.height()), (2, 2));
        assert_eq!(half.get_pixel(1, 1).0, [((22 + 23 + 32 + 33 + 2) / 4) as u8, 7, 0]);
    }

    #[test]
    fn every_factor_gives_the_rounded_mean_of_its_blocks() {
        for factor in [2u32, 3, 5, 7, 16, 128] {
            let picture =
                RgbImage::from_fn(2 * factor + 1, factor, |x, y| Rgb([(x * 31 + y * 17) as u8, 255, (x * y) as u8]));
            let small = shrink(&picture, factor);
            for (x, pixel) in small.rows().next().unwrap().enumerate() {
                for channel in 0..3 {
                    let block = (0..factor * factor)
                        .map(|i| picture.get_pixel(x as u32 * factor + i % factor, i / factor).0[channel]);
                    let sum: u32 = block.map(u32::from).sum();
                    assert_eq!(u32::from(pixel.0[channel]), (sum + factor * factor / 2) / (factor * factor));
                }
            }
        }
    }

    #[test]
    fn a_ramp_is_sampled_exactly_between_pixels() {
        let picture = RgbImage::from_fn(8, 8, |x, y| Rgb([(x * 10 + y * 3) as u8; 3]));
        let value = sample(&picture, 2.25, 4.5, [1.0, 0.0, 0.0]).unwrap();
        assert!((value - (22.5 + 13.5)).abs() < 1e-4);
        assert!(sample(&picture, 7.5, 1.0, [1.0, 0.0, 0.0]).is_none());
        assert!(sample(&picture, f64::NAN, 1.0, [1.0, 0.0, 0.0]).is_none());
    }
}
