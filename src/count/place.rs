//! From a fitted disc to what the line rule asks for: its contact circle with everything that may be wrong about it.
//!
//! In: the registration, the set's shared measures and one fitted disc. Out: a [`judge::Placed`]. Every shared error is
//! passed through the whole geometry instead of being linearised: the deviated camera sees the measured middle of the
//! disc elsewhere on the board, and has its own lines.

use crate::detect::{DiscFit, DiscSet};
use crate::geometry::{BoardMm, Camera, Point};
use crate::judge::{Alternative, Placed};
use crate::register::Registration;

/// Standard deviation that no stage accounts for, mm: discs are not quite round, boards not quite flat.
const UNMODELLED_SIGMA_MM: f64 = 0.05;

/// What the line rule is asked about `disc`.
pub(super) fn placed(registration: &Registration, set: &DiscSet, disc: &DiscFit, edge_inset_mm: f64) -> Placed {
    let camera = &registration.camera;
    let (inner_mm, centres) = (registration.inner_mm(), registration.centres());
    let radius_mm = set.radius_mm - edge_inset_mm;
    let nominal = Alternative { base: disc.base, radius_mm, inner_mm, centres };
    let mut alternatives: Vec<Alternative> = registration
        .deviations
        .iter()
        .filter_map(|deviation| {
            let base = deviation.camera.board_at(disc.middle_px, disc.middle_height_mm)?;
            // The detector's base need not be exactly the middle's image: only the shift counts.
            let from = camera.board_at(disc.middle_px, disc.middle_height_mm)?;
            Some(Alternative {
                base: disc.base.offset(base.x - from.x, base.y - from.y),
                inner_mm: deviation.inner_mm,
                centres: deviation.centres,
                ..nominal
            })
        })
        .collect();
    alternatives.push(Alternative { radius_mm: radius_mm + set.radius_sigma_mm, ..nominal });
    alternatives.extend(higher(camera, set, disc).map(|base| Alternative { base, ..nominal }));
    Placed {
        base: disc.base,
        radius_mm,
        random_sigma_mm: radial_sigma_mm(camera, disc).hypot(UNMODELLED_SIGMA_MM),
        state: disc.state,
        alternatives,
    }
}

/// Where the disc would stand if all discs were one standard deviation higher: its middle rises by half of that.
fn higher(camera: &Camera, set: &DiscSet, disc: &DiscFit) -> Option<Point<BoardMm>> {
    let now = camera.board_at(disc.middle_px, disc.middle_height_mm)?;
    let then = camera.board_at(disc.middle_px, disc.middle_height_mm + set.height_sigma_mm / 2.0)?;
    Some(disc.base.offset(then.x - now.x, then.y - now.y))
}

/// The scatter of the disc's centre along its radius from the board's centre, mm.
fn radial_sigma_mm(camera: &Camera, disc: &DiscFit) -> f64 {
    let Some([[a, b], [c, d]]) = camera.jacobian(disc.base, disc.middle_height_mm) else { return f64::INFINITY };
    let determinant = a * d - b * c;
    if determinant.abs() < 1e-12 {
        return f64::INFINITY;
    }
    let rho = disc.base.norm();
    let (ux, uy) = if rho > 1e-9 { (disc.base.x / rho, disc.base.y / rho) } else { (1.0, 0.0) };
    // Row vector u J⁻¹: how the radial coordinate changes with the picture's.
    let (gx, gy) = ((ux * d - uy * c) / determinant, (uy * a - ux * b) / determinant);
    let [[xx, xy], [yx, yy]] = disc.covariance_px2;
    (gx * gx * xx + gx * gy * (xy + yx) + gy * gy * yy).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::testing::{Truth, overhead};
    use crate::register::Deviation;
    use approx::assert_relative_eq;

    fn scene() -> Truth {
        overhead(&[(200.0, 0.0)])
    }

    #[test]
    fn a_perfect_scene_leaves_only_what_is_never_modelled() {
        let mut scene = scene();
        scene.registration.deviations.clear();
        scene.detections.set.radius_sigma_mm = 0.0;
        scene.detections.set.height_sigma_mm = 0.0;
        scene.detections.discs[0].covariance_px2 = [[0.0; 2]; 2];
        let disc = placed(&scene.registration, &scene.detections.set, &scene.detections.discs[0], 0.0);
        assert_relative_eq!(disc.random_sigma_mm, UNMODELLED_SIGMA_MM);
        assert!(disc.alternatives.iter().all(|other| other.base.distance(disc.base) < 1e-9));
    }

    #[test]
    fn a_pixels_scatter_is_a_millimetres_scatter_by_the_scale() {
        let mut scene = scene();
        let camera = &scene.registration.camera;
        let scale = camera.scale_px_per_mm(Point::new(200.0, 0.0), 5.0).unwrap();
        scene.detections.discs[0].covariance_px2 = [[0.04, 0.0], [0.0, 9.0]];
        // The camera looks straight down and is not turned: the disc's radius runs along the picture's x.
        let disc = placed(&scene.registration, &scene.detections.set, &scene.detections.discs[0], 0.0);
        assert_relative_eq!(disc.random_sigma_mm, (0.2 / scale).hypot(UNMODELLED_SIGMA_MM), max_relative = 1e-6);
    }

    #[test]
    fn a_camera_that_may_be_nearer_moves_discs_towards_its_foot() {
        let mut scene = scene();
        let mut nearer = scene.registration.camera.clone();
        // 3 % nearer with a focal length 3 % shorter: the board's plane looks the same.
        nearer.focal_px *= 0.97;
        nearer.translation_mm[2] *= 0.97;
        let (inner_mm, centres) = (scene.registration.inner_mm(), scene.registration.centres());
        scene.registration.deviations = vec![Deviation { camera: nearer, inner_mm, centres }];
        let disc = placed(&scene.registration, &scene.detections.set, &scene.detections.discs[0], 0.0);
        let moved = disc.alternatives[0].base.x - 200.0;
        // Half of 10 mm up at 1 m: the middle leans out by 200 * 5 / 995 = 1.005 mm; 3 % of it.
        assert_relative_eq!(moved, -1.005 * 0.031, epsilon = 2e-3);
    }

    #[test]
    fn an_inset_edge_makes_the_contact_circle_smaller() {
        let scene = scene();
        let disc = placed(&scene.registration, &scene.detections.set, &scene.detections.discs[0], 0.5);
        assert_relative_eq!(disc.radius_mm, scene.detections.set.radius_mm - 0.5);
    }
}
