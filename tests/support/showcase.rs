//! The scenes of `samples/` that the synthetic camera made, by the names of their files.

use super::board::BoardLook;
use super::colour::srgb;
use super::scene::{Clutter, DiscSet, Light, Scene, Sensor, View};
use crokeye::board::Side;

/// All of them.
pub fn scenes() -> Vec<(&'static str, Scene)> {
    vec![("home-square-bulb", home_square_bulb()), ("plates-no-board", plates_no_board())]
}

/// A home-made square board under a bare bulb whose image lies on two discs; all discs of one colour.
fn home_square_bulb() -> Scene {
    let view = View {
        width_px: 1280,
        height_px: 960,
        tilt_rad: 0.33,
        turn_rad: 0.5,
        share: 0.68,
        aim: [0.02, 0.04],
        k1: -0.06,
        ..View::overhead()
    };
    let mut scene = Scene {
        set: DiscSet { gloss: 0.3, ..DiscSet::coloured(0x1E1E20, 0xB02020) },
        view,
        sensor: Sensor { noise: 0.02, ..Sensor::fair() },
        table: srgb(0x4A5A40),
        seed: 11,
        ..Scene::overhead(BoardLook { gloss: 0.5, ..BoardLook::home_square() })
    };
    // The lamp hangs where its mirror image falls between the two discs that touch.
    let (camera, glare) = (scene.camera(), [134.0, 63.0]);
    let (foot, height_mm) = (camera.foot(), camera.height_mm());
    let slope = [(foot.x - glare[0]) / height_mm, (foot.y - glare[1]) / height_mm];
    scene.light = Light { slope, glare: 0.7, glare_width: 0.05, ..Light::bulb() };
    [(150.0, 60.0), (118.0, 66.0), (-190.0, -190.0), (40.0, -250.0), (-60.0, 24.0), (0.0, 190.0), (-168.0, 70.0)]
        .iter()
        .fold(scene, |scene, &(x, y)| scene.with(Side::A, x, y))
}

/// A table set with round things and no board: a plate with rings, a target, a cup, a coaster, discs.
fn plates_no_board() -> Scene {
    let round = |x: f64, y: f64, radius_mm: f64, height_mm: f64, hex: u32, bands: Vec<(f64, u32)>| Clutter {
        at: [x, y],
        radius_mm,
        height_mm,
        edge_mm: 2.0,
        colour: srgb(hex),
        bands: bands.into_iter().map(|(radius, hex)| (radius, srgb(hex))).collect(),
    };
    let target = vec![
        (195.0, 0x181818),
        (160.0, 0xE0D8C0),
        (125.0, 0x284890),
        (90.0, 0xA02020),
        (45.0, 0xD8B020),
        (10.0, 0x202020),
    ];
    let plate = vec![(122.0, 0x3050A0), (118.0, 0xF2F0EA), (80.0, 0x3050A0), (78.0, 0xF2F0EA)];
    let clutter = vec![
        round(-140.0, -20.0, 210.0, 12.0, 0xE8E2D0, target),
        round(230.0, -130.0, 130.0, 18.0, 0xF2F0EA, plate),
        round(240.0, 140.0, 42.0, 95.0, 0x883020, vec![(37.0, 0x2A1810)]),
        round(120.0, 200.0, 48.0, 4.0, 0x204868, Vec::new()),
        round(330.0, 40.0, 15.9, 9.5, 0x1E1E20, Vec::new()),
        round(-10.0, 230.0, 15.9, 9.5, 0xD8B480, Vec::new()),
    ];
    let view = View { tilt_rad: 0.25, share: 0.9, ..View::overhead() };
    Scene { board: None, clutter, view, table: srgb(0x7A5A3C), seed: 12, ..Scene::overhead(BoardLook::maple()) }
}
