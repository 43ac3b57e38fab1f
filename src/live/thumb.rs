//! A small grey view of a frame, for telling motion from noise.
//!
//! In: a picture. Out: [`Thumb`], the mean brightness of blocks of pixels. Every second row of a block is read: motion
//! shows as well in half of the pixels, and the reading is most of what a frame costs while nothing happens.

use image::RgbImage;

/// Blocks across the longer side of a picture: a disc of a board that fills the picture is 8 to 14 blocks wide.
const BLOCKS: u32 = 320;

/// Mean brightness (red + green + blue, 0 to 765) of square blocks, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thumb {
    /// Blocks in a row.
    pub columns: usize,
    /// Rows of blocks.
    pub rows: usize,
    /// Side of a block, px of the picture.
    pub block_px: usize,
    /// The values.
    pub values: Vec<f32>,
}

impl Thumb {
    /// The view of `picture`.
    pub fn of(picture: &RgbImage) -> Self {
        let mut out = Self::default();
        out.take(picture);
        out
    }

    /// Makes this the view of `picture`, in the memory it already has.
    pub fn take(&mut self, picture: &RgbImage) {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let block = (width.max(height) / BLOCKS as usize).max(1);
        let (columns, rows) = (width / block, height / block);
        (self.columns, self.rows, self.block_px) = (columns, rows, block);
        self.values.clear();
        self.values.resize(columns * rows, 0.0);
        let stride = width * 3;
        let raw = picture.as_raw();
        let step = if block > 1 { 2 } else { 1 };
        let mut sums = vec![0u32; columns];
        for (row, values) in self.values.chunks_exact_mut(columns.max(1)).enumerate() {
            sums.fill(0);
            for line in (0..block).step_by(step) {
                let from = (row * block + line) * stride;
                for (sum, bytes) in sums.iter_mut().zip(raw[from..from + stride].chunks_exact(3 * block)) {
                    *sum += bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
                }
            }
            let area = (block * block.div_ceil(step)) as f32;
            values.iter_mut().zip(&sums).for_each(|(value, sum)| *value = *sum as f32 / area);
        }
    }

    /// Middle of a block in the picture, px.
    pub fn middle_px(&self, block: usize) -> [f64; 2] {
        let half = (self.block_px as f64 - 1.0) / 2.0;
        let at = |index: usize| (index * self.block_px) as f64 + half;
        [at(block % self.columns.max(1)), at(block / self.columns.max(1))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn a_block_is_the_mean_of_its_pixels_and_knows_its_place() {
        let picture = RgbImage::from_fn(1280, 720, |x, _| Rgb([(x / 4 % 256) as u8, 10, 0]));
        let thumb = Thumb::of(&picture);
        assert_eq!((thumb.columns, thumb.rows, thumb.block_px), (320, 180, 4));
        assert_eq!(thumb.values[320 * 3 + 7], 17.0);
        assert_eq!(thumb.middle_px(320 * 3 + 7), [29.5, 13.5]);
    }

    #[test]
    fn a_tiny_picture_has_a_view_too() {
        assert_eq!(Thumb::of(&RgbImage::from_pixel(3, 2, Rgb([1, 2, 3]))).values, [6.0; 6]);
        assert!(Thumb::of(&RgbImage::new(0, 0)).values.is_empty());
    }
}
