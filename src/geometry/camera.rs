//! The camera: board millimetres (and heights above the board) to picture pixels and back.
//!
//! Pinhole with square pixels and radial distortion in OpenCV's convention,
//! `x_d = x (1 + k1 r² + k2 r⁴)` with x, r in units of the focal length about the principal point.
//! `X_cam = R X_board + t`; the board's z axis points *into* the board (x right, y down, right-handed), so a point
//! `height_mm` above the playing surface has z = -height_mm.

use serde::{Deserialize, Serialize};

use super::frame::{BoardMm, ImagePx, Point};

/// A calibrated view of the board: where every board point, at any height, appears in the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Camera {
    /// Focal length in pixels.
    pub focal_px: f64,
    /// Principal point.
    pub principal: Point<ImagePx>,
    /// First radial distortion term.
    pub k1: f64,
    /// Second radial distortion term.
    pub k2: f64,
    /// Rotation R, row by row: board axes to camera axes (x right, y down, z forward).
    pub rotation: [[f64; 3]; 3],
    /// Translation t: the board's origin in the camera's axes, mm.
    pub translation_mm: [f64; 3],
}

impl Camera {
    /// Picture position of the board point `at`, `height_mm` above the playing surface.
    /// None behind the camera or beyond the distortion model's range.
    pub fn project(&self, at: Point<BoardMm>, height_mm: f64) -> Option<Point<ImagePx>> {
        let [x, y, z] = self.to_camera(at, height_mm);
        if z <= 1e-6 {
            return None;
        }
        let (x, y) = (x / z, y / z);
        let r2 = x * x + y * y;
        // The model folds over where d(r_d)/dr = 0: positions beyond are meaningless.
        if 1.0 + 3.0 * self.k1 * r2 + 5.0 * self.k2 * r2 * r2 <= 0.0 {
            return None;
        }
        let scale = self.focal_px * (1.0 + self.k1 * r2 + self.k2 * r2 * r2);
        Some(Point::new(self.principal.x + scale * x, self.principal.y + scale * y))
    }

    /// The board point seen at `at`, on the plane `height_mm` above the playing surface.
    /// None where the ray misses that plane or the distortion cannot be undone.
    pub fn board_at(&self, at: Point<ImagePx>, height_mm: f64) -> Option<Point<BoardMm>> {
        let (x, y) =
            self.undistort((at.x - self.principal.x) / self.focal_px, (at.y - self.principal.y) / self.focal_px)?;
        let r = &self.rotation;
        let centre = self.centre();
        let along = |i: usize| r[0][i] * x + r[1][i] * y + r[2][i];
        let ray = [along(0), along(1), along(2)];
        if ray[2] <= 1e-9 {
            return None;
        }
        let s = (-height_mm - centre[2]) / ray[2];
        if s <= 0.0 {
            return None;
        }
        Some(Point::new(centre[0] + s * ray[0], centre[1] + s * ray[1]))
    }

    /// The camera's foot point: where its plumb line to the board's plane meets that plane.
    pub fn foot(&self) -> Point<BoardMm> {
        let c = self.centre();
        Point::new(c[0], c[1])
    }

    /// Height of the camera's centre above the playing surface, mm.
    pub fn height_mm(&self) -> f64 {
        -self.centre()[2]
    }

    /// Tilt of the optical axis against the board's normal, radians.
    pub fn tilt_rad(&self) -> f64 {
        self.rotation[2][2].clamp(-1.0, 1.0).acos()
    }

    /// Homography board plane (mm, homogeneous) to picture px, without lens distortion, row by row, last element 1
    /// where it can be.
    pub fn homography(&self) -> [[f64; 3]; 3] {
        let (r, t, f) = (&self.rotation, &self.translation_mm, self.focal_px);
        let column = |v: [f64; 3]| [f * v[0] + self.principal.x * v[2], f * v[1] + self.principal.y * v[2], v[2]];
        let c = [column([r[0][0], r[1][0], r[2][0]]), column([r[0][1], r[1][1], r[2][1]]), column(*t)];
        let norm = if c[2][2].abs() > 1e-12 { c[2][2] } else { 1.0 };
        [0, 1, 2].map(|row| [0, 1, 2].map(|col| c[col][row] / norm))
    }

    /// Pixels per millimetre at the board point `at`, `height_mm` up: the geometric mean over directions.
    pub fn scale_px_per_mm(&self, at: Point<BoardMm>, height_mm: f64) -> Option<f64> {
        let [[a, b], [c, d]] = self.jacobian(at, height_mm)?;
        Some((a * d - b * c).abs().sqrt())
    }

    /// Derivative of [`Camera::project`] by the board point: `[[dx/dX, dx/dY], [dy/dX, dy/dY]]`, px per mm.
    pub fn jacobian(&self, at: Point<BoardMm>, height_mm: f64) -> Option<[[f64; 2]; 2]> {
        let step = 0.5;
        let mut out = [[0.0; 2]; 2];
        for (axis, (dx, dy)) in [(step, 0.0), (0.0, step)].into_iter().enumerate() {
            let plus = self.project(at.offset(dx, dy), height_mm)?;
            let minus = self.project(at.offset(-dx, -dy), height_mm)?;
            out[0][axis] = (plus.x - minus.x) / (2.0 * step);
            out[1][axis] = (plus.y - minus.y) / (2.0 * step);
        }
        Some(out)
    }

    /// This camera for the picture resampled by `scale` (see [`Point::rescaled`]).
    pub fn rescaled(&self, scale: f64) -> Self {
        Self { focal_px: self.focal_px * scale, principal: self.principal.rescaled(scale), ..self.clone() }
    }

    /// The camera's centre in board axes, mm (z negative: above the board).
    fn centre(&self) -> [f64; 3] {
        let (r, t) = (&self.rotation, &self.translation_mm);
        let along = |i: usize| -(r[0][i] * t[0] + r[1][i] * t[1] + r[2][i] * t[2]);
        [along(0), along(1), along(2)]
    }

    fn to_camera(&self, at: Point<BoardMm>, height_mm: f64) -> [f64; 3] {
        let (r, t) = (&self.rotation, &self.translation_mm);
        // Written out, as elsewhere here: mapping over an array is not inlined.
        let along = |i: usize| r[i][0] * at.x + r[i][1] * at.y - r[i][2] * height_mm + t[i];
        [along(0), along(1), along(2)]
    }

    /// Undoes the radial distortion of a point in focal lengths: Newton on the radius.
    fn undistort(&self, xd: f64, yd: f64) -> Option<(f64, f64)> {
        if self.k1 == 0.0 && self.k2 == 0.0 {
            return Some((xd, yd));
        }
        let rd = (xd * xd + yd * yd).sqrt();
        if rd < 1e-12 {
            return Some((xd, yd));
        }
        let mut r = rd;
        for _ in 0..12 {
            let r2 = r * r;
            let slope = 1.0 + 3.0 * self.k1 * r2 + 5.0 * self.k2 * r2 * r2;
            if slope <= 0.05 {
                return None;
            }
            let step = (r * (1.0 + self.k1 * r2 + self.k2 * r2 * r2) - rd) / slope;
            r -= step;
            if step.abs() < 1e-12 {
                break;
            }
        }
        (r.is_finite() && r > 0.0).then(|| (xd * r / rd, yd * r / rd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn tilted() -> Camera {
        let (s, c) = 0.4f64.sin_cos();
        Camera {
            focal_px: 1000.0,
            principal: Point::new(639.5, 479.5),
            k1: -0.15,
            k2: 0.02,
            rotation: [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
            translation_mm: [10.0, -20.0, 1100.0],
        }
    }

    #[test]
    fn a_point_projected_and_cast_back_is_the_same_point() {
        let camera = tilted();
        for (x, y, h) in [(0.0, 0.0, 0.0), (200.0, -150.0, 9.5), (-300.0, 250.0, -14.0)] {
            let image = camera.project(Point::new(x, y), h).unwrap();
            let back = camera.board_at(image, h).unwrap();
            assert_relative_eq!(back.x, x, epsilon = 1e-6);
            assert_relative_eq!(back.y, y, epsilon = 1e-6);
        }
    }

    #[test]
    fn a_raised_point_appears_further_from_the_foot() {
        let camera = tilted();
        let (foot, height) = (camera.foot(), camera.height_mm());
        let at = Point::<BoardMm>::new(200.0, -100.0);
        let seen = camera.board_at(camera.project(at, 10.0).unwrap(), 0.0).unwrap();
        let lean = 10.0 / (height - 10.0);
        assert_relative_eq!(seen.x, at.x + (at.x - foot.x) * lean, epsilon = 1e-6);
        assert_relative_eq!(seen.y, at.y + (at.y - foot.y) * lean, epsilon = 1e-6);
    }

    #[test]
    fn the_homography_is_the_camera_without_its_lens() {
        let camera = Camera { k1: 0.0, k2: 0.0, ..tilted() };
        let h = camera.homography();
        let at = Point::<BoardMm>::new(120.0, 80.0);
        let w = h[2][0] * at.x + h[2][1] * at.y + h[2][2];
        let image = camera.project(at, 0.0).unwrap();
        assert_relative_eq!((h[0][0] * at.x + h[0][1] * at.y + h[0][2]) / w, image.x, epsilon = 1e-9);
        assert_relative_eq!((h[1][0] * at.x + h[1][1] * at.y + h[1][2]) / w, image.y, epsilon = 1e-9);
    }

    #[test]
    fn a_rescaled_camera_sees_the_rescaled_picture() {
        let camera = tilted();
        let at = Point::<BoardMm>::new(-50.0, 220.0);
        let full = camera.project(at, 5.0).unwrap().rescaled(0.5);
        let half = camera.rescaled(0.5).project(at, 5.0).unwrap();
        assert_relative_eq!(full.x, half.x, epsilon = 1e-9);
        assert_relative_eq!(full.y, half.y, epsilon = 1e-9);
    }

    #[test]
    fn nothing_behind_the_camera_is_projected() {
        let camera = tilted();
        assert!(camera.project(Point::new(0.0, -4000.0), 0.0).is_none());
    }
}
