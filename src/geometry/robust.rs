//! Robust least squares for small problems: Levenberg-Marquardt with a redescending loss and Gaussian priors.
//!
//! Minimises `Σ c²/2 · (r/σ)² / (c² + (r/σ)²)` (Geman-McClure) over the data plus `Σ ((x - mean) / sigma)² / 2` over the
//! priors. σ, the scale of good residuals, is estimated from the data (median absolute deviation) at every step.
//! Derivatives are taken numerically: problems here have 5 to 25 parameters and some thousand residuals.

use nalgebra::{DMatrix, DVector};

/// What is believed of a parameter before looking.
#[derive(Clone, Copy, Debug)]
pub struct Prior {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation; infinite where nothing is believed, 0 to hold the parameter fixed.
    pub sigma: f64,
}

/// Fills in the residuals of a parameter vector.
pub type Residuals<'a> = &'a (dyn Fn(&[f64], &mut [f64]) + Sync);
/// Fills in the residuals' derivative by the parameter of that index and says true, or says false.
pub type Derivative<'a> = &'a (dyn Fn(usize, &[f64], &mut [f64]) -> bool + Sync);

/// A least-squares problem: residuals of a parameter vector.
pub struct Problem<'a> {
    /// Residuals of x, each in the unit of `floor`; NaN where x makes no sense for that observation.
    pub residuals: Residuals<'a>,
    /// Number of residuals.
    pub observations: usize,
    /// Relative weight of every observation.
    pub weights: &'a [f64],
    /// One prior a parameter.
    pub priors: &'a [Prior],
    /// Step of the numerical derivative of every parameter.
    pub steps: &'a [f64],
    /// Derivatives that are known: fills the residuals' derivative by the parameter of that index and says true.
    pub derivative: Derivative<'a>,
    /// Smallest scale of good residuals that is believed.
    pub floor: f64,
    /// How many neighbouring observations share one error: the covariance is widened by it.
    pub correlated: f64,
}

/// The solution.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Parameters.
    pub x: Vec<f64>,
    /// Posterior covariance of the parameters.
    pub covariance: DMatrix<f64>,
    /// Scale of good residuals.
    pub sigma: f64,
    /// Final cost, data and priors.
    pub cost: f64,
}

/// A step that lowers the cost by a smaller share than this is the last.
const SETTLED: f64 = 1e-4;
/// Residuals beyond this many scales lose their influence.
const CUT: f64 = 2.5;

/// Solves `problem` from `start`, at most `iterations` steps.
/// None where no finite solution exists (too few observations for the unheld parameters).
pub fn solve(problem: &Problem, start: &[f64], iterations: usize) -> Option<Solution> {
    let n = start.len();
    let mut x = start.to_vec();
    let mut residuals = vec![0.0; problem.observations];
    let mut trial = vec![0.0; problem.observations];
    (problem.residuals)(&x, &mut residuals);
    let mut sigma = scale(&residuals, problem.floor);
    let mut current = cost(problem, &x, &residuals, sigma);
    let mut damping = 1e-3;
    let mut normal = DMatrix::zeros(n, n);
    for iteration in 0..iterations.max(1) {
        sigma = scale(&residuals, problem.floor);
        current = cost(problem, &x, &residuals, sigma);
        let (matrix, gradient) = normal_equations(problem, &x, &residuals, sigma, &mut trial);
        normal = matrix;
        let before = current;
        for _ in 0..6 {
            let mut damped = normal.clone();
            for i in 0..n {
                damped[(i, i)] += damping * damped[(i, i)].max(1e-12);
            }
            let Some(step) = damped.cholesky().map(|c| c.solve(&gradient)) else {
                damping *= 10.0;
                continue;
            };
            let next: Vec<f64> = x.iter().zip(step.iter()).map(|(x, s)| x - s).collect();
            (problem.residuals)(&next, &mut trial);
            let value = cost(problem, &next, &trial, sigma);
            if value.is_finite() && value <= current {
                x = next;
                std::mem::swap(&mut residuals, &mut trial);
                current = value;
                damping = (damping * 0.2).max(1e-9);
                break;
            }
            damping *= 10.0;
        }
        if before - current < SETTLED * before && iteration > 0 {
            break;
        }
    }
    let sigma = scale(&residuals, problem.floor).max(sigma * 0.5);
    let covariance = posterior(problem, &normal)?;
    (x.iter().all(|v| v.is_finite()) && current.is_finite()).then_some(Solution { x, covariance, sigma, cost: current })
}

/// Robust standard deviation about zero.
pub fn scale(residuals: &[f64], floor: f64) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().filter(|r| r.is_finite()).map(|r| r.abs()).collect();
    if sizes.is_empty() {
        return floor;
    }
    let middle = sizes.len() / 2;
    let (_, median, _) = sizes.select_nth_unstable_by(middle, f64::total_cmp);
    (*median * 1.4826).max(floor)
}

fn cost(problem: &Problem, x: &[f64], residuals: &[f64], sigma: f64) -> f64 {
    let c2 = CUT * CUT;
    let data: f64 = residuals
        .iter()
        .zip(problem.weights)
        .map(|(r, w)| {
            let z2 = (r / sigma).powi(2);
            // An observation that makes no sense counts as the worst outlier.
            w * if z2.is_finite() { 0.5 * c2 * z2 / (c2 + z2) } else { 0.5 * c2 }
        })
        .sum();
    let prior: f64 = x
        .iter()
        .zip(problem.priors)
        .filter(|(_, p)| p.sigma > 0.0 && p.sigma.is_finite())
        .map(|(x, p)| 0.5 * ((x - p.mean) / p.sigma).powi(2))
        .sum();
    data / problem.correlated + prior
}

fn normal_equations(
    problem: &Problem,
    x: &[f64],
    residuals: &[f64],
    sigma: f64,
    trial: &mut [f64],
) -> (DMatrix<f64>, DVector<f64>) {
    let (n, m) = (x.len(), residuals.len());
    let mut jacobian = vec![0.0; n * m];
    let mut moved = x.to_vec();
    for (j, column) in jacobian.chunks_exact_mut(m.max(1)).enumerate().take(n) {
        if problem.priors[j].sigma == 0.0 {
            continue;
        }
        if (problem.derivative)(j, x, column) {
            continue;
        }
        moved[j] = x[j] + problem.steps[j];
        (problem.residuals)(&moved, trial);
        moved[j] = x[j];
        for ((d, after), before) in column.iter_mut().zip(trial.iter()).zip(residuals) {
            let slope = (after - before) / problem.steps[j];
            *d = if slope.is_finite() { slope } else { 0.0 };
        }
    }
    let c2 = CUT * CUT;
    let weight: Vec<f64> = residuals
        .iter()
        .zip(problem.weights)
        .map(|(r, w)| {
            let z2 = (r / sigma).powi(2);
            let influence = c2 / (c2 + z2);
            if z2.is_finite() { w * influence * influence / (sigma * sigma * problem.correlated) } else { 0.0 }
        })
        .collect();
    let mut normal = DMatrix::zeros(n, n);
    let mut gradient = DVector::zeros(n);
    for a in 0..n {
        let column_a = &jacobian[a * m..(a + 1) * m];
        let weighted: Vec<f64> = column_a.iter().zip(&weight).map(|(j, w)| j * w).collect();
        gradient[a] = weighted.iter().zip(residuals).map(|(j, r)| if *j == 0.0 { 0.0 } else { j * r }).sum();
        for b in a..n {
            let sum: f64 = weighted.iter().zip(&jacobian[b * m..(b + 1) * m]).map(|(p, q)| p * q).sum();
            normal[(a, b)] = sum;
            normal[(b, a)] = sum;
        }
    }
    for (i, prior) in problem.priors.iter().enumerate() {
        if prior.sigma == 0.0 {
            normal[(i, i)] = 1.0;
            gradient[i] = 0.0;
        } else if prior.sigma.is_finite() {
            normal[(i, i)] += prior.sigma.powi(-2);
            gradient[i] += (x[i] - prior.mean) / prior.sigma.powi(2);
        }
    }
    (normal, gradient)
}

/// Inverse of the normal matrix; rows and columns of held parameters are zero.
fn posterior(problem: &Problem, normal: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = normal.nrows();
    // Scaled to unit diagonal first: parameters differ by orders of magnitude.
    let diagonal: Vec<f64> = (0..n).map(|i| normal[(i, i)].max(1e-300).sqrt()).collect();
    let scaled =
        DMatrix::from_fn(n, n, |i, j| normal[(i, j)] / (diagonal[i] * diagonal[j]) + f64::from(i == j) * 1e-12);
    let inverse = scaled.cholesky()?.inverse();
    Some(DMatrix::from_fn(n, n, |i, j| {
        if problem.priors[i].sigma == 0.0 || problem.priors[j].sigma == 0.0 {
            0.0
        } else {
            inverse[(i, j)] / (diagonal[i] * diagonal[j])
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_problem(outliers: bool) -> Vec<(f64, f64)> {
        (0..60)
            .map(|i| {
                let x = f64::from(i) * 0.1;
                let wiggle = 0.01 * f64::from(i * 7919 % 13 - 6);
                let y = 2.0 + 0.5 * x + wiggle + if outliers && i % 5 == 0 { 9.0 } else { 0.0 };
                (x, y)
            })
            .collect()
    }

    fn fit(data: &[(f64, f64)], priors: &[Prior]) -> Solution {
        let residuals = |p: &[f64], out: &mut [f64]| {
            for (r, (x, y)) in out.iter_mut().zip(data) {
                *r = p[0] + p[1] * x - y;
            }
        };
        let weights = vec![1.0; data.len()];
        let problem = Problem {
            residuals: &residuals,
            observations: data.len(),
            weights: &weights,
            priors,
            steps: &[1e-5, 1e-5],
            derivative: &|_, _, _| false,
            floor: 1e-3,
            correlated: 1.0,
        };
        solve(&problem, &[0.0, 0.0], 60).unwrap()
    }

    const FREE: Prior = Prior { mean: 0.0, sigma: f64::INFINITY };

    #[test]
    fn a_fifth_of_gross_outliers_does_not_move_a_line() {
        let solution = fit(&line_problem(true), &[FREE, FREE]);
        assert!((solution.x[0] - 2.0).abs() < 0.05, "{:?}", solution.x);
        assert!((solution.x[1] - 0.5).abs() < 0.02, "{:?}", solution.x);
    }

    #[test]
    fn a_held_parameter_stays_and_has_no_variance() {
        let solution = fit(&line_problem(false), &[FREE, Prior { mean: 0.0, sigma: 0.0 }]);
        assert_eq!(solution.x[1], 0.0);
        assert_eq!(solution.covariance[(1, 1)], 0.0);
        assert!(solution.covariance[(0, 0)] > 0.0);
    }

    #[test]
    fn the_covariance_of_a_mean_is_the_textbook_one() {
        let solution = fit(&line_problem(false), &[FREE, Prior { mean: 0.0, sigma: 0.0 }]);
        let expected = solution.sigma.powi(2) / 60.0;
        let ratio = solution.covariance[(0, 0)] / expected;
        assert!((0.8..2.5).contains(&ratio), "{ratio}");
    }
}
