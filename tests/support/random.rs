//! Seeded random numbers: SplitMix64 (Steele, Lea and Flood 2014), the same on every machine.

/// A stream of random numbers that its seed alone decides.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`; neighbouring seeds give unrelated streams.
    pub fn new(seed: u64) -> Self {
        let mut random = Self { state: seed ^ 0x5851_F42D_4C95_7F2D };
        random.next();
        random
    }

    /// 64 random bits.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform whole number in [low, high].
    pub fn whole(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    /// True with the given chance.
    pub fn chance(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    /// One of the given things.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.whole(0, from.len() - 1)].clone()
    }

    /// Near enough normal, mean 0, standard deviation 1, within ±3.46: the sum of four uniforms.
    pub fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = [0, 16, 32, 48].iter().map(|shift| (bits >> shift) & 0xFFFF).sum();
        (sum as f64 / 65536.0 - 2.0 + 2.0 / 65536.0) * 3f64.sqrt()
    }
}
