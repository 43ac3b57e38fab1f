//! When and with which camera a picture was taken, by its EXIF block.
//!
//! In: the bytes of a picture file. Out: an [`About`]; what the file does not say is None.

use exif::{Exif, In, Tag, Value};
use jiff::civil::DateTime;

use super::{container, lens};

/// What a file tells about its making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// When, by the camera's own clock.
    pub taken: Option<DateTime>,
    /// Maker, model, lens and focal length in one line: the same for photos of one camera whose lens did not change.
    pub camera: Option<String>,
}

/// Reads the EXIF block of a picture file.
pub fn about(bytes: &[u8]) -> About {
    let tags = match container::content(bytes) {
        container::Content::Picture(format) => container::inside(format, bytes).exif.and_then(lens::parse),
        #[cfg(feature = "heic")]
        container::Content::OtherPicture(container::HEIC) => super::heic::exif(bytes).as_deref().and_then(lens::parse),
        _ => None,
    };
    tags.map_or_else(About::default, |tags| About { taken: taken(&tags), camera: camera(&tags) })
}

fn taken(tags: &Exif) -> Option<DateTime> {
    let text = text(tags, Tag::DateTimeOriginal).or_else(|| text(tags, Tag::DateTime))?;
    DateTime::strptime("%Y:%m:%d %H:%M:%S", text).ok()
}

fn camera(tags: &Exif) -> Option<String> {
    let model = text(tags, Tag::Model)?;
    let words = [Tag::Make, Tag::BodySerialNumber, Tag::LensModel].map(|tag| text(tags, tag).unwrap_or_default());
    let number =
        |tag| tags.get_field(tag, In::PRIMARY).map_or(String::new(), |field| field.display_value().to_string());
    let [focal, zoom] = [number(Tag::FocalLength), number(Tag::DigitalZoomRatio)];
    Some([words[0].as_str(), &model, &words[1], &words[2], &focal, &zoom].join("|"))
}

/// A text tag without what pads it.
fn text(tags: &Exif, tag: Tag) -> Option<String> {
    let Value::Ascii(lines) = &tags.get_field(tag, In::PRIMARY)?.value else { return None };
    let text = String::from_utf8_lossy(lines.first()?).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exif::Field;
    use image::codecs::jpeg::JpegEncoder;
    use image::{ExtendedColorType, ImageEncoder};

    fn jpeg(tags: &[(Tag, &str)]) -> Vec<u8> {
        let fields: Vec<Field> = tags
            .iter()
            .map(|(tag, text)| Field {
                tag: *tag,
                ifd_num: In::PRIMARY,
                value: Value::Ascii(vec![text.as_bytes().to_vec()]),
            })
            .collect();
        let mut writer = exif::experimental::Writer::new();
        fields.iter().for_each(|field| writer.push_field(field));
        let mut block = std::io::Cursor::new(Vec::new());
        writer.write(&mut block, true).unwrap();
        let mut out = Vec::new();
        let mut encoder = JpegEncoder::new(&mut out);
        encoder.set_exif_metadata(block.into_inner()).unwrap();
        encoder.write_image(&[0; 192], 8, 8, ExtendedColorType::Rgb8).unwrap();
        out
    }

    #[test]
    fn a_photo_tells_its_time_and_camera() {
        let file = jpeg(&[(Tag::DateTimeOriginal, "2026:11:30 20:15:07"), (Tag::Make, "ACME "), (Tag::Model, "One")]);
        let about = about(&file);
        assert_eq!(about.taken, Some(jiff::civil::date(2026, 11, 30).at(20, 15, 7, 0)));
        assert_eq!(about.camera.as_deref(), Some("ACME|One||||"));
    }

    #[test]
    fn what_a_file_does_not_say_is_not_made_up() {
        assert_eq!(about(&jpeg(&[(Tag::DateTimeOriginal, "0000:00:00 00:00:00")])), About::default());
        assert_eq!(about(b"no picture"), About::default());
    }
}
