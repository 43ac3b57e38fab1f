//! What many photos of one camera know together.
//!
//! In: what was measured in each photo of a group (one lens; with a fixed camera, one place too). Out: the same, each
//! photo judged with the knowledge of all. No pixel is looked at again: a photo's registration carries its covariance as
//! deviations, its discs the picture position of their middles, and both are conditioned on the shared estimate.
//!
//! What photos share is averaged. How much surer the average is, the photos themselves tell: an error that differs from
//! photo to photo shows as scatter and is divided by their number; what does not scatter (a prior, a bias of the light)
//! is an error of all of them, and stays; what scatters more than it should is true of each photo alone (a stabilised lens
//! moves), and stays too. With S the mean covariance and V the scatter about the mean, in the coordinates in which S is 1,
//! a direction of scatter v keeps the variance 1 - v and gains v / n; what v exceeds chance by it keeps too.
//! Photos count by how sure they are, and one that is surer by itself than all together stays as it is.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

use super::journal::Measured;
use crate::board::State;
use crate::detect::{self, Detections, DiscSet};
use crate::geometry::{BoardMm, Point};
use crate::register::solve::{CAMERA_PARAMETERS, pack, unpack};
use crate::register::{Deviation, Registration};

/// Fewer photos than this tell too little about their scatter.
pub const FEWEST_PHOTOS: usize = 4;

/// A photo whose shared parameters lie further than this from those of most, in its own and the typical deviations, is not
/// of the group: a bumped board, another camera or board, another set of discs.
const OUTLIER: f64 = 5.0;

/// Where the inner edges of the three lines begin among a photo's parameters, after the camera's.
const INNER: usize = CAMERA_PARAMETERS;
/// Where the centres of the 10 and the 15 line begin: x and y each; the shooting line's is the board's.
const CENTRES: usize = INNER + 3;
/// Parameters of a photo.
const PARAMETERS: usize = CENTRES + 4;

/// Focal length, principal point, distortion: what belongs to the lens (see [`pack`]).
const LENS: std::ops::Range<usize> = 0..5;

/// With whom a photo was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kin {
    /// How many photos knew the board together; 1 for a photo alone.
    pub photos: usize,
    /// Whether it was left out of its group: another place, camera, board or set of discs than most have.
    pub left_out: bool,
}

/// Judges every photo of a group with the knowledge of all, and says with whom each was judged. `fixed` says that the
/// camera did not move.
pub fn pool(photos: &mut [Measured], fixed: bool, config: &detect::Config) -> Vec<Kin> {
    let mut kin = vec![Kin { photos: 1, left_out: false }; photos.len()];
    if photos.len() < FEWEST_PHOTOS {
        return kin;
    }
    let states: Vec<Belief> = photos.iter().map(|photo| Belief::of(&photo.registration)).collect();
    let doubts: Vec<f64> = photos.iter().map(|photo| margin_variance_mm2(&photo.registration)).collect();
    // Centres turn with the board in the picture: only a camera that stood still sees them in one place.
    let lines = INNER..CENTRES;
    // Tiers from what most photos share to what the fewest do; each takes the photos that agree.
    let everything: Vec<usize> = (0..PARAMETERS).collect();
    let lens_and_lines: Vec<usize> = LENS.chain(lines).collect();
    let lens: Vec<usize> = LENS.collect();
    let tiers: Vec<Vec<usize>> =
        if fixed { vec![everything, lens_and_lines, lens] } else { vec![lens_and_lines, lens] };
    let mut left: Vec<usize> = (0..photos.len()).collect();
    // Photos that agree about the board may have one set of discs.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (tier, shared) in tiers.iter().enumerate() {
        let (agreeing, others) = split(&states, &left, shared);
        if let Some(common) = Common::of(&states, &doubts, &agreeing, shared) {
            for &at in &agreeing {
                if let Some(belief) = states[at].given(&common, shared) {
                    let mut pooled = photos[at].registration.clone();
                    belief.write(&mut pooled);
                    let is_surer = margin_variance_mm2(&pooled) < doubts[at];
                    if is_surer && shows_the_same(&photos[at].registration, &pooled) {
                        photos[at].registration = pooled;
                    }
                }
            }
            agreeing.iter().for_each(|&at| kin[at].photos = agreeing.len());
            if tier == 0 {
                others.iter().for_each(|&at| kin[at].left_out = true);
            }
            groups.push(agreeing);
            left = others;
        }
        if left.len() < FEWEST_PHOTOS {
            break;
        }
    }
    for group in groups.iter().filter(|group| group.len() >= FEWEST_PHOTOS) {
        let (same, others) = one_set(photos, group);
        others.iter().for_each(|&at| kin[at].left_out = true);
        let mut members: Vec<Measured> = same.iter().map(|&at| photos[at].clone()).collect();
        pool_discs(&mut members, config);
        same.into_iter().zip(members).for_each(|(at, member)| photos[at] = member);
    }
    kin
}

/// The photos of a group whose discs are of the set that most have, by colour and size, and the others.
fn one_set(photos: &[Measured], group: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let near = |a: [f32; 3], b: [f32; 3]| apart(a, b) < SAME_COLOUR;
    let alike = |a: &[Option<[f32; 3]>; 2], b: &[Option<[f32; 3]>; 2]| match (a, b) {
        ([Some(a), Some(b)], [Some(c), Some(d)]) => near(*a, *c) && near(*b, *d),
        // Discs of one colour may be of either side.
        (one, other) => {
            let seen = |palette: &[Option<[f32; 3]>; 2]| palette.iter().flatten().copied().collect::<Vec<_>>();
            let (few, many) = if seen(one).len() < seen(other).len() { (one, other) } else { (other, one) };
            seen(few).iter().all(|colour| seen(many).iter().any(|same| near(*colour, *same)) || seen(many).len() < 2)
        }
    };
    let palette = |at: &usize| &photos[*at].detections.palette;
    let fellows = |at: &usize| group.iter().filter(|other| alike(palette(at), palette(other))).count();
    let whole = group.iter().filter(|at| palette(at).iter().all(Option::is_some));
    // Of equals the first.
    let Some(typical) = whole.rev().max_by_key(|at| fellows(at)) else { return (group.to_vec(), Vec::new()) };
    let (same, mut others): (Vec<usize>, Vec<usize>) =
        group.iter().partition(|at| alike(palette(typical), palette(at)));
    let radius = |at: usize| (photos[at].detections.set.radius_mm, photos[at].detections.set.radius_sigma_mm);
    let values: Vec<(f64, f64)> = same.iter().map(|&at| radius(at)).collect();
    let mut agrees = of_most(&values).into_iter();
    let (same, odd): (Vec<usize>, Vec<usize>) = same.into_iter().partition(|_| agrees.next().unwrap_or(true));
    others.extend(odd);
    (same, others)
}

/// How far the lines may move in the picture by pooling, px: they were seen where they were.
const SAME_LINES_PX: f64 = 0.5;

/// Whether two registrations of one photo show the scoring lines in the same place.
fn shows_the_same(own: &Registration, pooled: &Registration) -> bool {
    let moved = |line: usize, turn: usize| {
        let (sin, cos) = (turn as f64 * std::f64::consts::FRAC_PI_4).sin_cos();
        let at = |registration: &Registration| {
            let ring = &registration.rings[line];
            registration.camera.project(ring.centre.offset(ring.inner_mm * cos, ring.inner_mm * sin), 0.0)
        };
        at(own).zip(at(pooled)).map_or(f64::INFINITY, |(before, after)| before.distance(after))
    };
    (0..3).all(|line| (0..8).all(|turn| moved(line, turn) < SAME_LINES_PX))
}

/// Mean variance of the margins of discs just inside each line, in eight directions, that a registration leaves.
fn margin_variance_mm2(registration: &Registration) -> f64 {
    const DISC_MM: f64 = 16.0;
    const HALF_HEIGHT_MM: f64 = 5.0;
    let mut sum = 0.0;
    for (line, ring) in registration.rings.iter().enumerate() {
        for turn in 0..8 {
            let (sin, cos) = (f64::from(turn) * std::f64::consts::FRAC_PI_4).sin_cos();
            let rho = ring.inner_mm - DISC_MM;
            let Some(seen) = registration.camera.project(ring.centre.offset(rho * cos, rho * sin), HALF_HEIGHT_MM)
            else {
                continue;
            };
            for other in &registration.deviations {
                let at = other.camera.board_at(seen, HALF_HEIGHT_MM);
                let margin = at.map(|at| other.inner_mm[line] - at.distance(other.centres[line]) - DISC_MM);
                sum += margin.unwrap_or(DISC_MM).powi(2) / 24.0;
            }
        }
    }
    // A registration that claims to know everything must not outweigh all others.
    sum.max(1e-4)
}

/// A photo's registration as a normal distribution.
struct Belief {
    x: DVector<f64>,
    covariance: DMatrix<f64>,
}

impl Belief {
    fn of(registration: &Registration) -> Self {
        let vector = |camera, inner: [f64; 3], centres: [Point<BoardMm>; 3]| {
            let [_, ten, fifteen] = centres;
            let centres = [ten.x, ten.y, fifteen.x, fifteen.y];
            DVector::from_iterator(PARAMETERS, pack(camera).into_iter().chain(inner).chain(centres))
        };
        let x = vector(&registration.camera, registration.inner_mm(), registration.centres());
        let mut covariance = DMatrix::zeros(PARAMETERS, PARAMETERS);
        for deviation in &registration.deviations {
            let d = vector(&deviation.camera, deviation.inner_mm, deviation.centres) - &x;
            covariance += &d * d.transpose();
        }
        Self { x, covariance }
    }

    /// This belief where the shared parameters are as `common` says; the others follow by what binds them.
    fn given(&self, common: &Common, shared: &[usize]) -> Option<Self> {
        let own: Vec<usize> = (0..PARAMETERS).filter(|at| !shared.contains(at)).collect();
        let shared_own = block(&self.covariance, shared, shared);
        let bind = block(&self.covariance, &own, shared) * floored(&shared_own)?.inverse();
        let step = &common.x - pick(&self.x, shared);
        let own_x = pick(&self.x, &own) + &bind * step;
        let freed = block(&self.covariance, &own, &own) - &bind * block(&self.covariance, shared, &own);
        let own_covariance = freed + &bind * &common.covariance * bind.transpose();
        let cross = &bind * &common.covariance;
        let mut out = Self { x: self.x.clone(), covariance: self.covariance.clone() };
        for (i, &row) in shared.iter().enumerate() {
            out.x[row] = common.x[i];
            shared
                .iter()
                .enumerate()
                .for_each(|(j, &column)| out.covariance[(row, column)] = common.covariance[(i, j)]);
        }
        for (i, &row) in own.iter().enumerate() {
            out.x[row] = own_x[i];
            own.iter().enumerate().for_each(|(j, &column)| out.covariance[(row, column)] = own_covariance[(i, j)]);
            for (j, &column) in shared.iter().enumerate() {
                out.covariance[(row, column)] = cross[(i, j)];
                out.covariance[(column, row)] = cross[(i, j)];
            }
        }
        Some(out)
    }

    /// Puts the belief in place of a registration's.
    fn write(&self, registration: &mut Registration) {
        let inner = |x: &DVector<f64>| [0, 1, 2].map(|i| x[INNER + i]);
        let five = registration.rings[0].centre;
        let centres = |x: &DVector<f64>| {
            [five, Point::new(x[CENTRES], x[CENTRES + 1]), Point::new(x[CENTRES + 2], x[CENTRES + 3])]
        };
        let camera = |x: &DVector<f64>| unpack(&x.as_slice()[..CAMERA_PARAMETERS]);
        registration.camera = camera(&self.x);
        for ((ring, inner_mm), centre) in registration.rings.iter_mut().zip(inner(&self.x)).zip(centres(&self.x)) {
            ring.centre = centre;
            ring.outer_mm += inner_mm - ring.inner_mm;
            ring.inner_mm = inner_mm;
        }
        // The square root of the covariance, scaled to a correlation matrix first: parameters differ by orders.
        let sigma: Vec<f64> = (0..PARAMETERS).map(|i| self.covariance[(i, i)].max(0.0).sqrt().max(1e-12)).collect();
        let correlation =
            DMatrix::from_fn(PARAMETERS, PARAMETERS, |i, j| self.covariance[(i, j)] / (sigma[i] * sigma[j]));
        let eigen = SymmetricEigen::new((&correlation + correlation.transpose()) * 0.5);
        registration.deviations = (0..PARAMETERS)
            .filter(|&k| eigen.eigenvalues[k] > 1e-9)
            .map(|k| {
                let root = eigen.eigenvalues[k].sqrt();
                let x = DVector::from_fn(PARAMETERS, |i, _| self.x[i] + sigma[i] * eigen.eigenvectors[(i, k)] * root);
                Deviation { camera: camera(&x), inner_mm: inner(&x), centres: centres(&x) }
            })
            .collect();
        let height = registration.camera.height_mm();
        let off = registration.deviations.iter().map(|d| (d.camera.height_mm() - height).powi(2));
        registration.height_sigma_mm = off.sum::<f64>().sqrt();
    }
}

/// What photos know together about the parameters that they share.
struct Common {
    x: DVector<f64>,
    covariance: DMatrix<f64>,
}

impl Common {
    fn of(states: &[Belief], doubts: &[f64], photos: &[usize], shared: &[usize]) -> Option<Self> {
        if photos.len() < FEWEST_PHOTOS {
            return None;
        }
        let all: f64 = photos.iter().map(|&at| doubts[at].recip()).sum();
        let weighed: Vec<(f64, &Belief)> = photos.iter().map(|&at| (doubts[at].recip() / all, &states[at])).collect();
        // As many photos of equal weight would know as much.
        let n = weighed.iter().map(|(weight, _)| weight * weight).sum::<f64>().recip().max(2.0);
        let x = weighed.iter().map(|(weight, belief)| pick(&belief.x, shared) * *weight).sum::<DVector<f64>>();
        let mean = weighed.iter().map(|(weight, belief)| block(&belief.covariance, shared, shared) * *weight);
        let mean = mean.sum::<DMatrix<f64>>();
        let scatter = weighed.iter().map(|(weight, belief)| {
            let d = pick(&belief.x, shared) - &x;
            &d * d.transpose() * *weight
        });
        let scatter = scatter.sum::<DMatrix<f64>>() * (n / (n - 1.0));
        let root = floored(&mean)?.l();
        let inverse = root.clone().try_inverse()?;
        let eigen = SymmetricEigen::new(&inverse * scatter * inverse.transpose());
        let keep = eigen.eigenvalues.map(|v| kept(v, n, shared.len()));
        let turned = &root * &eigen.eigenvectors;
        Some(Self { x, covariance: &turned * DMatrix::from_diagonal(&keep) * turned.transpose() })
    }
}

/// Share of its variance that a mean of `n` keeps where values scatter `v` times as much as each claims. Of `directions`
/// the widest scatters more than it should by chance alone: up to Marchenko and Pastur's edge.
fn kept(v: f64, n: f64, directions: usize) -> f64 {
    let edge = (1.0 + (directions as f64 / n).sqrt()).powi(2);
    (1.0 - v).max(0.0) + v.clamp(0.0, 1.0) / n + (v - edge).max(0.0)
}

/// A covariance that can be inverted: deviations too small to be kept left it without rank.
fn floored(covariance: &DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let n = covariance.nrows();
    let least = (0..n).map(|i| covariance[(i, i)]).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return None;
    }
    let floor = |i: usize| 1e-6 * covariance[(i, i)].max(1e-6 * least);
    (covariance + DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| floor(i)))).cholesky()
}

/// The photos whose shared parameters agree with most, and the others.
fn split(states: &[Belief], photos: &[usize], shared: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut agrees = vec![true; photos.len()];
    for &parameter in shared {
        let own = |&at: &usize| {
            let belief = &states[at];
            (belief.x[parameter], belief.covariance[(parameter, parameter)].max(0.0).sqrt())
        };
        let values: Vec<(f64, f64)> = photos.iter().map(own).collect();
        agrees.iter_mut().zip(of_most(&values)).for_each(|(agrees, does)| *agrees &= does);
    }
    let mut agrees = agrees.into_iter();
    photos.iter().partition(|_| agrees.next().unwrap_or(true))
}

/// Which of the values, each with its sigma, are those of most: about the middle of the shortest stretch that holds half of
/// them. A median would lie between two groups and call both alike.
fn of_most(values: &[(f64, f64)]) -> Vec<bool> {
    let mut sorted: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let half = values.len().div_ceil(2).max(2);
    let stretches = sorted.windows(half).map(|stretch| (stretch[0], stretch[half - 1]));
    let Some((from, to)) = stretches.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))) else {
        return vec![true; values.len()];
    };
    // Half of a normal distribution lies within 1.349 sigma; few values show less than that (Rousseeuw and Leroy 1987).
    let typical = (to - from) / 1.349 * (1.0 + 5.0 / (values.len() as f64 - 1.0));
    let middle = (from + to) / 2.0;
    values.iter().map(|(value, own)| (value - middle).abs() <= OUTLIER * own.hypot(typical) + 1e-9).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn pick(x: &DVector<f64>, at: &[usize]) -> DVector<f64> {
    DVector::from_fn(at.len(), |i, _| x[at[i]])
}

fn block(m: &DMatrix<f64>, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns.len(), |i, j| m[(rows[i], columns[j])])
}

/// One set of discs: its radius and height from all photos, and every disc placed with them.
fn pool_discs(photos: &mut [Measured], config: &detect::Config) {
    let radius = (config.shape.radius_mm, config.shape_sigma_mm[0]);
    let height = (config.shape.height_mm, config.shape_sigma_mm[1]);
    let radii = shared(photos.iter().map(|p| (p.detections.set.radius_mm, p.detections.set.radius_sigma_mm)), radius);
    let heights = shared(photos.iter().map(|p| (p.detections.set.height_mm, p.detections.set.height_sigma_mm)), height);
    let palette = palette(photos);
    for photo in photos {
        let own = photo.detections.set;
        let fits = |value: f64, sigma: f64, pooled: Option<(f64, f64)>| {
            pooled.filter(|(mean, spread)| *spread < sigma && (value - mean).abs() <= OUTLIER * sigma.hypot(*spread))
        };
        let (radius_mm, radius_sigma_mm) =
            fits(own.radius_mm, own.radius_sigma_mm, radii).unwrap_or((own.radius_mm, own.radius_sigma_mm));
        let (height_mm, height_sigma_mm) =
            fits(own.height_mm, own.height_sigma_mm, heights).unwrap_or((own.height_mm, own.height_sigma_mm));
        photo.detections.set = DiscSet { radius_mm, radius_sigma_mm, height_mm, height_sigma_mm };
        for disc in &mut photo.detections.discs {
            if disc.state == State::Flat {
                disc.middle_height_mm += (height_mm - own.height_mm) / 2.0;
            }
            if let Some(base) = photo.registration.camera.board_at(disc.middle_px, disc.middle_height_mm) {
                disc.base = base;
            }
        }
        if let Some(palette) = palette {
            name_sides(&mut photo.detections, palette);
        }
    }
}

/// One measure of all photos, from each photo's (value, sigma) that hold a prior (value, sigma): the prior is taken out
/// of each and put back once. None where the photos tell nothing.
fn shared(photos: impl Iterator<Item = (f64, f64)>, prior: (f64, f64)) -> Option<(f64, f64)> {
    let prior_weight = prior.1.powi(-2);
    let told: Vec<(f64, f64)> = photos
        .filter_map(|(value, sigma)| {
            let weight = sigma.powi(-2) - prior_weight;
            let told = (value * sigma.powi(-2) - prior.0 * prior_weight) / weight;
            (weight > 1e-3 * prior_weight && told.is_finite()).then_some((told, weight))
        })
        .collect();
    if told.len() < FEWEST_PHOTOS {
        return None;
    }
    let n = told.len() as f64;
    let weight: f64 = told.iter().map(|(_, weight)| weight).sum();
    let value = told.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight;
    let scatter = told.iter().map(|(v, weight)| (v - value).powi(2) * weight).sum::<f64>() / (n - 1.0);
    let variance = kept(scatter, n, 1) * n / weight;
    let posterior = prior_weight + variance.recip();
    Some(((prior.0 * prior_weight + value / variance) / posterior, posterior.sqrt().recip()))
}

/// Colours of one set differ by less than this from photo to photo, CIE L*a*b* units: lamps are switched, glare comes
/// and goes.
const SAME_COLOUR: f32 = 25.0;

/// The two colours of play, where most photos agree on them.
fn palette(photos: &[Measured]) -> Option<[[f32; 3]; 2]> {
    let seen: Vec<[[f32; 3]; 2]> =
        photos.iter().filter_map(|photo| Some([photo.detections.palette[0]?, photo.detections.palette[1]?])).collect();
    if seen.len() < FEWEST_PHOTOS {
        return None;
    }
    let middle = |side: usize| {
        [0, 1, 2].map(|channel| median(seen.iter().map(|p| f64::from(p[side][channel])).collect()) as f32)
    };
    let palette = [middle(0), middle(1)];
    let same = |photo: &&[[f32; 3]; 2]| (0..2).all(|side| apart(photo[side], palette[side]) < SAME_COLOUR);
    (4 * seen.iter().filter(same).count() >= 3 * seen.len()).then_some(palette)
}

/// A photo with discs of one colour alone does not tell which of the two it is; the other photos do.
fn name_sides(detections: &mut Detections, palette: [[f32; 3]; 2]) {
    let (Some(only), None) = (detections.palette[0], detections.palette[1]) else { return };
    let [to_first, to_second] = palette.map(|colour| apart(colour, only));
    if to_second < SAME_COLOUR && to_second < 0.5 * to_first {
        detections.palette.swap(0, 1);
        for disc in &mut detections.discs {
            disc.side = disc.side.map(crate::board::Side::other);
        }
    }
}

fn apart(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests;
