//! From identified circles to a registration: the joint solve in the picture, the model that matches, the painted
//! edges, what may be wrong, and how far.

use image::RgbImage;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::identify::{Circle, Identified};
use super::lines::{self, Measured, Painted};
use super::rings::{self, Track};
use super::solve::{self, CAMERA_PARAMETERS, CameraPriors, CircleLine, LINE_PARAMETERS, Observation, Solved};
use super::still::{Anchors, Turn};
use super::{Deviation, Quality, Registration, Ring, orient};
use crate::board::models::{self, BoardModel, Measure};
use crate::board::{Line, SHOOTING_LINE_MM};
use crate::geometry::robust::Prior;
use crate::geometry::{BoardMm, Camera, Point};
use crate::kernels::picture::{MOST_BLOCK, shrink};

/// Pixels per millimetre above which a finer picture tells nothing more about a line.
const ENOUGH_PX_PER_MM: f64 = 1.3;
/// Directions in which each edge is followed.
const DIRECTIONS: usize = 144;
/// Neighbours that share an error, before the residuals tell.
const FIRST_CORRELATION: f64 = 4.0;

/// Registers `identified` (camera in pixels of the full picture), edges searched within each of `gates_px` in turn.
/// None where the rings are lost on the way.
pub fn finish(
    picture: &RgbImage,
    priors: &CameraPriors,
    identified: &Identified,
    gates_px: &[f64],
) -> Option<Registration> {
    let px_per_mm = identified.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0)?;
    let factor = (px_per_mm / ENOUGH_PX_PER_MM).round().clamp(1.0, MOST_BLOCK as f64) as u32;
    let scale = 1.0 / f64::from(factor);
    let shrunk = (factor > 1).then(|| shrink(picture, factor));
    let level = shrunk.as_ref().unwrap_or(picture);
    let priors = priors.rescaled(scale);
    let mut state = Identified { camera: identified.camera.rescaled(scale), ..identified.clone() };
    set_scale(&mut state);

    let mut correlated = FIRST_CORRELATION;
    let mut last: Option<(Vec<Observation>, Solved)> = None;
    for &gate_px in gates_px {
        let (observations, solved) = step(level, &priors, &state, gate_px, correlated)?;
        correlated = solved.correlated;
        adopt(&mut state, &solved);
        last = Some((observations, solved));
    }
    let (mut observations, mut solved) = last?;
    let model = matching_model(&state.lines, &solved);
    if let Some(model) = model {
        believe(&mut state.lines, model);
        let again = step(level, &priors, &state, gates_px.last().copied()?, correlated)?;
        (observations, solved) = again;
        adopt(&mut state, &solved);
    }
    let board = assemble(level, &state, &observations, &solved, model, scale);
    let anchors = Anchors::lay(picture, &board.camera, &state.tracks, turn(&board), f64::from(factor));
    Some(Registration { anchors, ..board })
}

/// The camera of one more solve on the identified circles, edges searched within `gate_px`.
pub fn polish(picture: &RgbImage, priors: &CameraPriors, identified: &Identified, gate_px: f64) -> Option<Camera> {
    let mut state = identified.clone();
    set_scale(&mut state);
    step(picture, priors, &state, gate_px, FIRST_CORRELATION).map(|(_, solved)| solved.camera)
}

/// Brings the middle of the shooting line to 304.8 mm, where it is held from then on.
fn set_scale(state: &mut Identified) {
    let Some(five) = state.lines.iter().find(|l| l.0 == Circle::Five).map(|l| l.1.middle_mm) else { return };
    let factor = SHOOTING_LINE_MM / five;
    state.camera.translation_mm = state.camera.translation_mm.map(|t| t * factor);
    for (circle, line) in &mut state.lines {
        line.middle_mm *= factor;
        line.half_mm *= factor;
        line.middle_prior.mean = line.middle_mm;
        if *circle == Circle::Five {
            line.middle_prior.sigma = 0.0;
        }
    }
    for track in &mut state.tracks {
        track.radius_mm *= factor;
    }
}

fn step(
    picture: &RgbImage,
    priors: &CameraPriors,
    state: &Identified,
    gate_px: f64,
    correlated: f64,
) -> Option<(Vec<Observation>, Solved)> {
    let observations: Vec<Observation> =
        state.tracks.iter().flat_map(|t| rings::follow(picture, &state.camera, t, gate_px, DIRECTIONS)).collect();
    let lines: Vec<CircleLine> = state.lines.iter().map(|l| l.1).collect();
    let solved = solve::solve(&state.camera, &lines, &observations, priors, 12, correlated)?;
    Some((observations, solved))
}

/// Takes over camera and radii.
fn adopt(state: &mut Identified, solved: &Solved) {
    state.camera = solved.camera.clone();
    for ((_, line), new) in state.lines.iter_mut().zip(&solved.lines) {
        line.middle_mm = new.middle_mm;
        line.half_mm = new.half_mm;
    }
    for track in &mut state.tracks {
        let line = &state.lines[track.line].1;
        track.radius_mm = line.middle_mm + track.side * line.half_mm;
    }
}

/// Squared distance, in standard deviations, within which a board still is of a model's kind: up to four proportions
/// are compared, and 1 in 100 boards of the kind lies further off.
const MATCH: f64 = 13.3;
/// Share of boards that are of the standard kind; the others share the rest.
const STANDARD_SHARE: f64 = 0.5;
/// The visible edges of hole and rim are rounded: seen radii differ from measured ones by this, mm.
const ROUNDED_MM: f64 = 0.8;

/// The model whose lines, hole and rim lie where they were measured, given what the measuring leaves open.
fn matching_model(lines: &[(Circle, CircleLine)], solved: &Solved) -> Option<&'static BoardModel> {
    // (parameter, circle, radius) of what was seen; nothing is known of a kind without its 10 and 15 line.
    let seen: Vec<(usize, Circle, f64)> = lines
        .iter()
        .enumerate()
        .filter(|(_, l)| l.0 != Circle::Five)
        .map(|(i, l)| (CAMERA_PARAMETERS + LINE_PARAMETERS * i, l.0, l.1.middle_mm))
        .collect();
    if ![Circle::Ten, Circle::Fifteen].iter().all(|c| seen.iter().any(|s| s.1 == *c)) {
        return None;
    }
    let mut best: Option<(f64, &BoardModel)> = None;
    for (rank, model) in models::all().iter().enumerate() {
        let n = seen.len();
        let mut covariance = DMatrix::from_fn(n, n, |i, j| solved.covariance[(seen[i].0, seen[j].0)]);
        let mut off = DVector::zeros(n);
        for (i, (_, circle, radius)) in seen.iter().enumerate() {
            let Some((measure, rounded)) = of_model(model, *circle) else { continue };
            off[i] = radius - measure.value * SHOOTING_LINE_MM;
            covariance[(i, i)] += (measure.sigma * SHOOTING_LINE_MM).powi(2) + rounded.powi(2);
        }
        let Some(cholesky) = covariance.cholesky() else { continue };
        let distance = off.dot(&cholesky.solve(&off));
        if distance > MATCH {
            continue;
        }
        let share = if rank == 0 { STANDARD_SHARE } else { (1.0 - STANDARD_SHARE) / (models::all().len() - 1) as f64 };
        let likelihood = share.ln() - 0.5 * (distance + cholesky.determinant().ln());
        if best.is_none_or(|(value, _)| likelihood > value) {
            best = Some((likelihood, model));
        }
    }
    best.map(|(_, model)| model)
}

/// A circle's radius in a model, and what its visible edge is off by, mm.
fn of_model(model: &BoardModel, circle: Circle) -> Option<(&Measure, f64)> {
    match circle {
        Circle::Five => None,
        Circle::Ten => Some((&model.r10, 0.0)),
        Circle::Fifteen => Some((&model.r15, 0.0)),
        Circle::Hole => Some((&model.hole, ROUNDED_MM)),
        Circle::Rim => Some((&model.surface, ROUNDED_MM)),
    }
}

/// Gives the 10 and the 15 line the model's radii as priors.
fn believe(lines: &mut [(Circle, CircleLine)], model: &BoardModel) {
    for (circle, line) in lines.iter_mut().filter(|l| matches!(l.0, Circle::Ten | Circle::Fifteen)) {
        if let Some((measure, _)) = of_model(model, *circle) {
            line.middle_prior =
                Prior { mean: measure.value * SHOOTING_LINE_MM, sigma: measure.sigma * SHOOTING_LINE_MM };
        }
    }
}

fn assemble(
    picture: &RgbImage,
    state: &Identified,
    observations: &[Observation],
    solved: &Solved,
    model: Option<&'static BoardModel>,
    scale: f64,
) -> Registration {
    let camera = &solved.camera;
    let measured = measure_lines(picture, camera, state, model);
    let rings = Line::ALL.map(|line| {
        let found = &measured[line as usize];
        let (residual_px, coverage) = agreement(state, observations, solved, circle_of(line));
        Ring {
            line,
            centre: centre_of(state, line, &solved.x),
            inner_mm: found.inner_mm,
            outer_mm: found.outer_mm,
            residual_px: residual_px / scale,
            coverage,
        }
    });
    let nominal = models::all().first();
    let radius = |circle: Circle, fraction: fn(&BoardModel) -> f64| {
        let known = model.or(nominal).map_or(0.0, fraction) * SHOOTING_LINE_MM;
        state.lines.iter().find(|l| l.0 == circle).map_or(known, |l| l.1.middle_mm)
    };
    let middle = |line: Line| radius(circle_of(line), |m| m.r15.value);
    let quadrants = orient::quadrants(picture, camera, middle(Line::Ten), SHOOTING_LINE_MM);
    let pegs = orient::pegs(picture, camera, middle(Line::Fifteen));
    let deviations = deviations(state, solved, &rings, &measured, scale);
    let full = camera.rescaled(1.0 / scale);
    let height = full.height_mm();
    let height_sigma_mm = deviations.iter().map(|d| (d.camera.height_mm() - height).powi(2)).sum::<f64>().sqrt();
    Registration {
        model: model.map_or_else(|| "measured".to_owned(), |m| m.name.clone()),
        camera: full.clone(),
        height_sigma_mm,
        rings,
        hole_mm: radius(Circle::Hole, |m| m.hole.value),
        surface_mm: radius(Circle::Rim, |m| m.surface.value),
        quadrant_rad: quadrants.filter(|q| q.1 > DIRECTION_STANDS_OUT).map(|q| q.0),
        peg_rad: pegs.filter(|p| p.1 > DIRECTION_STANDS_OUT).map(|p| p.0),
        deviations,
        quality: Quality {
            residual_px: solved.sigma_px / scale,
            coverage: rings.iter().map(|r| r.coverage).sum::<f64>() / 3.0,
            score: state.score,
            quadrants: quadrants.map_or(0.0, |q| f64::from(q.1)),
            pegs: pegs.map_or(0.0, |p| f64::from(p.1)),
        },
        state: Identified { camera: full, ..state.clone() },
        anchors: Anchors::default(),
    }
}

/// Half the width of a peg, mm.
const PEG_HALF_MM: f64 = 4.5;

/// What shows that `board` was turned: quadrant lines, or else pegs.
fn turn(board: &Registration) -> Option<Turn> {
    let [outer, inner] = [Line::Five, Line::Ten].map(|line| board.rings[line as usize].inner_mm);
    let gap = outer - inner;
    let quadrants = board.quadrant_rad.map(|first_rad| Turn {
        first_rad,
        times: 4,
        radii_mm: [inner + 0.15 * gap, outer - 0.15 * gap],
        half_mm: 0.0,
    });
    quadrants.or_else(|| {
        let fifteen = board.rings[Line::Fifteen as usize].inner_mm;
        let radii_mm = [fifteen - 2.0, fifteen + 4.0];
        board.peg_rad.map(|first_rad| Turn { first_rad, times: 8, radii_mm, half_mm: PEG_HALF_MM })
    })
}

/// A direction is reported where pegs or quadrant lines stand out by this many typical deviations.
const DIRECTION_STANDS_OUT: f32 = 5.0;

fn circle_of(line: Line) -> Circle {
    match line {
        Line::Five => Circle::Five,
        Line::Ten => Circle::Ten,
        Line::Fifteen => Circle::Fifteen,
    }
}

/// Painted edges of the three lines; where a line cannot be measured, the solved middle with the expected width.
fn measure_lines(
    picture: &RgbImage,
    camera: &Camera,
    state: &Identified,
    model: Option<&'static BoardModel>,
) -> [Measured; 3] {
    // Without a matching model: the span of all measured boards.
    const ANY_WIDTH_MM: (f64, f64) = (1.7, 0.45);
    let (width_mm, width_sigma_mm) =
        model.map_or(ANY_WIDTH_MM, |m| (m.line_width.value * SHOOTING_LINE_MM, m.line_width.sigma * SHOOTING_LINE_MM));
    let painted = Line::ALL.map(|line| {
        let index = state.lines.iter().position(|l| l.0 == circle_of(line))?;
        let tracks: Vec<&Track> = state.tracks.iter().filter(|t| t.line == index).collect();
        Some(Painted {
            middle_mm: state.lines[index].1.middle_mm,
            weights: combined(&tracks),
            width_mm,
            width_sigma_mm,
        })
    });
    let found = lines::measure(picture, camera, &painted);
    [0, 1, 2].map(|i| {
        found[i].unwrap_or_else(|| {
            let expected = models::all().first().map_or(0.0, |m| m.lines()[i]) * SHOOTING_LINE_MM;
            let middle = painted[i].map_or(expected, |p| p.middle_mm);
            // Half a width, and for an unseen line what boards differ by (4 % of the radius).
            let unseen = if painted[i].is_none() { 0.04 * expected } else { 0.0 };
            Measured {
                inner_mm: middle - width_mm / 2.0,
                inner_sigma_mm: (width_mm / 2.0).hypot(unseen),
                outer_mm: middle + width_mm / 2.0,
            }
        })
    })
}

/// Channel weights of a line from its edges: from inside to the line and back outside the change turns round.
fn combined(tracks: &[&Track]) -> [f32; 3] {
    let mut sum = [0.0f32; 3];
    for track in tracks {
        let sign = if track.side < 0.0 { -1.0 } else { 1.0 };
        (0..3).for_each(|c| sum[c] += sign * track.weights[c] * track.sign);
    }
    let norm = sum.iter().map(|v| v * v).sum::<f32>().sqrt();
    if norm < 1e-3 { [0.577; 3] } else { sum.map(|v| v / norm) }
}

/// RMS of the good residuals of a circle, px of the level, and the share of directions in which it was seen.
fn agreement(state: &Identified, observations: &[Observation], solved: &Solved, circle: Circle) -> (f64, f64) {
    let Some(line) = state.lines.iter().position(|l| l.0 == circle) else { return (f64::NAN, 0.0) };
    let near = (3.0 * solved.sigma_px).max(0.8);
    let (mut square, mut good) = (0.0, 0usize);
    let mut sides: Vec<f64> = Vec::new();
    for (o, r) in observations.iter().zip(&solved.residuals).filter(|(o, _)| o.line == line) {
        if !sides.contains(&o.side) {
            sides.push(o.side);
        }
        if r.abs() < near {
            square += r * r;
            good += 1;
        }
    }
    let directions = (DIRECTIONS * sides.len().max(1)) as f64;
    ((square / good.max(1) as f64).sqrt(), good as f64 / directions)
}

/// Where the unknowns of `line` begin among those of the solve.
fn unknowns_of(state: &Identified, line: Line) -> Option<usize> {
    let index = state.lines.iter().position(|l| l.0 == circle_of(line))?;
    Some(CAMERA_PARAMETERS + LINE_PARAMETERS * index)
}

/// Centre of `line` by the unknowns `x` of the solve.
fn centre_of(state: &Identified, line: Line, x: &[f64]) -> Point<BoardMm> {
    unknowns_of(state, line).map_or(Point::new(0.0, 0.0), |at| Point::new(x[at + 2], x[at + 3]))
}

/// Deviations that move no margin by more than this are left out, mm.
const NEGLIGIBLE_MM: f64 = 0.01;
/// At most so many deviations of the camera are kept; what is left is far below a tenth of a millimetre.
const MOST_DEVIATIONS: usize = 6;

/// The posterior as independent one-sigma deviations, the ones that move margins most first: the square root of the
/// covariance, turned so that its effect on the margins of discs at all three lines is diagonal.
fn deviations(
    state: &Identified,
    solved: &Solved,
    rings: &[Ring; 3],
    measured: &[Measured; 3],
    scale: f64,
) -> Vec<Deviation> {
    let (inner, centres) = (rings.map(|r| r.inner_mm), rings.map(|r| r.centre));
    let deviated = |x: &[f64]| {
        let shifts = Line::ALL.map(|line| unknowns_of(state, line).map_or(0.0, |at| x[at] - solved.x[at]));
        Deviation {
            camera: solve::unpack(x),
            inner_mm: [0, 1, 2].map(|i| inner[i] + shifts[i]),
            centres: Line::ALL.map(|line| centre_of(state, line, x)),
        }
    };
    let root = square_root(&solved.covariance);
    let n = root.ncols();
    let moved = |direction: &DVector<f64>| {
        let x: Vec<f64> = solved.x.iter().zip(direction.iter()).map(|(x, d)| x + d).collect();
        deviated(&x)
    };
    let effect = |direction: &DVector<f64>| margin_changes(&solved.camera, rings, &moved(direction));
    let rows = effect(&DVector::zeros(n)).len();
    let mut effects = DMatrix::zeros(rows, n);
    for j in 0..n {
        effects.set_column(j, &DVector::from_vec(effect(&root.column(j).into_owned())));
    }
    let gram = SymmetricEigen::new(effects.transpose() * &effects);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| gram.eigenvalues[b].total_cmp(&gram.eigenvalues[a]));
    let mut out: Vec<Deviation> = order
        .into_iter()
        .take(MOST_DEVIATIONS)
        .filter(|&k| gram.eigenvalues[k].max(0.0).sqrt() > NEGLIGIBLE_MM)
        .map(|k| {
            let deviation = moved(&(&root * gram.eigenvectors.column(k)));
            Deviation { camera: deviation.camera.rescaled(1.0 / scale), ..deviation }
        })
        .collect();
    let camera = solved.camera.rescaled(1.0 / scale);
    for (i, line) in measured.iter().enumerate() {
        let mut inner_mm = inner;
        inner_mm[i] += line.inner_sigma_mm;
        out.push(Deviation { camera: camera.clone(), inner_mm, centres });
    }
    out
}

/// How the margins of discs just inside each line, in eight directions, change when camera and lines are others.
fn margin_changes(camera: &Camera, rings: &[Ring; 3], other: &Deviation) -> Vec<f64> {
    const DISC_MM: f64 = 16.0;
    const HALF_HEIGHT_MM: f64 = 5.0;
    let mut out = Vec::with_capacity(24);
    for (line, ring) in rings.iter().enumerate() {
        let rho = (ring.inner_mm - DISC_MM).max(0.0);
        for i in 0..8 {
            let (sin, cos) = (f64::from(i) * std::f64::consts::FRAC_PI_4).sin_cos();
            let at = ring.centre.offset(rho * cos, rho * sin);
            let seen = camera.project(at, HALF_HEIGHT_MM).and_then(|p| other.camera.board_at(p, HALF_HEIGHT_MM));
            out.push(
                seen.map_or(0.0, |p| (other.inner_mm[line] - p.distance(other.centres[line])) - (ring.inner_mm - rho)),
            );
        }
    }
    out
}

/// A matrix R with R Rᵀ = covariance.
fn square_root(covariance: &DMatrix<f64>) -> DMatrix<f64> {
    let n = covariance.nrows();
    // Parameters differ by orders of magnitude: scaled to a correlation matrix first.
    let sigma: Vec<f64> = (0..n).map(|i| covariance[(i, i)].max(0.0).sqrt()).collect();
    let correlation = DMatrix::from_fn(n, n, |i, j| {
        let scale = sigma[i] * sigma[j];
        if scale > 0.0 { covariance[(i, j)] / scale } else { 0.0 }
    });
    let eigen = SymmetricEigen::new(correlation);
    DMatrix::from_fn(n, n, |i, k| sigma[i] * eigen.eigenvectors[(i, k)] * eigen.eigenvalues[k].max(0.0).sqrt())
}
