//! Puts a judged scene into the words and numbers of the public report.

use crate::board::Line;
use crate::capture::Frame;
use crate::detect::DiscFit;
use crate::geometry::{Camera, ImagePx, Point};
use crate::register::Registration;

use super::report::{
    Board, BoardCamera, Colour, Disc, Distortion, ImageSize, Quality, Report, Review, Ring, SCHEMA, SideTotal, Status,
    Timing, rounded, significant,
};
use super::{Scene, doubt, palette};

/// The report of a judged scene.
pub(super) fn report(
    source: &str,
    size: ImageSize,
    scene: &Scene,
    totals: [SideTotal; 2],
    review: Vec<Review>,
) -> Report {
    Report {
        schema: SCHEMA,
        source: source.to_owned(),
        image: Some(size),
        status: if review.is_empty() { Status::Counted } else { Status::Review },
        error: None,
        board: Some(board(&scene.registration)),
        discs: (0..scene.verdicts.len()).map(|index| disc(scene, index)).collect(),
        sides: totals.into(),
        review,
        timing_ms: Timing::default(),
    }
}

pub(super) fn image_size(frame: &Frame) -> ImageSize {
    ImageSize { width: frame.rgb.width(), height: frame.rgb.height() }
}

fn board(registration: &Registration) -> Board {
    let camera = &registration.camera;
    let centre = camera.project(Point::new(0.0, 0.0), 0.0);
    let degrees = |angle: f64| rounded(angle.to_degrees(), 2);
    Board {
        model: registration.model.clone(),
        centre_px: centre.map_or([0.0; 2], point),
        homography: camera.homography().map(|row| row.map(significant)),
        distortion: (camera.k1 != 0.0 || camera.k2 != 0.0)
            .then(|| Distortion { k1: rounded(camera.k1, 5), k2: rounded(camera.k2, 5) }),
        rings: Line::ALL
            .into_iter()
            .zip(&registration.rings)
            .map(|(line, ring)| Ring {
                name: line,
                inner_mm: rounded(ring.inner_mm, 3),
                outer_mm: rounded(ring.outer_mm, 3),
                residual_px: rounded(ring.residual_px, 3),
                coverage: rounded(ring.coverage, 3),
            })
            .collect(),
        hole_mm: rounded(registration.hole_mm, 2),
        surface_mm: rounded(registration.surface_mm, 2),
        quadrant_deg: registration.quadrant_rad.map(degrees),
        peg_deg: registration.peg_rad.map(degrees),
        camera: BoardCamera {
            foot_mm: point(camera.foot()).map(|mm| rounded(mm, 1)),
            height_mm: rounded(camera.height_mm(), 1),
            height_sigma_mm: rounded(registration.height_sigma_mm, 1),
            focal_px: rounded(camera.focal_px, 1),
            principal_px: point(camera.principal),
            tilt_deg: degrees(camera.tilt_rad()),
        },
        quality: Quality {
            residual_px: rounded(registration.quality.residual_px, 3),
            coverage: rounded(registration.quality.coverage, 3),
        },
    }
}

fn disc(scene: &Scene, index: usize) -> Disc {
    let (fit, placed, verdict) = (&scene.detections.discs[index], &scene.placed[index], &scene.verdicts[index]);
    let base_px = base_in_picture(&scene.registration.camera, scene, fit);
    Disc {
        id: doubt::id(index),
        side: fit.side,
        colour: Colour {
            name: palette::name_of(fit.lab).to_owned(),
            lab: fit.lab.map(|value| rounded(f64::from(value), 1)),
        },
        base_mm: point(placed.base),
        base_px: base_px.map_or(point(fit.middle_px), point),
        radius_mm: rounded(placed.radius_mm, 3),
        state: verdict.state,
        value: verdict.zone.value(),
        line: verdict.call.map(|call| call.line),
        margin_mm: verdict.call.map(|call| rounded(call.margin_mm, 3)),
        margin_sigma_mm: verdict.call.map(|call| rounded(call.sigma_mm, 3)),
        close: verdict.close_other().is_some(),
        confidence: rounded(fit.confidence, 3),
        visible: rounded(fit.visible, 3),
    }
}

/// Image of the centre of the circle that a disc stands on, which lies lower for one in the hole or in the ditch.
pub(super) fn base_in_picture(camera: &Camera, scene: &Scene, fit: &DiscFit) -> Option<Point<ImagePx>> {
    camera.project(fit.base, floor_mm(scene, fit))
}

/// Height above the playing surface of what a disc stands on, mm.
pub(super) fn floor_mm(scene: &Scene, fit: &DiscFit) -> f64 {
    fit.middle_height_mm - scene.detections.set.height_mm / 2.0
}

fn point<F>(at: Point<F>) -> [f64; 2] {
    at.to_array().map(|value| rounded(value, 3))
}
