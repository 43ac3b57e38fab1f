//! What is known of one camera over one board, kept in `calibration/NAME.toml`.
//!
//! Its controls, its lens, the board as measured, the colours of the discs. A lens measured at one size of picture holds
//! for another of the same shape, scaled; for another shape it does not: what part of the sensor is cut off differs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lens::{LensHint, MeasuredLens};

/// Pictures whose shapes differ by less than this, relatively, have the same shape.
const SAME_SHAPE: f64 = 0.01;
/// Relative standard deviation of a measured focal length.
const FOCAL_SIGMA: f64 = 0.005;

/// Values of a camera's controls, in its own units; None where it has no such control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controls {
    /// Exposure time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exposure: Option<f64>,
    /// Gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<f64>,
    /// White balance, kelvin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub white_balance: Option<f64>,
}

/// A lens, measured with a sheet; of one that is known by its data sheet, size and focal length do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lens {
    /// Size of the pictures it was measured in, px.
    pub size_px: [u32; 2],
    /// Focal length, px.
    pub focal_px: f64,
    /// Principal point, px.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal_px: Option<[f64; 2]>,
    /// Radial distortion k1 and k2, OpenCV's convention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distortion: Option<[f64; 2]>,
    /// RMS distance of corners seen from corners expected, px.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms_px: Option<f64>,
    /// Views used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<u32>,
}

/// A board, measured where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredBoard {
    /// Size of the picture, px.
    pub size_px: [u32; 2],
    /// The board model that matched, or "measured".
    pub model: String,
    /// Inner edges of the lines, mm, outermost first.
    pub inner_mm: [f64; 3],
    /// Outer edges.
    pub outer_mm: [f64; 3],
    /// Radius of the hole, mm.
    pub hole_mm: f64,
    /// Camera height above the board and its standard deviation, mm.
    pub camera_height_mm: [f64; 2],
    /// Focal length, px, as the board shows it.
    pub focal_px: f64,
    /// Distortion k1 and k2, as the board shows it.
    pub distortion: [f64; 2],
    /// Places of the centre and of the shooting line at 0, 90, 180 and 270 degrees in the picture, px.
    pub marks_px: [[f64; 2]; 5],
    /// Frames that were averaged.
    pub frames: u32,
}

/// All that is known of a camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Size of its pictures, px: asked for at start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_px: Option<(u32, u32)>,
    /// Colours of side a and side b, CIE L*a*b*; an empty list for one that was not seen.
    #[serde(default, with = "lists")]
    pub colours: [Option<[f32; 3]>; 2],
    /// Focus, exposure, white balance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controls: Option<Controls>,
    /// The lens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lens: Option<Lens>,
    /// The board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<MeasuredBoard>,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// A name that is no file name.
    #[error("{0:?} cannot name a camera: use letters, digits, - and _")]
    Name(String),
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file is no profile.
    #[error("{path} is no calibration: {reason}; move it away and calibrate anew")]
    Parse {
        /// Which file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The lens was measured in pictures of another shape.
    #[error(
        "the lens was calibrated with {known_w} x {known_h} px and does not hold for {w} x {h} px, which is another \
         shape: ask the camera for the former (--size) or run `crokeye calibrate lens` again"
    )]
    OtherShape {
        /// Width then, px.
        known_w: u32,
        /// Height then, px.
        known_h: u32,
        /// Width now, px.
        w: u32,
        /// Height now, px.
        h: u32,
    },
}

impl Profile {
    /// The file of that name.
    ///
    /// # Errors
    /// It is no file name.
    pub fn path(name: &str) -> Result<PathBuf, ProfileError> {
        let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !fits {
            return Err(ProfileError::Name(name.to_owned()));
        }
        let folder = std::env::var_os("CROKEYE_CALIBRATION").map_or(PathBuf::from("calibration"), PathBuf::from);
        Ok(folder.join(format!("{name}.toml")))
    }

    /// The profile of that name; an empty one where there is no such file yet.
    ///
    /// # Errors
    /// The file cannot be read, or is no profile.
    pub fn load_or_new(name: &str) -> Result<Self, ProfileError> {
        match Self::read(&Self::path(name)?) {
            Err(ProfileError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    /// The profile in a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no profile.
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ProfileError::File { path: name(), error })?;
        toml::from_str(&text).map_err(|error| ProfileError::Parse { path: name(), reason: error.message().to_owned() })
    }

    /// Changes the profile of that name on disk. The former file stays whole until the new one is.
    ///
    /// # Errors
    /// See [`ProfileError`].
    pub fn change(name: &str, change: impl FnOnce(&mut Self)) -> Result<PathBuf, ProfileError> {
        let mut profile = Self::load_or_new(name)?;
        change(&mut profile);
        let path = Self::path(name)?;
        let failed = |error| ProfileError::File { path: path.display().to_string(), error };
        let text = toml::to_string(&profile).map_err(|error| failed(std::io::Error::other(error)))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let new = path.with_extension("toml.new");
        std::fs::write(&new, text).map_err(failed)?;
        std::fs::rename(&new, &path).map_err(failed)?;
        Ok(path)
    }

    /// What the profile tells about the lens of pictures of that size; None where it tells nothing.
    ///
    /// # Errors
    /// The lens was measured in pictures of another shape.
    pub fn lens_hint(&self, (w, h): (u32, u32)) -> Result<Option<LensHint>, ProfileError> {
        let Some(lens) = &self.lens else { return Ok(None) };
        let [known_w, known_h] = lens.size_px;
        let scale = scale(lens.size_px, [w, h]).ok_or(ProfileError::OtherShape { known_w, known_h, w, h })?;
        let measured = (lens.principal_px.zip(lens.distortion))
            .map(|(at, distortion)| MeasuredLens { principal_px: resampled(at, scale), distortion });
        Ok(Some(LensHint { focal_px: Some((lens.focal_px * scale, FOCAL_SIGMA)), uncropped: true, measured }))
    }
}

impl MeasuredBoard {
    /// The same board in pictures of another size; None where they have another shape.
    pub fn at_size(&self, size_px: [u32; 2]) -> Option<Self> {
        let scale = scale(self.size_px, size_px)?;
        let marks_px = self.marks_px.map(|at| resampled(at, scale));
        Some(Self { size_px, marks_px, focal_px: self.focal_px * scale, ..self.clone() })
    }
}

/// From pictures of one size to those of another; None where they differ in shape.
fn scale(known: [u32; 2], now: [u32; 2]) -> Option<f64> {
    let shape = |[w, h]: [u32; 2]| f64::from(w) / f64::from(h.max(1));
    let same = (shape(now) / shape(known) - 1.0).abs() <= SAME_SHAPE;
    same.then(|| f64::from(now[0]) / f64::from(known[0].max(1)))
}

/// A point of a picture in one that is `scale` times as large.
fn resampled(at_px: [f64; 2], scale: f64) -> [f64; 2] {
    at_px.map(|value| (value + 0.5) * scale - 0.5)
}

/// Colours as lists: TOML has no null.
mod lists {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(colours: &[Option<[f32; 3]>; 2], to: S) -> Result<S::Ok, S::Error> {
        let lists: Vec<Vec<f32>> = colours.iter().map(|colour| colour.map_or(Vec::new(), Vec::from)).collect();
        lists.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[Option<[f32; 3]>; 2], D::Error> {
        let lists = Vec::<Vec<f32>>::deserialize(from)?;
        let colour = |side: usize| lists.get(side).and_then(|list| <[f32; 3]>::try_from(list.as_slice()).ok());
        Ok([colour(0), colour(1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile {
            size_px: Some((1280, 720)),
            colours: [Some([20.0, 1.0, 2.0]), None],
            controls: Some(Controls { exposure: Some(156.0), ..Controls::default() }),
            lens: Some(Lens {
                size_px: [1280, 720],
                focal_px: 1000.0,
                principal_px: Some([639.5, 359.5]),
                distortion: Some([-0.1, 0.02]),
                rms_px: Some(0.2),
                views: Some(14),
            }),
            board: None,
        }
    }

    #[test]
    fn a_profile_comes_back_from_its_file() {
        let text = toml::to_string(&profile()).unwrap();
        assert_eq!(toml::from_str::<Profile>(&text).unwrap(), profile(), "{text}");
        assert!(toml::from_str::<Profile>("focus = 3").is_err());
    }

    #[test]
    fn a_lens_is_scaled_to_pictures_of_its_shape_and_refused_for_others() {
        let hint = profile().lens_hint((1920, 1080)).unwrap().unwrap();
        assert_eq!(hint.focal_px.unwrap().0, 1500.0);
        assert_eq!(hint.measured.unwrap().principal_px, [959.5, 539.5]);
        assert_eq!(hint.measured.unwrap().distortion, [-0.1, 0.02]);
        let refused = profile().lens_hint((640, 480)).unwrap_err();
        assert!(refused.to_string().contains("640 x 480"), "{refused}");
    }

    #[test]
    fn a_lens_from_a_data_sheet_is_a_size_and_a_focal_length() {
        let profile: Profile = toml::from_str("[lens]\nsize_px = [1920, 1080]\nfocal_px = 1500").unwrap();
        let hint = profile.lens_hint((1280, 720)).unwrap().unwrap();
        assert_eq!((hint.focal_px.unwrap().0, hint.measured), (1000.0, None));
    }

    #[test]
    fn a_name_is_a_file_name() {
        assert!(Profile::path("table-4").is_ok());
        for wrong in ["", "../x", "a/b", "a b", "a.toml"] {
            assert!(Profile::path(wrong).is_err(), "{wrong}");
        }
    }
}
