//! Turns a decoded picture upright.
//!
//! In: a picture as its sensor gave it and the EXIF orientation. Out: the picture as a viewer shows it.
//! The generic rotation of `image` walks whole columns and takes longer than decoding; this one moves small tiles that
//! stay in the cache, and rows of tiles in parallel.

use image::metadata::Orientation;
use image::{RgbImage, imageops};
use rayon::prelude::*;

/// Side of a tile, px: two tiles of 3-byte pixels fit a first-level cache.
const TILE_PX: usize = 64;

/// The picture turned as `orientation` asks.
pub(super) fn upright(picture: RgbImage, orientation: Orientation) -> RgbImage {
    let mut picture = picture;
    match orientation {
        Orientation::NoTransforms => {}
        Orientation::FlipHorizontal => imageops::flip_horizontal_in_place(&mut picture),
        Orientation::FlipVertical => imageops::flip_vertical_in_place(&mut picture),
        Orientation::Rotate180 => imageops::rotate180_in_place(&mut picture),
        Orientation::Rotate90 => return transposed(&picture, false, true),
        Orientation::Rotate270 => return transposed(&picture, true, false),
        Orientation::Rotate90FlipH => return transposed(&picture, false, false),
        Orientation::Rotate270FlipH => return transposed(&picture, true, true),
    }
    picture
}

/// Rows become columns: out(x, y) = in(y, x), with the input's x or y counted from its far end where asked.
fn transposed(picture: &RgbImage, from_right: bool, from_bottom: bool) -> RgbImage {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let input = picture.as_raw();
    let mut out = vec![0u8; input.len()];
    if out.is_empty() {
        return RgbImage::new(picture.height(), picture.width());
    }
    out.par_chunks_mut(height * 3 * TILE_PX).enumerate().for_each(|(band, rows)| {
        let first_row = band * TILE_PX;
        for first_column in (0..height).step_by(TILE_PX) {
            let columns = first_column..(first_column + TILE_PX).min(height);
            for (offset, row) in rows.chunks_exact_mut(height * 3).enumerate() {
                let y = first_row + offset;
                let in_x = if from_right { width - 1 - y } else { y };
                for x in columns.clone() {
                    let in_y = if from_bottom { height - 1 - x } else { x };
                    let at = (in_y * width + in_x) * 3;
                    row[x * 3..x * 3 + 3].copy_from_slice(&input[at..at + 3]);
                }
            }
        }
    });
    // The buffer has exactly the size of the turned picture.
    RgbImage::from_raw(picture.height(), picture.width(), out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, Rgb};

    #[test]
    fn every_orientation_is_what_the_plain_rotation_gives() {
        for (width, height) in [(1, 1), (3, 2), (130, 67), (64, 128)] {
            let picture = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, (x * 7 + y * 13) as u8]));
            for tag in 1..=8 {
                let orientation = Orientation::from_exif(tag).unwrap();
                let mut plain = DynamicImage::ImageRgb8(picture.clone());
                plain.apply_orientation(orientation);
                assert_eq!(upright(picture.clone(), orientation), plain.into_rgb8(), "orientation {tag}");
            }
        }
    }

    #[test]
    fn an_empty_picture_stays_empty() {
        let turned = upright(RgbImage::new(0, 5), Orientation::Rotate90);
        assert_eq!(turned.dimensions(), (5, 0));
    }
}
