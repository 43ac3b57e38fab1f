//! Counts frames of a camera that stands still, the board registered beforehand: what `scripts/callgrind.sh` counts
//! instructions of. All frames are made before the first one is counted, so that two runs differ in counting alone.
//!
//! `cargo run --release --example tracked -- --frames 100`

#[path = "../tests/support/mod.rs"]
mod support;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use crokeye::capture::Frame;
use crokeye::count::{self, Options, report::Status};
use support::{Random, Recipe};

/// Counts frames of a camera that stands still.
#[derive(Parser)]
struct Args {
    /// How many frames.
    #[arg(long, default_value_t = 1)]
    frames: usize,
}

/// Frames that differ in their noise; longer runs see them again.
const DIFFERENT: usize = 3;
/// Standard deviation of a webcam's noise from frame to frame, grey levels.
const NOISE: f64 = 2.0;

fn main() -> Result<()> {
    let args = Args::parse();
    let recipe = Recipe {
        size_px: (1920, 1080),
        discs: (10, 10),
        in_hole: 0.0,
        ditch: (1, 1),
        noise: (0.0, 0.0),
        ..Recipe::fair()
    };
    let still = recipe.deal(7).frame();
    let frames: Vec<Frame> = (0..DIFFERENT).map(|i| noisy(&still, i as u64)).collect();
    let options = Options::default();
    let first = count::run(&frames[0], &options).scene.context("the board was not found")?;
    for i in 0..args.frames {
        let count = count::run_tracked(&frames[(i + 1) % DIFFERENT], &first.registration, &options);
        ensure!(count.report.status != Status::NoBoard, "frame {i}: the board was lost");
    }
    Ok(())
}

/// The frame as the sensor gives it once more.
fn noisy(still: &Frame, seed: u64) -> Frame {
    let mut random = Random::new(seed);
    let mut frame = still.clone();
    for value in frame.rgb.iter_mut() {
        // Three uniform values make a bell, and are cheaper than a true one.
        let bell = random.unit() + random.unit() + random.unit() - 1.5;
        *value = (f64::from(*value) + 2.0 * NOISE * bell).round().clamp(0.0, 255.0) as u8;
    }
    frame
}
