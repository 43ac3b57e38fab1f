//! One ray into the scene: what it meets, and how bright that is.
//!
//! Lines painted on the surface are covered analytically over the pixel's footprint; everything that has a border in
//! space reports an id, so that the renderer knows where to look closer.

use super::board::{BoardLook, Frame, Stroke};
use super::colour::{Linear, mix, scaled};
use super::random::Random;
use super::scene::{Light, Scene};
use super::solid::{Solid, dot, length, smooth};
use crokeye::geometry::{Camera, ImagePx, Point};

/// What one ray sees.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Which thing: differs between any two things that have a border between them.
    pub id: u32,
    /// Its light, linear.
    pub light: Linear,
}

/// A ray from the camera: its slope (mm sideways per mm of descent) and how the slope changes per pixel.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    slope: [f64; 2],
    per_px: [[f64; 2]; 2],
}

const SURFACE: u32 = 1;
const HOLE_FLOOR: u32 = 2;
const HOLE_WALL: u32 = 3;
const SURFACE_SIDE: u32 = 4;
const DITCH: u32 = 5;
const RAIL_INSIDE: u32 = 6;
const RAIL_TOP: u32 = 7;
const RAIL_OUTSIDE: u32 = 8;
const TABLE: u32 = 9;
const SOLIDS: u32 = 16;
const BANDS: u32 = 16;

/// Edge of the squares into which the picture is cut to find what may be seen in each, px.
const TILE_PX: usize = 32;

/// A scene made ready for tracing.
pub struct Tracer {
    board: Option<BoardLook>,
    light: Light,
    table: Linear,
    camera: Camera,
    centre: [f64; 3],
    lens: Lens,
    solids: Vec<Solid>,
    strokes: Vec<Stroke>,
    tiles: Tiles,
    wood: Wood,
    middle: [f64; 2],
    towards_lamp: [f64; 3],
    /// Normals of the frame's sides, one of each opposite pair.
    sides: Vec<[f64; 2]>,
}

impl Tracer {
    /// Prepares `scene`.
    pub fn new(scene: &Scene) -> Self {
        let camera = scene.camera();
        let (w, h) = (scene.view.width_px as usize, scene.view.height_px as usize);
        let solids = scene.solids();
        let strokes = scene.board.as_ref().map_or_else(Vec::new, BoardLook::strokes);
        let foot = camera.foot();
        let norm = (1.0 + scene.light.slope[0].powi(2) + scene.light.slope[1].powi(2)).sqrt();
        Self {
            board: scene.board.clone(),
            light: scene.light,
            table: scene.table,
            centre: [foot.x, foot.y, camera.height_mm()],
            lens: Lens::new(&camera, w, h),
            tiles: Tiles::new(scene, &camera, &solids, &strokes, w, h),
            wood: Wood::new(scene.seed),
            middle: [(w as f64 - 1.0) / 2.0, (h as f64 - 1.0) / 2.0],
            towards_lamp: [-scene.light.slope[0] / norm, -scene.light.slope[1] / norm, 1.0 / norm],
            sides: scene.board.as_ref().map_or_else(Vec::new, BoardLook::side_normals),
            camera,
            solids,
            strokes,
        }
    }

    /// The ray through the picture's point (x, y); None above the horizon.
    pub fn ray(&self, x: f64, y: f64) -> Option<Ray> {
        let focal = self.camera.focal_px;
        let (xd, yd) = ((x - self.camera.principal.x) / focal, (y - self.camera.principal.y) / focal);
        let factor = self.lens.factor(xd * xd + yd * yd);
        let (xu, yu) = (xd * factor, yd * factor);
        let r = &self.camera.rotation;
        let way = [
            r[0][0] * xu + r[1][0] * yu + r[2][0],
            r[0][1] * xu + r[1][1] * yu + r[2][1],
            r[0][2] * xu + r[1][2] * yu + r[2][2],
        ];
        if way[2] < 0.05 {
            return None;
        }
        let slope = [way[0] / way[2], way[1] / way[2]];
        let px = factor / (focal * way[2]);
        let change = |i: usize, j: usize| (r[j][i] - slope[i] * r[j][2]) * px;
        let per_px = [[change(0, 0), change(0, 1)], [change(1, 0), change(1, 1)]];
        Some(Ray { slope, per_px })
    }

    /// What is seen at the picture's point (x, y), averaged over a square of `size_px`.
    pub fn see(&self, x: f64, y: f64, size_px: f64) -> Seen {
        let Some(ray) = self.ray(x, y) else {
            return Seen { id: 0, light: scaled(self.table, 0.5) };
        };
        let tile = self.tiles.at(x, y);
        let mut seen = self.see_ground(&ray, tile, size_px);
        let steep = (1.0 + ray.slope[0].powi(2) + ray.slope[1].powi(2)).sqrt();
        let along = [ray.slope[0] / steep, ray.slope[1] / steep, -1.0 / steep];
        let mut nearest = (self.centre[2] - seen.height) * steep;
        for &index in &tile.solids {
            let solid = &self.solids[index];
            if let Some(meeting) = solid.meet(self.centre, along)
                && meeting.along_mm < nearest
            {
                nearest = meeting.along_mm;
                let p = [0, 1, 2].map(|i| self.centre[i] + along[i] * nearest);
                let grain = 1.0 + solid.grain * self.wood.grain(p[0] + 37.0 * index as f64, 3.0 * p[1]);
                let base = scaled(solid.colour_at(&meeting), grain);
                seen = Ground {
                    id: SOLIDS + index as u32 * BANDS + meeting.band as u32,
                    height: p[2],
                    light: self.lit(base, p, meeting.normal, solid.gloss, &ray, tile, Some(index)),
                };
            }
        }
        Seen { id: seen.id, light: self.developed(seen.light, x, y) }
    }

    /// How far `p` lies from the centre in the frame's own sense: its radius, or the largest distance to a side.
    fn frame_reach(&self, p: [f64; 2]) -> f64 {
        if self.sides.is_empty() {
            return length(p[0], p[1]);
        }
        self.sides.iter().map(|n| (n[0] * p[0] + n[1] * p[1]).abs()).fold(0.0, f64::max)
    }

    fn at(&self, ray: &Ray, height: f64) -> [f64; 2] {
        let fall = self.centre[2] - height;
        [self.centre[0] + fall * ray.slope[0], self.centre[1] + fall * ray.slope[1]]
    }

    /// What the ray meets of board and table.
    fn see_ground(&self, ray: &Ray, tile: &Tile, size_px: f64) -> Ground {
        const UP: [f64; 3] = [0.0, 0.0, 1.0];
        let Some(board) = &self.board else {
            return self.see_table(ray, tile, 30.0);
        };
        let reach = |p: [f64; 2]| self.frame_reach(p);
        let (inner, outer) = (board.rail_inner_mm(), board.rail_outer_mm());
        let level = |id, height: f64, base: Linear, gloss| {
            let p = self.at(ray, height);
            Ground { id, height, light: self.lit(base, [p[0], p[1], height], UP, gloss, ray, tile, None) }
        };
        let wall = |id, height: f64, base: Linear, outwards: f64| {
            let p = self.at(ray, height);
            let n = wall_normal(board, p, id, outwards);
            Ground { id, height, light: self.lit(base, [p[0], p[1], height], n, 0.0, ray, tile, None) }
        };
        let top = self.at(ray, board.rail_top_mm);
        let far = reach(top);
        if (inner..=outer).contains(&far) {
            let base = scaled(board.rail, 1.0 + 0.5 * self.wood.grain(top[0] * 2.0, top[1] * 0.4));
            return level(RAIL_TOP, board.rail_top_mm, base, board.gloss);
        }
        if far > outer {
            return if reach(self.at(ray, -board.table_depth_mm)) <= outer {
                wall(RAIL_OUTSIDE, 0.0, board.rail, 1.0)
            } else {
                self.see_table(ray, tile, board.table_depth_mm)
            };
        }
        let p = self.at(ray, 0.0);
        let rho = length(p[0], p[1]);
        if rho <= board.hole_mm {
            let floor = self.at(ray, -board.hole_depth_mm);
            return if length(floor[0], floor[1]) <= board.hole_mm {
                level(HOLE_FLOOR, -board.hole_depth_mm, scaled(board.hole, 0.75), 0.0)
            } else {
                wall(HOLE_WALL, -board.hole_depth_mm / 2.0, scaled(board.surface, 0.45), -1.0)
            };
        }
        if rho <= board.surface_mm {
            let base = self.painted(board, ray, p, rho, tile, size_px);
            return Ground {
                id: SURFACE,
                height: 0.0,
                light: self.lit(base, [p[0], p[1], 0.0], UP, board.gloss, ray, tile, None),
            };
        }
        if reach(p) > inner {
            return wall(RAIL_INSIDE, 0.0, scaled(board.rail, 0.8), -1.0);
        }
        let floor = self.at(ray, -board.ditch_depth_mm);
        let (far, rho) = (reach(floor), length(floor[0], floor[1]));
        if rho < board.surface_mm {
            return wall(SURFACE_SIDE, -board.ditch_depth_mm / 2.0, scaled(board.surface, 0.8), 1.0);
        }
        if far > inner {
            return wall(RAIL_INSIDE, -board.ditch_depth_mm / 2.0, scaled(board.rail, 0.7), -1.0);
        }
        // Corners of the ditch get less light.
        let open = smooth(0.3 + (rho - board.surface_mm).min(inner - far) / 24.0);
        level(DITCH, -board.ditch_depth_mm, scaled(board.ditch, 0.5 + 0.5 * open as f32), 0.0)
    }

    fn see_table(&self, ray: &Ray, tile: &Tile, depth: f64) -> Ground {
        let p = self.at(ray, -depth);
        let cloth = 1.0 + 0.25 * self.wood.grain(p[0] * 0.6, p[1] * 0.6);
        let at = [p[0], p[1], -depth];
        let light = self.lit(scaled(self.table, cloth), at, [0.0, 0.0, 1.0], 0.05, ray, tile, None);
        Ground { id: TABLE, height: -depth, light }
    }

    /// Colour of the playing surface: wood, then what is printed on it, each covering its share of the footprint.
    fn painted(&self, board: &BoardLook, ray: &Ray, p: [f64; 2], rho: f64, tile: &Tile, size_px: f64) -> Linear {
        let wood = 1.0 + board.grain * self.wood.grain(p[0], p[1]);
        let wood = scaled(board.surface, wood);
        // Width of the footprint along a direction of the board, mm.
        let footprint = |n: [f64; 2]| {
            let [x, y] = ray.per_px;
            let along = [n[0] * x[0] + n[1] * y[0], n[0] * x[1] + n[1] * y[1]];
            (length(along[0], along[1]) * self.centre[2] * size_px).max(1e-6)
        };
        let radial = footprint([p[0] / rho.max(1e-9), p[1] / rho.max(1e-9)]);
        let mut paint = 0.0f64;
        for line in &board.lines {
            paint = paint.max(covered(rho, line.inner_mm, line.outer_mm, radial));
        }
        for &index in &tile.strokes {
            let stroke = &self.strokes[index];
            let (away, n) = from_segment(p, stroke);
            let half = stroke.width_mm / 2.0;
            if away < half + 3.0 {
                paint = paint.max(covered(away, -half, half, footprint(n)));
            }
        }
        mix(wood, board.line, paint as f32)
    }

    /// Light that leaves `p` towards the camera.
    #[allow(clippy::too_many_arguments, reason = "one call carries one lit point")]
    fn lit(
        &self,
        base: Linear,
        p: [f64; 3],
        normal: [f64; 3],
        gloss: f32,
        ray: &Ray,
        tile: &Tile,
        own: Option<usize>,
    ) -> Linear {
        let light = &self.light;
        let mut shadow = 0.0f64;
        let mut near = 0.0f64;
        for &index in &tile.shadows {
            if Some(index) != own {
                let solid = &self.solids[index];
                if light.lamp > 0.0 {
                    shadow = shadow.max(solid.shadow_at(p, light.slope, light.penumbra));
                }
                near = near.max(solid.shadow_at(p, [0.0, 0.0], 0.6));
            }
        }
        let facing = (dot(normal, self.towards_lamp) / self.towards_lamp[2]).max(0.0);
        let lamp = light.lamp * (facing * (1.0 - shadow)) as f32;
        let ambient = light.ambient * (0.55 + 0.45 * normal[2]) as f32 * (1.0 - 0.3 * near) as f32;
        let fall = 1.0 + (light.gradient[0] * p[0] as f32 + light.gradient[1] * p[1] as f32) / 1000.0;
        let mut out = scaled(base, (lamp + ambient) * fall.clamp(0.2, 2.0));
        let mirror = light.glare * gloss;
        if mirror > 0.0 && normal[2] > 0.2 {
            // The mirrored ray climbs as steeply as this one falls; a slanting normal turns it.
            let tip = [2.0 * normal[0] / normal[2], 2.0 * normal[1] / normal[2]];
            let off =
                (ray.slope[0] + tip[0] + light.slope[0]).powi(2) + (ray.slope[1] + tip[1] + light.slope[1]).powi(2);
            let blob = (-off / (2.0 * light.glare_width * light.glare_width)).exp() * (1.0 - shadow);
            out = out.map(|v| v + mirror * blob as f32);
        }
        [0, 1, 2].map(|i| out[i] * light.tint[i])
    }

    fn developed(&self, light: Linear, x: f64, y: f64) -> Linear {
        let [mx, my] = self.middle;
        let r2 = ((x - mx).powi(2) + (y - my).powi(2)) / (mx * mx + my * my);
        scaled(light, 1.0 - self.light.vignette * r2 as f32)
    }
}

/// A thing met below the solids.
struct Ground {
    id: u32,
    height: f64,
    light: Linear,
}

fn wall_normal(board: &BoardLook, p: [f64; 2], id: u32, outwards: f64) -> [f64; 3] {
    let mut angle = p[1].atan2(p[0]);
    if matches!(id, RAIL_INSIDE | RAIL_OUTSIDE) && board.frame != Frame::Round {
        let step = if board.frame == Frame::Octagon { 0.25 } else { 0.5 } * std::f64::consts::PI;
        angle = ((angle - board.frame_turn_rad) / step).round() * step + board.frame_turn_rad;
    }
    [outwards * angle.cos(), outwards * angle.sin(), 0.0]
}

/// Share of the footprint of width `width` about `at` that lies between `low` and `high`.
fn covered(at: f64, low: f64, high: f64, width: f64) -> f64 {
    let below = |edge: f64| ((edge - at) / width + 0.5).clamp(0.0, 1.0);
    below(high) - below(low)
}

/// Distance of `p` from the stroke's middle line, and the direction of that distance.
fn from_segment(p: [f64; 2], stroke: &Stroke) -> (f64, [f64; 2]) {
    let axis = [stroke.to[0] - stroke.from[0], stroke.to[1] - stroke.from[1]];
    let to = [p[0] - stroke.from[0], p[1] - stroke.from[1]];
    let length2 = axis[0] * axis[0] + axis[1] * axis[1];
    let share = ((to[0] * axis[0] + to[1] * axis[1]) / length2).clamp(0.0, 1.0);
    let off = [to[0] - share * axis[0], to[1] - share * axis[1]];
    let away = length(off[0], off[1]);
    let across = [-axis[1] / length2.sqrt(), axis[0] / length2.sqrt()];
    (away, if away > 1e-9 { [off[0] / away, off[1] / away] } else { across })
}

/// The way back through the lens: a table over the squared radius in the picture.
struct Lens {
    factors: Vec<f64>,
    step: f64,
}

impl Lens {
    fn new(camera: &Camera, width: usize, height: usize) -> Self {
        let (w, h) = (width as f64 / camera.focal_px, height as f64 / camera.focal_px);
        let widest = (w * w + h * h) / 4.0 * 1.1;
        let steps = 2048;
        let mut last = 1.0f64;
        let factors = (0..=steps + 1)
            .map(|i| {
                let rd = (widest * f64::from(i) / f64::from(steps)).sqrt();
                let mut r = rd * last;
                for _ in 0..20 {
                    let r2 = r * r;
                    let slope = 1.0 + 3.0 * camera.k1 * r2 + 5.0 * camera.k2 * r2 * r2;
                    // Where the lens would fold the picture over, it goes on as it was.
                    if slope < 0.2 {
                        return last;
                    }
                    r -= (r * (1.0 + camera.k1 * r2 + camera.k2 * r2 * r2) - rd) / slope;
                }
                if rd > 0.0 {
                    last = r / rd;
                }
                last
            })
            .collect();
        Self { factors, step: widest / f64::from(steps) }
    }

    fn factor(&self, squared: f64) -> f64 {
        let at = squared / self.step;
        let index = (at as usize).min(self.factors.len() - 2);
        let share = at - index as f64;
        self.factors[index] + (self.factors[index + 1] - self.factors[index]) * share
    }
}

/// Smooth noise that repeats after 256 units, stretched to look like wood.
struct Wood {
    noise: Vec<f32>,
}

impl Wood {
    const SIZE: usize = 256;

    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0xB0A2D);
        Self { noise: (0..Self::SIZE * Self::SIZE).map(|_| random.range(-1.0, 1.0) as f32).collect() }
    }

    fn at(&self, x: f64, y: f64) -> f32 {
        // Made positive first: then a cast rounds down, which is cheaper than to floor.
        let (x, y) = (x + 65536.0, y + 65536.0);
        let (ix, iy) = (x as u32, y as u32);
        let (sx, sy) = ((x - f64::from(ix)) as f32, (y - f64::from(iy)) as f32);
        let (ix, iy) = (ix as usize & 255, iy as usize & 255);
        let value = |dx: usize, dy: usize| self.noise[((iy + dy) & 255) * Self::SIZE + ((ix + dx) & 255)];
        let upper = value(0, 0) + (value(1, 0) - value(0, 0)) * sx;
        let lower = value(0, 1) + (value(1, 1) - value(0, 1)) * sx;
        upper + (lower - upper) * sy
    }

    /// Grain along x at board scale, about ±0.3.
    fn grain(&self, x: f64, y: f64) -> f32 {
        0.2 * self.at(x * 0.006, y * 0.05) + 0.12 * self.at(x * 0.02 + 91.0, y * 0.31)
    }
}

/// What may be seen in one square of the picture.
#[derive(Clone, Debug, Default)]
struct Tile {
    solids: Vec<usize>,
    shadows: Vec<usize>,
    strokes: Vec<usize>,
}

struct Tiles {
    tiles: Vec<Tile>,
    across: usize,
    down: usize,
}

impl Tiles {
    fn new(scene: &Scene, camera: &Camera, solids: &[Solid], strokes: &[Stroke], width: usize, height: usize) -> Self {
        let (across, down) = (width.div_ceil(TILE_PX), height.div_ceil(TILE_PX));
        let mut out = Self { tiles: vec![Tile::default(); across * down], across, down };
        let floor = scene.board.as_ref().map_or(-30.0, |board| -board.table_depth_mm);
        let slope = scene.light.slope;
        for (index, solid) in solids.iter().enumerate() {
            let outline = solid.outline();
            let seen = |p: &[f64; 3]| camera.project(Point::new(p[0], p[1]), p[2]);
            let body: Vec<_> = outline.iter().map(seen).collect();
            out.fill(&body, |tile| tile.solids.push(index));
            // Shadows: the outline thrown to the lowest floor, and around the foot for the light that is kept off.
            let mut thrown = body;
            let soft = (1.0 + scene.light.penumbra / 2.0 / length(slope[0], slope[1]).max(0.05)).min(4.0);
            for p in &outline {
                for height in [0.0, floor] {
                    let fall = (p[2] - height).max(0.0) * soft;
                    thrown.push(seen(&[p[0] + slope[0] * fall, p[1] + slope[1] * fall, height]));
                    let rise = (p[2] - height).max(0.0) * 0.3;
                    for (dx, dy) in [(rise, rise), (-rise, rise), (rise, -rise), (-rise, -rise)] {
                        thrown.push(seen(&[p[0] + dx, p[1] + dy, height]));
                    }
                }
            }
            out.fill(&thrown, |tile| tile.shadows.push(index));
        }
        for (index, stroke) in strokes.iter().enumerate() {
            let half = stroke.width_mm / 2.0 + 3.0;
            // In pieces, so that a slanting line does not fill its whole box.
            let pieces = 8;
            let at = |i: usize, k: usize| stroke.from[k] + (stroke.to[k] - stroke.from[k]) * i as f64 / pieces as f64;
            for i in 0..pieces {
                let mut corners = Vec::with_capacity(8);
                for end in [i, i + 1] {
                    for (dx, dy) in [(half, half), (-half, half), (half, -half), (-half, -half)] {
                        corners.push(camera.project(Point::new(at(end, 0) + dx, at(end, 1) + dy), 0.0));
                    }
                }
                out.fill(&corners, |tile| {
                    if tile.strokes.last() != Some(&index) {
                        tile.strokes.push(index);
                    }
                });
            }
        }
        out
    }

    /// Adds to all squares under the box of `outline`, or to all squares where a part of it cannot be projected.
    fn fill(&mut self, outline: &[Option<Point<ImagePx>>], mut add: impl FnMut(&mut Tile)) {
        let (mut low, mut high) = ([f64::MAX; 2], [f64::MIN; 2]);
        for point in outline {
            let Some(point) = point else {
                self.tiles.iter_mut().for_each(add);
                return;
            };
            for (i, v) in point.to_array().into_iter().enumerate() {
                low[i] = low[i].min(v - 3.0);
                high[i] = high[i].max(v + 3.0);
            }
        }
        let first = |v: f64| (v / TILE_PX as f64).floor().max(0.0) as usize;
        let end = |v: f64, count: usize| ((v / TILE_PX as f64).floor() + 1.0).clamp(0.0, count as f64) as usize;
        for row in first(low[1])..end(high[1], self.down) {
            for column in first(low[0])..end(high[0], self.across) {
                add(&mut self.tiles[row * self.across + column]);
            }
        }
    }

    fn at(&self, x: f64, y: f64) -> &Tile {
        let column = (x.max(0.0) as usize / TILE_PX).min(self.across - 1);
        let row = (y.max(0.0) as usize / TILE_PX).min(self.down - 1);
        &self.tiles[row * self.across + column]
    }
}
