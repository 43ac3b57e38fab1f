//! Looks into a picture file without decoding it.
//!
//! In: the bytes of a file. Out: which format its content is (the name does not matter), its EXIF block, and whether it
//! reaches its own end. Decoders fill what is missing of a cut file with grey and call it a success, so the end is
//! looked for here: ISO/IEC 10918-1 annex B, PNG third edition section 5, RFC 9649.

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Jpeg,
    Png,
    WebP,
}

/// What a file's first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A picture that can be read.
    Picture(Format),
    /// A picture in a format that is not read, by its name.
    OtherPicture(&'static str),
    /// No picture.
    Unknown,
}

/// Name of the format that phones save.
pub(super) const HEIC: &str = "HEIC";

/// How many bytes [`content`] looks at.
pub(super) const HEAD_BYTES: usize = 32;

/// What the file is that starts with `head`.
pub(super) fn content(head: &[u8]) -> Content {
    let at = |offset: usize, mark: &[u8]| head.get(offset..).is_some_and(|rest| rest.starts_with(mark));
    let brand = |names: &[&[u8]]| at(4, b"ftyp") && names.iter().any(|name| at(8, name));
    if at(0, b"\xff\xd8\xff") {
        Content::Picture(Format::Jpeg)
    } else if at(0, b"\x89PNG\r\n\x1a\n") {
        Content::Picture(Format::Png)
    } else if at(0, b"RIFF") && at(8, b"WEBP") {
        Content::Picture(Format::WebP)
    } else if brand(&[b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"]) {
        Content::OtherPicture(HEIC)
    } else if brand(&[b"avif", b"avis"]) {
        Content::OtherPicture("AVIF")
    } else if at(0, b"\xff\x0a") || at(0, b"\0\0\0\x0cJXL ") {
        Content::OtherPicture("JPEG XL")
    } else if at(0, b"GIF8") {
        Content::OtherPicture("GIF")
    } else if at(0, b"II*\0") || at(0, b"MM\0*") {
        Content::OtherPicture("TIFF or raw camera")
    } else if at(0, b"BM") && at(6, b"\0\0\0\0") {
        Content::OtherPicture("BMP")
    } else {
        Content::Unknown
    }
}

/// What the container tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Inside<'a> {
    /// The EXIF block, where there is one.
    pub exif: Option<&'a [u8]>,
    /// True when the file holds its own end.
    pub complete: bool,
}

/// Walks the container from its start to its end.
pub(super) fn inside(format: Format, bytes: &[u8]) -> Inside<'_> {
    match format {
        Format::Jpeg => jpeg(bytes),
        Format::Png => png(bytes),
        Format::WebP => webp(bytes),
    }
}

fn jpeg(bytes: &[u8]) -> Inside<'_> {
    let mut out = Inside::default();
    let mut at = 2;
    while let Some(marker_at) = next_marker(bytes, at) {
        at = marker_at + 2;
        match bytes[marker_at + 1] {
            0xd9 => {
                out.complete = true;
                break;
            }
            0x01 | 0xd0..=0xd8 => {}
            kind => {
                let Some(length) = be16(bytes, at) else { break };
                let segment = bytes.get(at + 2..at + usize::from(length)).unwrap_or_default();
                if kind == 0xe1 && out.exif.is_none() {
                    out.exif = segment.strip_prefix(b"Exif\0\0");
                }
                at += usize::from(length.max(2));
            }
        }
    }
    out
}

/// Index of the next 0xff that begins a marker, not one that is stuffed into picture data.
fn next_marker(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0xff)?;
        match bytes.get(at + 1)? {
            0xff => at += 1,
            0x00 => at += 2,
            _ => return Some(at),
        }
    }
}

fn png(bytes: &[u8]) -> Inside<'_> {
    let mut out = Inside::default();
    let mut at = 8;
    while let Some((length, kind)) = be32(bytes, at).zip(bytes.get(at + 4..at + 8)) {
        let start = at + 8;
        let Some(end) = start.checked_add(length as usize).filter(|end| *end <= bytes.len()) else { break };
        match kind {
            b"eXIf" => out.exif = out.exif.or(bytes.get(start..end)),
            b"IEND" => {
                out.complete = end + 4 <= bytes.len();
                break;
            }
            _ => {}
        }
        at = end + 4;
    }
    out
}

fn webp(bytes: &[u8]) -> Inside<'_> {
    let complete = le32(bytes, 4).is_some_and(|size| size as usize <= bytes.len() - 8);
    let mut out = Inside { complete, ..Inside::default() };
    let mut at = 12;
    while let Some((length, kind)) = le32(bytes, at + 4).zip(bytes.get(at..at + 4)) {
        let start = at + 8;
        let Some(end) = start.checked_add(length as usize).filter(|end| *end <= bytes.len()) else { break };
        if kind == b"EXIF" {
            out.exif = bytes.get(start..end);
        }
        at = end + (length as usize & 1);
    }
    out
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_content() {
        assert_eq!(content(b"\xff\xd8\xff\xe0\0\x10JFIF"), Content::Picture(Format::Jpeg));
        assert_eq!(content(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Content::Picture(Format::Png));
        assert_eq!(content(b"RIFF\x10\0\0\0WEBPVP8 "), Content::Picture(Format::WebP));
        assert_eq!(content(b"\0\0\0\x18ftypheic"), Content::OtherPicture("HEIC"));
        assert_eq!(content(b"GIF89a"), Content::OtherPicture("GIF"));
        for none in [b"".as_slice(), b"\xff", b"RIFF\0\0\0\0WAVE", b"hello", b"BMW"] {
            assert_eq!(content(none), Content::Unknown);
        }
    }

    #[test]
    fn stuffed_bytes_and_restarts_are_not_the_end_of_a_jpeg() {
        let scan = b"\xff\xd8\xff\xda\0\x03\x01\x11\xff\0\x22\xff\xd0\x33\xff\xff\xd1\x44".to_vec();
        assert!(!jpeg(&scan).complete);
        let whole = [scan, b"\xff\xd9 and what a phone appends".to_vec()].concat();
        assert!(jpeg(&whole).complete);
    }

    #[test]
    fn an_end_mark_inside_a_segment_is_not_the_end() {
        let inner = b"\xff\xd8\xff\xe1\0\x0eExif\0\0\xff\xd8\xff\xd9II";
        let found = jpeg(inner);
        assert!(!found.complete);
        assert_eq!(found.exif, Some(b"\xff\xd8\xff\xd9II".as_slice()));
    }

    #[test]
    fn an_exif_chunk_after_the_pixels_of_a_png_is_found() {
        let chunk = |kind: &[u8], data: &[u8]| [&(data.len() as u32).to_be_bytes(), kind, data, &[0, 0, 0, 0]].concat();
        let file = [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IDAT", b"x"), chunk(b"eXIf", b"MM"), chunk(b"IEND", b"")];
        assert_eq!(png(&file.concat()), Inside { exif: Some(b"MM"), complete: true });
        assert_eq!(png(&file[..3].concat()), Inside { exif: Some(b"MM"), complete: false });
    }

    #[test]
    fn lengths_beyond_the_file_end_the_walk() {
        assert_eq!(png(b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffeXIfMM"), Inside::default());
        assert_eq!(webp(b"RIFF\xff\xff\xff\xffWEBPEXIF\xff\xff\xff\xff"), Inside::default());
        assert_eq!(jpeg(b"\xff\xd8\xff\xe1\xff\xffExif"), Inside::default());
        assert_eq!(jpeg(b"\xff\xd8\xff\xe1\0\0\xff\xd9"), Inside { exif: None, complete: true });
    }
}
