//! Reads photo files.
//!
//! In: a path or the bytes of a JPEG, PNG or WebP file (of an animation: its first frame). Out: a [`Frame`], upright,
//! 8 bits a channel. Grey becomes RGB, 16 bits are rounded to 8, CMYK is converted, and what is transparent lies on
//! white, as on a web page. Colour profiles are not applied: sides differ by far more than profiles do.
//!
//! Nothing large is allocated before the file's own header has been held against the limits.

use std::fs::File;
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use image::codecs::{jpeg::JpegDecoder, png::PngDecoder, webp::WebPDecoder};
use image::{ColorType, ImageDecoder, ImageError, ImageResult, Limits, RgbImage};

use super::container::{self, Content, Format};
use super::{Frame, LensHint, lens, orient};

/// Largest picture that is decoded, pixels: the largest phone sensors in use give 108 million. Four 16-bit channels of
/// it make 960 MB, which a photo of three 8-bit channels (360 MB) never comes near.
pub const MAX_PIXELS: u64 = 120_000_000;

/// What a decoder may allocate, bytes, should a header lie: [`MAX_PIXELS`] of the widest pixels, and some room.
const MAX_ALLOC_BYTES: u64 = 1 << 30;

/// Largest file that is read, bytes: an uncompressed picture of [`MAX_PIXELS`] still fits.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// Why a photo cannot be read, each a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PhotoError {
    /// The system does not give the file.
    #[error("the file cannot be opened: {0}")]
    Unreadable(#[from] std::io::Error),
    /// A folder, a pipe or a device.
    #[error("this is no file, or a folder without pictures: give JPEG, PNG or WebP files")]
    NotAFile,
    /// No byte in it.
    #[error("the file is empty: copy it from the camera again")]
    Empty,
    /// More bytes than any picture of the allowed size has.
    #[error("the file has {mib} MiB, more than the limit of {limit_mib}: scale the picture down")]
    FileTooLarge {
        /// Size of the file.
        mib: u64,
        /// The limit.
        limit_mib: u64,
    },
    /// The content is no picture.
    #[error("the file is not a picture that crokeye knows: give a JPEG, PNG or WebP file")]
    NotAPicture,
    /// A picture of another format.
    #[error("the file is a {0} picture: save or export it as JPEG, PNG or WebP")]
    OtherFormat(&'static str),
    /// A phone's format, and libheif is not built in.
    #[error(
        "the file is a HEIC picture, which this crokeye was built without: build it with --features heic, or set the phone \
         to save JPEG (\"most compatible\")"
    )]
    NoHeic,
    /// More pixels than are decoded.
    #[error(
        "the picture is {width} x {height} px, {megapixels} megapixels, more than the limit of {limit}: scale it down"
    )]
    TooManyPixels {
        /// Width, px.
        width: u32,
        /// Height, px.
        height: u32,
        /// Their product, millions.
        megapixels: u64,
        /// The limit, millions.
        limit: u64,
    },
    /// The file stops before its end.
    #[error("the picture is cut off before its end: copy or download it again")]
    Truncated,
    /// The decoder refuses it.
    #[error("the picture is damaged ({0}): copy it again, or open it in a viewer and save it anew")]
    Damaged(String),
    /// The decoder itself failed.
    #[error("the picture cannot be decoded (a fault in the {0} decoder): open it in a viewer and save it anew")]
    DecoderFault(&'static str),
}

/// Reads the photo at `path`.
///
/// # Errors
/// See [`PhotoError`]; the name of the file is left to the caller.
pub fn read(path: &Path) -> Result<Frame, PhotoError> {
    let bytes = read_bytes(path)?;
    decode(&path.to_string_lossy(), &bytes)
}

/// Decodes a photo from the bytes of its file; `source` becomes the frame's name.
///
/// # Errors
/// See [`PhotoError`].
pub fn decode(source: &str, bytes: &[u8]) -> Result<Frame, PhotoError> {
    if bytes.is_empty() {
        return Err(PhotoError::Empty);
    }
    match readable(bytes)? {
        Readable::Plain(format) => plain_frame(source, format, bytes),
        #[cfg(feature = "heic")]
        Readable::Heic => heic_frame(source, bytes),
    }
}

/// Decodes what the image library decodes.
fn plain_frame(source: &str, format: Format, bytes: &[u8]) -> Result<Frame, PhotoError> {
    let inside = container::inside(format, bytes);
    // Decoders are code of others on bytes of anyone: a fault in one must not end the counting of all other photos.
    let rgb = catch_unwind(AssertUnwindSafe(|| decode_pixels(format, bytes)))
        .unwrap_or(Err(PhotoError::DecoderFault(name(format))))
        .map_err(|error| if inside.complete || is_limit(&error) { error } else { PhotoError::Truncated })?;
    if !inside.complete {
        return Err(PhotoError::Truncated);
    }
    let tags = inside.exif.and_then(lens::parse);
    let lens = LensHint::from_exif(tags.as_ref(), rgb.dimensions());
    let orientation = inside.exif.map_or(image::metadata::Orientation::NoTransforms, lens::orientation);
    Ok(Frame { source: source.to_owned(), rgb: orient::upright(rgb, orientation), lens })
}

/// The bytes of the photo at `path`, not before its first ones are a picture's.
///
/// # Errors
/// It is no file, no picture, or larger than any picture.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, PhotoError> {
    // Asked before opening: a pipe would wait for its writer.
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(PhotoError::NotAFile);
    }
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(container::HEAD_BYTES as u64).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Err(PhotoError::Empty);
    }
    readable(&bytes)?;
    if about.len() > MAX_FILE_BYTES {
        return Err(PhotoError::FileTooLarge { mib: about.len() >> 20, limit_mib: MAX_FILE_BYTES >> 20 });
    }
    bytes.reserve_exact(about.len() as usize);
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What can be decoded.
enum Readable {
    Plain(Format),
    #[cfg(feature = "heic")]
    Heic,
}

#[cfg(feature = "heic")]
fn heic_frame(source: &str, bytes: &[u8]) -> Result<Frame, PhotoError> {
    let rgb = catch_unwind(AssertUnwindSafe(|| super::heic::decode(bytes)))
        .unwrap_or(Err(PhotoError::DecoderFault("HEIC")))?;
    let block = super::heic::exif(bytes);
    let lens = LensHint::from_exif(block.as_deref().and_then(lens::parse).as_ref(), rgb.dimensions());
    Ok(Frame { source: source.to_owned(), rgb, lens })
}

fn readable(head: &[u8]) -> Result<Readable, PhotoError> {
    match container::content(head) {
        Content::Picture(format) => Ok(Readable::Plain(format)),
        #[cfg(feature = "heic")]
        Content::OtherPicture(container::HEIC) => Ok(Readable::Heic),
        #[cfg(not(feature = "heic"))]
        Content::OtherPicture(container::HEIC) => Err(PhotoError::NoHeic),
        Content::OtherPicture(name) => Err(PhotoError::OtherFormat(name)),
        Content::Unknown => Err(PhotoError::NotAPicture),
    }
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Jpeg => "JPEG",
        Format::Png => "PNG",
        Format::WebP => "WebP",
    }
}

fn is_limit(error: &PhotoError) -> bool {
    matches!(error, PhotoError::TooManyPixels { .. })
}

fn decode_pixels(format: Format, bytes: &[u8]) -> Result<RgbImage, PhotoError> {
    let input = Cursor::new(bytes);
    match format {
        Format::Jpeg => pixels(JpegDecoder::new(input)),
        Format::Png => pixels(PngDecoder::with_limits(input, limits())),
        Format::WebP => pixels(WebPDecoder::new(input)),
    }
}

/// What the decoders themselves may allocate, should a header lie.
fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_ALLOC_BYTES);
    limits
}

/// Holds the header against the limits, then decodes.
fn pixels<D: ImageDecoder>(decoder: ImageResult<D>) -> Result<RgbImage, PhotoError> {
    let mut decoder = decoder.map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let count = u64::from(width) * u64::from(height);
    if count == 0 {
        return Err(PhotoError::Damaged("it has no pixels".to_owned()));
    }
    if count > MAX_PIXELS {
        let (megapixels, limit) = (count.div_ceil(1_000_000), MAX_PIXELS / 1_000_000);
        return Err(PhotoError::TooManyPixels { width, height, megapixels, limit });
    }
    decoder.set_limits(limits()).map_err(damaged)?;
    let colour = decoder.color_type();
    let mut raw = vec![0u8; decoder.total_bytes() as usize];
    decoder.read_image(&mut raw).map_err(damaged)?;
    let rgb = to_rgb(colour, raw).ok_or_else(|| PhotoError::Damaged(format!("unknown colours {colour:?}")))?;
    RgbImage::from_raw(width, height, rgb).ok_or(PhotoError::Truncated)
}

fn damaged(error: ImageError) -> PhotoError {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => PhotoError::Truncated,
        error => PhotoError::Damaged(error.to_string()),
    }
}

/// Samples of any layout to 8-bit RGB; None for a layout that no decoder here gives.
fn to_rgb(colour: ColorType, raw: Vec<u8>) -> Option<Vec<u8>> {
    Some(match colour {
        ColorType::Rgb8 => raw,
        ColorType::L8 => each(&raw, 1, |p| [p[0]; 3]),
        ColorType::La8 => each(&raw, 2, |p| [on_white(p[0], p[1]); 3]),
        ColorType::Rgba8 => each(&raw, 4, |p| [0, 1, 2].map(|i| on_white(p[i], p[3]))),
        ColorType::L16 => each(&raw, 2, |p| [rounded(p); 3]),
        ColorType::La16 => each(&raw, 4, |p| [on_white(rounded(p), rounded(&p[2..])); 3]),
        ColorType::Rgb16 => each(&raw, 6, |p| [0, 2, 4].map(|i| rounded(&p[i..]))),
        ColorType::Rgba16 => each(&raw, 8, |p| [0, 2, 4].map(|i| on_white(rounded(&p[i..]), rounded(&p[6..])))),
        _ => return None,
    })
}

/// RGB from pixels of `bytes` bytes each.
fn each(raw: &[u8], bytes: usize, rgb: impl Fn(&[u8]) -> [u8; 3]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() / bytes * 3);
    raw.chunks_exact(bytes).for_each(|pixel| out.extend_from_slice(&rgb(pixel)));
    out
}

/// A sample seen over white.
fn on_white(value: u8, alpha: u8) -> u8 {
    let (value, alpha) = (u32::from(value), u32::from(alpha));
    ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8
}

/// The first 16-bit sample of `pair`, rounded to 8 bits.
fn rounded(pair: &[u8]) -> u8 {
    ((u32::from(u16::from_ne_bytes([pair[0], pair[1]])) + 128) / 257) as u8
}

#[cfg(test)]
mod tests;
