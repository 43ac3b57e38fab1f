//! Writes synthetic pictures with their truth beside them, as labelled folders are: NAME.jpg and NAME.json.
//!
//! `cargo run --release --example synthetic -- --out target/synthetic --count 20 --size 1280x960 --tilt 0-45`

#[path = "../tests/support/mod.rs"]
mod support;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use std::path::PathBuf;
use support::Recipe;

/// Writes synthetic pictures of boards with their exact truth.
#[derive(Parser)]
struct Args {
    /// Folder to write to.
    #[arg(long)]
    out: PathBuf,
    /// How many pictures.
    #[arg(long, default_value_t = 10)]
    count: u64,
    /// Seed of the first picture.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Width and height, px.
    #[arg(long, default_value = "1280x960")]
    size: String,
    /// Range of the camera's tilt, degrees.
    #[arg(long, default_value = "0-25")]
    tilt: String,
    /// Strongest barrel distortion, as k1.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    k1: f64,
    /// JPEG quality.
    #[arg(long, default_value_t = 92)]
    quality: u8,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let (width, height) = args.size.split_once('x').context("--size is WIDTHxHEIGHT")?;
    let (low, high) = args.tilt.split_once('-').context("--tilt is FROM-TO")?;
    let size_px: (u32, u32) = (width.parse()?, height.parse()?);
    ensure!(size_px.0 >= 16 && size_px.1 >= 16, "a picture is at least 16 px wide and high");
    // A larger sensor sees the same blur over more pixels.
    let blur = f64::from(size_px.0) / 1280.0;
    let recipe = Recipe {
        size_px,
        tilt_deg: (low.parse()?, high.parse()?),
        k1: (args.k1.min(0.0), args.k1.max(0.0)),
        blur_px: (0.5 * blur.max(1.0), 0.9 * blur.max(1.0)),
        leaning: 0.1,
        ..Recipe::fair()
    };
    std::fs::create_dir_all(&args.out)?;
    for seed in args.seed..args.seed + args.count {
        let scene = recipe.deal(seed);
        let name = args.out.join(format!("synthetic_{seed:04}"));
        std::fs::write(name.with_extension("jpg"), scene.jpeg(args.quality))?;
        std::fs::write(name.with_extension("json"), serde_json::to_string(&scene.label())?)?;
    }
    Ok(())
}
