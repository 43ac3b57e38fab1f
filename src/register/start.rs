//! The board where a person points: points on the shooting line and one on the hole, instead of a search.
//!
//! In: the picture, and at least five points on the line. Out: the registration by the usual solve, begun at the ellipse
//! through the points. A person vouches that it is a board, so no pegs or quadrant lines are asked for; but its lines must
//! be seen, and lie where they were pointed at. Points hold for every picture of the same shape.

use image::RgbImage;
use nalgebra::{DMatrix, DVector, Matrix3};
use serde::{Deserialize, Serialize};

use super::seed::{RADIUS, poses};
use super::solve::CameraPriors;
use super::{COLD_GATES_PX, Registration, closer, finish, followed};
use crate::board::SHOOTING_LINE_MM;
use crate::geometry::{Camera, ImagePx, Point};
use crate::kernels::edges::{Rank, edges};
use crate::kernels::picture::shrink;

/// Fewest points on the shooting line: an ellipse has five parameters.
pub const LEAST_POINTS: usize = 5;
/// More points tell nothing more.
pub const MOST_POINTS: usize = 24;
/// A person's points lie this near to the line, mm, or it is another line: the rim is 25 mm away.
const NEAR_MM: f64 = 12.0;
/// The hole may be this far from where the ellipse's pose has it, mm, before the solve.
const HOLE_NEAR_MM: f64 = 60.0;
/// Evidence that a board must show where a person vouches for it, of 3.9 at most.
const LEAST_SCORE: f64 = 1.2;
/// Share of its circumference on which each line must be seen.
const LEAST_COVERAGE: f64 = 0.15;
/// Two shapes of pictures are the same within this share.
const SAME_SHAPE: f64 = 0.01;

/// Where a person says that the board is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PointedAt)]
pub struct Start {
    /// Width and height of the picture that was pointed at, px.
    pub size_px: [u32; 2],
    /// The hole's middle, px.
    pub hole_px: [f64; 2],
    /// Points on the shooting line, px, in any order.
    pub line_px: Vec<[f64; 2]>,
}

/// Why a person's points lead to no board.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// Too few, or far too many.
    #[error("point at {LEAST_POINTS} to {MOST_POINTS} places of the shooting line, all the way round; there are {0}")]
    Points(usize),
    /// Points that are no numbers or lie nowhere near the picture.
    #[error("the points lie outside the picture")]
    Outside,
    /// The picture has another shape.
    #[error("the picture has another shape than the one that was pointed at: point again")]
    OtherShape,
    /// The points lie on no ellipse that a circle can appear as.
    #[error("the points do not lie on one circle of a board: set them on the line, all the way round")]
    NoEllipse,
    /// The hole is not where the line's middle is.
    #[error("the hole is not in the middle of the line: are all points on the same line?")]
    HoleAside,
    /// The lines are not seen.
    #[error("its lines are not seen there: is the picture sharp and bright enough?")]
    NoLines,
    /// The solve ended elsewhere.
    #[error("the line that is seen is not the one that was pointed at: set the points on the outermost scoring line")]
    OtherLine,
}

impl Start {
    /// Checks what can be checked without a picture.
    ///
    /// # Errors
    /// Too few points, points outside the picture, no ellipse.
    pub fn check(&self) -> Result<(), StartError> {
        if !(LEAST_POINTS..=MOST_POINTS).contains(&self.line_px.len()) {
            return Err(StartError::Points(self.line_px.len()));
        }
        let [width, height] = self.size_px.map(f64::from);
        // A board may reach over the picture's edge.
        let near = |[x, y]: &[f64; 2]| x.abs() < 2.0 * width && y.abs() < 2.0 * height;
        if width < 1.0 || height < 1.0 || !self.line_px.iter().chain([&self.hole_px]).all(near) {
            return Err(StartError::Outside);
        }
        conic(&self.line_px).map(drop).ok_or(StartError::NoEllipse)
    }

    /// The same points in a picture of that size.
    fn at_size(&self, width: u32, height: u32) -> Result<Self, StartError> {
        let [from_width, from_height] = self.size_px.map(f64::from);
        let (across, down) = (f64::from(width) / from_width, f64::from(height) / from_height);
        if (across / down - 1.0).abs() > SAME_SHAPE {
            return Err(StartError::OtherShape);
        }
        let scaled = |[x, y]: [f64; 2]| Point::<ImagePx>::new(x, y).rescaled(across).to_array();
        Ok(Self {
            size_px: [width, height],
            hole_px: scaled(self.hole_px),
            line_px: self.line_px.iter().copied().map(scaled).collect(),
        })
    }

    /// The camera that sees the line through the points, the hole nearest to its middle.
    fn camera(&self, priors: &CameraPriors) -> Result<Camera, StartError> {
        let conic = conic(&self.line_px).ok_or(StartError::NoEllipse)?;
        let scale = SHOOTING_LINE_MM / RADIUS;
        let hole = Point::new(self.hole_px[0], self.hole_px[1]);
        let aside = |camera: &Camera| camera.board_at(hole, 0.0).map_or(f64::INFINITY, |at| at.norm());
        let cameras = poses(&conic, priors.focal_px, priors.principal).into_iter();
        let cameras =
            cameras.map(|camera| Camera { translation_mm: camera.translation_mm.map(|t| t * scale), ..camera });
        let best = cameras.min_by(|a, b| aside(a).total_cmp(&aside(b))).ok_or(StartError::NoEllipse)?;
        if aside(&best) > HOLE_NEAR_MM { Err(StartError::HoleAside) } else { Ok(best) }
    }

    /// Does the registration agree with the points?
    fn agrees(&self, found: &Registration) -> bool {
        let board_at = |[x, y]: [f64; 2]| found.camera.board_at(Point::new(x, y), 0.0).map(|at| at.norm());
        let mut off: Vec<f64> = (self.line_px.iter().copied())
            .map(|at| board_at(at).map_or(f64::INFINITY, |radius| (radius - SHOOTING_LINE_MM).abs()))
            .collect();
        off.sort_by(f64::total_cmp);
        let hole = board_at(self.hole_px).unwrap_or(f64::INFINITY);
        off[off.len() / 2] < NEAR_MM && hole < 2.0 * NEAR_MM
    }
}

/// Registers the board at `start`; `factor` is how many times the picture is shrunk for the first look.
pub(super) fn register(
    picture: &RgbImage,
    priors: &CameraPriors,
    start: &Start,
    factor: u32,
) -> Result<Registration, StartError> {
    start.check()?;
    let start = start.at_size(picture.width(), picture.height())?;
    let small = shrink(picture, factor);
    let scale = 1.0 / f64::from(factor);
    let guess = start.camera(priors)?.rescaled(scale);
    let small_priors = priors.rescaled(scale);
    let mut seen = Err(StartError::NoLines);
    for rank in [Rank::Strength, Rank::Continuity] {
        let edges = edges(&small, 2.5, 10, rank);
        let Some(found) = followed(&small, &edges, &guess, &small_priors, LEAST_SCORE) else { continue };
        let identified = closer(picture, found, factor);
        let Some(board) = finish::finish(picture, priors, &identified, &COLD_GATES_PX) else { continue };
        let is_seen = identified.score > LEAST_SCORE && board.rings.iter().all(|ring| ring.coverage > LEAST_COVERAGE);
        if is_seen && start.agrees(&board) {
            return Ok(board);
        }
        if is_seen {
            seen = Err(StartError::OtherLine);
        }
    }
    seen
}

/// The conic (homogeneous, px) through the points, by least squares; None where it is no ellipse.
fn conic(points: &[[f64; 2]]) -> Option<Matrix3<f64>> {
    let count = points.len() as f64;
    let middle = [0, 1].map(|i| points.iter().map(|at| at[i]).sum::<f64>() / count);
    let spread = points.iter().map(|at| (at[0] - middle[0]).hypot(at[1] - middle[1])).sum::<f64>() / count;
    if !(spread > 0.0 && spread.is_finite()) {
        return None;
    }
    // A u² + B uv + C v² + D u + E v = 1, about the middle of the points and on their scale.
    let plain = |at: &[f64; 2]| [0, 1].map(|i| (at[i] - middle[i]) / spread);
    let rows = DMatrix::from_fn(points.len(), 5, |row, column| {
        let [u, v] = plain(&points[row]);
        [u * u, u * v, v * v, u, v][column]
    });
    let solved = rows.svd(true, true).solve(&DVector::from_element(points.len(), 1.0), 1e-9).ok()?;
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| solved[i]);
    // No flatter than a circle seen at 60 degrees.
    let flat = (4.0 * a * c - b * b) / (a + c).powi(2);
    if !(flat > 0.2 && a + c > 0.0) {
        return None;
    }
    let conic = Matrix3::new(a, b / 2.0, d / 2.0, b / 2.0, c, e / 2.0, d / 2.0, e / 2.0, -1.0);
    let map =
        Matrix3::new(1.0 / spread, 0.0, -middle[0] / spread, 0.0, 1.0 / spread, -middle[1] / spread, 0.0, 0.0, 1.0);
    Some(map.transpose() * conic * map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Frame, LensHint};
    use crate::register;
    use std::sync::Arc;

    fn frame() -> Frame {
        let photo = image::load_from_memory(include_bytes!("../../samples/cherry-twenty.jpg")).unwrap();
        Frame { source: "x".to_owned(), rgb: photo.to_rgb8(), lens: LensHint::default() }
    }

    /// Points as a hand sets them: `off_px` beside the line, now inside, now outside.
    fn pointed(board: &Registration, size_px: [u32; 2], radius_mm: f64, off_px: f64) -> Start {
        let points = 8;
        let line_px = (0..points)
            .map(|i| {
                let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(points)).sin_cos();
                let at = board.camera.project(Point::new(radius_mm * c, radius_mm * s), 0.0).unwrap();
                let sign = if i % 2 == 0 { off_px } else { -off_px };
                [at.x + sign * c, at.y + sign * s]
            })
            .collect();
        let hole = board.camera.project(Point::new(0.0, 0.0), 0.0).unwrap();
        Start { size_px, hole_px: [hole.x + off_px, hole.y - off_px], line_px }
    }

    #[test]
    fn points_of_an_unsteady_hand_give_the_board_that_the_search_finds() {
        let frame = frame();
        let size_px = [frame.rgb.width(), frame.rgb.height()];
        let config = register::Config::default();
        let searched = register::register(&frame, &config).unwrap();
        let start = pointed(&searched, size_px, SHOOTING_LINE_MM, 3.0);
        let config = register::Config { start: Some(Arc::new(start.clone())), ..config };
        let found = register::register(&frame, &config).unwrap();
        for angle in 0..8 {
            let (s, c) = f64::from(angle).sin_cos();
            let at = Point::new(SHOOTING_LINE_MM * c, SHOOTING_LINE_MM * s);
            let apart = searched.camera.project(at, 0.0).unwrap().distance(found.camera.project(at, 0.0).unwrap());
            assert!(apart < 0.5, "{apart} px at {angle}");
        }

        // Half the picture's size, the same points.
        let half = Start {
            size_px: size_px.map(|side| side / 2),
            hole_px: start.hole_px.map(|v| v / 2.0),
            line_px: start.line_px.iter().map(|at| at.map(|v| v / 2.0)).collect(),
        };
        assert!(register::register(&frame, &register::Config { start: Some(Arc::new(half)), ..config }).is_ok());
    }

    #[test]
    fn points_on_another_line_or_nowhere_are_refused_with_the_reason() {
        let frame = frame();
        let size_px = [frame.rgb.width(), frame.rgb.height()];
        let searched = register::register(&frame, &register::Config::default()).unwrap();
        let refused = |start: Start| {
            let config = register::Config { start: Some(Arc::new(start)), ..register::Config::default() };
            match register::register(&frame, &config) {
                Err(register::NotFound::NotAtStart(error)) => error,
                other => panic!("{other:?}"),
            }
        };
        let right = pointed(&searched, size_px, SHOOTING_LINE_MM, 0.0);
        let ten = refused(pointed(&searched, size_px, searched.inner_mm()[1], 0.0));
        assert!(matches!(ten, StartError::OtherLine | StartError::NoLines), "{ten}");
        assert_eq!(refused(Start { line_px: right.line_px[..4].to_vec(), ..right.clone() }), StartError::Points(4));
        assert_eq!(refused(Start { size_px: [size_px[0], 2 * size_px[1]], ..right.clone() }), StartError::OtherShape);
        let corner = Start { hole_px: [2.0, 2.0], ..right.clone() };
        assert_eq!(refused(corner), StartError::HoleAside);
        let row = (0..6).map(|i| [f64::from(i) * 20.0, 50.0]).collect();
        assert_eq!(refused(Start { line_px: row, ..right.clone() }), StartError::NoEllipse);
        assert_eq!(refused(Start { hole_px: [f64::NAN, 0.0], ..right }), StartError::Outside);
    }
}
