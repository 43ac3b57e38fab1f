//! Pictures for the report: the photo made small, the board from above, and enlarged discs.
//!
//! In: the decoded photo and what was measured in it. Out: JPEG files in memory. They hold pixels alone: lines, discs and
//! values are drawn over them by the report.

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder, RgbImage};

use crate::count::report::Report;
use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::picture::{sample_rgb, shrink};

/// How large and how fine the pictures of one photo are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// For a photo that nobody needs to look at.
    Plain,
    /// For one that a person has to judge.
    Fine,
}

/// Half the side of the square that the view from above shows, mm: the playing surface and the ditch.
pub const TOP_REACH_MM: f64 = 372.0;

/// Half the side of the square that an enlarged disc is shown in, mm: the disc, and the line beside it.
pub const INSET_REACH_MM: f64 = 34.0;

/// Side of an enlarged disc, px.
const INSET_PX: u32 = 340;

/// A picture to be kept: the end of its file's name, and its content.
#[derive(Clone, Debug)]
pub struct Made {
    /// For example `photo.jpg`.
    pub name: String,
    /// JPEG.
    pub bytes: Vec<u8>,
}

/// Names of all pictures that the report shows of a photo.
pub fn names(report: &Report, grade: Grade) -> Vec<String> {
    let mut names = vec![photo_name(grade).to_owned()];
    if report.board.is_some() {
        names.push(top_name(grade).to_owned());
        names.extend(insets(report).into_iter().map(|(name, _)| name));
    }
    names
}

/// Name of the photo itself.
pub fn photo_name(grade: Grade) -> &'static str {
    match grade {
        Grade::Plain => "photo.jpg",
        Grade::Fine => "photo-fine.jpg",
    }
}

/// Name of the view from above.
pub fn top_name(grade: Grade) -> &'static str {
    match grade {
        Grade::Plain => "top.jpg",
        Grade::Fine => "top-fine.jpg",
    }
}

/// What is shown enlarged: the name of its picture, and its middle on the board. Close and doubtful discs by their number,
/// then what was not taken for a disc, but may be one, in the order of the doubts.
fn insets(report: &Report) -> Vec<(String, [f64; 2])> {
    let doubted = |id: u32| report.review.iter().any(|doubt| doubt.disc == Some(id));
    let discs = report.discs.iter().filter(|disc| disc.close || doubted(disc.id));
    let discs = discs.map(|disc| (format!("disc-{}.jpg", disc.id), disc.base_mm));
    let spots = report.review.iter().filter_map(|doubt| doubt.at_mm).enumerate();
    discs.chain(spots.map(|(at, place)| (format!("spot-{}.jpg", at + 1), place))).collect()
}

/// Makes the pictures of a photo. Without a board there is the photo alone.
///
/// # Errors
/// The encoder refuses, which it does for pictures without a pixel.
pub fn make(
    photo: &RgbImage,
    report: &Report,
    camera: Option<&Camera>,
    grade: Grade,
) -> Result<Vec<Made>, image::ImageError> {
    let (width_px, top_px, quality) = match grade {
        Grade::Plain => (640, 372, 70),
        Grade::Fine => (1400, 744, 82),
    };
    let small = shrink(photo, photo.width().div_ceil(width_px));
    let mut out = vec![Made { name: photo_name(grade).to_owned(), bytes: jpeg(&small, quality)? }];
    if let Some(camera) = camera {
        let top = from_above(photo, camera, Point::new(0.0, 0.0), TOP_REACH_MM, top_px);
        out.push(Made { name: top_name(grade).to_owned(), bytes: jpeg(&top, quality)? });
        for (name, [x, y]) in insets(report) {
            let inset = from_above(photo, camera, Point::new(x, y), INSET_REACH_MM, INSET_PX);
            out.push(Made { name, bytes: jpeg(&inset, 85)? });
        }
    }
    Ok(out)
}

/// Projection is exact at the corners of squares of this side, px, and even between them: the error of that is far below
/// a pixel.
const GRID_PX: u32 = 8;

/// The board's plane about `middle`, `reach_mm` to each side, seen from straight above; black where the photo ends.
fn from_above(photo: &RgbImage, camera: &Camera, middle: Point<BoardMm>, reach_mm: f64, side_px: u32) -> RgbImage {
    let mm_per_px = 2.0 * reach_mm / f64::from(side_px);
    let corners = side_px.div_ceil(GRID_PX) + 1;
    let at = |column: u32, row: u32| {
        let mm = |index: u32| (f64::from(index * GRID_PX) + 0.5) * mm_per_px - reach_mm;
        camera.project(middle.offset(mm(column), mm(row)), 0.0)
    };
    let grid: Vec<_> = (0..corners * corners).map(|k| at(k % corners, k / corners)).collect();
    RgbImage::from_fn(side_px, side_px, |x, y| {
        let (column, row) = (x / GRID_PX, y / GRID_PX);
        let corner = |dx: u32, dy: u32| grid[((row + dy) * corners + column + dx) as usize];
        let (Some(a), Some(b), Some(c), Some(d)) = (corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)) else {
            return image::Rgb([0; 3]);
        };
        let [u, v] = [x % GRID_PX, y % GRID_PX].map(|part| f64::from(part) / f64::from(GRID_PX));
        let mix = |a: f64, b: f64, c: f64, d: f64| (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v;
        let seen = sample_rgb(photo, mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y));
        image::Rgb(seen.unwrap_or_default().map(|value| value.round() as u8))
    })
}

fn jpeg(picture: &RgbImage, quality: u8) -> Result<Vec<u8>, image::ImageError> {
    let mut out = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut out, quality);
    encoder.write_image(picture, picture.width(), picture.height(), ExtendedColorType::Rgb8)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgb;

    #[test]
    fn a_place_on_the_board_is_where_the_view_from_above_says() {
        // Tilted and turned, 1 px a mm: the picture holds a bright square about the board point (100, -60) mm.
        let camera =
            crate::register::solve::unpack(&[900f64.ln(), 400.0, 400.0, -0.08, 0.01, 0.3, -0.2, 410.0, 390.0, 0.0]);
        let target = Point::<BoardMm>::new(100.0, -60.0);
        let photo = RgbImage::from_fn(800, 800, |x, y| {
            let near = camera
                .board_at(Point::new(f64::from(x), f64::from(y)), 0.0)
                .is_some_and(|at| at.distance(target) < 4.0);
            Rgb(if near { [255; 3] } else { [0; 3] })
        });
        let (side, reach) = (400u32, 200.0);
        let view = from_above(&photo, &camera, Point::new(0.0, 0.0), reach, side);
        let bright = view.enumerate_pixels().filter(|(_, _, pixel)| pixel[0] > 128);
        let (mut sum, mut count) = ([0.0, 0.0], 0.0);
        for (x, y, _) in bright {
            let mm = |index: u32| (f64::from(index) + 0.5) * 2.0 * reach / f64::from(side) - reach;
            sum = [sum[0] + mm(x), sum[1] + mm(y)];
            count += 1.0;
        }
        assert!(count > 20.0);
        assert!((sum[0] / count - 100.0).abs() < 0.5 && (sum[1] / count + 60.0).abs() < 0.5, "{sum:?} / {count}");
    }

    #[test]
    fn what_may_be_a_disc_is_shown_enlarged_too() {
        let mut report = crate::audit::testing::report(&[10], &[]);
        report.discs[0].close = true;
        report.review.push(crate::count::report::Review {
            disc: None,
            reason: String::new(),
            at_mm: Some([116.0, 0.0]),
            total_if_other: Default::default(),
        });
        let at = report.discs[0].base_mm;
        let expected = [("disc-1.jpg".to_owned(), at), ("spot-1.jpg".to_owned(), [116.0, 0.0])];
        assert_eq!(insets(&report), expected);
    }

    #[test]
    fn a_photo_without_a_board_is_shown_small() {
        let photo = RgbImage::new(2000, 1500);
        let report = Report::error("x.jpg", String::new());
        let made = make(&photo, &report, None, Grade::Plain).unwrap();
        let names: Vec<&str> = made.iter().map(|made| made.name.as_str()).collect();
        assert_eq!(names, super::names(&report, Grade::Plain));
        let small = image::load_from_memory(&made[0].bytes).unwrap();
        assert_eq!((small.width(), small.height()), (500, 375));
    }
}
