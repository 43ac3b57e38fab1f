//! What a person chose for a session, as it stands in a recording: all that decides what the events are.

use anyhow::{Context, Result};
use crokeye::capture::LensHint;
use crokeye::capture::lens::MeasuredLens;
use crokeye::count::{Options, SideColours};
use crokeye::live::{Colours, Region, RoundConfig, Settings};
use crokeye::score::rules::Rules;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Name and version of a recording's format.
pub const SCHEMA: &str = "crokeye.record/1";

/// The first line of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Choices {
    /// [`SCHEMA`].
    pub schema: String,
    /// The source as people write it, without passwords.
    pub source: String,
    /// Colours of side a and side b.
    pub sides: Option<[String; 2]>,
    /// Focal length in pixels with its relative deviation; all with 6 digits at most, so that text keeps them.
    pub focal_px: Option<(f64, f64)>,
    /// Is the lens axis in the middle of the picture?
    pub uncropped: bool,
    /// Principal point x, y in px and distortion k1, k2, as measured by a calibration.
    pub measured: Option<[f64; 4]>,
    /// See `--close-level`.
    pub close_level: f64,
    /// Discs of a side.
    pub discs: u32,
    /// Rules for advice.
    pub rules: Option<Rules>,
    /// See `--quiet`.
    pub quiet_secs: f64,
    /// Trays of side a and b.
    pub trays: [Option<Region>; 2],
    /// Colours of the sides as measured by a calibration, CIE L*a*b*.
    pub colours: [Option<[f32; 3]>; 2],
}

impl Choices {
    /// The settings of a session.
    ///
    /// # Errors
    /// A colour is unknown.
    pub fn settings(&self) -> Result<Settings> {
        let mut options = Options { max_discs: self.discs, ..Options::default() };
        options.judge.close_level = self.close_level;
        if let Some([a, b]) = &self.sides {
            options.sides = Some(SideColours::named(a, b).context("the recording names unknown colours")?);
        }
        Ok(Settings {
            source: self.source.clone(),
            options,
            round: RoundConfig {
                rules: self.rules.clone(),
                discs: self.discs,
                quiet: Duration::from_secs_f64(self.quiet_secs),
                ..RoundConfig::default()
            },
            lens: LensHint {
                focal_px: self.focal_px,
                uncropped: self.uncropped,
                measured: self
                    .measured
                    .map(|[x, y, k1, k2]| MeasuredLens { principal_px: [x, y], distortion: [k1, k2] }),
            },
            colours: Colours::remembered(self.colours),
            trays: self.trays,
        })
    }
}
