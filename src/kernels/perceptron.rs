//! A small perceptron: dense layers with rectifiers between, soft maximum at the end.

use ndarray::{Array1, Array2, ArrayView2};

/// Weights of three layers, read once.
#[derive(Clone, Debug)]
pub struct Perceptron {
    layers: [Layer; 3],
}

/// `outputs = inputs · weights + biases`.
#[derive(Clone, Debug)]
struct Layer {
    weights: Array2<f32>,
    biases: Array1<f32>,
}

impl Perceptron {
    /// Reads a weights file for layers of the given `sizes`, inputs first: three matrices (input-major), then three
    /// biases, little-endian `f32`. None where the file has another length.
    pub fn from_bytes(sizes: [usize; 4], bytes: &[u8]) -> Option<Self> {
        let mut values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let shapes = [0, 1, 2].map(|i| (sizes[i], sizes[i + 1]));
        let count: usize = shapes.iter().map(|(inputs, outputs)| (inputs + 1) * outputs).sum();
        if bytes.len() != 4 * count {
            return None;
        }
        let mut take = |n| values.by_ref().take(n).collect::<Vec<f32>>();
        let weights = shapes.map(|(inputs, outputs)| take(inputs * outputs));
        let biases = shapes.map(|(_, outputs)| take(outputs));
        let mut layers = Vec::with_capacity(shapes.len());
        for ((shape, weights), biases) in shapes.into_iter().zip(weights).zip(biases) {
            let weights = Array2::from_shape_vec(shape, weights).ok()?;
            layers.push(Layer { weights, biases: biases.into() });
        }
        layers.try_into().ok().map(|layers| Self { layers })
    }

    /// Probabilities of the outputs, `[input, output]`, for each row of `inputs`; each row sums to 1.
    pub fn run(&self, inputs: ArrayView2<'_, f32>) -> Array2<f32> {
        let [first, second, third] = &self.layers;
        let a = first.rectified(inputs);
        let b = second.rectified(a.view());
        let mut out = third.run(b.view());
        out.rows_mut().into_iter().for_each(|mut row| {
            let top = row.fold(f32::MIN, |top, v| top.max(*v));
            row.mapv_inplace(|v| (v - top).exp());
            let sum = row.sum();
            row /= sum;
        });
        out
    }
}

impl Layer {
    fn run(&self, inputs: ArrayView2<'_, f32>) -> Array2<f32> {
        inputs.dot(&self.weights) + &self.biases
    }

    fn rectified(&self, inputs: ArrayView2<'_, f32>) -> Array2<f32> {
        self.run(inputs).mapv_into(|v| v.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_net_of_known_weights_gives_the_soft_maximum_worked_out_by_hand() {
        // 1 -> 1 -> 1 -> 2: x = 2, a = max(0, 3 x - 1) = 5, b = max(0, -a + 7) = 2, out = (b, 0.5).
        let weights: [f32; 8] = [3.0, -1.0, 1.0, 0.0, -1.0, 7.0, 0.0, 0.5];
        let bytes: Vec<u8> = weights.iter().flat_map(|v| v.to_le_bytes()).collect();
        let net = Perceptron::from_bytes([1, 1, 1, 2], &bytes).unwrap();
        let out = net.run(array![[2.0], [0.0], [9.0]].view());
        let (p, q) = (2f32.exp(), 0.5f32.exp());
        assert!((out[[0, 0]] - p / (p + q)).abs() < 1e-6 && (out[[0, 1]] - q / (p + q)).abs() < 1e-6);
        assert!((out.row(1).sum() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn weights_of_another_size_are_refused() {
        assert!(Perceptron::from_bytes([1, 1, 1, 2], &[0; 28]).is_none());
    }
}
