//! Test support: scenes whose truth is known, without any vision.
//!
//! A label of a rendered picture (`tests/labels/`) or a list of places becomes the registration and the detections that
//! perfect stages would hand over. Labels have the board's z axis *out of* the board and their own turn about it; here z
//! goes into the board, y down as seen, so y and z change their signs.

use image::{Rgb, RgbImage};
use serde::Deserialize;

use super::{Count, Options, assemble, palette};
use crate::board::{Line, Side, State};
use crate::capture::{Frame, LensHint};
use crate::detect::{Detections, DiscFit, DiscSet};
use crate::geometry::{BoardMm, Camera, Point};
use crate::register::identify::Identified;
use crate::register::{Anchors, Deviation, Quality, Registration, Ring};

/// A picture with what perfect stages would find in it.
#[derive(Clone, Debug)]
pub struct Truth {
    pub frame: Frame,
    pub registration: Registration,
    pub detections: Detections,
    pub totals: [u32; 2],
}

impl Truth {
    pub fn count(&self, options: &Options) -> Count {
        assemble(&self.frame, self.registration.clone(), self.detections.clone(), options)
    }
}

/// A standard board 1 m under a camera that looks straight down, with black discs of side a at these places (mm).
pub fn overhead(places: &[(f64, f64)]) -> Truth {
    let camera = Camera {
        focal_px: 1000.0,
        principal: Point::new(499.5, 399.5),
        k1: 0.0,
        k2: 0.0,
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        translation_mm: [0.0, 0.0, 1000.0],
    };
    let set = DiscSet { radius_mm: 16.0, radius_sigma_mm: 0.05, height_mm: 10.0, height_sigma_mm: 0.3 };
    let mut discs: Vec<DiscFit> =
        places.iter().map(|&(x, y)| fit(&camera, &set, Point::new(x, y), 0.0, State::Flat, Side::A, "black")).collect();
    discs.sort_by(|a, b| a.base.norm().total_cmp(&b.base.norm()));
    let mut truth = Truth {
        frame: blank(1000, 800),
        registration: registration(camera, [304.8, 203.2, 101.6], 1.6),
        detections: Detections { set, discs, rejected: Vec::new(), palette: [Some(lab("black")), None] },
        totals: [0, 0],
    };
    truth.registration.peg_rad = Some(22.5f64.to_radians());
    truth
}

/// The scene of a label in `tests/labels/`.
pub fn labelled(name: &str) -> Truth {
    let path = format!("{}/tests/labels/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let label: Label = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (board, c) = (&label.board, &label.camera);
    let camera = Camera {
        focal_px: c.fx,
        principal: Point::new(c.cx, c.cy),
        k1: c.k1,
        k2: c.k2,
        rotation: c.rotation.map(|[x, y, z]| [x, -y, -z]),
        translation_mm: c.t,
    };
    let set = DiscSet { radius_mm: board.disc_r, radius_sigma_mm: 0.05, height_mm: board.disc_h, height_sigma_mm: 0.2 };
    let mut discs: Vec<(DiscFit, &LabelDisc)> = label
        .discs
        .iter()
        .filter(|disc| disc.state != "ditch")
        .map(|disc| {
            let (state, floor_mm) = match disc.state.as_str() {
                "in_hole" => (State::InHole, -board.hole_depth),
                "leaning" => (State::Leaning, 0.0),
                _ => (State::Flat, 0.0),
            };
            let base = Point::new(disc.x_mm, -disc.y_mm);
            (fit(&camera, &set, base, floor_mm, state, disc.side, &disc.colour), disc)
        })
        .collect();
    discs.sort_by(|(a, _), (b, _)| a.base.norm().total_cmp(&b.base.norm()));
    let colours = [&label.colours.a, &label.colours.b].map(|colour| colour.as_deref().map(lab));
    let mut registration = registration(camera, [board.r5, board.r10, board.r15], board.line_w);
    registration.hole_mm = board.hole_r;
    registration.surface_mm = board.surface_r;
    registration.peg_rad = Some((-board.post_angle_deg.to_radians()).rem_euclid(std::f64::consts::FRAC_PI_4));
    Truth {
        frame: blank(c.width, c.height),
        registration,
        detections: Detections {
            set,
            discs: discs.into_iter().map(|(fit, _)| fit).collect(),
            rejected: Vec::new(),
            palette: colours,
        },
        totals: [label.totals.a, label.totals.b],
    }
}

fn registration(camera: Camera, middles_mm: [f64; 3], width_mm: f64) -> Registration {
    let rings = [0, 1, 2].map(|i| Ring {
        line: Line::ALL[i],
        centre: Point::new(0.0, 0.0),
        inner_mm: middles_mm[i] - width_mm / 2.0,
        outer_mm: middles_mm[i] + width_mm / 2.0,
        residual_px: 0.3,
        coverage: 0.9,
    });
    // The one thing that one picture leaves open: 3 % of the camera's height, the board's plane looking the same.
    let mut nearer = camera.clone();
    nearer.focal_px *= 0.97;
    nearer.translation_mm[2] *= 0.97;
    let (inner_mm, centres) = (rings.map(|r| r.inner_mm), rings.map(|r| r.centre));
    let deviation = Deviation { camera: nearer, inner_mm, centres };
    Registration {
        model: "nca".to_owned(),
        height_sigma_mm: 0.03 * camera.height_mm(),
        camera: camera.clone(),
        rings,
        hole_mm: 17.45,
        surface_mm: 330.2,
        quadrant_rad: Some(0.0),
        peg_rad: None,
        deviations: vec![deviation],
        quality: Quality { residual_px: 0.3, coverage: 0.9, ..Quality::default() },
        state: Identified { camera, lines: Vec::new(), tracks: Vec::new(), score: 3.0 },
        anchors: Anchors::default(),
    }
}

fn fit(
    camera: &Camera,
    set: &DiscSet,
    base: Point<BoardMm>,
    floor_mm: f64,
    state: State,
    side: Side,
    colour: &str,
) -> DiscFit {
    let middle_height_mm = floor_mm + set.height_mm / 2.0;
    DiscFit {
        middle_px: camera.project(base, middle_height_mm).unwrap(),
        middle_height_mm,
        covariance_px2: [[0.01, 0.0], [0.0, 0.01]],
        base,
        state,
        lab: lab(colour),
        side: Some(side),
        visible: 1.0,
        confidence: 0.99,
    }
}

/// The palette's colour of that name.
pub fn lab(name: &str) -> [f32; 3] {
    palette::named(name).unwrap().lab
}

fn blank(width: u32, height: u32) -> Frame {
    Frame {
        source: "test".to_owned(),
        rgb: RgbImage::from_pixel(width, height, Rgb([170, 150, 120])),
        lens: LensHint::default(),
    }
}

#[derive(Deserialize)]
struct Label {
    board: LabelBoard,
    camera: LabelCamera,
    totals: Sides<u32>,
    colours: Sides<Option<String>>,
    discs: Vec<LabelDisc>,
}

#[derive(Deserialize)]
struct Sides<T> {
    a: T,
    b: T,
}

#[derive(Deserialize)]
struct LabelBoard {
    r15: f64,
    r10: f64,
    r5: f64,
    line_w: f64,
    hole_r: f64,
    hole_depth: f64,
    surface_r: f64,
    disc_r: f64,
    disc_h: f64,
    post_angle_deg: f64,
}

#[derive(Deserialize)]

struct LabelCamera {
    width: u32,
    height: u32,
    fx: f64,
    cx: f64,
    cy: f64,
    k1: f64,
    k2: f64,
    #[serde(rename = "R")]
    rotation: [[f64; 3]; 3],
    t: [f64; 3],
}

#[derive(Deserialize)]
struct LabelDisc {
    side: Side,
    colour: String,
    state: String,
    x_mm: f64,
    y_mm: f64,
}
