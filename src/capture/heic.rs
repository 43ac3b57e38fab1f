//! HEIC photos of phones, through libheif (feature `heic`).
//!
//! In: the bytes of a HEIF file. Out: the primary picture, upright: libheif applies the file's own rotation, and the one
//! in the EXIF block is a copy of it that must not be applied again.

use image::RgbImage;
use libheif_rs::{ColorSpace, HeifContext, HeifError, ImageHandle, ItemId, LibHeif, RgbChroma};

use super::photo::{MAX_PIXELS, PhotoError};

/// Decodes the primary picture.
pub(super) fn decode(bytes: &[u8]) -> Result<RgbImage, PhotoError> {
    let context = HeifContext::read_from_bytes(bytes).map_err(damaged)?;
    let handle = context.primary_image_handle().map_err(damaged)?;
    let (width, height) = (handle.width(), handle.height());
    let count = u64::from(width) * u64::from(height);
    if count > MAX_PIXELS {
        let (megapixels, limit) = (count.div_ceil(1_000_000), MAX_PIXELS / 1_000_000);
        return Err(PhotoError::TooManyPixels { width, height, megapixels, limit });
    }
    let picture = LibHeif::new().decode(&handle, ColorSpace::Rgb(RgbChroma::Rgb), None).map_err(damaged)?;
    let planes = picture.planes();
    let plane = planes.interleaved.ok_or_else(|| PhotoError::Damaged("it has no colours".to_owned()))?;
    let row = plane.width as usize * 3;
    let rows = plane.data.chunks(plane.stride.max(1)).take(plane.height as usize);
    let raw: Vec<u8> = rows.flat_map(|line| line.iter().take(row).copied()).collect();
    RgbImage::from_raw(plane.width, plane.height, raw).ok_or(PhotoError::Truncated)
}

/// The EXIF block, where there is one.
pub(super) fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    let context = HeifContext::read_from_bytes(bytes).ok()?;
    block(&context.primary_image_handle().ok()?)
}

fn block(handle: &ImageHandle) -> Option<Vec<u8>> {
    let mut ids: [ItemId; 1] = [0];
    if handle.metadata_block_ids(&mut ids, b"Exif") == 0 {
        return None;
    }
    let data = handle.metadata(ids[0]).ok()?;
    // Four bytes say how far behind them the TIFF header stands.
    let ahead = u32::from_be_bytes(data.get(..4)?.try_into().ok()?) as usize;
    Some(data.get(ahead.checked_add(4)?..)?.to_vec())
}

fn damaged(error: HeifError) -> PhotoError {
    PhotoError::Damaged(error.message)
}
