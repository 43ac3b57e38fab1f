//! Still frames to one picture with less noise.
//!
//! In: frames of a board at rest. Out: their mean, rounded to 8 bits. Noise of the sensor shrinks with the square root of
//! their number; frames in which anything moved never come here, so that a mean is as good as a median and cheaper.

use image::RgbImage;

/// A sum of frames.
#[derive(Clone, Debug, Default)]
pub struct Fuse {
    size_px: (u32, u32),
    sums: Vec<u16>,
    frames: u32,
}

/// Sums of 8-bit values in 16 bits hold this many frames.
pub const MOST_FRAMES: u32 = 257;

impl Fuse {
    /// How many frames there are in the sum.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        self.frames = 0;
    }

    /// Adds a frame. One of another size starts anew; beyond [`MOST_FRAMES`] nothing changes.
    pub fn add(&mut self, picture: &RgbImage) {
        if self.size_px != picture.dimensions() {
            self.size_px = picture.dimensions();
            self.frames = 0;
        }
        if self.frames == 0 {
            self.sums.clear();
            self.sums.extend(picture.as_raw().iter().map(|&byte| u16::from(byte)));
            self.frames = 1;
        } else if self.frames < MOST_FRAMES {
            self.sums.iter_mut().zip(picture.as_raw()).for_each(|(sum, &byte)| *sum += u16::from(byte));
            self.frames += 1;
        }
    }

    /// The mean of the frames; empty before the first.
    pub fn mean(&self) -> RgbImage {
        let frames = self.frames.max(1);
        // Division by a fixed-point reciprocal: exact for sums of 16 bits.
        let reciprocal = (1u64 << 32).div_ceil(u64::from(frames));
        let half = frames / 2;
        let bytes: Vec<u8> =
            self.sums.iter().map(|&sum| (((u64::from(sum) + u64::from(half)) * reciprocal) >> 32) as u8).collect();
        RgbImage::from_raw(self.size_px.0, self.size_px.1, bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn the_mean_is_rounded_and_exact_for_every_number_of_frames() {
        for frames in [1u32, 2, 3, 7, 10, 16, 100, 257] {
            let mut fuse = Fuse::default();
            let value = |k: u32| (k * 37 % 256) as u8;
            (0..frames).for_each(|k| fuse.add(&RgbImage::from_pixel(2, 1, Rgb([value(k), 255, 0]))));
            let sum: u32 = (0..frames).map(|k| u32::from(value(k))).sum();
            let expected = ((sum + frames / 2) / frames) as u8;
            assert_eq!(fuse.mean().get_pixel(1, 0).0, [expected, 255, 0], "{frames} frames");
        }
    }

    #[test]
    fn another_size_starts_anew() {
        let mut fuse = Fuse::default();
        fuse.add(&RgbImage::from_pixel(2, 1, Rgb([9; 3])));
        fuse.add(&RgbImage::from_pixel(1, 1, Rgb([5; 3])));
        assert_eq!((fuse.frames(), fuse.mean().dimensions()), (1, (1, 1)));
    }
}
