//! The calibration sheet: found in pictures, and solved for the lens, through OpenCV.

use image::RgbImage;
use opencv::calib3d::{
    CALIB_CB_ACCURACY, CALIB_CB_NORMALIZE_IMAGE, CALIB_FIX_ASPECT_RATIO, CALIB_FIX_K3, CALIB_ZERO_TANGENT_DIST,
    find_chessboard_corners_sb,
};
use opencv::core::{Mat, MatExprTraitConst, MatTraitConst, Point2f, Point3f, Size, Vector};

use super::camera::CameraError;
use super::lens::MeasuredLens;
use super::views::{CORNERS, Corners, Solved, Views};

/// Looks for the sheet's inner corners.
///
/// # Errors
/// OpenCV fails.
pub fn corners(rgb: &RgbImage) -> Result<Option<Corners>, CameraError> {
    let grey = image::imageops::grayscale(rgb);
    let rows = i32::try_from(grey.height()).unwrap_or(i32::MAX);
    let flat = Mat::from_slice(grey.as_raw())?;
    let picture = flat.reshape(1, rows)?;
    let size = Size::new(CORNERS[0] as i32, CORNERS[1] as i32);
    let mut found: Vector<Point2f> = Vector::new();
    let flags = CALIB_CB_NORMALIZE_IMAGE | CALIB_CB_ACCURACY;
    let seen = find_chessboard_corners_sb(&picture, size, &mut found, flags)?;
    Ok((seen && found.len() == CORNERS[0] * CORNERS[1])
        .then(|| found.iter().map(|point| [f64::from(point.x), f64::from(point.y)]).collect()))
}

/// The lens that explains the views best: one focal length, two radial terms.
///
/// # Errors
/// OpenCV fails.
pub fn solve(views: &Views) -> Result<Solved, CameraError> {
    let [columns, _] = CORNERS;
    let sheet: Vector<Point3f> =
        (0..CORNERS[0] * CORNERS[1]).map(|i| Point3f::new((i % columns) as f32, (i / columns) as f32, 0.0)).collect();
    let sheets: Vector<Vector<Point3f>> = views.kept().iter().map(|_| sheet.clone()).collect();
    let seen: Vector<Vector<Point2f>> = views
        .kept()
        .iter()
        .map(|view| view.iter().map(|[x, y]| Point2f::new(*x as f32, *y as f32)).collect::<Vector<Point2f>>())
        .collect();
    let (w, h) = views.size_px();
    let size = Size::new(w as i32, h as i32);
    // Square pixels: the ratio is taken from here and held.
    let mut matrix = Mat::eye(3, 3, opencv::core::CV_64F)?.to_mat()?;
    let mut distortion = Mat::default();
    let (mut turns, mut shifts): (Vector<Mat>, Vector<Mat>) = (Vector::new(), Vector::new());
    let rms_px = opencv::calib3d::calibrate_camera(
        &sheets,
        &seen,
        size,
        &mut matrix,
        &mut distortion,
        &mut turns,
        &mut shifts,
        CALIB_FIX_ASPECT_RATIO | CALIB_FIX_K3 | CALIB_ZERO_TANGENT_DIST,
        opencv::core::TermCriteria::new(3, 60, 1e-9)?,
    )?;
    let at = |row: i32, column: i32| matrix.at_2d::<f64>(row, column).copied();
    let term = |index: i32| distortion.at::<f64>(index).copied();
    Ok(Solved {
        focal_px: at(0, 0)?,
        lens: MeasuredLens { principal_px: [at(0, 2)?, at(1, 2)?], distortion: [term(0)?, term(1)?] },
        rms_px,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::views::Offered;
    use crate::geometry::{Camera, Point};
    use image::Rgb;

    /// The sheet seen by a camera of known lens, turned by the given angles and shifted (in squares).
    fn picture(turn: [f64; 2], shift: [f64; 2]) -> RgbImage {
        let ((sx, cx), (sy, cy)) = (turn[0].sin_cos(), turn[1].sin_cos());
        let camera = Camera {
            focal_px: 700.0,
            principal: Point::new(410.0, 295.0),
            k1: -0.12,
            k2: 0.02,
            rotation: [[cy, sx * sy, cx * sy], [0.0, cx, -sx], [-sy, sx * cy, cx * cy]],
            translation_mm: [shift[0], shift[1], 18.0],
        };
        RgbImage::from_fn(800, 600, |x, y| {
            let light = |dx: f64, dy: f64| -> f64 {
                let Some(at) = camera.board_at(Point::new(f64::from(x) + dx, f64::from(y) + dy), 0.0) else {
                    return 0.6;
                };
                let (u, v) = (at.x + 5.0, at.y + 3.5);
                let on = (0.0..10.0).contains(&u) && (0.0..7.0).contains(&v);
                match (on, (u.floor() + v.floor()) as i64 % 2 == 0) {
                    (true, true) => 0.08,
                    (true, false) => 0.9,
                    _ => 0.9 * f64::from(u8::from((-1.0..11.0).contains(&u) && (-1.0..8.0).contains(&v))).max(0.4),
                }
            };
            let sum: f64 = (0..16).map(|i| light(f64::from(i % 4) / 4.0 - 0.375, f64::from(i / 4) / 4.0 - 0.375)).sum();
            Rgb([(sum / 16.0 * 255.0) as u8; 3])
        })
    }

    #[test]
    fn a_known_lens_is_found_from_a_dozen_views() {
        let mut views = Views::new((800, 600));
        for (turn, shift) in [
            ([0.0, 0.0], [-4.0, -3.0]),
            ([0.0, 0.0], [4.0, -3.0]),
            ([0.0, 0.0], [-4.0, 3.0]),
            ([0.0, 0.0], [4.0, 3.0]),
            ([0.5, 0.0], [0.0, 1.5]),
            ([-0.5, 0.0], [1.0, -2.0]),
            ([0.0, 0.5], [2.5, 0.0]),
            ([0.0, -0.5], [-2.5, 0.0]),
            ([0.4, 0.4], [1.0, -0.5]),
        ] {
            let seen = corners(&picture(turn, shift)).unwrap().expect("the sheet is in the picture");
            assert_eq!(views.offer(seen), Offered::Kept);
        }
        let solved = solve(&views).unwrap();
        assert!((solved.focal_px / 700.0 - 1.0).abs() < 0.005, "{solved:?}");
        assert!((solved.lens.principal_px[0] - 410.0).abs() < 3.0, "{solved:?}");
        assert!((solved.lens.distortion[0] + 0.12).abs() < 0.02, "{solved:?}");
        assert!(solved.rms_px < 0.3, "{solved:?}");
    }

    #[test]
    fn a_picture_without_the_sheet_has_no_corners() {
        assert_eq!(corners(&RgbImage::from_pixel(320, 240, Rgb([90; 3]))).unwrap(), None);
    }
}
