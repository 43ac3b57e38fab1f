//! Colours in linear light, and the way back to sRGB bytes.

/// Linear RGB, 0 to 1 (more where it glares).
pub type Linear = [f32; 3];

/// The linear colour of the sRGB bytes `0xRRGGBB`.
pub fn srgb(hex: u32) -> Linear {
    [16, 8, 0].map(|shift| decode(((hex >> shift) & 0xFF) as f32 / 255.0))
}

/// `a` and `b` mixed; `share` of b.
pub fn mix(a: Linear, b: Linear, share: f32) -> Linear {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * share)
}

/// A colour made brighter or darker.
pub fn scaled(a: Linear, by: f32) -> Linear {
    a.map(|v| v * by)
}

fn decode(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn encode(v: f32) -> f32 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// Linear light to sRGB bytes by table: 4096 steps over the square root of the light, which keeps the darks fine.
pub struct Encoder {
    table: Vec<u8>,
}

impl Encoder {
    const STEPS: usize = 4096;

    /// Fills the table.
    pub fn new() -> Self {
        let table = (0..=Self::STEPS)
            .map(|i| {
                let root = i as f32 / Self::STEPS as f32;
                (encode(root * root) * 255.0 + 0.5) as u8
            })
            .collect();
        Self { table }
    }

    /// The sRGB byte of `light`, clipped.
    pub fn byte(&self, light: f32) -> u8 {
        let root = light.clamp(0.0, 1.0).sqrt();
        self.table[(root * Self::STEPS as f32 + 0.5) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_srgb_byte_survives_the_way_through_linear_light() {
        let encoder = Encoder::new();
        for byte in 0..=255u32 {
            assert_eq!(u32::from(encoder.byte(srgb(byte << 16)[0])), byte);
        }
    }
}
