//! The rectified top view: the board as seen from straight above.
//!
//! In: the frame and where the board is. Out: a square picture of the board's plane, [`PX_PER_MM`] pixels a millimetre,
//! the hole's centre in its middle. What rises above the plane leans away from the camera's foot, as in the photo.

use image::RgbImage;
use rayon::prelude::*;

use crate::capture::Frame;
use crate::geometry::{BoardMm, Camera, ImagePx, Point};

use super::Scene;
use super::draw::{At, Canvas};
use super::marks::{self, DARK, LIGHT, Size, View};

/// Scale of the top view: about what a 12-megapixel photo of a board holds.
pub const PX_PER_MM: f64 = 2.0;

/// What is shown around the playing surface, mm: the ditch.
const MARGIN_MM: f64 = 30.0;

/// The board without marks.
pub fn draw(frame: &Frame, scene: &Scene) -> RgbImage {
    let side = side_px(scene);
    let row_bytes = side as usize * 3;
    let mut raw = vec![0u8; row_bytes * side as usize];
    raw.par_chunks_exact_mut(row_bytes).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let board = board_at((x as f64, y as f64), side);
            let image = scene.registration.camera.project(board, 0.0);
            pixel.copy_from_slice(&image.and_then(|at| sample(&frame.rgb, at)).unwrap_or([0; 3]));
        }
    });
    // The buffer has exactly the size of the view.
    RgbImage::from_raw(side, side, raw).unwrap_or_default()
}

/// The board with lines, discs, values and margins.
pub fn draw_marked(frame: &Frame, scene: &Scene) -> RgbImage {
    let mut canvas = Canvas::new(draw(frame, scene));
    let view = FromAbove { camera: &scene.registration.camera, side_px: side_px(scene) };
    let size = Size { line_px: 2.0, text_px: 15.0 };
    marks::rings(&mut canvas, scene, &view, size);
    (0..scene.verdicts.len()).for_each(|disc| marks::disc(&mut canvas, scene, disc, &view, size));
    marks::labels(&mut canvas, scene, &view, size, |_| false);
    let (width, bottom) = (f64::from(canvas.width()), f64::from(canvas.height()));
    canvas.edged_text((width / 2.0, bottom - 18.0), 20.0, LIGHT, DARK, &format!("{PX_PER_MM} px = 1 mm"));
    canvas.into_picture()
}

/// The rectified plane as a view: what stands above it appears where the photo shows it.
struct FromAbove<'a> {
    camera: &'a Camera,
    side_px: u32,
}

impl View for FromAbove<'_> {
    fn at(&self, at: Point<BoardMm>, height_mm: f64) -> Option<At> {
        let seen =
            if height_mm == 0.0 { at } else { self.camera.board_at(self.camera.project(at, height_mm)?, 0.0)? };
        let middle = (f64::from(self.side_px) - 1.0) / 2.0;
        Some((seen.x * PX_PER_MM + middle, seen.y * PX_PER_MM + middle))
    }
}

fn side_px(scene: &Scene) -> u32 {
    let half_mm = scene.registration.surface_mm.clamp(100.0, 1000.0) + MARGIN_MM;
    (2.0 * half_mm * PX_PER_MM).round() as u32
}

fn board_at(at: At, side_px: u32) -> Point<BoardMm> {
    let middle = (f64::from(side_px) - 1.0) / 2.0;
    Point::new((at.0 - middle) / PX_PER_MM, (at.1 - middle) / PX_PER_MM)
}

/// The picture's colour at `at`, between its four nearest pixels; None outside of it.
pub(super) fn sample(picture: &RgbImage, at: Point<ImagePx>) -> Option<[u8; 3]> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let inside = at.x >= -0.5 && at.y >= -0.5 && at.x < width as f64 - 0.5 && at.y < height as f64 - 0.5;
    if !inside {
        return None;
    }
    let (x, y) = (at.x.clamp(0.0, (width - 1) as f64), at.y.clamp(0.0, (height - 1) as f64));
    let (left, top) = (x as usize, y as usize);
    let (right, bottom) = ((left + 1).min(width - 1), (top + 1).min(height - 1));
    let (fx, fy) = (x - left as f64, y - top as f64);
    let raw = picture.as_raw();
    Some([0, 1, 2].map(|channel| {
        let value = |column: usize, row: usize| f64::from(raw[(row * width + column) * 3 + channel]);
        let upper = value(left, top) * (1.0 - fx) + value(right, top) * fx;
        let lower = value(left, bottom) * (1.0 - fx) + value(right, bottom) * fx;
        (upper * (1.0 - fy) + lower * fy).round() as u8
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    use crate::count::{Options, testing::labelled};

    #[test]
    fn a_board_point_appears_at_its_place_and_scale() {
        let mut truth = labelled("dev_010");
        // A bright spot where the picture shows (100, -60) mm.
        let at = truth.registration.camera.project(Point::new(100.0, -60.0), 0.0).unwrap();
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            truth.frame.rgb.put_pixel(at.x as u32 + dx, at.y as u32 + dy, Rgb([255, 0, 255]));
        }
        let scene = truth.count(&Options::default()).scene.unwrap();
        let view = draw(&truth.frame, &scene);
        let middle = (f64::from(view.width()) - 1.0) / 2.0;
        let (x, y) = (middle + 100.0 * PX_PER_MM, middle - 60.0 * PX_PER_MM);
        let spot = view.get_pixel(x.round() as u32, y.round() as u32).0;
        assert!(spot[0] > 240 && spot[1] < 60 && spot[2] > 230, "{spot:?}");
    }

    #[test]
    fn sampling_is_exact_at_pixel_centres_and_even_between() {
        let picture = RgbImage::from_fn(3, 2, |x, y| Rgb([(x * 100) as u8, (y * 200) as u8, 7]));
        assert_eq!(sample(&picture, Point::new(1.0, 1.0)), Some([100, 200, 7]));
        assert_eq!(sample(&picture, Point::new(0.5, 0.25)), Some([50, 50, 7]));
        assert_eq!(sample(&picture, Point::new(-0.5, 0.0)), Some([0, 0, 7]));
        assert_eq!(sample(&picture, Point::new(2.6, 0.0)), None);
    }
}
