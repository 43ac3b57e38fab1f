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

    /// Probabilities of the outputs for `input`; they sum to 1.
    pub fn run(&self, input: &[f32; IN]) -> [f32; OUT] {
        let a = rectified(layer(input, &self.first, &self.biases.0));
        let b = rectified(layer(&a, &self.second, &self.biases.1));
        let mut out = layer(&b, &self.third, &self.biases.2);
        let top = out.iter().copied().fold(f32::MIN, f32::max);
        let mut sum = 0.0;
        for v in &mut out {
            *v = (*v - top).exp();
            sum += *v;
        }
        out.map(|v| v / sum)
    }
}

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

fn layer<const N: usize>(input: &[f32], weights: &[[f32; N]], bias: &[f32; N]) -> [f32; N] {
    let mut out = *bias;
    for (x, row) in input.iter().zip(weights) {
        // Half of a hidden layer's values are exactly zero.
        if *x != 0.0 {
            for (o, w) in out.iter_mut().zip(row) {
                *o += x * w;
            }
        }
    }
    out
}

fn rectified<const N: usize>(values: [f32; N]) -> [f32; N] {
    values.map(|v| v.max(0.0))
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
        let out = net.run(&[2.0]);
        let (p, q) = (2f32.exp(), 0.5f32.exp());
        assert!((out[0] - p / (p + q)).abs() < 1e-6 && (out[1] - q / (p + q)).abs() < 1e-6);
    }

    #[test]
    fn weights_of_another_size_are_refused() {
        assert!(Perceptron::<1, 1, 1, 2>::from_bytes(&[0; 28]).is_none());
    }
}
