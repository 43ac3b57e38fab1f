//! Pixels: shrinking by whole factors and sampling between pixels.

use image::RgbImage;

/// The picture averaged over `factor` x `factor` blocks; the remainder at the right and lower edge is dropped.
///
/// A point p of the picture is at `p.rescaled(1 / factor)` of the result.
pub fn shrink(picture: &RgbImage, factor: u32) -> RgbImage {
    if factor <= 1 {
        return picture.clone();
    }
    let k = factor as usize;
    let (width, height) = (picture.width() as usize / k, picture.height() as usize / k);
    let stride = picture.width() as usize * 3;
    let source = picture.as_raw();
    let mut out = vec![0u8; width * height * 3];
    let round = (k * k / 2) as u32;
    let area = (k * k) as u32;
    let mut sums = vec![0u32; width * 3];
    for (y, row) in out.chunks_exact_mut(width * 3).enumerate() {
        sums.fill(round);
        for line in source[y * k * stride..].chunks_exact(stride).take(k) {
            for (block, sum) in line.chunks_exact(3 * k).zip(sums.chunks_exact_mut(3)) {
                for pixel in block.chunks_exact(3) {
                    sum[0] += u32::from(pixel[0]);
                    sum[1] += u32::from(pixel[1]);
                    sum[2] += u32::from(pixel[2]);
                }
            }
        }
        for (value, sum) in row.iter_mut().zip(&sums) {
            *value = (sum / area) as u8;
        }
    }
    RgbImage::from_raw(width as u32, height as u32, out).unwrap_or_default()
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
    Some([0, 1, 2].map(|c| {
        let a = f32::from(upper[c]) + fx * (f32::from(upper[c + 3]) - f32::from(upper[c]));
        let b = f32::from(lower[c]) + fx * (f32::from(lower[c + 3]) - f32::from(lower[c]));
        a + fy * (b - a)
    }))
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
    fn a_ramp_is_sampled_exactly_between_pixels() {
        let picture = RgbImage::from_fn(8, 8, |x, y| Rgb([(x * 10 + y * 3) as u8; 3]));
        let value = sample(&picture, 2.25, 4.5, [1.0, 0.0, 0.0]).unwrap();
        assert!((value - (22.5 + 13.5)).abs() < 1e-4);
        assert!(sample(&picture, 7.5, 1.0, [1.0, 0.0, 0.0]).is_none());
        assert!(sample(&picture, f64::NAN, 1.0, [1.0, 0.0, 0.0]).is_none());
    }
}
