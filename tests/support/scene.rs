//! A scene: everything that decides a synthetic picture, in plain numbers.

use super::board::BoardLook;
use super::colour::{Linear, srgb};
use super::solid::{Shape, Solid};
use crokeye::board::Side;
use crokeye::geometry::{BoardMm, Camera, Point};

/// A board, its discs, a camera, light and a sensor.
#[derive(Clone, Debug)]
pub struct Scene {
    /// None: a table without a board.
    pub board: Option<BoardLook>,
    pub discs: Vec<Disc>,
    pub set: DiscSet,
    /// Things on the table.
    pub clutter: Vec<Clutter>,
    /// An arm reaching over the board, from and to (x, y, height), with its radius, mm.
    pub arm: Option<([f64; 3], [f64; 3], f64)>,
    pub view: View,
    pub light: Light,
    pub sensor: Sensor,
    pub table: Linear,
    /// Decides noise and wood.
    pub seed: u64,
}

/// Measures and colours that all discs share.
#[derive(Clone, Copy, Debug)]
pub struct DiscSet {
    pub radius_mm: f64,
    pub height_mm: f64,
    pub edge_mm: f64,
    /// Colours of sides a and b.
    pub colours: [Linear; 2],
    pub gloss: f32,
    pub grain: f32,
}

impl DiscSet {
    /// Black against natural wood, the usual measures.
    pub fn black_and_natural() -> Self {
        Self {
            radius_mm: 15.875,
            height_mm: 9.5,
            edge_mm: 1.2,
            colours: [srgb(0x1E1E20), srgb(0xD8B480)],
            gloss: 0.15,
            grain: 0.15,
        }
    }

    /// The usual measures in the given sRGB colours, the darker one first.
    pub fn coloured(a: u32, b: u32) -> Self {
        Self { colours: [srgb(a), srgb(b)], ..Self::black_and_natural() }
    }
}

/// A disc of the game.
#[derive(Clone, Copy, Debug)]
pub struct Disc {
    /// Centre of its lower face.
    pub at: Point<BoardMm>,
    pub side: Side,
    pub pose: Pose,
}

/// How a disc lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pose {
    /// Flat on the playing surface.
    Flat,
    /// Flat on the floor of the hole.
    InHole,
    /// Flat on the floor of the ditch.
    Ditch,
    /// Tilted: the side in direction `towards_rad` goes down by `lean_rad`, the lower face's centre stands
    /// `lift_mm` above the playing surface (negative: below).
    Leaning { towards_rad: f64, lean_rad: f64, lift_mm: f64 },
}

/// A round thing on the table: plate, cup, coaster, clock.
#[derive(Clone, Debug)]
pub struct Clutter {
    pub at: [f64; 2],
    pub radius_mm: f64,
    pub height_mm: f64,
    pub edge_mm: f64,
    pub colour: Linear,
    /// Circles printed on it, widest first.
    pub bands: Vec<(f64, Linear)>,
}

/// Where the camera is and how it sees.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub width_px: u32,
    pub height_px: u32,
    /// Horizontal field of view.
    pub fov_rad: f64,
    /// Diameter of the playing surface as a share of the picture's height, at the hole's distance.
    pub share: f64,
    /// Where the hole appears: offset from the picture's middle as a share of its height.
    pub aim: [f64; 2],
    /// Angle between the optical axis and the board's normal.
    pub tilt_rad: f64,
    /// Turn of the board under the camera.
    pub turn_rad: f64,
    /// Turn of the picture.
    pub roll_rad: f64,
    pub k1: f64,
    pub k2: f64,
}

impl View {
    /// Straight from above, the whole board in a 1280 x 960 picture.
    pub fn overhead() -> Self {
        Self {
            width_px: 1280,
            height_px: 960,
            fov_rad: 66f64.to_radians(),
            share: 0.72,
            aim: [0.0, 0.0],
            tilt_rad: 0.0,
            turn_rad: 0.0,
            roll_rad: 0.0,
            k1: 0.0,
            k2: 0.0,
        }
    }
}

/// One lamp and the light of the room.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Light from everywhere.
    pub ambient: f32,
    /// Light from the lamp on a level surface.
    pub lamp: f32,
    /// Where shadows fall: shift per height.
    pub slope: [f64; 2],
    /// Width of a shadow's border per height.
    pub penumbra: f64,
    /// Change of brightness along x and y, per metre.
    pub gradient: [f32; 2],
    /// Brightness of the lamp's mirror image on a fully glossy surface.
    pub glare: f32,
    /// Its size, as a slope.
    pub glare_width: f64,
    /// Loss of light in the picture's corners.
    pub vignette: f32,
    /// Colour of the light.
    pub tint: Linear,
}

impl Light {
    /// Even light with soft shadows and no glare.
    pub fn even() -> Self {
        Self {
            ambient: 0.62,
            lamp: 0.3,
            slope: [0.35, 0.2],
            penumbra: 0.5,
            gradient: [0.1, -0.06],
            glare: 0.0,
            glare_width: 0.08,
            vignette: 0.1,
            tint: [1.0, 1.0, 1.0],
        }
    }

    /// A bare bulb: hard shadows, a strong gradient, its image on gloss.
    pub fn bulb() -> Self {
        Self {
            ambient: 0.3,
            lamp: 0.6,
            slope: [-0.45, 0.3],
            penumbra: 0.08,
            gradient: [-0.5, 0.3],
            glare: 1.2,
            glare_width: 0.07,
            vignette: 0.2,
            tint: [1.0, 0.92, 0.78],
        }
    }
}

/// The sensor and what stands before it.
#[derive(Clone, Copy, Debug)]
pub struct Sensor {
    /// Gaussian blur of the lens, px.
    pub blur_px: f64,
    /// Smear of a moving camera, px.
    pub smear_px: [f64; 2],
    /// Standard deviation of the noise at full light, in shares of full light.
    pub noise: f32,
    pub exposure: f32,
}

impl Sensor {
    /// A fair webcam in good light.
    pub fn fair() -> Self {
        Self { blur_px: 0.6, smear_px: [0.0, 0.0], noise: 0.012, exposure: 1.0 }
    }

    /// No blur, no noise.
    pub fn ideal() -> Self {
        Self { blur_px: 0.0, noise: 0.0, ..Self::fair() }
    }
}

impl Scene {
    /// `board` seen from above in even light, without discs.
    pub fn overhead(board: BoardLook) -> Self {
        Self {
            board: Some(board),
            discs: Vec::new(),
            set: DiscSet::black_and_natural(),
            clutter: Vec::new(),
            arm: None,
            view: View::overhead(),
            light: Light::even(),
            sensor: Sensor::fair(),
            table: srgb(0x8C8478),
            seed: 1,
        }
    }

    /// This scene with one more disc, flat on the surface.
    pub fn with(mut self, side: Side, x_mm: f64, y_mm: f64) -> Self {
        self.discs.push(Disc { at: Point::new(x_mm, y_mm), side, pose: Pose::Flat });
        self
    }

    /// The scene's camera: board millimetres to picture pixels.
    pub fn camera(&self) -> Camera {
        let view = &self.view;
        let (w, h) = (f64::from(view.width_px), f64::from(view.height_px));
        let focal_px = w / 2.0 / (view.fov_rad / 2.0).tan();
        let surface_mm = self.board.as_ref().map_or(330.2, |board| board.surface_mm);
        let distance = focal_px * 2.0 * surface_mm / (view.share * h);
        let aim = view.aim.map(|share| share * h / focal_px);
        let (st, ct) = view.tilt_rad.sin_cos();
        // Rows: the far side of a tilted board is up in the picture.
        let tilt = [[1.0, 0.0, 0.0], [0.0, ct, st], [0.0, -st, ct]];
        let rotation = times(about_z(view.roll_rad), times(tilt, about_z(view.turn_rad)));
        Camera {
            focal_px,
            principal: Point::new((w - 1.0) / 2.0, (h - 1.0) / 2.0),
            k1: view.k1,
            k2: view.k2,
            rotation,
            translation_mm: [aim[0] * distance, aim[1] * distance, distance],
        }
    }

    /// Height of the face that a disc stands on, mm.
    pub fn floor_mm(&self, disc: &Disc) -> f64 {
        let board = self.board.as_ref();
        match disc.pose {
            Pose::Flat => 0.0,
            Pose::InHole => board.map_or(0.0, |board| -board.hole_depth_mm),
            Pose::Ditch => board.map_or(0.0, |board| -board.ditch_depth_mm),
            Pose::Leaning { lift_mm, .. } => lift_mm,
        }
    }

    /// All that stands on board and table.
    pub fn solids(&self) -> Vec<Solid> {
        let mut out = Vec::new();
        for disc in &self.discs {
            let floor = if matches!(disc.pose, Pose::Leaning { .. }) { 0.0 } else { self.floor_mm(disc) };
            let colour = self.set.colours[usize::from(disc.side == Side::B)];
            let base = [disc.at.x, disc.at.y, floor];
            let solid = Solid::upright(base, self.set.radius_mm, self.set.height_mm, self.set.edge_mm, colour);
            out.push(Solid { gloss: self.set.gloss, grain: self.set.grain, ..solid }.posed(&disc.pose));
        }
        let mut table_mm = -30.0;
        if let Some(board) = &self.board {
            table_mm = -board.table_depth_mm;
            for [x, y] in board.peg_places() {
                let peg = Solid::upright([x, y, 0.0], board.peg_mm, board.peg_height_mm, 0.8, board.peg);
                out.push(Solid { gloss: 0.8, ..peg });
            }
        }
        for thing in &self.clutter {
            let base = [thing.at[0], thing.at[1], table_mm];
            let solid = Solid::upright(base, thing.radius_mm, thing.height_mm, thing.edge_mm, thing.colour);
            out.push(Solid { bands: thing.bands.clone(), ..solid });
        }
        if let Some((from, to, radius_mm)) = self.arm {
            let shape = Shape::Capsule { from, to, radius_mm };
            out.push(Solid { shape, colour: srgb(0xD8A080), bands: Vec::new(), grain: 0.0, gloss: 0.05 });
        }
        out
    }
}

/// The pose of a disc that leans in the hole: one side on the floor, the other on the hole's edge, sunk towards
/// `towards_rad`; with the place of its lower face's centre.
pub fn leaning_in_hole(board: &BoardLook, set: &DiscSet, towards_rad: f64) -> (Point<BoardMm>, Pose) {
    // A little steeper than where the disc would slip in flat.
    let flat = (board.hole_depth_mm / (2.0 * set.radius_mm)).min(0.9).asin();
    let lean_rad = flat + 0.05;
    let deepest = board.hole_depth_mm / lean_rad.tan() - board.hole_mm;
    let (s, c) = lean_rad.sin_cos();
    let lift_mm = -board.hole_depth_mm + set.radius_mm * s;
    let shift = deepest - set.radius_mm * c;
    let (sy, cx) = towards_rad.sin_cos();
    (Point::new(shift * cx, shift * sy), Pose::Leaning { towards_rad, lean_rad, lift_mm })
}

fn about_z(angle_rad: f64) -> [[f64; 3]; 3] {
    let (s, c) = angle_rad.sin_cos();
    [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
}

fn times(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}
