//! What a file or a person tells about the lens.
//!
//! In: an EXIF block and the size of the decoded picture, or a field of view. Out: a [`LensHint`].
//! EXIF 2.32 gives FocalLengthIn35mmFilm, the focal length of a 35 mm camera with the same diagonal view. It holds for
//! the sensor as a whole, so it is believed only where nothing suggests that the picture is a part of it.

use exif::{Exif, In, Tag, Value};
use image::metadata::Orientation;

/// Diagonal of a 36 mm x 24 mm frame, mm.
const FILM_DIAGONAL_MM: f64 = 43.27;

/// Relative standard deviation of a focal length from EXIF: makers round to whole mm (2 % at 26 mm), and
/// stabilisation and lens correction cut a little off.
const EXIF_FOCAL_SIGMA: f64 = 0.03;

/// Relative standard deviation of a field of view that a person gives.
const FOV_SIGMA: f64 = 0.01;

/// How far, relatively, an aspect ratio may be from a sensor's: 12-pixel rounding of a 2000-pixel side.
const ASPECT_TOLERANCE: f64 = 0.006;

/// Focal lengths (mm on film) beyond which the tag is taken for noise.
const FILM_FOCAL_RANGE_MM: std::ops::RangeInclusive<f64> = 8.0..=200.0;

/// Programs whose pictures may be cropped although their tags agree.
const EDITORS: [&str; 7] = ["photoshop", "lightroom", "gimp", "snapseed", "picasa", "instagram", "paint"];

/// What the file or the user says about the lens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LensHint {
    /// Focal length in pixels of this picture with its relative one-sigma uncertainty, where known.
    pub focal_px: Option<(f64, f64)>,
    /// True when nothing suggests that the picture was cropped: its optical axis is at its centre.
    pub uncropped: bool,
    /// The lens as a calibration measured it, where one did.
    pub measured: Option<MeasuredLens>,
}

/// A lens measured with a calibration sheet, for pictures of this size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredLens {
    /// Principal point, px.
    pub principal_px: [f64; 2],
    /// Radial distortion terms in OpenCV's convention.
    pub distortion: [f64; 2],
}

impl LensHint {
    /// The lens of a picture `width_px` wide that shows `fov_deg` degrees from left to right.
    pub fn from_fov(fov_deg: f64, width_px: u32) -> Self {
        let half = (fov_deg.to_radians() / 2.0).tan();
        Self { focal_px: Some((f64::from(width_px) / 2.0 / half, FOV_SIGMA)), uncropped: true, ..Self::default() }
    }

    /// The lens of a picture of that size (as decoded, in either orientation), by its EXIF tags where it has some.
    pub fn from_exif(tags: Option<&Exif>, size_px: (u32, u32)) -> Self {
        let long = f64::from(size_px.0.max(size_px.1));
        let short = f64::from(size_px.0.min(size_px.1)).max(1.0);
        let Some(aspect) = Aspect::of(long / short) else { return Self::default() };
        let Some(tags) = tags else { return Self { uncropped: true, ..Self::default() } };
        if is_edited(tags) || !agrees_with_tags(tags, size_px) {
            return Self::default();
        }
        let film_mm = number(tags, Tag::FocalLengthIn35mmFilm).filter(|mm| FILM_FOCAL_RANGE_MM.contains(mm));
        // Some makers fold the digital zoom into the film focal length, some do not: no value is better than a wrong one.
        // The optical axis stays in the middle either way. 0 means that there was none.
        let zoomed = number(tags, Tag::DigitalZoomRatio).is_some_and(|zoom| zoom > 1.01);
        let (diagonal, spread) = aspect.sensor_diagonal();
        let focal_px = film_mm
            .filter(|_| !zoomed)
            .map(|mm| (mm / FILM_DIAGONAL_MM * diagonal * long, EXIF_FOCAL_SIGMA.hypot(spread)));
        Self { focal_px, uncropped: true, ..Self::default() }
    }
}

/// Aspect ratios that cameras give. Square ones are not among them: those are crops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aspect {
    FourThirds,
    ThreeHalves,
    SixteenNinths,
}

impl Aspect {
    fn of(ratio: f64) -> Option<Self> {
        [(4.0 / 3.0, Aspect::FourThirds), (1.5, Aspect::ThreeHalves), (16.0 / 9.0, Aspect::SixteenNinths)]
            .into_iter()
            .find(|(known, _)| (ratio / known - 1.0).abs() < ASPECT_TOLERANCE)
            .map(|(_, aspect)| aspect)
    }

    /// Diagonal of the sensor that the film focal length speaks of, in long sides of the picture, and its relative
    /// standard deviation. A phone's 4:3 sensor gives 3:2 and 16:9 by cutting rows off, and some keep the 4:3 focal
    /// length in the tag: the middle of both readings, half their distance as its deviation.
    fn sensor_diagonal(self) -> (f64, f64) {
        match self {
            Aspect::FourThirds => (1.25, 0.0),
            Aspect::ThreeHalves => (1.226, 0.02),
            Aspect::SixteenNinths => (1.199, 0.043),
        }
    }
}

/// The tags of an EXIF block, with or without its "Exif" mark. None where it cannot be read.
pub(super) fn parse(block: &[u8]) -> Option<Exif> {
    let mut reader = exif::Reader::new();
    reader.continue_on_error(true);
    reader.read_raw(unmarked(block).to_vec()).or_else(|error| error.distill_partial_result(|_| {})).ok()
}

/// The orientation that an EXIF block asks for.
pub(super) fn orientation(block: &[u8]) -> Orientation {
    Orientation::from_exif_chunk(unmarked(block)).unwrap_or(Orientation::NoTransforms)
}

/// The TIFF part: WebP files by some writers keep JPEG's mark in front of it.
fn unmarked(block: &[u8]) -> &[u8] {
    block.strip_prefix(b"Exif\0\0").unwrap_or(block)
}

fn is_edited(tags: &Exif) -> bool {
    let software = tags.get_field(Tag::Software, In::PRIMARY).map(|field| field.display_value().to_string());
    software.is_some_and(|name| EDITORS.iter().any(|editor| name.to_lowercase().contains(editor)))
}

/// False where the tags give the picture another size than it has. No size in the tags is no disagreement.
fn agrees_with_tags(tags: &Exif, (width, height): (u32, u32)) -> bool {
    let side = |tag| number(tags, tag).filter(|px| *px > 0.0);
    let (Some(x), Some(y)) = (side(Tag::PixelXDimension), side(Tag::PixelYDimension)) else { return true };
    let (width, height) = (f64::from(width), f64::from(height));
    (x == width && y == height) || (x == height && y == width)
}

fn number(tags: &Exif, tag: Tag) -> Option<f64> {
    let field = tags.get_field(tag, In::PRIMARY)?;
    match &field.value {
        Value::Rational(values) => values.first().filter(|v| v.denom != 0).map(|v| v.to_f64()),
        value => value.get_uint(0).map(f64::from),
    }
}

/// Writes a minimal EXIF block of these unsigned tags: for tests of everything that reads one.
#[cfg(test)]
pub(super) fn block(fields: &[(Tag, u32)]) -> Vec<u8> {
    let fields: Vec<exif::Field> = fields
        .iter()
        .map(|&(tag, value)| exif::Field {
            tag,
            ifd_num: In::PRIMARY,
            value: match tag {
                Tag::DigitalZoomRatio => Value::Rational(vec![exif::Rational { num: value, denom: 10 }]),
                Tag::PixelXDimension | Tag::PixelYDimension => Value::Long(vec![value]),
                _ => Value::Short(vec![value as u16]),
            },
        })
        .collect();
    let mut writer = exif::experimental::Writer::new();
    fields.iter().for_each(|field| writer.push_field(field));
    let mut out = std::io::Cursor::new(Vec::new());
    writer.write(&mut out, true).unwrap();
    out.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn hint(fields: &[(Tag, u32)], size: (u32, u32)) -> LensHint {
        LensHint::from_exif(parse(&block(fields)).as_ref(), size)
    }

    #[test]
    fn a_phone_photo_tells_its_focal_length_by_the_diagonal() {
        let lens = hint(&[(Tag::FocalLengthIn35mmFilm, 26)], (4032, 3024));
        let (focal, sigma) = lens.focal_px.unwrap();
        assert_relative_eq!(focal, 26.0 / 43.27 * 5040.0, epsilon = 0.1);
        assert_relative_eq!(sigma, 0.03);
        assert!(lens.uncropped);
        assert_eq!(hint(&[(Tag::FocalLengthIn35mmFilm, 26)], (3024, 4032)), lens);
    }

    #[test]
    fn a_wide_photo_is_less_sure_of_its_focal_length() {
        let (focal, sigma) = hint(&[(Tag::FocalLengthIn35mmFilm, 26)], (4032, 2268)).focal_px.unwrap();
        let (by_picture, by_sensor) = (26.0 / 43.27 * 4626.0, 26.0 / 43.27 * 5040.0);
        assert!(by_picture < focal && focal < by_sensor);
        assert!(sigma > 0.05 && focal * (1.0 + sigma) > by_sensor && focal * (1.0 - sigma) < by_picture);
    }

    #[test]
    fn a_cropped_photo_tells_nothing() {
        let f35 = (Tag::FocalLengthIn35mmFilm, 26);
        for (fields, size) in [
            (vec![f35], (3000, 3000)),
            (vec![f35], (3024, 3300)),
            (vec![f35, (Tag::PixelXDimension, 4032), (Tag::PixelYDimension, 3024)], (2016, 1512)),
        ] {
            assert_eq!(hint(&fields, size), LensHint::default());
        }
        let whole = hint(&[f35, (Tag::PixelXDimension, 4032), (Tag::PixelYDimension, 3024)], (3024, 4032));
        assert!(whole.focal_px.is_some());
    }

    #[test]
    fn digital_zoom_hides_the_focal_length_but_keeps_the_axis() {
        let fields = [(Tag::FocalLengthIn35mmFilm, 26), (Tag::DigitalZoomRatio, 20)];
        assert_eq!(hint(&fields, (4032, 3024)), LensHint { uncropped: true, ..LensHint::default() });
        let none = [(Tag::FocalLengthIn35mmFilm, 26), (Tag::DigitalZoomRatio, 0)];
        assert!(hint(&none, (4032, 3024)).focal_px.is_some());
    }

    #[test]
    fn an_unknown_focal_length_is_not_taken_for_one() {
        assert_eq!(hint(&[(Tag::FocalLengthIn35mmFilm, 0)], (4032, 3024)).focal_px, None);
        assert_eq!(LensHint::from_exif(None, (4032, 3024)), LensHint { uncropped: true, ..LensHint::default() });
    }

    #[test]
    fn a_told_field_of_view_is_the_angle_from_left_to_right() {
        let (focal, sigma) = LensHint::from_fov(90.0, 2000).focal_px.unwrap();
        assert_relative_eq!(focal, 1000.0, epsilon = 1e-9);
        assert_relative_eq!(sigma, 0.01);
    }

    #[test]
    fn a_block_with_jpegs_mark_is_read_too() {
        let plain = block(&[(Tag::Orientation, 6)]);
        let marked = [b"Exif\0\0".as_slice(), &plain].concat();
        assert_eq!(orientation(&plain), Orientation::Rotate90);
        assert_eq!(orientation(&marked), Orientation::Rotate90);
        assert!(parse(&marked).is_some());
        assert!(parse(b"not a block").is_none());
    }
}
