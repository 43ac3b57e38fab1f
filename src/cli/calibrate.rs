//! `crokeye calibrate`: the lens, the board and what has changed since.

mod board;
mod pdf;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use crokeye::capture::feed::{Feed, Folder};
#[cfg(feature = "opencv")]
use crokeye::capture::profile::Profile;
use crokeye::capture::source::Source;
use image::RgbImage;

use super::out::outln;

/// Measure lens and board once, so that counts are sharper from the first frame; none of it is required.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye calibrate sheet -o sheet.pdf            print it at 100 %, glue it on something flat
  crokeye calibrate lens table4 --source 0        show the sheet in different places, tilted, until it says enough
  crokeye calibrate lens table4 --source shots/   the same from a folder of pictures
  crokeye calibrate board table4 --source 0       the board lies still, empty or not
  crokeye calibrate check table4 --source 0       has anything moved since?
  crokeye watch --source 0 --calibration table4

Calibrations lie in calibration/NAME.toml ($CROKEYE_CALIBRATION names another folder).
Exit status: 0 done, 1 not enough or changed, 2 usage or an unreadable source.")]
pub struct CalibrateArgs {
    #[command(subcommand)]
    command: CalibrateCommand,
}

#[derive(Subcommand, Debug)]
enum CalibrateCommand {
    /// Write the sheet for `calibrate lens` as PDF.
    Sheet {
        /// The PDF file.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Paper size.
        #[arg(long, value_enum, default_value = "a4")]
        paper: pdf::Paper,
    },
    /// Measure the lens from views of the sheet.
    Lens(Where),
    /// Measure the board where it stands.
    Board(Where),
    /// Compare what is seen now with the calibration.
    Check(Where),
}

/// A calibration's name and the source of its pictures.
#[derive(Args, Debug)]
struct Where {
    /// The calibration's name.
    name: String,
    /// Camera number, /dev/videoN, rtsp:// or http:// address, video file, or folder of pictures.
    #[arg(long, short, value_name = "SOURCE", default_value = "0")]
    source: String,
    /// Picture size to ask a camera for.
    #[arg(long, value_name = "WxH", value_parser = super::snap::size)]
    size: Option<(u32, u32)>,
}

/// Runs `crokeye calibrate`.
///
/// # Errors
/// The source cannot be read, or the calibration cannot be written.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode> {
    match &args.command {
        CalibrateCommand::Sheet { output, paper } => {
            std::fs::write(output, pdf::sheet(*paper)).with_context(|| format!("cannot write {}", output.display()))?;
            outln!(
                "{}: print at 100 % (no fitting to the page) and glue it on something flat and stiff",
                output.display()
            );
            Ok(ExitCode::SUCCESS)
        }
        CalibrateCommand::Lens(place) => lens(place),
        CalibrateCommand::Board(place) => board::measure(place),
        CalibrateCommand::Check(place) => board::check(place),
    }
}

/// Most pictures that are looked at for a sheet.
#[cfg(feature = "opencv")]
const MOST_PICTURES: usize = 600;

#[cfg(feature = "opencv")]
fn lens(place: &Where) -> Result<ExitCode> {
    use crokeye::capture::profile::Lens;
    use crokeye::capture::sheet;
    use crokeye::capture::views::{Offered, Views};

    let mut pictures = Pictures::open(place)?;
    let mut views: Option<Views> = None;
    let mut without = 0;
    for _ in 0..MOST_PICTURES {
        let Some(rgb) = pictures.next()? else { break };
        let views = views.get_or_insert_with(|| Views::new(rgb.dimensions()));
        anyhow::ensure!(
            views.size_px() == rgb.dimensions(),
            "the pictures differ in size: a lens is measured at one size"
        );
        match sheet::corners(&rgb)? {
            None => without += 1,
            Some(corners) => {
                if views.offer(corners) == Offered::Kept {
                    let missing = views.missing();
                    let text = if missing.is_empty() { "enough".to_owned() } else { missing.join("; ") };
                    outln!("view {}: still missing: {text}", views.kept().len());
                }
            }
        }
        if pictures.is_live() && views.missing().is_empty() {
            break;
        }
    }
    let Some(views) = views else { anyhow::bail!("the source gives no picture") };
    let missing = views.missing();
    if !missing.is_empty() {
        outln!(
            "not enough to measure a lens ({without} pictures without the whole sheet). Missing: {}",
            missing.join("; ")
        );
        return Ok(ExitCode::from(1));
    }
    let solved = sheet::solve(&views)?;
    let (w, h) = views.size_px();
    let lens = Lens {
        size_px: [w, h],
        focal_px: solved.focal_px,
        principal_px: Some(solved.lens.principal_px),
        distortion: Some(solved.lens.distortion),
        rms_px: Some(solved.rms_px),
        views: Some(views.kept().len() as u32),
    };
    if solved.rms_px > WORST_RMS_PX {
        outln!(
            "the views do not agree ({:.2} px): is the sheet flat, and the camera's focus fixed? Nothing was saved.",
            solved.rms_px
        );
        return Ok(ExitCode::from(1));
    }
    let path = Profile::change(&place.name, |profile| profile.lens = Some(lens))?;
    let fov = 2.0 * (f64::from(w) / 2.0 / lens.focal_px).atan().to_degrees();
    outln!(
        "{}: {fov:.1} degrees wide, distortion {:.3}, {:.2} px off on average in {} views",
        path.display(),
        solved.lens.distortion[0],
        solved.rms_px,
        views.kept().len()
    );
    Ok(ExitCode::SUCCESS)
}

/// A lens that leaves more than this, px, was not measured.
#[cfg(feature = "opencv")]
const WORST_RMS_PX: f64 = 1.0;

#[cfg(not(feature = "opencv"))]
fn lens(_: &Where) -> Result<ExitCode> {
    anyhow::bail!("this crokeye was built without OpenCV: build it with its default features (cargo build --release)")
}

/// Pictures of any source, one after another.
struct Pictures {
    feed: Option<Box<dyn Feed>>,
    #[cfg(feature = "opencv")]
    live: Option<crokeye::capture::live::Live>,
}

impl Pictures {
    fn open(place: &Where) -> Result<Self> {
        let source: Source = place.source.parse()?;
        match &source {
            Source::Folder(folder) => Ok(Self::of(Box::new(Folder::open(folder, 10.0)?))),
            #[cfg(feature = "opencv")]
            Source::File(path) => Ok(Self::of(Box::new(crokeye::capture::video::Video::open(path)?))),
            #[cfg(feature = "opencv")]
            _ => {
                let controls = Profile::load_or_new(&place.name)?.controls;
                let wishes = crokeye::capture::live::Wishes { size_px: place.size, controls, ..Default::default() };
                Ok(Self { feed: None, live: Some(crokeye::capture::live::Live::start(&source, &wishes)) })
            }
            #[cfg(not(feature = "opencv"))]
            _ => anyhow::bail!("this crokeye was built without cameras: give a folder of pictures"),
        }
    }

    fn of(feed: Box<dyn Feed>) -> Self {
        Self {
            feed: Some(feed),
            #[cfg(feature = "opencv")]
            live: None,
        }
    }

    fn is_live(&self) -> bool {
        self.feed.is_none()
    }

    fn next(&mut self) -> Result<Option<RgbImage>> {
        if let Some(feed) = &mut self.feed {
            return Ok(feed.next()?.map(|taken| taken.rgb));
        }
        #[cfg(feature = "opencv")]
        if let Some(live) = &self.live {
            let never = std::sync::atomic::AtomicBool::new(false);
            let grabbed = live.first(std::time::Duration::from_secs(15), &never)?;
            return Ok(grabbed.map(|grabbed| grabbed.rgb()).transpose()?);
        }
        Ok(None)
    }
}
