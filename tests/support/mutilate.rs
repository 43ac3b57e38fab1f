//! Picture files as the world delivers them: whole ones of every kind that has to be read, and what remains of them
//! after a bad copy, a broken editor or a wicked hand.

use super::random::Random;
use image::{DynamicImage, ImageFormat, RgbImage};
use std::io::Cursor;

/// A file with a name for reports.
#[derive(Clone, Debug)]
pub struct Specimen {
    pub name: String,
    pub bytes: Vec<u8>,
}

fn specimen(name: &str, bytes: Vec<u8>) -> Specimen {
    Specimen { name: name.to_owned(), bytes }
}

/// Whole files of `picture`, one of each kind that has to be read.
pub fn whole(picture: &RgbImage) -> Vec<Specimen> {
    let colour = DynamicImage::ImageRgb8(picture.clone());
    let jpeg = encoded(&colour, ImageFormat::Jpeg);
    let png = encoded(&colour, ImageFormat::Png);
    let webp = encoded(&colour, ImageFormat::WebP);
    let mut out = vec![
        specimen("grey.jpg", encoded(&DynamicImage::ImageLuma8(colour.to_luma8()), ImageFormat::Jpeg)),
        specimen("alpha.png", encoded(&DynamicImage::ImageRgba8(colour.to_rgba8()), ImageFormat::Png)),
        specimen("grey16.png", encoded(&DynamicImage::ImageLuma16(colour.to_luma16()), ImageFormat::Png)),
        specimen("rgba16.png", encoded(&DynamicImage::ImageRgba16(colour.to_rgba16()), ImageFormat::Png)),
        specimen("alpha.webp", encoded(&DynamicImage::ImageRgba8(colour.to_rgba8()), ImageFormat::WebP)),
        specimen("animated.webp", animated_webp(&webp, picture.width(), picture.height())),
        specimen("cmyk.jpg", cmyk_jpeg(picture)),
    ];
    for orientation in 1..=8 {
        out.push(specimen(&format!("turned{orientation}.jpg"), with_orientation(&jpeg, orientation)));
    }
    out.push(specimen("plain.jpg", jpeg));
    out.push(specimen("plain.png", png));
    out.push(specimen("plain.webp", webp));
    out
}

/// Files that are no picture, or lie about what they hold.
pub fn lies(picture: &RgbImage) -> Vec<Specimen> {
    let colour = DynamicImage::ImageRgb8(picture.clone());
    let jpeg = encoded(&colour, ImageFormat::Jpeg);
    let png = encoded(&colour, ImageFormat::Png);
    let mut out = vec![
        specimen("empty.jpg", Vec::new()),
        specimen("text.jpg", b"this is no picture".to_vec()),
        specimen("zeroes.png", vec![0; 4096]),
        specimen("magic alone.jpg", jpeg[..4].to_vec()),
        specimen("magic alone.png", png[..8].to_vec()),
        specimen("svg.png", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".to_vec()),
        specimen("gif.jpg", b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00".to_vec()),
    ];
    for (width, height) in [(0, 960), (1280, 0), (0, 0), (65500, 1), (1, 65500), (65500, 65500), (u16::MAX, u16::MAX)] {
        out.push(specimen(&format!("claims {width}x{height}.jpg"), jpeg_claiming(&jpeg, width, height)));
        let (width, height) = (u32::from(width) * 3, u32::from(height) * 3);
        out.push(specimen(&format!("claims {width}x{height}.png"), png_claiming(&png, width, height)));
    }
    for (width, height) in [(65500, 1), (1, 9000), (1, 1), (2, 2), (65500, 16), (16, 16)] {
        let thin = image::imageops::resize(picture, width, height, image::imageops::FilterType::Nearest);
        let file = encoded(&DynamicImage::ImageRgb8(thin), ImageFormat::Png);
        out.push(specimen(&format!("is {width}x{height}.png"), file));
    }
    out.push(specimen("turned by 0.jpg", with_orientation(&jpeg, 0)));
    out.push(specimen("turned by 65535.jpg", with_orientation(&jpeg, 65535)));
    out
}

/// `file` after an accident that `random` decides.
pub fn harmed(file: &Specimen, random: &mut Random) -> Specimen {
    let mut bytes = file.bytes.clone();
    let any = |random: &mut Random, len: usize| random.whole(0, len.saturating_sub(1));
    let what = match random.whole(0, 7) {
        0 => {
            bytes.truncate(any(random, bytes.len()));
            "cut"
        }
        1 => {
            for _ in 0..random.whole(1, 40) {
                let at = any(random, bytes.len());
                bytes[at] ^= 1 << random.whole(0, 7);
            }
            "bits flipped"
        }
        2 => {
            let at = any(random, bytes.len().min(700));
            bytes[at] = random.next() as u8;
            "header byte changed"
        }
        3 => {
            let (from, len) = (any(random, bytes.len()), random.whole(1, 4096));
            let to = (from + len).min(bytes.len());
            bytes[from..to].iter_mut().for_each(|byte| *byte = random.next() as u8);
            "block overwritten"
        }
        4 => {
            let (from, len) = (any(random, bytes.len()), random.whole(1, 4096));
            bytes.drain(from..(from + len).min(bytes.len()));
            "block lost"
        }
        5 => {
            let (from, len) = (any(random, bytes.len()), random.whole(1, 2048));
            let block = bytes[from..(from + len).min(bytes.len())].to_vec();
            let at = any(random, bytes.len());
            bytes.splice(at..at, block);
            "block doubled"
        }
        6 => {
            let extreme = random.pick(&[0u8, 1, 0x7F, 0x80, 0xFF]);
            let from = any(random, bytes.len().min(2000));
            let to = (from + random.whole(1, 4)).min(bytes.len());
            bytes[from..to].fill(extreme);
            "length made extreme"
        }
        _ => {
            bytes.extend((0..random.whole(1, 5000)).map(|_| random.next() as u8));
            "rubbish behind"
        }
    };
    Specimen { name: format!("{} ({what})", file.name), bytes }
}

fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).expect("a picture in memory can be encoded");
    bytes.into_inner()
}

/// A JPEG with an EXIF block that says nothing but the orientation.
pub fn with_orientation(jpeg: &[u8], orientation: u16) -> Vec<u8> {
    let mut tiff = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    tiff.extend(orientation.to_le_bytes());
    tiff.extend([0; 6]);
    let mut out = jpeg[..2].to_vec();
    out.extend([0xFF, 0xE1]);
    out.extend((tiff.len() as u16 + 2).to_be_bytes());
    out.extend(tiff);
    out.extend(&jpeg[2..]);
    out
}

/// A JPEG whose frame header claims another size.
fn jpeg_claiming(jpeg: &[u8], width: u16, height: u16) -> Vec<u8> {
    let mut out = jpeg.to_vec();
    let frame = out.windows(2).position(|pair| pair == [0xFF, 0xC0]).expect("a baseline JPEG has a frame header");
    out[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    out[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    out
}

/// A PNG whose header claims another size, with a right checksum.
fn png_claiming(png: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut out = png.to_vec();
    out[16..20].copy_from_slice(&width.to_be_bytes());
    out[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc32(&out[12..29]);
    out[29..33].copy_from_slice(&sum.to_be_bytes());
    out
}

/// The checksum of PNG chunks (ISO 3309).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

/// Two frames of the still lossless `webp`, as an animation.
fn animated_webp(webp: &[u8], width: u32, height: u32) -> Vec<u8> {
    let at = webp.windows(4).position(|tag| tag == b"VP8L").expect("the encoder writes lossless WebP");
    let size = u32::from_le_bytes([webp[at + 4], webp[at + 5], webp[at + 6], webp[at + 7]]) as usize;
    let image = &webp[at..at + 8 + size + size % 2];
    let chunk = |tag: &[u8; 4], body: &[u8]| {
        let mut out = tag.to_vec();
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(body);
        out
    };
    let three = |value: u32| value.to_le_bytes()[..3].to_vec();
    let size = [three(width - 1), three(height - 1)].concat();
    let mut body = b"WEBP".to_vec();
    body.extend(chunk(b"VP8X", &[&[0b10, 0, 0, 0][..], &size].concat()));
    body.extend(chunk(b"ANIM", &[0; 6]));
    for _ in 0..2 {
        let frame = [&[0; 6][..], &size, &three(100), &[0], image].concat();
        body.extend(chunk(b"ANMF", &frame));
    }
    chunk(b"RIFF", &body)
}

/// The picture as a baseline JPEG of four ink channels, each 8 x 8 block in one colour: only the mean of a block is
/// coded, which needs no more of the format than Huffman codes for differences.
fn cmyk_jpeg(picture: &RgbImage) -> Vec<u8> {
    let (across, down) = (picture.width().div_ceil(8), picture.height().div_ceil(8));
    let mosaic = image::imageops::resize(picture, across, down, image::imageops::FilterType::Triangle);
    let mut out = vec![0xFF, 0xD8];
    let mut segment = |marker: u8, body: &[u8]| {
        out.extend([0xFF, marker]);
        out.extend((body.len() as u16 + 2).to_be_bytes());
        out.extend(body);
    };
    // Adobe's mark, without which four channels mean nothing: no transform, inks inverted.
    segment(0xEE, b"Adobe\0\x64\0\0\0\0\0");
    segment(0xDB, &[&[0][..], &[8; 64]].concat());
    let [h1, h0] = ((down * 8) as u16).to_be_bytes();
    let [w1, w0] = ((across * 8) as u16).to_be_bytes();
    segment(0xC0, &[8, h1, h0, w1, w0, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0]);
    // Sixteen codes of four bits for the number of bits of a difference (0 to 11), all but the last of them used.
    let sizes: Vec<u8> = (0..12).collect();
    segment(0xC4, &[&[0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &sizes].concat());
    // One code of one bit: the block ends here.
    segment(0xC4, &[0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00]);
    segment(0xDA, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]);
    let mut bits = Bits::default();
    let mut last = [0i32; 4];
    for pixel in mosaic.pixels() {
        let [r, g, b] = pixel.0;
        for (last, ink) in last.iter_mut().zip([r, g, b, 255]) {
            let mean = i32::from(ink) - 128;
            let difference = mean - *last;
            *last = mean;
            let size = 32 - difference.unsigned_abs().leading_zeros();
            bits.push(size, 4);
            let value = if difference < 0 { difference + (1 << size) - 1 } else { difference };
            bits.push(value as u32, size);
            bits.push(0, 1);
        }
    }
    out.extend(bits.finish());
    out.extend([0xFF, 0xD9]);
    out
}

/// Bits into bytes, most significant first, with JPEG's stuffing after 0xFF.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, value: u32, size: u32) {
        for bit in (0..size).rev() {
            self.held = self.held << 1 | value >> bit & 1;
            self.count += 1;
            if self.count == 8 {
                let byte = self.held as u8;
                self.bytes.push(byte);
                if byte == 0xFF {
                    self.bytes.push(0);
                }
                (self.held, self.count) = (0, 0);
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        while self.count != 0 {
            self.push(1, 1);
        }
        self.bytes
    }
}
