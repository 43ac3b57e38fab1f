//! Solids above the board: discs, pegs, plates (cylinders with rounded edges) and arms (capsules).
//!
//! A ray is followed to a solid by sphere tracing its exact signed distance, to 2 µm.

use super::colour::Linear;
use super::scene::Pose;

/// (x, y, height above the playing surface), mm.
pub type Space = [f64; 3];

/// What a solid is made of.
#[derive(Clone, Debug)]
pub struct Solid {
    pub shape: Shape,
    /// Colour of the body.
    pub colour: Linear,
    /// Circles printed on top, widest first: within the radius, that colour.
    pub bands: Vec<(f64, Linear)>,
    pub grain: f32,
    pub gloss: f32,
}

/// The form of a solid.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A cylinder whose edges are rounded with `edge_mm`; `base` is the centre of its lower face, `axes` its own
    /// axes as rows (the last one upwards).
    Cylinder { base: Space, axes: [Space; 3], radius_mm: f64, height_mm: f64, edge_mm: f64 },
    /// All points within `radius_mm` of the segment.
    Capsule { from: Space, to: Space, radius_mm: f64 },
}

/// Where a ray meets a solid.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Distance along the ray, mm.
    pub along_mm: f64,
    /// Outward normal.
    pub normal: Space,
    /// The printed band on top (1 for the widest), 0 for the body.
    pub band: usize,
}

const EPSILON_MM: f64 = 0.002;
const STEPS: usize = 48;

impl Solid {
    /// A cylinder standing upright on `base`.
    pub fn upright(base: Space, radius_mm: f64, height_mm: f64, edge_mm: f64, colour: Linear) -> Self {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let shape = Shape::Cylinder { base, axes, radius_mm, height_mm, edge_mm };
        Self { shape, colour, bands: Vec::new(), grain: 0.0, gloss: 0.3 }
    }

    /// The same cylinder leaning as `pose` says.
    pub fn posed(mut self, pose: &Pose) -> Self {
        if let (Shape::Cylinder { base, axes, .. }, Pose::Leaning { towards_rad, lean_rad, lift_mm }) =
            (&mut self.shape, pose)
        {
            let (s, c) = towards_rad.sin_cos();
            let (sl, cl) = lean_rad.sin_cos();
            // The side `towards` goes down: its own x axis points there and downwards.
            *axes = [[c * cl, s * cl, -sl], [-s, c, 0.0], [c * sl, s * sl, cl]];
            base[2] += lift_mm;
        }
        self
    }

    /// The first meeting with the ray from `origin` in the unit direction `along`, where there is one.
    pub fn meet(&self, origin: Space, along: Space) -> Option<Meeting> {
        match &self.shape {
            Shape::Cylinder { base, axes, radius_mm, height_mm, edge_mm } => {
                let half = height_mm / 2.0;
                let from = [0, 1, 2].map(|i| dot(axes[i], sub(origin, *base)) - if i == 2 { half } else { 0.0 });
                let along = [0, 1, 2].map(|i| dot(axes[i], along));
                let sphere = radius_mm.hypot(half);
                let (mut t, end) = sphere_span(from, along, sphere)?;
                if along[2] < -1e-9 {
                    t = t.max((half - from[2]) / along[2]);
                }
                let distance = |p: Space| {
                    let out = [length(p[0], p[1]) - radius_mm + edge_mm, p[2].abs() - half + edge_mm];
                    out[0].max(out[1]).min(0.0) + length(out[0].max(0.0), out[1].max(0.0)) - edge_mm
                };
                for _ in 0..STEPS {
                    let p = at(from, along, t);
                    let d = distance(p);
                    if d < EPSILON_MM {
                        let rho = length(p[0], p[1]).max(1e-9);
                        let out = [(rho - radius_mm + edge_mm).max(0.0), (p[2].abs() - half + edge_mm).max(0.0)];
                        let norm = length(out[0], out[1]).max(1e-9);
                        let (side, up) = (out[0] / norm, out[1] / norm * p[2].signum());
                        let own = [side * p[0] / rho, side * p[1] / rho, up];
                        let normal = [0, 1, 2].map(|i| (0..3).map(|k| axes[k][i] * own[k]).sum());
                        let on_top = up > 0.99;
                        let band = if on_top { self.bands.iter().filter(|(r, _)| rho <= *r).count() } else { 0 };
                        return Some(Meeting { along_mm: t, normal, band });
                    }
                    t += d;
                    if t > end {
                        return None;
                    }
                }
                None
            }
            Shape::Capsule { from, to, radius_mm } => {
                let axis = sub(*to, *from);
                let length2 = dot(axis, axis).max(1e-9);
                let nearest = |p: Space| {
                    let share = (dot(sub(p, *from), axis) / length2).clamp(0.0, 1.0);
                    at(*from, axis, share)
                };
                let middle = at(*from, axis, 0.5);
                let (mut t, end) = sphere_span(sub(origin, middle), along, length2.sqrt() / 2.0 + radius_mm)?;
                for _ in 0..STEPS {
                    let p = at(origin, along, t);
                    let out = sub(p, nearest(p));
                    let far = dot(out, out).sqrt();
                    if far - radius_mm < EPSILON_MM {
                        return Some(Meeting { along_mm: t, normal: out.map(|v| v / far), band: 0 });
                    }
                    t += far - radius_mm;
                    if t > end {
                        return None;
                    }
                }
                None
            }
        }
    }

    /// Colour at a meeting.
    pub fn colour_at(&self, meeting: &Meeting) -> Linear {
        match meeting.band {
            0 => self.colour,
            band => self.bands[band - 1].1,
        }
    }

    /// Points around the solid that bound it in any picture, mm.
    pub fn outline(&self) -> Vec<Space> {
        match &self.shape {
            Shape::Cylinder { base, axes, radius_mm, height_mm, .. } => {
                let mut out = Vec::with_capacity(32);
                for up in [0.0, *height_mm] {
                    for i in 0..16 {
                        let (s, c) = (std::f64::consts::TAU * f64::from(i) / 16.0).sin_cos();
                        let own = [1.03 * radius_mm * c, 1.03 * radius_mm * s, up];
                        out.push([0, 1, 2].map(|i| base[i] + (0..3).map(|k| axes[k][i] * own[k]).sum::<f64>()));
                    }
                }
                out
            }
            Shape::Capsule { from, to, radius_mm } => {
                let r = radius_mm * 1.03;
                let mut out = Vec::with_capacity(16);
                for end in [from, to] {
                    for corner in 0..8 {
                        let sign = |bit: i32| if corner >> bit & 1 == 0 { -r } else { r };
                        out.push([end[0] + sign(0), end[1] + sign(1), end[2] + sign(2)]);
                    }
                }
                out
            }
        }
    }

    /// How deep the place (x, y, height) lies in the solid's shadow, 0 to 1: every point of height t throws its
    /// shadow `slope * t` further. The shadow's border is as wide as `penumbra` times the height it comes from.
    pub fn shadow_at(&self, p: Space, slope: [f64; 2], penumbra: f64) -> f64 {
        let (from, to, radius) = match &self.shape {
            Shape::Cylinder { base, axes, radius_mm, height_mm, .. } => {
                (*base, at(*base, axes[2], *height_mm), *radius_mm)
            }
            Shape::Capsule { from, to, radius_mm } => (*from, *to, *radius_mm),
        };
        let top = to[2].max(from[2]);
        // Nothing reaches further than the shadow of the top and half its border.
        let reach = radius + 0.4 + (top - p[2]).max(0.0) * (slope[0].abs() + slope[1].abs() + penumbra);
        if top <= p[2] + 1e-6
            || p[0] < from[0].min(to[0]) - reach
            || p[0] > from[0].max(to[0]) + reach
            || p[1] < from[1].min(to[1]) - reach
            || p[1] > from[1].max(to[1]) + reach
        {
            return 0.0;
        }
        let thrown = |end: Space| {
            let height = (end[2] - p[2]).max(0.0);
            [end[0] + slope[0] * height - p[0], end[1] + slope[1] * height - p[1]]
        };
        let (a, b) = (thrown(from), thrown(to));
        let axis = [b[0] - a[0], b[1] - a[1]];
        let length2 = axis[0] * axis[0] + axis[1] * axis[1];
        let share = if length2 > 1e-9 { (-(a[0] * axis[0] + a[1] * axis[1]) / length2).clamp(0.0, 1.0) } else { 0.0 };
        let far = length(a[0] + share * axis[0], a[1] + share * axis[1]);
        let height = (from[2] + share * (to[2] - from[2]) - p[2]).max(0.0);
        smooth((radius - far) / (penumbra * height + 0.8) + 0.5)
    }

    /// The highest point, mm.
    pub fn top_mm(&self) -> f64 {
        self.outline().iter().map(|p| p[2]).fold(f64::MIN, f64::max)
    }
}

/// 0 below 0, 1 above 1, smooth between.
pub fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Length of (x, y): `hypot` without its care for numbers that no board has.
#[inline]
pub fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Scalar product.
#[inline]
pub fn dot(a: Space, b: Space) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn sub(a: Space, b: Space) -> Space {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
fn at(origin: Space, along: Space, t: f64) -> Space {
    [origin[0] + along[0] * t, origin[1] + along[1] * t, origin[2] + along[2] * t]
}

/// Entry and exit of a ray through the sphere about the origin; `along` is a unit vector.
fn sphere_span(from: Space, along: Space, radius: f64) -> Option<(f64, f64)> {
    let b = dot(from, along);
    let root = b * b - dot(from, from) + radius * radius;
    (root > 0.0).then(|| (-b - root.sqrt(), -b + root.sqrt()))
}
