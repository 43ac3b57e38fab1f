//! `crokeye snap`: one photo from a camera, to count or to keep.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

/// Take one photo with a camera, or out of a video.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crokeye snap 0 -o board.jpg                          the first camera of this computer
  crokeye snap /dev/video2 -o board.png --size 1920x1080
  crokeye snap rtsp://192.168.1.20/stream -o board.jpg a network camera
  crokeye snap http://192.168.1.30:8080/video -o b.jpg a phone that serves its camera
  crokeye snap final.mp4 --at 754.5 -o board.jpg       a moment of a video
  crokeye snap 0 -o board.jpg && crokeye count board.jpg")]
pub struct SnapArgs {
    /// Camera number, /dev/videoN, rtsp:// or http:// address, or video file.
    source: String,

    /// Where to write; the ending says the format (jpg, png, webp).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Picture size to ask the camera for.
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,

    /// How long the camera may settle its exposure before the photo is taken.
    #[arg(long, value_name = "SECONDS", default_value = "1.5", value_parser = seconds)]
    settle: f64,

    /// Where in a video file.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    at: f64,
}

/// Runs `crokeye snap`.
///
/// # Errors
/// The source gives no picture, or the file cannot be written.
#[cfg(feature = "opencv")]
pub fn run(args: &SnapArgs) -> Result<ExitCode> {
    use anyhow::Context;
    use crokeye::capture::camera::{self, Settings};
    use std::time::Duration;

    let source = args.source.parse()?;
    let settings = Settings {
        settle: Duration::from_secs_f64(args.settle),
        size_px: args.size,
        at: Duration::from_secs_f64(args.at),
    };
    let still = camera::still(&source, &settings)?;
    still.rgb.save(&args.output).with_context(|| format!("cannot write {}", args.output.display()))?;
    let (width, height) = still.rgb.dimensions();
    let (path, waited, skipped) = (args.output.display(), still.waited.as_secs_f64(), still.skipped);
    eprintln!("{path}: {width} x {height} px after {waited:.1} s, {skipped} frames skipped");
    if args.size.is_some_and(|asked| asked != (width, height)) {
        eprintln!("the camera gives another size than asked for");
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `crokeye snap` in a program that was built without cameras.
///
/// # Errors
/// Always: there is nothing to take a picture with.
#[cfg(not(feature = "opencv"))]
pub fn run(_: &SnapArgs) -> Result<ExitCode> {
    anyhow::bail!("this crokeye was built without cameras: build it with its default features (cargo build --release)")
}

pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    sides.filter(|(w, h)| (16..=16_384).contains(w) && (16..=16_384).contains(h)).ok_or("say WxH: 1920x1080".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.0..=86_400.0).contains(value));
    value.ok_or("say a number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("1920x1080"), Ok((1920, 1080)));
        for wrong in ["1920", "x", "0x5", "99999x9", "1920x1080x3"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seconds_are_not_negative() {
        assert_eq!(seconds("1.5"), Ok(1.5));
        assert!(seconds("-1").is_err() && seconds("nan").is_err());
    }
}
