//! Is there light enough on the board, and does a lamp mirror in it?
//!
//! In: a picture and where the board is (without it, the whole picture is looked at). Out: a [`Light`]. What is white as
//! paper everywhere it looks is burnt out: nothing can be measured there.

use image::RgbImage;
use serde::Serialize;

use crate::geometry::Point;
use crate::register::Registration;

/// Distance between the places that are looked at, mm.
const STEP_MM: f64 = 6.0;
/// Places in a row and a column of a picture without a board.
const GRID: u32 = 64;
/// A channel this high, of 255, is at the sensor's end.
const BURNT: u8 = 250;
/// Median brightness, of 255, below which discs and lines drown in noise: webcams then show 3 levels of it and more.
const DARK: u8 = 40;
/// Share of the board that may be burnt out before lines are lost in it: a lamp's mirror image covers more.
const GLARE_PERCENT: u8 = 2;

/// Brightness is told in steps of this: a sensor's noise is no news.
const STEPS: u8 = 5;

/// The light on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Light {
    /// Median brightness, 0 to 255, in steps of 5.
    pub brightness: u8,
    /// Share that is burnt out, percent.
    pub burnt_percent: u8,
    /// Too dark to be sure of anything?
    pub dark: bool,
    /// Does a lamp mirror in the board?
    pub glare: bool,
}

/// Measures the light.
pub fn light(rgb: &RgbImage, board: Option<&Registration>) -> Light {
    let mut brightness: Vec<u8> = Vec::new();
    let mut burnt = 0usize;
    let mut look = |x: f64, y: f64| {
        let (column, row) = (x.round(), y.round());
        if column < 0.0 || row < 0.0 || column >= f64::from(rgb.width()) || row >= f64::from(rgb.height()) {
            return;
        }
        let [r, g, b] = rgb.get_pixel(column as u32, row as u32).0;
        brightness.push(((u32::from(r) * 77 + u32::from(g) * 151 + u32::from(b) * 28) >> 8) as u8);
        burnt += usize::from(r.min(g).min(b) >= BURNT);
    };
    match board {
        Some(board) => {
            let reach = (board.surface_mm / STEP_MM).floor() as i32;
            for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
                let at = Point::new(f64::from(i) * STEP_MM, f64::from(j) * STEP_MM);
                if at.norm() < board.surface_mm
                    && let Some(seen) = board.camera.project(at, 0.0)
                {
                    look(seen.x, seen.y);
                }
            }
        }
        None => {
            let at = |index: u32, side: u32| (f64::from(index) + 0.5) * f64::from(side) / f64::from(GRID) - 0.5;
            for (column, row) in (0..GRID).flat_map(|column| (0..GRID).map(move |row| (column, row))) {
                look(at(column, rgb.width()), at(row, rgb.height()));
            }
        }
    }
    if brightness.is_empty() {
        return Light::default();
    }
    let middle = brightness.len() / 2;
    let median = *brightness.select_nth_unstable(middle).1;
    let burnt_percent = (100 * burnt / brightness.len()) as u8;
    // A white wall around a board that is not known yet says nothing about the board.
    let glare = board.is_some() && burnt_percent >= GLARE_PERCENT;
    Light { brightness: median / STEPS * STEPS, burnt_percent, dark: median < DARK, glare }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Frame, LensHint};
    use crate::register;
    use image::Rgb;

    fn frame() -> Frame {
        let photo = image::load_from_memory(include_bytes!("../../samples/cherry-twenty.jpg")).unwrap();
        Frame { source: "x".to_owned(), rgb: photo.to_rgb8(), lens: LensHint::default() }
    }

    #[test]
    fn a_photo_in_good_light_is_neither_dark_nor_burnt_out() {
        let frame = frame();
        let board = register::register(&frame, &register::Config::default()).unwrap();
        let seen = light(&frame.rgb, Some(&board));
        assert!(!seen.dark && !seen.glare && seen.brightness > 60, "{seen:?}");
    }

    #[test]
    fn a_mirrored_lamp_and_the_dark_are_told() {
        let mut frame = frame();
        let board = register::register(&frame, &register::Config::default()).unwrap();
        let dim = RgbImage::from_fn(frame.rgb.width(), frame.rgb.height(), |x, y| {
            Rgb(frame.rgb.get_pixel(x, y).0.map(|value| value / 6))
        });
        assert!(light(&dim, Some(&board)).dark && light(&dim, None).dark);
        for (x, y, pixel) in frame.rgb.enumerate_pixels_mut() {
            let at = board.camera.board_at(Point::new(f64::from(x), f64::from(y)), 0.0);
            if at.is_some_and(|at| at.distance(Point::new(120.0, 60.0)) < 60.0) {
                *pixel = Rgb([255; 3]);
            }
        }
        let seen = light(&frame.rgb, Some(&board));
        assert!(seen.glare && !seen.dark, "{seen:?}");
        assert_eq!(light(&RgbImage::new(0, 0), None), Light::default());
    }
}
