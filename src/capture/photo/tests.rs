use super::*;
use exif::Tag;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ExtendedColorType, ImageBuffer, ImageEncoder, Luma, LumaA, Rgb, Rgba};

/// A picture whose left part is red and whose right part is blue.
fn halves(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) })
}

fn jpeg_of(picture: &RgbImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut out, 95);
    if let Some(block) = exif {
        encoder.set_exif_metadata(block).unwrap();
    }
    let (width, height) = picture.dimensions();
    encoder.write_image(picture, width, height, ExtendedColorType::Rgb8).unwrap();
    out
}

fn png_of(picture: &DynamicImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = PngEncoder::new(&mut out);
    if let Some(block) = exif {
        encoder.set_exif_metadata(block).unwrap();
    }
    picture.write_with_encoder(encoder).unwrap();
    out
}

fn webp_of(picture: &RgbImage, exif: Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = WebPEncoder::new_lossless(&mut out);
    if let Some(block) = exif {
        encoder.set_exif_metadata(block).unwrap();
    }
    let (width, height) = picture.dimensions();
    encoder.write_image(picture, width, height, ExtendedColorType::Rgb8).unwrap();
    out
}

fn near(pixel: &Rgb<u8>, expected: [u8; 3], by: u8) -> bool {
    pixel.0.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= by)
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures").join(name)).unwrap()
}

#[test]
fn orientation_is_applied_once_in_every_format() {
    // Orientation 6: the sensor's left side is the viewer's top.
    let turned = Some(lens::block(&[(Tag::Orientation, 6)]));
    let picture = halves(64, 32);
    let files = [
        jpeg_of(&picture, turned.clone()),
        png_of(&DynamicImage::ImageRgb8(picture.clone()), turned.clone()),
        webp_of(&picture, turned),
    ];
    for (index, file) in files.iter().enumerate() {
        let frame = decode("turned", file).unwrap();
        assert_eq!(frame.rgb.dimensions(), (32, 64), "file {index}");
        assert!(near(frame.rgb.get_pixel(16, 5), [220, 20, 20], 6), "file {index}");
        assert!(near(frame.rgb.get_pixel(16, 60), [20, 20, 220], 6), "file {index}");
    }
}

#[test]
fn a_phone_photo_keeps_its_lens_through_the_turn() {
    let tags = lens::block(&[(Tag::Orientation, 6), (Tag::FocalLengthIn35mmFilm, 26)]);
    let frame = decode("phone", &jpeg_of(&halves(400, 300), Some(tags))).unwrap();
    assert_eq!(frame.rgb.dimensions(), (300, 400));
    let (focal_px, _) = frame.lens.focal_px.unwrap();
    assert!((focal_px - 26.0 / 43.27 * 500.0).abs() < 0.1);
}

#[test]
fn sixteen_bits_and_grey_and_alpha_become_plain_rgb() {
    let rgb16 = ImageBuffer::from_pixel(4, 4, Rgb([0x8080u16, 0xffff, 0x0000]));
    let rgba16 = ImageBuffer::from_pixel(4, 4, Rgba([0xffffu16, 0, 0, 0x8080]));
    let grey16 = ImageBuffer::from_pixel(4, 4, Luma([0x4040u16]));
    let grey_alpha16 = ImageBuffer::from_pixel(4, 4, LumaA([0u16, 0]));
    for (picture, expected) in [
        (DynamicImage::ImageRgb16(rgb16), [0x80, 0xff, 0]),
        (DynamicImage::ImageRgba16(rgba16), [255, 127, 127]),
        (DynamicImage::ImageLuma16(grey16), [0x40, 0x40, 0x40]),
        (DynamicImage::ImageLumaA16(grey_alpha16), [255, 255, 255]),
        (DynamicImage::ImageLuma8(ImageBuffer::from_pixel(4, 4, Luma([9]))), [9, 9, 9]),
        (DynamicImage::ImageLumaA8(ImageBuffer::from_pixel(4, 4, LumaA([9, 255]))), [9, 9, 9]),
        (DynamicImage::ImageRgba8(ImageBuffer::from_pixel(4, 4, Rgba([10, 20, 30, 0]))), [255, 255, 255]),
    ] {
        let frame = decode("png", &png_of(&picture, None)).unwrap();
        assert_eq!(frame.rgb.get_pixel(2, 2).0, expected, "{:?}", picture.color());
    }
}

#[test]
fn a_grey_jpeg_is_read() {
    let mut file = Vec::new();
    JpegEncoder::new(&mut file).write_image(&[77; 64], 8, 8, ExtendedColorType::L8).unwrap();
    assert!(near(decode("grey", &file).unwrap().rgb.get_pixel(4, 4), [77; 3], 2));
}

#[test]
fn a_cmyk_jpeg_has_the_colours_of_its_rgb_original() {
    let cmyk = decode("cmyk", &fixture("cmyk.jpg")).unwrap().rgb;
    let plain = decode("plain", &fixture("progressive.jpg")).unwrap().rgb;
    assert_eq!(cmyk.dimensions(), plain.dimensions());
    let sum: u64 = cmyk.as_raw().iter().zip(plain.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = sum as f64 / plain.as_raw().len() as f64;
    assert!(mean < 6.0, "mean difference {mean}");
}

#[test]
fn an_animation_gives_its_first_frame() {
    let first = decode("animated", &fixture("animated.webp")).unwrap().rgb;
    let plain = decode("plain", &fixture("progressive.jpg")).unwrap().rgb;
    assert_eq!(first.dimensions(), plain.dimensions());
    let blue = first.pixels().filter(|pixel| near(pixel, [0, 0, 255], 40)).count();
    assert!(blue * 2 < first.pixels().len(), "a later frame is blue all over");
}

#[test]
fn a_cut_file_is_an_error_however_little_is_missing() {
    let picture = halves(200, 100);
    for file in [
        jpeg_of(&picture, None),
        png_of(&DynamicImage::ImageRgb8(picture.clone()), None),
        webp_of(&picture, None),
        fixture("progressive.jpg"),
        fixture("animated.webp"),
    ] {
        assert!(decode("whole", &file).is_ok());
        for missing in [2, 20, file.len() / 2, file.len() - 40] {
            let read = decode("cut", &file[..file.len() - missing]).map(|frame| frame.rgb.dimensions());
            assert!(matches!(read, Err(PhotoError::Truncated)), "{missing} bytes missing: {read:?}");
        }
    }
}

#[test]
fn a_bomb_is_refused_by_its_header() {
    // A PNG of 60000 x 60000 that holds almost nothing.
    let mut file = png_of(&DynamicImage::ImageRgb8(halves(4, 4)), None);
    file[16..20].copy_from_slice(&60_000u32.to_be_bytes());
    file[20..24].copy_from_slice(&60_000u32.to_be_bytes());
    let crc = crc32(&file[12..29]);
    file[29..33].copy_from_slice(&crc.to_be_bytes());
    let error = decode("bomb", &file).map(|frame| frame.rgb.dimensions()).unwrap_err();
    assert!(matches!(error, PhotoError::TooManyPixels { megapixels: 3600, limit: 120, .. }), "{error}");
    assert!(error.to_string().contains("120"), "the limit is named: {error}");
    // A JPEG whose frame header says 65500 x 65500.
    let mut file = jpeg_of(&halves(16, 16), None);
    let frame = file.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    file[frame + 5..frame + 9].copy_from_slice(&[0xff, 0xdc, 0xff, 0xdc]);
    assert!(matches!(
        decode("bomb", &file).map(|frame| frame.rgb.dimensions()).unwrap_err(),
        PhotoError::TooManyPixels { .. }
    ));
}

#[test]
fn what_is_no_picture_is_refused_with_a_sentence() {
    for (bytes, expected) in [
        (b"".as_slice(), "empty"),
        (b"just some text", "JPEG, PNG or WebP"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", if cfg!(feature = "heic") { "damaged" } else { "HEIC" }),
        (b"\xff\xd8\xff", "cut off"),
    ] {
        let error = decode("no picture", bytes).map(|frame| frame.rgb.dimensions()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_mislabelled_picture_is_read_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.png");
    std::fs::write(&path, jpeg_of(&halves(20, 10), None)).unwrap();
    let frame = read(&path).unwrap();
    assert_eq!(frame.rgb.dimensions(), (20, 10));
    assert_eq!(frame.source, path.to_string_lossy());
}

#[test]
fn folders_and_missing_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read(folder.path()), Err(PhotoError::NotAFile)));
    assert!(matches!(read(&folder.path().join("none.jpg")), Err(PhotoError::Unreadable(_))));
}

/// CRC-32 as PNG has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 })
    })
}
