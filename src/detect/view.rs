//! The top view: the picture as seen straight from above, on the plane half a disc's height above the board.
//!
//! In that plane every disc is nearly a circle of one known size wherever it lies, so one search fits all.

use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::planes::{Planes, Raster, Reduced};

/// Side of the mesh on which the projection is computed; within a cell it is interpolated, px of the view.
const MESH_PX: usize = 16;

/// The rectified picture.
#[derive(Clone, Debug)]
pub struct TopView {
    /// Colours; black where the picture ends.
    pub planes: Planes,
    /// Half the side, px: the board's centre is at `(half_px, half_px)`.
    pub half_px: f64,
    /// Resolution.
    pub px_per_mm: f64,
    /// Radius that is covered, mm.
    pub radius_mm: f64,
}

impl TopView {
    /// Rectifies `picture` as seen by `camera`, out to `radius_mm` from the centre, on the plane `plane_mm` above the
    /// playing surface.
    pub fn of(picture: Raster<'_>, camera: &Camera, radius_mm: f64, plane_mm: f64, px_per_mm: f64) -> Self {
        let half = (radius_mm * px_per_mm).ceil() as usize + 2;
        let side = 2 * half + 1;
        let mut view = Self { planes: Planes::new(side, side), half_px: half as f64, px_per_mm, radius_mm };
        // A picture much finer than the view is averaged first, or the view would only see every other pixel.
        let centre = Point::new(0.0, 0.0);
        let fineness = camera.scale_px_per_mm(centre, plane_mm).unwrap_or(px_per_mm) / px_per_mm;
        let block = ((fineness / 1.2) as usize).clamp(1, 64);
        if block > 1 {
            let reduced = Reduced::of(picture, view.bounds_px(picture, camera, plane_mm), block);
            let shrink = 1.0 / block as f64;
            let map = |x: f64, y: f64| {
                let p = camera.project(Point::new(x, y), plane_mm)?;
                let p = p.offset(-(reduced.left as f64), -(reduced.top as f64)).rescaled(shrink);
                Some((p.x as f32, p.y as f32))
            };
            view.fill(reduced.raster(), map);
        } else {
            let map = |x: f64, y: f64| {
                let p = camera.project(Point::new(x, y), plane_mm)?;
                Some((p.x as f32, p.y as f32))
            };
            view.fill(picture, map);
        }
        view
    }

    /// View px of a point on the view's plane.
    pub fn px(&self, at: Point<BoardMm>) -> (f64, f64) {
        (self.half_px + at.x * self.px_per_mm, self.half_px + at.y * self.px_per_mm)
    }

    /// The point on the view's plane at a view px.
    pub fn mm(&self, x: f64, y: f64) -> Point<BoardMm> {
        Point::new((x - self.half_px) / self.px_per_mm, (y - self.half_px) / self.px_per_mm)
    }

    /// The part of the picture that the view shows, `[left, top, right, bottom]` px.
    fn bounds_px(&self, picture: Raster<'_>, camera: &Camera, plane_mm: f64) -> [usize; 4] {
        let (mut low, mut high) = ([f64::MAX; 2], [f64::MIN; 2]);
        for k in 0..64 {
            let (s, c) = (k as f64 / 64.0 * std::f64::consts::TAU).sin_cos();
            let at = Point::new(1.05 * self.radius_mm * c, 1.05 * self.radius_mm * s);
            if let Some(p) = camera.project(at, plane_mm) {
                low = [low[0].min(p.x), low[1].min(p.y)];
                high = [high[0].max(p.x), high[1].max(p.y)];
            }
        }
        let clip = |v: f64, limit: usize| v.clamp(0.0, limit as f64) as usize;
        [
            clip(low[0] - 4.0, picture.columns),
            clip(low[1] - 4.0, picture.rows),
            clip(high[0] + 5.0, picture.columns),
            clip(high[1] + 5.0, picture.rows),
        ]
    }

    fn fill(&mut self, source: Raster<'_>, map: impl Fn(f64, f64) -> Option<(f32, f32)>) {
        let (rows, columns) = self.planes.shape();
        let cells = columns.div_ceil(MESH_PX);
        let at = |cell_x: usize, cell_y: usize| {
            let p = self.mm((cell_x * MESH_PX) as f64, (cell_y * MESH_PX) as f64);
            map(p.x, p.y)
        };
        let mut upper: Vec<_> = (0..=cells).map(|x| at(x, 0)).collect();
        let mut mesh = Vec::with_capacity(rows.div_ceil(MESH_PX));
        for cell_y in 0..rows.div_ceil(MESH_PX) {
            let lower: Vec<_> = (0..=cells).map(|x| at(x, cell_y + 1)).collect();
            mesh.push((upper, lower.clone()));
            upper = lower;
        }
        let radius = (self.radius_mm * self.px_per_mm) as f32;
        let [red, green, blue] = self.planes.rgb.each_mut().map(|plane| plane.as_slice_mut().unwrap_or(&mut []));
        let lines =
            red.chunks_exact_mut(columns).zip(green.chunks_exact_mut(columns)).zip(blue.chunks_exact_mut(columns));
        for (y, ((red, green), blue)) in lines.enumerate() {
            let (above, below) = &mesh[y / MESH_PX];
            let down = (y % MESH_PX) as f32 / MESH_PX as f32;
            let dy = y as f32 - self.half_px as f32;
            let half = (radius * radius - dy * dy).max(0.0).sqrt();
            let from = (self.half_px as f32 - half).max(0.0) as usize;
            let to = ((self.half_px as f32 + half) as usize + 1).min(columns);
            for cell in from / MESH_PX..to.div_ceil(MESH_PX) {
                let (Some(a), Some(b), Some(c), Some(d)) = (above[cell], above[cell + 1], below[cell], below[cell + 1])
                else {
                    continue;
                };
                let left = (a.0 + (c.0 - a.0) * down, a.1 + (c.1 - a.1) * down);
                let right = (b.0 + (d.0 - b.0) * down, b.1 + (d.1 - b.1) * down);
                let step = ((right.0 - left.0) / MESH_PX as f32, (right.1 - left.1) / MESH_PX as f32);
                let (first, end) = ((cell * MESH_PX).max(from), ((cell + 1) * MESH_PX).min(to));
                let pixels = red[first..end].iter_mut().zip(&mut green[first..end]).zip(&mut blue[first..end]);
                for (i, ((red, green), blue)) in pixels.enumerate() {
                    let along = (first - cell * MESH_PX + i) as f32;
                    if let Some(colour) = source.sample(left.0 + step.0 * along, left.1 + step.1 * along) {
                        [*red, *green, *blue] = colour;
                    }
                }
            }
        }
    }
}
