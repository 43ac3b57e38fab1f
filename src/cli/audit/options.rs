//! From the command line to the settings of an audit.

use anyhow::{Context, Result};
use crokeye::audit::Settings;
use crokeye::capture::LensHint;
use crokeye::capture::profile::Profile;
use crokeye::count::Options;

use super::AuditArgs;

pub(super) fn settings(args: &AuditArgs) -> Result<Settings> {
    let (rules, _) = crate::cli::rules::load(&args.rules)?.settle()?;
    let mut options = Options {
        sides: args.sides.clone(),
        // Photos do not say how many play: two partners share a colour.
        max_discs: rules.discs_singles.max(2 * rules.discs_doubles),
        edge_inset_mm: args.edge_inset,
        ..Options::default()
    };
    options.judge.close_level = args.close_level;
    if let Some(height_mm) = args.disc_height {
        options.detect.shape.height_mm = height_mm;
    }
    Ok(Settings { options, pooling: super::pooling(args), window_minutes: args.time_window })
}

/// What is told about the lens.
#[derive(Clone, Debug)]
pub(super) enum Lens {
    /// Nothing: each photo's tags.
    Tags,
    /// The field of view, degrees.
    Fov(f64),
    /// A profile.
    Profile(Box<Profile>),
}

impl Lens {
    pub fn of(args: &AuditArgs) -> Result<Self> {
        let Some(path) = &args.camera else { return Ok(args.fov.map_or(Self::Tags, Self::Fov)) };
        Ok(Self::Profile(Box::new(Profile::read(path).context("the camera profile")?)))
    }

    /// The hint for a picture of that size, in place of its tags' `own`. A profile says nothing about pictures of another
    /// shape.
    pub fn hint(&self, own: LensHint, width: u32, height: u32) -> LensHint {
        match self {
            Self::Tags => own,
            Self::Fov(fov_deg) => LensHint::from_fov(*fov_deg, width),
            Self::Profile(profile) => profile.lens_hint((width, height)).ok().flatten().unwrap_or(own),
        }
    }
}
