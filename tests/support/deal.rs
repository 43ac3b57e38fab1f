//! Scenes dealt from a seed: boards, discs, cameras and light within the ranges of a [`Recipe`].

use super::board::BoardLook;
use super::colour::srgb;
use super::random::Random;
use super::scene::{Clutter, Disc, DiscSet, Light, Pose, Scene, Sensor, View, leaning_in_hole};
use crokeye::board::Side;
use crokeye::geometry::Point;
use std::f64::consts::TAU;

/// From which ranges a scene is dealt.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub boards: Vec<BoardLook>,
    /// Tilt, degrees.
    pub tilt_deg: (f64, f64),
    /// Diameter of the surface as a share of the picture's height.
    pub share: (f64, f64),
    /// Furthest offset of the hole from the picture's middle, share of its height.
    pub off_centre: f64,
    /// Horizontal field of view, degrees.
    pub fov_deg: (f64, f64),
    pub k1: (f64, f64),
    /// Discs on the surface.
    pub discs: (usize, usize),
    /// Share of the discs that are put within 3 mm of a line.
    pub near_line: f64,
    /// Chance of one disc flat in the hole; of one leaning there.
    pub in_hole: f64,
    pub leaning: f64,
    /// Discs in the ditch.
    pub ditch: (usize, usize),
    pub lights: Vec<Light>,
    pub blur_px: (f64, f64),
    pub noise: (f64, f64),
    pub clutter: (usize, usize),
    pub size_px: (u32, u32),
}

impl Recipe {
    /// What a fair picture may be.
    pub fn fair() -> Self {
        Self {
            boards: BoardLook::all(),
            tilt_deg: (0.0, 25.0),
            share: (0.6, 0.85),
            off_centre: 0.04,
            fov_deg: (52.0, 78.0),
            k1: (0.0, 0.0),
            discs: (4, 16),
            near_line: 0.25,
            in_hole: 0.15,
            leaning: 0.0,
            ditch: (0, 3),
            lights: vec![Light::even(), Light::bulb()],
            blur_px: (0.5, 0.9),
            noise: (0.004, 0.02),
            clutter: (0, 2),
            size_px: (1280, 960),
        }
    }

    /// The scene of `seed`.
    pub fn deal(&self, seed: u64) -> Scene {
        let mut random = Random::new(seed);
        let mut board = random.pick(&self.boards);
        board.peg_turn_rad = random.range(0.0, TAU);
        board.quadrant_turn_rad = random.range(0.0, TAU);
        board.frame_turn_rad = random.range(0.0, TAU);
        let pairs = [
            (0x1E1E20, 0xD8B480),
            (0x1E1E20, 0xB02020),
            (0x184C2C, 0xD0A020),
            (0x203C8C, 0xE8E6E0),
            (0x5C3420, 0xDCC090),
            (0x8C1C1C, 0xE8E6E0),
        ];
        let (a, b) = random.pick(&pairs);
        let set = DiscSet {
            radius_mm: random.range(15.6, 16.2),
            height_mm: random.range(9.0, 11.0),
            edge_mm: random.range(0.6, 1.6),
            ..DiscSet::coloured(a, b)
        };
        let (width_px, height_px) = self.size_px;
        let off = random.range(0.0, self.off_centre);
        let (s, c) = random.range(0.0, TAU).sin_cos();
        let view = View {
            width_px,
            height_px,
            fov_rad: between(&mut random, self.fov_deg).to_radians(),
            share: between(&mut random, self.share),
            aim: [off * c, off * s],
            tilt_rad: between(&mut random, self.tilt_deg).to_radians(),
            turn_rad: random.range(0.0, TAU),
            roll_rad: random.range(-0.2, 0.2),
            k1: between(&mut random, self.k1),
            k2: 0.0,
        };
        let light = random.pick(&self.lights);
        let sensor = Sensor {
            blur_px: between(&mut random, self.blur_px),
            noise: between(&mut random, self.noise) as f32,
            ..Sensor::fair()
        };
        let mut scene = Scene {
            discs: Vec::new(),
            set,
            clutter: Vec::new(),
            arm: None,
            view,
            light,
            sensor,
            table: random.pick(&[srgb(0x8C8478), srgb(0x3A3430), srgb(0xC8C4BC), srgb(0x6A4A30), srgb(0x405868)]),
            seed,
            board: Some(board.clone()),
        };
        self.lay_discs(&mut scene, &board, &mut random);
        for _ in 0..random.whole(self.clutter.0, self.clutter.1) {
            let thing = plate(&mut random, board.rail_outer_mm() * 1.45);
            scene.clutter.push(thing);
        }
        scene
    }

    fn lay_discs(&self, scene: &mut Scene, board: &BoardLook, random: &mut Random) {
        let side = |random: &mut Random| if random.chance(0.5) { Side::A } else { Side::B };
        if random.chance(self.in_hole) {
            let at = Point::new(random.range(-0.7, 0.7), random.range(-0.7, 0.7));
            scene.discs.push(Disc { at, side: side(random), pose: Pose::InHole });
        } else if random.chance(self.leaning) {
            let (at, pose) = leaning_in_hole(board, &scene.set, random.range(0.0, TAU));
            scene.discs.push(Disc { at, side: side(random), pose });
        }
        let mut wanted = random.whole(self.discs.0, self.discs.1);
        let radius = scene.set.radius_mm;
        for _ in 0..400 {
            if wanted == 0 {
                break;
            }
            let rho = if random.chance(self.near_line) {
                random.pick(&board.inner_mm()) - radius + random.range(-3.0, 3.0)
            } else {
                let (low, high) = (board.hole_mm + radius + 1.0, board.surface_mm - radius);
                random.range(low * low, high * high).sqrt()
            };
            let (s, c) = random.range(0.0, TAU).sin_cos();
            let at = Point::new(rho * c, rho * s);
            if is_free(scene, board, at) {
                scene.discs.push(Disc { at, side: side(random), pose: Pose::Flat });
                wanted -= 1;
            }
        }
        for _ in 0..random.whole(self.ditch.0, self.ditch.1) {
            let rho = board.surface_mm + random.range(radius + 1.0, board.ditch_width_mm - radius - 1.0);
            let (s, c) = random.range(0.0, TAU).sin_cos();
            let at = Point::new(rho * c, rho * s);
            if scene.discs.iter().all(|disc| disc.at.distance(at) > 2.0 * radius + 0.5) {
                scene.discs.push(Disc { at, side: side(random), pose: Pose::Ditch });
            }
        }
    }
}

/// Whether a disc at `at` touches no disc, no peg and not the hole.
pub fn is_free(scene: &Scene, board: &BoardLook, at: Point<crokeye::geometry::BoardMm>) -> bool {
    const GAP_MM: f64 = 0.3;
    let radius = scene.set.radius_mm;
    let pegs = board.peg_places();
    at.norm() >= board.hole_mm + radius
        && at.norm() <= board.surface_mm - 1.0
        && scene.discs.iter().all(|disc| disc.at.distance(at) > 2.0 * radius + GAP_MM)
        && pegs.iter().all(|peg| at.distance(Point::new(peg[0], peg[1])) > radius + board.peg_mm + GAP_MM)
}

/// A plate, a cup or a coaster on the table, outside the circle `from_mm`.
pub fn plate(random: &mut Random, from_mm: f64) -> Clutter {
    let radius_mm = random.pick(&[42.0, 48.0, 85.0, 110.0]);
    let (s, c) = random.range(0.0, TAU).sin_cos();
    let rho = from_mm + radius_mm + random.range(0.0, 120.0);
    let colour = random.pick(&[srgb(0xF0EEE8), srgb(0x204868), srgb(0x902820), srgb(0x303030)]);
    let bands = if random.chance(0.5) {
        vec![(radius_mm * 0.8, srgb(0xD8D4CC)), (radius_mm * 0.75, colour)]
    } else {
        Vec::new()
    };
    let height_mm = if radius_mm < 45.0 { 90.0 } else { 8.0 };
    Clutter { at: [rho * c, rho * s], radius_mm, height_mm, edge_mm: 2.0, colour, bands }
}

fn between(random: &mut Random, (low, high): (f64, f64)) -> f64 {
    random.range(low, high)
}
