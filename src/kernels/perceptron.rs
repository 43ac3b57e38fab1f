//! A small perceptron: dense layers with rectifiers between, soft maximum at the end.

/// Layer sizes and weights, read once.
#[derive(Clone, Debug)]
pub struct Perceptron<const IN: usize, const H1: usize, const H2: usize, const OUT: usize> {
    first: Vec<[f32; H1]>,
    second: Vec<[f32; H2]>,
    third: Vec<[f32; OUT]>,
    biases: ([f32; H1], [f32; H2], [f32; OUT]),
}

impl<const IN: usize, const H1: usize, const H2: usize, const OUT: usize> Perceptron<IN, H1, H2, OUT> {
    /// Bytes of a weights file: three matrices (input-major), then three biases, little-endian `f32`.
    pub const BYTES: usize = 4 * (IN * H1 + H1 * H2 + H2 * OUT + H1 + H2 + OUT);

    /// Reads the weights; None where the file has another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Some(Self {
            first: rows(&mut values, IN)?,
            second: rows(&mut values, H1)?,
            third: rows(&mut values, H2)?,
            biases: (row(&mut values)?, row(&mut values)?, row(&mut values)?),
        })
    }

    /// Probabilities of the outputs for each of four inputs; they sum to 1. Four at a time, for a weight that was
    /// fetched is then used four times.
    pub fn run(&self, inputs: &[[f32; IN]; BATCH]) -> [[f32; OUT]; BATCH] {
        let mut a = layer(inputs, &self.first, &self.biases.0);
        rectify(&mut a);
        let mut b = layer(&a, &self.second, &self.biases.1);
        rectify(&mut b);
        let mut out = layer(&b, &self.third, &self.biases.2);
        for values in &mut out {
            soft_maximum(values);
        }
        out
    }
}

/// Inputs that are worked on together.
pub const BATCH: usize = 4;
/// Outputs that are summed together: with [`BATCH`] inputs they fill the vector registers of any x86-64 or ARM.
const TILE: usize = 8;

fn row<const N: usize>(values: &mut impl Iterator<Item = f32>) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for v in &mut out {
        *v = values.next()?;
    }
    Some(out)
}

fn rows<const N: usize>(values: &mut impl Iterator<Item = f32>, n: usize) -> Option<Vec<[f32; N]>> {
    (0..n).map(|_| row(values)).collect()
}

fn layer<const M: usize, const N: usize>(
    inputs: &[[f32; M]; BATCH],
    weights: &[[f32; N]],
    bias: &[f32; N],
) -> [[f32; N]; BATCH] {
    let mut out = [*bias; BATCH];
    let whole = N - N % TILE;
    for from in (0..whole).step_by(TILE) {
        let mut sums = [[0.0f32; TILE]; BATCH];
        for (i, row) in weights.iter().enumerate().take(M) {
            let Some(row) = row[from..].first_chunk::<TILE>() else { break };
            for (sum, input) in sums.iter_mut().zip(inputs) {
                let x = input[i];
                for t in 0..TILE {
                    sum[t] += x * row[t];
                }
            }
        }
        for (out, sum) in out.iter_mut().zip(&sums) {
            for t in 0..TILE {
                out[from + t] += sum[t];
            }
        }
    }
    for (i, row) in weights.iter().enumerate().take(M) {
        for (out, input) in out.iter_mut().zip(inputs) {
            for t in whole..N {
                out[t] += input[i] * row[t];
            }
        }
    }
    out
}

fn rectify<const N: usize>(values: &mut [[f32; N]; BATCH]) {
    for v in values.iter_mut().flatten() {
        *v = v.max(0.0);
    }
}

fn soft_maximum(values: &mut [f32]) {
    let top = values.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for v in values.iter_mut() {
        *v = (*v - top).exp();
        sum += *v;
    }
    for v in values.iter_mut() {
        *v /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_net_of_known_weights_gives_the_soft_maximum_worked_out_by_hand() {
        // 1 -> 1 -> 1 -> 2: x = 2, a = max(0, 3 x - 1) = 5, b = max(0, -a + 7) = 2, out = (b, 0.5).
        let weights: [f32; 8] = [3.0, -1.0, 1.0, 0.0, -1.0, 7.0, 0.0, 0.5];
        let bytes: Vec<u8> = weights.iter().flat_map(|v| v.to_le_bytes()).collect();
        let net = Perceptron::<1, 1, 1, 2>::from_bytes(&bytes).unwrap();
        let out = net.run(&[[2.0], [0.0], [2.0], [9.0]])[2];
        let (p, q) = (2f32.exp(), 0.5f32.exp());
        assert!((out[0] - p / (p + q)).abs() < 1e-6 && (out[1] - q / (p + q)).abs() < 1e-6);
    }

    #[test]
    fn tiles_and_remainder_give_what_the_plain_sum_gives() {
        const N: usize = 2 * TILE + 3;
        let weights: Vec<[f32; N]> =
            (0..5).map(|i| std::array::from_fn(|j| ((i * 7 + j * 3) % 11) as f32 - 5.0)).collect();
        let bias: [f32; N] = std::array::from_fn(|j| j as f32);
        let inputs: [[f32; 5]; BATCH] = std::array::from_fn(|b| std::array::from_fn(|i| (b + i) as f32 - 2.0));
        let got = layer(&inputs, &weights, &bias);
        for b in 0..BATCH {
            for j in 0..N {
                let plain = bias[j] + (0..5).map(|i| inputs[b][i] * weights[i][j]).sum::<f32>();
                assert_eq!(got[b][j], plain);
            }
        }
    }

    #[test]
    fn weights_of_another_size_are_refused() {
        assert!(Perceptron::<1, 1, 1, 2>::from_bytes(&[0; 28]).is_none());
    }
}
