//! What is known of a camera's lens, as a TOML file holds it.
//!
//! ```toml
//! [lens]
//! width_px = 1920       # size of the pictures that it was measured in
//! height_px = 1080
//! focal_px = 1480.0     # or fov_deg, the angle from the left to the right edge
//! focal_sigma = 0.01    # one standard deviation, relative; 0.01 when not given
//! ```
//! Other tables and keys are left to those who know them.

use std::str::FromStr;

use serde::Deserialize;

use super::LensHint;

/// Relative standard deviation of a focal length that does not say its own.
const FOCAL_SIGMA: f64 = 0.01;

/// How far aspect ratios of the same shape may differ, relatively: sizes are rounded to whole blocks.
const SAME_SHAPE: f64 = 0.006;

/// A camera profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Profile {
    lens: Lens,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Lens {
    width_px: u32,
    height_px: u32,
    focal_px: Option<f64>,
    fov_deg: Option<f64>,
    focal_sigma: Option<f64>,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Not the format.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A number that no lens has.
    #[error("{name} is {value}: {what}")]
    Bounds {
        /// Which number.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        what: &'static str,
    },
    /// Neither focal length nor angle.
    #[error("the lens has neither focal_px nor fov_deg: give one")]
    NoFocal,
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text)?;
        let lens = &profile.lens;
        let check = |name, value: Option<f64>, range: std::ops::RangeInclusive<f64>, what| match value {
            Some(value) if !range.contains(&value) => Err(ProfileError::Bounds { name, value, what }),
            _ => Ok(()),
        };
        check("width_px", Some(lens.width_px.into()), 1.0..=1e5, "a size from 1 to 100000")?;
        check("height_px", Some(lens.height_px.into()), 1.0..=1e5, "a size from 1 to 100000")?;
        check("focal_px", lens.focal_px, 1.0..=1e6, "a length in pixels from 1 to 1000000")?;
        check("fov_deg", lens.fov_deg, 5.0..=170.0, "an angle from 5 to 170 degrees")?;
        check("focal_sigma", lens.focal_sigma, 1e-4..=1.0, "a share from 0.0001 to 1")?;
        if lens.focal_px.is_none() && lens.fov_deg.is_none() { Err(ProfileError::NoFocal) } else { Ok(profile) }
    }
}

impl Profile {
    /// The lens for a picture of that size; None where the picture has another shape, and so may be cropped.
    pub fn hint(&self, width: u32, height: u32) -> Option<LensHint> {
        let lens = &self.lens;
        let own = f64::from(lens.width_px) / f64::from(lens.height_px);
        let shape = f64::from(width) / f64::from(height.max(1));
        if (shape / own - 1.0).abs() > SAME_SHAPE {
            return None;
        }
        let sigma = lens.focal_sigma.unwrap_or(FOCAL_SIGMA);
        let focal_px = match (lens.focal_px, lens.fov_deg) {
            (Some(focal_px), _) => focal_px * f64::from(width) / f64::from(lens.width_px),
            (None, Some(fov_deg)) => LensHint::from_fov(fov_deg, width).focal_px?.0,
            (None, None) => return None,
        };
        Some(LensHint { focal_px: Some((focal_px, sigma)), uncropped: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn a_profile_is_scaled_to_the_picture_and_not_bent_to_another_shape() {
        let profile: Profile =
            "[lens]\nwidth_px = 1920\nheight_px = 1080\nfocal_px = 1500\n[board]\nx = 1".parse().unwrap();
        let (focal, sigma) = profile.hint(1280, 720).unwrap().focal_px.unwrap();
        assert_relative_eq!(focal, 1000.0);
        assert_relative_eq!(sigma, 0.01);
        assert_eq!(profile.hint(1024, 768), None);
        let wide: Profile = "[lens]\nwidth_px = 2\nheight_px = 1\nfov_deg = 90\nfocal_sigma = 0.02".parse().unwrap();
        assert_relative_eq!(wide.hint(2000, 1000).unwrap().focal_px.unwrap().0, 1000.0, epsilon = 1e-9);
    }

    #[test]
    fn a_wrong_profile_says_what_is_wrong() {
        let wrong = |text: &str| text.parse::<Profile>().unwrap_err().to_string();
        assert!(wrong("").contains("lens"));
        assert!(wrong("[lens]\nwidth_px = 2\nheight_px = 1").contains("focal_px"));
        assert!(wrong("[lens]\nwidth_px = 2\nheight_px = 1\nfov_deg = 400").contains("170"));
        assert!(wrong("[lens]\nwidth_px = 0\nheight_px = 1\nfov_deg = 60").contains("width_px"));
    }
}
