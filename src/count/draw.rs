//! A small canvas: anti-aliased strokes, plates and text on an RGB picture.
//!
//! Positions are pixels of the canvas, pixel centres at whole numbers. A stroke is laid into a coverage mask first and
//! blended once, so that a half-transparent line does not darken where its pieces meet.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use image::{Rgb, RgbImage};

/// DejaVu Sans Bold; its licence stands beside it.
const FONT_FILE: &[u8] = include_bytes!("../../assets/DejaVuSans-Bold.ttf");

/// A colour on the canvas.
pub(super) type Colour = [u8; 3];

/// A position on the canvas, px.
pub(super) type At = (f64, f64);

/// A picture to draw on.
pub(super) struct Canvas {
    picture: RgbImage,
    mask: Vec<f32>,
}

impl Canvas {
    pub fn new(picture: RgbImage) -> Self {
        let mask = vec![0.0; picture.width() as usize * picture.height() as usize];
        Self { picture, mask }
    }

    pub fn filled(width: u32, height: u32, colour: Colour) -> Self {
        Self::new(RgbImage::from_pixel(width, height, Rgb(colour)))
    }

    pub fn into_picture(self) -> RgbImage {
        self.picture
    }

    pub fn width(&self) -> u32 {
        self.picture.width()
    }

    pub fn height(&self) -> u32 {
        self.picture.height()
    }

    /// Draws through `path`, `width` px thick; None breaks the line.
    pub fn stroke(&mut self, path: &[Option<At>], width: f64, colour: Colour, alpha: f64) {
        let mut touched = Area::empty();
        for pair in path.windows(2) {
            if let [Some(from), Some(to)] = *pair {
                touched.include(self.lay(from, to, width / 2.0));
            }
        }
        self.blend(&touched, colour, alpha);
    }

    /// Lays one piece of a stroke into the mask, and says where.
    fn lay(&mut self, from: At, to: At, half: f64) -> Area {
        let area = Area::around(from, to, half + 1.0).within(self.picture.width(), self.picture.height());
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length2 = (dx * dx + dy * dy).max(1e-12);
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let (px, py) = (x as f64 - from.0, y as f64 - from.1);
                let along = ((px * dx + py * dy) / length2).clamp(0.0, 1.0);
                let distance = (px - along * dx).hypot(py - along * dy);
                let coverage = (half + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let mask = &mut self.mask[y * self.picture.width() as usize + x];
                *mask = mask.max(coverage);
            }
        }
        area
    }

    /// Blends what was laid into the mask and clears it.
    fn blend(&mut self, area: &Area, colour: Colour, alpha: f64) {
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let mask = &mut self.mask[y * self.picture.width() as usize + x];
                if *mask > 0.0 {
                    mix(self.picture.get_pixel_mut(x as u32, y as u32), colour, f64::from(*mask) * alpha);
                    *mask = 0.0;
                }
            }
        }
    }

    /// A filled rectangle.
    pub fn plate(&mut self, left: f64, top: f64, width: f64, height: f64, colour: Colour, alpha: f64) {
        let area = Area::around((left, top), (left + width - 1.0, top + height - 1.0), 0.0)
            .within(self.picture.width(), self.picture.height());
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                mix(self.picture.get_pixel_mut(x as u32, y as u32), colour, alpha);
            }
        }
    }

    /// Text whose first letter's line box has its left top corner at `at`, `size` px high.
    pub fn text(&mut self, at: At, size: f64, colour: Colour, text: &str) {
        let Some(font) = font() else { return };
        let scale = PxScale::from(size as f32);
        let scaled = font.as_scaled(scale);
        let mut pen = at.0 as f32;
        let baseline = at.1 as f32 + scaled.ascent();
        for glyph in glyphs(text) {
            let outlined = font.outline_glyph(glyph.with_scale_and_position(scale, point(pen, baseline)));
            if let Some(outlined) = outlined {
                let corner = outlined.px_bounds().min;
                outlined.draw(|x, y, coverage| {
                    let (x, y) = (corner.x as i64 + i64::from(x), corner.y as i64 + i64::from(y));
                    let inside = (0..i64::from(self.picture.width())).contains(&x)
                        && (0..i64::from(self.picture.height())).contains(&y);
                    if inside {
                        mix(self.picture.get_pixel_mut(x as u32, y as u32), colour, f64::from(coverage));
                    }
                });
            }
            pen += scaled.h_advance(glyph);
        }
    }

    /// Text with its middle at `at`, edged in `edge` so that it reads on anything.
    pub fn edged_text(&mut self, at: At, size: f64, colour: Colour, edge: Colour, text: &str) {
        let corner = (at.0 - text_width(size, text) / 2.0, at.1 - size / 2.0);
        let by = (size / 14.0).max(1.0);
        for (dx, dy) in
            [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (-0.7, -0.7), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7)]
        {
            self.text((corner.0 + dx * by, corner.1 + dy * by), size, edge, text);
        }
        self.text(corner, size, colour, text);
    }

    /// Lays another picture over this one, its left top pixel at (left, top).
    pub fn paste(&mut self, picture: &RgbImage, left: u32, top: u32) {
        image::imageops::replace(&mut self.picture, picture, i64::from(left), i64::from(top));
    }
}

/// Width of `text`, px.
pub(super) fn text_width(size: f64, text: &str) -> f64 {
    let Some(font) = font() else { return 0.0 };
    let scaled = font.as_scaled(PxScale::from(size as f32));
    f64::from(glyphs(text).map(|glyph| scaled.h_advance(glyph)).sum::<f32>())
}

/// `text` in lines no wider than `width` px, broken between words.
pub(super) fn wrapped(size: f64, width: f64, text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(size, &format!("{line} {word}")) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// None only if the embedded font were no font: a test holds that it is one.
fn font() -> Option<&'static FontRef<'static>> {
    static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::try_from_slice(FONT_FILE).ok());
    FONT.as_ref()
}

fn glyphs(text: &str) -> impl Iterator<Item = GlyphId> + '_ {
    text.chars().filter_map(|letter| font().map(|font| font.glyph_id(letter)))
}

fn mix(pixel: &mut Rgb<u8>, colour: Colour, alpha: f64) {
    for (channel, wanted) in pixel.0.iter_mut().zip(colour) {
        let value = f64::from(*channel) + (f64::from(wanted) - f64::from(*channel)) * alpha;
        *channel = value.round().clamp(0.0, 255.0) as u8;
    }
}

/// A rectangle of pixels, right and bottom exclusive.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Area {
    fn empty() -> Self {
        Self { left: usize::MAX, top: usize::MAX, right: 0, bottom: 0 }
    }

    fn around(a: At, b: At, margin: f64) -> Self {
        // Casts of negative and huge numbers saturate.
        Self {
            left: (a.0.min(b.0) - margin).floor() as usize,
            top: (a.1.min(b.1) - margin).floor() as usize,
            right: (a.0.max(b.0) + margin + 1.0).ceil() as usize,
            bottom: (a.1.max(b.1) + margin + 1.0).ceil() as usize,
        }
    }

    fn within(self, width: u32, height: u32) -> Self {
        let (right, bottom) = (self.right.min(width as usize), self.bottom.min(height as usize));
        Self { left: self.left.min(right), top: self.top.min(bottom), right, bottom }
    }

    fn include(&mut self, other: Self) {
        if other.left < other.right && other.top < other.bottom {
            self.left = self.left.min(other.left);
            self.top = self.top.min(other.top);
            self.right = self.right.max(other.right);
            self.bottom = self.bottom.max(other.bottom);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Colour = [255; 3];

    fn lit(canvas: &Canvas) -> f64 {
        canvas.picture.as_raw().iter().map(|&v| f64::from(v)).sum::<f64>() / (3.0 * 255.0)
    }

    #[test]
    fn a_stroke_covers_its_length_times_its_width() {
        let mut canvas = Canvas::filled(100, 60, [0; 3]);
        canvas.stroke(&[Some((20.0, 20.3)), Some((80.0, 37.9))], 3.0, WHITE, 1.0);
        let length = 60.0f64.hypot(17.6);
        // Round ends add half a disc each.
        let expected = length * 3.0 + std::f64::consts::PI * 1.5 * 1.5;
        assert!((lit(&canvas) - expected).abs() < 0.03 * expected, "{} {expected}", lit(&canvas));
    }

    #[test]
    fn a_half_transparent_stroke_is_even_where_its_pieces_meet() {
        let mut canvas = Canvas::filled(40, 20, [0; 3]);
        canvas.stroke(&[Some((5.0, 10.0)), Some((20.0, 10.0)), Some((35.0, 10.0))], 3.0, WHITE, 0.5);
        let row: Vec<u8> = (8..32).map(|x| canvas.picture.get_pixel(x, 10).0[0]).collect();
        assert!(row.iter().all(|&v| v == 128), "{row:?}");
    }

    #[test]
    fn drawing_beyond_the_edges_is_cut_off() {
        let mut canvas = Canvas::filled(10, 10, [0; 3]);
        canvas.stroke(&[Some((-1e9, 5.0)), None, Some((-50.0, 5.0)), Some((50.0, 5.0))], 2.0, WHITE, 1.0);
        canvas.plate(-5.0, -5.0, 300.0, 7.0, WHITE, 1.0);
        canvas.text((-20.0, -10.0), 30.0, WHITE, "edge");
        canvas.paste(&RgbImage::new(40, 40), 5, 5);
        assert_eq!(canvas.picture.get_pixel(0, 0).0, WHITE);
    }

    #[test]
    fn text_is_as_wide_as_measured() {
        let mut canvas = Canvas::filled(300, 60, [0; 3]);
        canvas.text((10.0, 10.0), 30.0, WHITE, "15 +1.4");
        let columns: Vec<u32> =
            (0..300).filter(|&x| (0..60).any(|y| canvas.picture.get_pixel(x, y).0[0] > 128)).collect();
        let (first, last) = (columns[0], columns[columns.len() - 1]);
        let width = text_width(30.0, "15 +1.4");
        assert!(first >= 10 && f64::from(last) <= 10.0 + width && f64::from(last - first) > 0.8 * width);
    }

    #[test]
    fn long_text_is_broken_between_words() {
        let text = "0.1 mm from the 10 line (give or take 0.2): 10 or 5";
        let lines = wrapped(20.0, 200.0, text);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|line| text_width(20.0, line) <= 200.0));
        assert_eq!(lines.join(" "), text);
    }
}
