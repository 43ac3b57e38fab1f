//! Feeds mutilated picture files to the counter, as `crokeye count` would read them, for as long as it is told.
//!
//! `cargo run --release --example fuzz -- --minutes 15` (or `make fuzz MINUTES=15`)
//!
//! In: seeds (synthetic boards as JPEG, PNG and WebP of every kind, and every picture of `samples/`), each harmed by
//! up to three accidents. What must never happen: a panic, or a file that takes longer than ten seconds. A file that
//! does either is written to `target/fuzz/` and ends the run with status 1; with its name as argument it is tried again.

#[path = "../tests/support/mod.rs"]
mod support;

use anyhow::{Context, Result, bail};
use clap::Parser;
use crokeye::capture::photo;
use crokeye::count::{self, Options, report::Status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use support::mutilate::{Specimen, harmed, lies, whole};
use support::{BoardLook, Random, Scene};

/// Longest time that a file may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Feeds mutilated pictures to the counter.
#[derive(Parser)]
struct Args {
    /// How long.
    #[arg(long, default_value_t = 15.0)]
    minutes: f64,
    /// Decides every accident.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Files to try instead, as they are.
    files: Vec<PathBuf>,
}

/// What became of a file.
enum Outcome {
    Unreadable,
    NoBoard,
    Read,
    Panicked,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if !args.files.is_empty() {
        for path in &args.files {
            let file = Specimen { name: path.display().to_string(), bytes: std::fs::read(path)? };
            attend(&file)?;
            println!("{}: read or refused in time", file.name);
        }
        return Ok(());
    }
    let seeds = seeds()?;
    println!("{} seeds, {} minutes, seed {}", seeds.len(), args.minutes, args.seed);
    let mut random = Random::new(args.seed);
    let (start, end) = (Instant::now(), Duration::from_secs_f64(args.minutes * 60.0));
    let (mut tried, mut counts) = (0u64, [0u64; 3]);
    let (mut slowest, mut told) = (Duration::ZERO, Instant::now());
    for file in &seeds {
        attend(file)?;
    }
    while start.elapsed() < end {
        let mut file = random.pick(&seeds);
        for _ in 0..random.whole(1, 3) {
            if !file.bytes.is_empty() {
                file = harmed(&file, &mut random);
            }
        }
        let (outcome, took) = attend(&file)?;
        slowest = slowest.max(took);
        tried += 1;
        counts[match outcome {
            Outcome::Unreadable | Outcome::Panicked => 0,
            Outcome::NoBoard => 1,
            Outcome::Read => 2,
        }] += 1;
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            println!("{:.0} min: {tried} files", start.elapsed().as_secs_f64() / 60.0);
        }
    }
    let [refused, no_board, read] = counts;
    println!(
        "{tried} files: {refused} refused, {no_board} without a board, {read} read; slowest {slowest:.2?}; no panic"
    );
    Ok(())
}

/// Whole files to harm: the smaller the picture, the more accidents a minute.
fn seeds() -> Result<Vec<Specimen>> {
    let mut scene = Scene::overhead(BoardLook::maple()).with(crokeye::board::Side::A, 60.0, 20.0).with(
        crokeye::board::Side::B,
        -120.0,
        150.0,
    );
    (scene.view.width_px, scene.view.height_px) = (480, 360);
    let picture = scene.picture();
    let mut out = whole(&picture);
    out.extend(lies(&picture));
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    for entry in std::fs::read_dir(&samples).with_context(|| samples.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ext| ext == "jpg") {
            out.push(Specimen { name: path.display().to_string(), bytes: std::fs::read(&path)? });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

/// Reads and counts one file in a thread of its own and waits for it no longer than [`PATIENCE`].
fn attend(file: &Specimen) -> Result<(Outcome, Duration)> {
    let (sender, receiver) = mpsc::channel();
    let bytes = file.bytes.clone();
    let start = Instant::now();
    std::thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| match photo::decode("fuzz", &bytes) {
            Err(_) => Outcome::Unreadable,
            Ok(frame) => match count::run(&frame, &Options::default()).report.status {
                Status::NoBoard => Outcome::NoBoard,
                _ => Outcome::Read,
            },
        }));
        // The receiver is gone when patience was lost: nobody waits for the answer.
        let _ = sender.send(outcome.unwrap_or(Outcome::Panicked));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Outcome::Panicked) => bail!("{}: a panic; the file is {}", file.name, keep(file)?.display()),
        Ok(outcome) => Ok((outcome, start.elapsed())),
        Err(_) => bail!("{}: longer than {PATIENCE:?}; the file is {}", file.name, keep(file)?.display()),
    }
}

fn keep(file: &Specimen) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    std::fs::create_dir_all(&folder)?;
    let sum = file
        .bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    let path = folder.join(format!("{sum:016x}"));
    std::fs::write(&path, &file.bytes)?;
    Ok(path)
}
