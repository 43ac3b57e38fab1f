//! `calibrate board` and `calibrate check`: a still board, averaged, kept, and compared with what was kept.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use crokeye::board::SHOOTING_LINE_MM;
use crokeye::capture::profile::{MeasuredBoard, Profile};
use crokeye::capture::{Frame, LensHint};
use crokeye::count::{self, Options};
use crokeye::geometry::Point;
use crokeye::live::Fuse;
use crokeye::register::Registration;
use image::RgbImage;

use super::{Pictures, Where};
use crate::cli::out::outln;

/// Frames that are averaged.
const FRAMES: u32 = 20;
/// A live camera settles its exposure for so long first.
const SETTLE: Duration = Duration::from_millis(2_000);
/// A mark of the board that moved by more than this, mm, has moved.
const MOVED_MM: f64 = 1.5;
/// A line whose radius differs by more than this, mm, is another board's.
const OTHER_BOARD_MM: f64 = 1.0;

/// Measures the board and keeps it.
///
/// # Errors
/// The source cannot be read, or the calibration cannot be written.
pub fn measure(place: &Where) -> Result<ExitCode> {
    let profile = Profile::load_or_new(&place.name)?;
    let Some((rgb, frames)) = still(place)? else {
        outln!("the board did not lie still: take hands off and try again");
        return Ok(ExitCode::from(1));
    };
    let count = look(&profile, rgb, place)?;
    let Some(scene) = &count.scene else {
        outln!("no board is seen: {}", count.report.review.first().map_or("nothing round", |review| &review.reason));
        return Ok(ExitCode::from(1));
    };
    let size = count.report.image.context("a counted picture has a size")?;
    let board =
        measured(&scene.registration, [size.width, size.height], frames).context("the board leaves the picture")?;
    let seen = scene.detections.palette;
    let path = Profile::change(&place.name, |profile| {
        profile.size_px = Some((size.width, size.height));
        for (known, seen) in profile.colours.iter_mut().zip(seen) {
            *known = seen.or(*known);
        }
        profile.board = Some(board.clone());
    })?;
    outln!(
        "{}: a {} board, {} discs on it, {frames} frames averaged",
        path.display(),
        board.model,
        scene.verdicts.len()
    );
    outln!(
        "  lines at {:.1}, {:.1}, {:.1} mm, hole {:.1} mm",
        board.inner_mm[0],
        board.inner_mm[1],
        board.inner_mm[2],
        board.hole_mm
    );
    outln!(
        "  camera {:.0} mm above the board, give or take {:.0}",
        board.camera_height_mm[0],
        board.camera_height_mm[1]
    );
    if profile.lens.is_none() {
        outln!("  `crokeye calibrate lens {}` would make the height sharper", place.name);
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares what is seen now with what was kept.
///
/// # Errors
/// The source cannot be read.
pub fn check(place: &Where) -> Result<ExitCode> {
    let profile = Profile::load_or_new(&place.name)?;
    let Some(known) = &profile.board else {
        outln!(
            "{} holds no board yet: run `crokeye calibrate board {}`",
            Profile::path(&place.name)?.display(),
            place.name
        );
        return Ok(ExitCode::from(1));
    };
    let Some((rgb, frames)) = still(place)? else {
        outln!("the board did not lie still: take hands off and try again");
        return Ok(ExitCode::from(1));
    };
    let count = look(&profile, rgb, place)?;
    let now = count.scene.as_ref().zip(count.report.image).and_then(|(scene, size)| {
        let board = measured(&scene.registration, [size.width, size.height], frames)?;
        Some((board, scene.registration.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0)?))
    });
    let Some((now, px_per_mm)) = now else {
        outln!("no board is seen");
        return Ok(ExitCode::from(1));
    };
    let faults = differences(known, &now, px_per_mm);
    if faults.is_empty() {
        outln!("all as it was calibrated");
        return Ok(ExitCode::SUCCESS);
    }
    faults.iter().for_each(|fault| outln!("{fault}"));
    outln!("run `crokeye calibrate board {}` if that is meant; a session follows a moved board by itself", place.name);
    Ok(ExitCode::from(1))
}

/// What differs, as sentences.
fn differences(known: &MeasuredBoard, now: &MeasuredBoard, px_per_mm: f64) -> Vec<String> {
    let mut out = Vec::new();
    let Some(known) = known.at_size(now.size_px) else {
        let ([w, h], [known_w, known_h]) = (now.size_px, known.size_px);
        out.push(format!("the pictures are {w} x {h} px, {known_w} x {known_h} when calibrated: another shape"));
        return out;
    };
    let moved = (known.marks_px.iter().zip(&now.marks_px))
        .map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) / px_per_mm)
        .fold(0.0, f64::max);
    if moved > MOVED_MM {
        out.push(format!("board or camera has moved by {moved:.1} mm"));
    }
    let wider = (known.inner_mm.iter().zip(&now.inner_mm)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if wider > OTHER_BOARD_MM {
        out.push(format!("the lines differ by {wider:.1} mm: is it another board?"));
    }
    let [height, sigma] = known.camera_height_mm;
    let higher = now.camera_height_mm[0] - height;
    if higher.abs() > 3.0 * sigma.hypot(now.camera_height_mm[1]) {
        out.push(format!("the camera stands {higher:.0} mm higher"));
    }
    out
}

/// The mean of the most frames one after another that do not differ; None where a camera's board never lay still.
fn still(place: &Where) -> Result<Option<(RgbImage, u32)>> {
    let mut pictures = Pictures::open(place)?;
    if pictures.is_live() {
        let until = std::time::Instant::now() + SETTLE;
        while std::time::Instant::now() < until {
            pictures.next()?;
        }
    }
    let mut fuse = Fuse::default();
    let mut best = (RgbImage::default(), 0);
    let mut first: Option<RgbImage> = None;
    for _ in 0..20 * FRAMES {
        let Some(rgb) = pictures.next()? else { break };
        if first.as_ref().is_none_or(|first| !alike(first, &rgb)) {
            fuse.clear();
            first = Some(rgb.clone());
        }
        fuse.add(&rgb);
        if fuse.frames() > best.1 {
            best = (fuse.mean(), fuse.frames());
        }
        if best.1 >= FRAMES {
            break;
        }
    }
    let least = if pictures.is_live() { FRAMES } else { 1 };
    Ok(Some(best).filter(|(_, frames)| *frames >= least))
}

/// Do two pictures show the same, but for noise? At most one byte in five hundred differs by more than 40 levels.
fn alike(a: &RgbImage, b: &RgbImage) -> bool {
    let different = a.as_raw().iter().zip(b.as_raw()).filter(|(a, b)| a.abs_diff(**b) > 40).count();
    a.dimensions() == b.dimensions() && different * 500 <= a.as_raw().len()
}

fn look(profile: &Profile, rgb: RgbImage, place: &Where) -> Result<count::Count> {
    let lens = profile.lens_hint(rgb.dimensions())?.unwrap_or(LensHint { uncropped: true, ..LensHint::default() });
    Ok(count::run(&Frame { source: place.source.clone(), rgb, lens }, &Options::default()))
}

fn measured(board: &Registration, size_px: [u32; 2], frames: u32) -> Option<MeasuredBoard> {
    let mark = |x: f64, y: f64| board.camera.project(Point::new(x, y), 0.0).map(|at| at.to_array());
    let r = SHOOTING_LINE_MM;
    Some(MeasuredBoard {
        size_px,
        model: board.model.clone(),
        inner_mm: board.inner_mm(),
        outer_mm: [0, 1, 2].map(|i| board.rings[i].outer_mm),
        hole_mm: board.hole_mm,
        camera_height_mm: [board.camera.height_mm(), board.height_sigma_mm],
        focal_px: board.camera.focal_px,
        distortion: [board.camera.k1, board.camera.k2],
        marks_px: [mark(0.0, 0.0)?, mark(r, 0.0)?, mark(0.0, r)?, mark(-r, 0.0)?, mark(0.0, -r)?],
        frames,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> MeasuredBoard {
        MeasuredBoard {
            size_px: [1280, 720],
            model: "nca".to_owned(),
            inner_mm: [304.0, 202.4, 100.8],
            outer_mm: [305.6, 204.0, 102.4],
            hole_mm: 17.5,
            camera_height_mm: [1000.0, 20.0],
            focal_px: 1000.0,
            distortion: [0.0, 0.0],
            marks_px: [[640.0, 360.0]; 5],
            frames: 20,
        }
    }

    #[test]
    fn what_has_changed_is_said() {
        let known = board();
        assert!(differences(&known, &known, 1.0).is_empty());
        let mut now = board();
        now.marks_px[2] = [643.0, 360.0];
        assert!(differences(&known, &now, 1.0)[0].contains("3.0 mm"));
        assert!(differences(&known, &now, 4.0).is_empty(), "less than a millimetre");
        let other = MeasuredBoard { inner_mm: [304.0, 195.0, 100.8], ..board() };
        assert!(differences(&known, &other, 1.0)[0].contains("another board"));
        let higher = MeasuredBoard { camera_height_mm: [1150.0, 20.0], ..board() };
        assert!(differences(&known, &higher, 1.0)[0].contains("higher"));
        let narrower = MeasuredBoard { size_px: [640, 480], ..board() };
        assert!(differences(&known, &narrower, 1.0)[0].contains("640 x 480"));
    }

    #[test]
    fn a_board_is_compared_in_pictures_of_half_the_size_too() {
        let half = MeasuredBoard { size_px: [640, 360], marks_px: [[319.75, 179.75]; 5], focal_px: 500.0, ..board() };
        assert!(differences(&board(), &half, 0.5).is_empty());
        let moved = MeasuredBoard { marks_px: [[321.75, 179.75]; 5], ..half };
        assert!(differences(&board(), &moved, 0.5)[0].contains("4.0 mm"));
    }
}
