//! A small grey view of a frame, for telling motion from noise.
//!
//! In: a picture. Out: [`Thumb`], the mean brightness of blocks of pixels. The blocks are those of JPEG, or whole numbers of
//! them: what compression changes from frame to frame, most of all at edges, are waves within a block, and the mean of a
//! block knows nothing of them. At quality 50, which phones send, blocks of 4 px breathe by 70 levels, these by 14.

use image::RgbImage;

/// Side of JPEG's blocks, px.
const JPEG_BLOCK: usize = 8;
/// Larger pictures than one this wide, px, are seen as coarsely as it: finer blocks tell nothing more.
const ENOUGH_PX: usize = 1920;

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
        let block = JPEG_BLOCK * (width.max(height) / ENOUGH_PX).max(1);
        let (columns, rows) = (width / block, height / block);
        (self.columns, self.rows, self.block_px) = (columns, rows, block);
        self.values.clear();
        self.values.resize(columns * rows, 0.0);
        let stride = width * 3;
        let raw = picture.as_raw();
        let mut sums = vec![0u32; columns];
        for (row, values) in self.values.chunks_exact_mut(columns.max(1)).enumerate() {
            sums.fill(0);
            for line in 0..block {
                let from = (row * block + line) * stride;
                for (sum, bytes) in sums.iter_mut().zip(raw[from..from + stride].chunks_exact(3 * block)) {
                    *sum += bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
                }
            }
            let area = (block * block) as f32;
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
        let picture = RgbImage::from_fn(1280, 720, |x, _| Rgb([(x / 8 % 256) as u8, 10, 0]));
        let thumb = Thumb::of(&picture);
        assert_eq!((thumb.columns, thumb.rows, thumb.block_px), (160, 90, 8));
        assert_eq!(thumb.values[160 * 3 + 7], 17.0);
        assert_eq!(thumb.middle_px(160 * 3 + 7), [59.5, 27.5]);
        assert_eq!(Thumb::of(&RgbImage::new(3840, 2160)).block_px, 16);
    }

    #[test]
    fn waves_within_a_block_of_jpeg_are_not_seen() {
        let wave = |x: u32| (100.0 + 60.0 * (std::f64::consts::PI * (f64::from(x % 8) + 0.5) / 8.0).cos()) as u8;
        let waves = Thumb::of(&RgbImage::from_fn(64, 64, |x, y| Rgb([wave(x + 8 * (y % 2)); 3])));
        assert!(waves.values.iter().all(|value| (value - 300.0).abs() < 3.0), "{:?}", waves.values);
    }

    #[test]
    fn a_picture_smaller_than_a_block_has_no_view() {
        assert!(Thumb::of(&RgbImage::from_pixel(3, 2, Rgb([1, 2, 3]))).values.is_empty());
        assert!(Thumb::of(&RgbImage::new(0, 0)).values.is_empty());
    }
}
