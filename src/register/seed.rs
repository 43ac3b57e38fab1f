//! First guesses of where the board is, from edges alone.
//!
//! 1. Two edge points with opposite gradients that face each other are the ends of a diameter of some ellipse: their
//!    midpoint votes for its centre (Yuen, Illingworth and Kittler 1989). Concentric rings vote together.
//! 2. Around a centre, a common shape M of all its ellipses follows from `n x (M d) = 0` at every voter (d from the
//!    centre, n the edge's normal), and the radii `sqrt(dᵀ M d)` of the voters show the single rings.
//! 3. One ring's ellipse with a focal length gives two poses of its plane (Chen, Yang and Chen 2004).
//! 4. In a pose all edges get a radius on the plane; how much of the circumference each radius covers is set against
//!    the pattern hole : 15 : 10 : 5 : rim of any board.

use nalgebra::{Matrix2, Matrix3, SMatrix, SVector, SymmetricEigen, Vector2, Vector3};

use crate::board::SHOOTING_LINE_MM;
use crate::geometry::{Camera, ImagePx, Point};
use crate::kernels::edges::Edge;

/// A first guess.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The guessed camera, without lens distortion, on the scale of a 304.8 mm shooting line.
    pub camera: Camera,
    /// How well the radii match a board's pattern, higher is better.
    pub score: f64,
}

/// Centres that are followed up.
const CENTRES: usize = 8;
/// Rings a centre that are followed up.
const RINGS: usize = 4;
/// Side of a cell of the centre accumulator, px.
const CELL_PX: f64 = 4.0;
/// Directions of gradients are told apart in this many bins.
const DIRECTIONS: usize = 96;
/// So many of these bins vote together.
const GROUP: usize = 3;
/// A diameter's ends face each other: cosine between chord and gradient. Ellipses seen at 45 degrees need 0.94.
const FACING: f64 = 0.88;
/// Rings are looked for between these radii, px.
const SMALLEST_RING_PX: f64 = 9.0;

/// First guesses for the board in the edges of a picture of `width` x `height` px, best first.
/// `focal_px` is the expected focal length, `principal` the expected principal point.
pub fn seeds(edges: &[Edge], width: f64, height: f64, focal_px: f64, principal: Point<ImagePx>) -> Vec<Seed> {
    let pairs = Pairs::new(edges);
    let mut seeds: Vec<Seed> = Vec::new();
    for centre in centres(edges, &pairs, width, height) {
        let Some(shape) = shape(&centre.voters) else { continue };
        for radius in ring_radii(&centre.voters, &shape) {
            let Some(conic) = refine(edges, centre.at, &shape, radius) else { continue };
            for camera in poses(&conic, focal_px, principal) {
                if let Some(seed) = match_pattern(edges, camera) {
                    seeds.push(seed);
                }
            }
        }
    }
    seeds.sort_by(|a, b| b.score.total_cmp(&a.score));
    seeds
}

/// Edges by the direction of their gradient.
struct Pairs {
    bins: Vec<Vec<u32>>,
}

impl Pairs {
    fn new(edges: &[Edge]) -> Self {
        let mut bins = vec![Vec::new(); DIRECTIONS];
        for (i, edge) in edges.iter().enumerate() {
            let turn = f64::from(edge.ny).atan2(f64::from(edge.nx)) / std::f64::consts::TAU + 1.0;
            bins[(turn * DIRECTIONS as f64) as usize % DIRECTIONS].push(i as u32);
        }
        Self { bins }
    }

    /// Calls `visit(i, j)` for all pairs of edges whose gradients are opposite, the first one's direction in `bins`
    /// (of the first half turn).
    fn opposite(&self, bins: std::ops::Range<usize>, mut visit: impl FnMut(usize, usize)) {
        let half = DIRECTIONS / 2;
        for bin in bins {
            for near in [half - 1, half, half + 1] {
                for &i in &self.bins[bin] {
                    for &j in &self.bins[(bin + near) % DIRECTIONS] {
                        visit(i as usize, j as usize);
                    }
                }
            }
        }
    }
}

/// Half a chord that voted for a centre.
#[derive(Clone, Copy)]
struct Voter {
    half: Vector2<f64>,
    normal: Vector2<f64>,
}

struct Centre {
    at: Point<ImagePx>,
    voters: Vec<Voter>,
}

fn facing(edges: &[Edge], i: usize, j: usize, longest: f64) -> Option<(f64, f64, f64)> {
    let (a, b) = (&edges[i], &edges[j]);
    let (dx, dy) = (f64::from(b.x - a.x), f64::from(b.y - a.y));
    let square = dx * dx + dy * dy;
    if square < 4.0 * SMALLEST_RING_PX * SMALLEST_RING_PX || square > longest * longest {
        return None;
    }
    let along = dx * f64::from(a.nx) + dy * f64::from(a.ny);
    (along * along >= FACING * FACING * square).then_some((dx, dy, square))
}

fn centres(edges: &[Edge], pairs: &Pairs, width: f64, height: f64) -> Vec<Centre> {
    let (columns, rows) = ((width / CELL_PX).ceil() as usize + 1, (height / CELL_PX).ceil() as usize + 1);
    let longest = 1.2 * width.max(height);
    let cell = |x: f64, y: f64| -> Option<usize> {
        let (cx, cy) = ((x / CELL_PX) as isize, (y / CELL_PX) as isize);
        (cx >= 0 && cy >= 0 && (cx as usize) < columns && (cy as usize) < rows)
            .then(|| cy as usize * columns + cx as usize)
    };
    // Stripes and planks face each other too, but in one direction: square roots favour votes from many.
    let mut votes = vec![0.0f32; columns * rows];
    let mut plane = vec![0.0f32; columns * rows];
    for group in 0..DIRECTIONS / 2 / GROUP {
        plane.fill(0.0);
        pairs.opposite(group * GROUP..(group + 1) * GROUP, |i, j| {
            if let Some((dx, dy, square)) = facing(edges, i, j, longest)
                && let Some(at) = cell(f64::from(edges[i].x) + dx / 2.0, f64::from(edges[i].y) + dy / 2.0)
            {
                plane[at] += (1.0 / square.sqrt()) as f32;
            }
        });
        for (sum, value) in votes.iter_mut().zip(smooth(&plane, columns, rows)) {
            *sum += value.sqrt();
        }
    }
    let peaks = peaks(&votes, columns, rows);
    // Which peak a cell belongs to: those within two cells of it.
    let mut owner = vec![u8::MAX; columns * rows];
    for (index, &(cx, cy)) in peaks.iter().enumerate().rev() {
        for y in cy.saturating_sub(2)..=(cy + 2).min(rows - 1) {
            for x in cx.saturating_sub(2)..=(cx + 2).min(columns - 1) {
                owner[y * columns + x] = index as u8;
            }
        }
    }
    let mut out: Vec<Centre> = peaks
        .iter()
        .map(|&(cx, cy)| Centre {
            at: Point::new((cx as f64 + 0.5) * CELL_PX, (cy as f64 + 0.5) * CELL_PX),
            voters: Vec::new(),
        })
        .collect();
    pairs.opposite(0..DIRECTIONS / 2, |i, j| {
        if let Some((dx, dy, _)) = facing(edges, i, j, longest)
            && let Some(at) = cell(f64::from(edges[i].x) + dx / 2.0, f64::from(edges[i].y) + dy / 2.0)
            && owner[at] != u8::MAX
        {
            let normal = Vector2::new(f64::from(edges[i].nx), f64::from(edges[i].ny));
            out[owner[at] as usize].voters.push(Voter { half: Vector2::new(-dx / 2.0, -dy / 2.0), normal });
        }
    });
    out
}

/// Mean over 3 x 3 cells; cells beyond the border count as empty.
fn smooth(values: &[f32], columns: usize, rows: usize) -> Vec<f32> {
    let mut across = vec![0.0; values.len()];
    for (line, out) in values.chunks_exact(columns).zip(across.chunks_exact_mut(columns)) {
        for (triple, sum) in line.windows(3).zip(&mut out[1..]) {
            *sum = (triple[0] + triple[1] + triple[2]) / 9.0;
        }
    }
    let mut out = vec![0.0; values.len()];
    for y in 1..rows.saturating_sub(1) {
        for x in 0..columns {
            let at = y * columns + x;
            out[at] = across[at - columns] + across[at] + across[at + columns];
        }
    }
    out
}

fn peaks(votes: &[f32], columns: usize, rows: usize) -> Vec<(usize, usize)> {
    const APART: isize = 4;
    let mut found: Vec<(f32, usize, usize)> = Vec::new();
    for y in 0..rows as isize {
        for x in 0..columns as isize {
            let value = votes[y as usize * columns + x as usize];
            let mut top = value > 0.0;
            'around: for dy in -APART..=APART {
                for dx in -APART..=APART {
                    let (nx, ny) = (x + dx, y + dy);
                    if nx < 0 || ny < 0 || nx >= columns as isize || ny >= rows as isize || (dx == 0 && dy == 0) {
                        continue;
                    }
                    let other = votes[ny as usize * columns + nx as usize];
                    // Of equal cells the first in reading order is the peak.
                    if other > value || (other == value && (dy, dx) < (0, 0)) {
                        top = false;
                        break 'around;
                    }
                }
            }
            if top {
                found.push((value, x as usize, y as usize));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(CENTRES).map(|(_, x, y)| (x, y)).collect()
}

/// The common shape of the ellipses about a centre, scaled to determinant 1: `sqrt(dᵀ M d)` is the geometric mean of
/// an ellipse's half axes, px. By random pairs of voters, seeded and so repeatable.
fn shape(voters: &[Voter]) -> Option<Matrix2<f64>> {
    const TRIALS: usize = 250;
    const AGREE: f64 = 0.06;
    if voters.len() < 12 {
        return None;
    }
    let row = |v: &Voter| {
        let (d, n) = (v.half, v.normal);
        Vector3::new(-n.y * d.x, n.x * d.x - n.y * d.y, n.x * d.y)
    };
    let sample: Vec<&Voter> = voters.iter().step_by(voters.len().div_ceil(1500)).collect();
    // Small discs must not outvote the rings: an edge counts by its arc's share of the circle.
    let shares: Vec<f64> = sample.iter().map(|v| 1.0 / v.half.norm().max(1.0)).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % n
    };
    let mut best: Option<(f64, Matrix2<f64>)> = None;
    for trial in 0..=TRIALS {
        // The first trial is the circle.
        let m = if trial == 0 {
            Vector3::new(1.0, 0.0, 1.0)
        } else {
            row(sample[next(sample.len())]).cross(&row(sample[next(sample.len())]))
        };
        let Some(matrix) = normalised(m) else { continue };
        let mut agree = 0.0;
        for (v, share) in sample.iter().zip(&shares) {
            let g = matrix * v.half;
            let (across, square) = (v.normal.x * g.y - v.normal.y * g.x, g.norm_squared());
            // Roots are taken of the few that agree alone.
            if across * across < AGREE * AGREE * square {
                agree += (1.0 - across.abs() / (AGREE * square.sqrt())) * share;
            }
        }
        if best.as_ref().is_none_or(|(value, _)| agree > *value) {
            best = Some((agree, matrix));
        }
    }
    best.map(|(_, m)| m)
}

/// (m11, m12, m22) as a positive matrix of determinant 1, where the ellipse is no flatter than one seen at 50 degrees.
fn normalised(m: Vector3<f64>) -> Option<Matrix2<f64>> {
    let m = if m.x + m.z < 0.0 { -m } else { m };
    let det = m.x * m.z - m.y * m.y;
    if det <= 0.0 {
        return None;
    }
    let m = m / det.sqrt();
    // Eigenvalues of M are (a/b) and (b/a): their sum limits the flatness.
    (m.x + m.z < 1.0 / 0.6 + 0.6).then(|| Matrix2::new(m.x, m.y, m.y, m.z))
}

/// Radii at which voters cover most of the circumference, px, best first.
fn ring_radii(voters: &[Voter], shape: &Matrix2<f64>) -> Vec<f64> {
    const STEP: f64 = 1.012;
    let mut cover: Vec<u64> = Vec::new();
    for v in voters {
        let g = shape * v.half;
        let turn = (v.normal.x * g.y - v.normal.y * g.x).abs() / g.norm();
        if turn > 0.1 {
            continue;
        }
        let radius = (v.half.dot(&g)).max(1.0).sqrt();
        let bin = (radius.ln() / STEP.ln()) as usize;
        if cover.len() <= bin {
            cover.resize(bin + 1, 0);
        }
        cover[bin] |= 1 << direction(v.half.x, v.half.y, 32);
        cover[bin] |= 1 << direction(-v.half.x, -v.half.y, 32);
    }
    let joined: Vec<u32> =
        (0..cover.len()).map(|i| (cover[i] | cover.get(i + 1).copied().unwrap_or(0)).count_ones()).collect();
    let mut order: Vec<usize> = (0..joined.len()).filter(|&i| joined[i] >= 10).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(joined[i]), std::cmp::Reverse(i)));
    let mut out: Vec<usize> = Vec::new();
    for i in order {
        if out.iter().all(|&o| o.abs_diff(i) > 3) {
            out.push(i);
            if out.len() == RINGS {
                break;
            }
        }
    }
    out.into_iter().map(|i| STEP.powf(i as f64 + 1.0)).collect()
}

fn direction(x: f64, y: f64, bins: usize) -> usize {
    ((y.atan2(x) / std::f64::consts::TAU + 1.0) * bins as f64) as usize % bins
}

/// The conic (homogeneous, px) through the edges near the ellipse of `shape` and `radius` about `centre`.
fn refine(edges: &[Edge], centre: Point<ImagePx>, shape: &Matrix2<f64>, radius: f64) -> Option<Matrix3<f64>> {
    // Whitened coordinates: the ellipse becomes nearly the unit circle, where algebraic distance is geometric.
    let root = shape.symmetric_eigen();
    let whiten = root.eigenvectors
        * Matrix2::from_diagonal(&root.eigenvalues.map(|v| v.max(1e-9).sqrt() / radius))
        * root.eigenvectors.transpose();
    let inverse = whiten.try_inverse()?;
    let points: Vec<(f64, f64, f64, f64)> = edges
        .iter()
        .filter_map(|e| {
            let p = whiten * Vector2::new(f64::from(e.x) - centre.x, f64::from(e.y) - centre.y);
            let n = inverse.transpose() * Vector2::new(f64::from(e.nx), f64::from(e.ny));
            let r = p.norm();
            ((r - 1.0).abs() < 0.12 && (n.x * p.y - n.y * p.x).abs() < 0.2 * r * n.norm())
                .then_some((p.x, p.y, n.x, n.y))
        })
        .collect();
    let mut p = SVector::<f64, 5>::zeros();
    let mut gate = 0.045;
    for _ in 0..6 {
        // (1 + p) u² + (1 - p) v² + q u v + d u + e v = 1 + s
        let mut normal = SMatrix::<f64, 5, 5>::zeros();
        let mut right = SVector::<f64, 5>::zeros();
        let mut count = 0;
        for &(u, v, _, _) in &points {
            let residual =
                (1.0 + p[0]) * u * u + (1.0 - p[0]) * v * v + p[1] * u * v + p[2] * u + p[3] * v - 1.0 - p[4];
            if residual.abs() > 2.0 * gate {
                continue;
            }
            count += 1;
            let row = SVector::from([u * u - v * v, u * v, u, v, -1.0]);
            let target = 1.0 - u * u - v * v;
            normal += row * row.transpose();
            right += row * target;
        }
        if count < 20 {
            return None;
        }
        for i in 0..5 {
            normal[(i, i)] += 1e-6;
        }
        p = normal.cholesky()?.solve(&right);
        gate = (gate * 0.6f64).max(0.012);
    }
    let conic = Matrix3::new(
        1.0 + p[0],
        p[1] / 2.0,
        p[2] / 2.0,
        p[1] / 2.0,
        1.0 - p[0],
        p[3] / 2.0,
        p[2] / 2.0,
        p[3] / 2.0,
        -1.0 - p[4],
    );
    let mut map = Matrix3::identity();
    map.fixed_view_mut::<2, 2>(0, 0).copy_from(&whiten);
    let shift = -(whiten * Vector2::new(centre.x, centre.y));
    map[(0, 2)] = shift.x;
    map[(1, 2)] = shift.y;
    Some(map.transpose() * conic * map)
}

/// The radius of the circle in [`poses`], mm.
pub(super) const RADIUS: f64 = 100.0;

/// The two poses in which a circle of radius [`RADIUS`] appears as `conic`.
pub(super) fn poses(conic: &Matrix3<f64>, focal_px: f64, principal: Point<ImagePx>) -> Vec<Camera> {
    let k = Matrix3::new(focal_px, 0.0, principal.x, 0.0, focal_px, principal.y, 0.0, 0.0, 1.0);
    let mut q = k.transpose() * conic * k;
    if q.determinant() > 0.0 {
        q = -q;
    }
    let eigen = SymmetricEigen::new(q / q.norm());
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let l = order.map(|i| eigen.eigenvalues[i]);
    let v = Matrix3::from_columns(&order.map(|i| eigen.eigenvectors.column(i).into_owned()));
    if !(l[1] > 0.0 && l[2] < 0.0) {
        return Vec::new();
    }
    let a = ((l[0] - l[1]) / (l[0] - l[2])).max(0.0).sqrt();
    let b = ((l[1] - l[2]) / (l[0] - l[2])).max(0.0).sqrt();
    let z0 = l[1] * RADIUS / (-l[0] * l[2]).sqrt();
    let mut out: Vec<Camera> = Vec::new();
    for s in [1.0, -1.0] {
        let mut centre = v * Vector3::new(s * l[2] / l[1] * a, 0.0, -l[0] / l[1] * b) * z0;
        let mut normal = v * Vector3::new(s * a, 0.0, -b);
        if centre.z < 0.0 {
            centre = -centre;
        }
        if normal.z < 0.0 {
            normal = -normal;
        }
        if !(normal.z > 0.6 && centre.z > 0.0) {
            continue;
        }
        let camera = Camera {
            focal_px,
            principal,
            k1: 0.0,
            k2: 0.0,
            rotation: upright(normal),
            translation_mm: [centre.x, centre.y, centre.z],
        };
        out.push(camera);
    }
    out
}

/// The rotation without twist that turns the z axis into `normal`.
fn upright(normal: Vector3<f64>) -> [[f64; 3]; 3] {
    let rotation = nalgebra::Rotation3::rotation_between(&Vector3::z(), &normal).unwrap_or_default();
    let m = rotation.matrix();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| m[(i, j)]))
}

/// Where the lines of any board may lie, as fractions of the shooting line's radius, with the weight of each in the
/// score. Measured on boards of six makes, widened by 2 % for the roughness of a first guess.
const PATTERN: [(f64, f64, f64); 5] =
    [(0.99, 1.01, 1.0), (0.62, 0.735, 1.0), (0.297, 0.367, 1.0), (0.05, 0.075, 0.6), (1.055, 1.13, 0.5)];

/// Finds the scale at which the radii of the edges match the pattern of a board, and sets the camera to that scale.
fn match_pattern(edges: &[Edge], camera: Camera) -> Option<Seed> {
    const STEP: f64 = 1.01;
    const BINS: usize = 520;
    const LEAST: f64 = 4.0;
    let homography = camera.homography();
    let h = Matrix3::from_fn(|i, j| homography[i][j]).try_inverse()?;
    let map = |x: f64, y: f64| {
        let p = h * Vector3::new(x, y, 1.0);
        (p.x / p.z, p.y / p.z)
    };
    let mut cover = vec![0u64; BINS];
    for e in edges {
        let (x, y) = (f64::from(e.x), f64::from(e.y));
        let (a, b) = (map(x, y), map(x - f64::from(e.ny), y + f64::from(e.nx)));
        let (tx, ty) = (b.0 - a.0, b.1 - a.1);
        let radius = a.0.hypot(a.1);
        if radius <= LEAST || radius.is_nan() || (tx * a.0 + ty * a.1).abs() > 0.12 * radius * tx.hypot(ty) {
            continue;
        }
        let bin = ((radius / LEAST).ln() / STEP.ln()) as usize;
        if bin < BINS {
            cover[bin] |= 1 << direction(a.0, a.1, 64);
        }
    }
    let share: Vec<f64> =
        (0..BINS).map(|i| f64::from((cover[i] | cover.get(i + 1).copied().unwrap_or(0)).count_ones()) / 64.0).collect();
    let bins = |ratio: f64| (ratio.ln() / STEP.ln()).round() as isize;
    let windows = PATTERN.map(|(from, to, weight)| (bins(from), bins(to), weight));
    let mut best: Option<(f64, usize)> = None;
    for at in 0..BINS {
        if share[at] < 0.2 {
            continue;
        }
        let background = {
            let (from, to) = (at as isize + bins(0.1), at as isize + bins(1.2));
            let mut values: Vec<f64> = (from.max(0)..to.min(BINS as isize)).map(|i| share[i as usize]).collect();
            if values.len() < 20 {
                continue;
            }
            let middle = values.len() / 2;
            *values.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        let score: f64 = windows
            .iter()
            .map(|&(from, to, weight)| {
                let seen = (from..=to)
                    .filter_map(|d| share.get((at as isize + d).max(0) as usize))
                    .fold(0.0f64, |a, &b| a.max(b));
                weight * ((seen - background) / (1.0 - background).max(0.05)).max(0.0)
            })
            .sum();
        if best.is_none_or(|(value, _)| score > value) {
            best = Some((score, at));
        }
    }
    let (score, bin) = best?;
    let r5 = LEAST * STEP.powf(bin as f64 + 1.0);
    let scale = SHOOTING_LINE_MM / r5;
    let t = camera.translation_mm.map(|v| v * scale);
    Some(Seed { camera: Camera { translation_mm: t, ..camera }, score })
}
