//! The rate of an audit on generated photos of two megapixels: two cores against one, against decoding alone, and memory
//! over the run. `CROKEYE_PHOTOS=1000 cargo bench --bench audit` makes the long run; 120 photos when not said.
//!
//! The photos are the samples at another size, each with grain of its own, so that no two are the same content.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crokeye::capture::photo;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, resize};
use rayon::prelude::*;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Two megapixels.
const SIZE: (u32, u32) = (1632, 1224);

fn main() {
    let count = std::env::var("CROKEYE_PHOTOS").ok().and_then(|text| text.parse().ok()).unwrap_or(120);
    let folder = tempfile::tempdir().expect("a folder for the photos");
    let photos = photos(folder.path(), count);
    println!("{count} photos of {} x {} px", SIZE.0, SIZE.1);

    let [decode_one, decode_two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let start = Instant::now();
        pool.install(|| photos.par_iter().for_each(|path| drop(photo::read(path))));
        start.elapsed()
    });
    let one = audit(folder.path(), 1);
    let two = audit(folder.path(), 2);
    let per_second = |time: Duration| f64::from(count) / time.as_secs_f64();
    println!("decoding alone    one core {decode_one:.2?}, two cores {decode_two:.2?}");
    println!("audit, one core   {:.2?}  {:.1} photos a second", one.time, per_second(one.time));
    println!("audit, two cores  {:.2?}  {:.1} photos a second", two.time, per_second(two.time));
    println!("two cores against one        {:.2} times", one.time.as_secs_f64() / two.time.as_secs_f64());
    println!("against decoding, two cores  {:.1} times", two.time.as_secs_f64() / decode_two.as_secs_f64());
    let [quarter, half, end] = [0.25, 0.5, 1.0].map(|share| two.memory_at(share));
    println!(
        "memory, two cores  {quarter} MiB after a quarter, {half} after half, {end} at the end, peak {}",
        two.peak()
    );
}

/// Writes the photos.
fn photos(folder: &Path, count: u32) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(Path::new(ROOT).join("samples"))
        .expect("samples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jpg"))
        .collect();
    names.sort();
    let samples: Vec<image::RgbImage> = names
        .par_iter()
        .map(|path| resize(&photo::read(path).expect("a sample").rgb, SIZE.0, SIZE.1, FilterType::CatmullRom))
        .collect();
    (0..count)
        .into_par_iter()
        .map(|at| {
            let mut picture = samples[at as usize % samples.len()].clone();
            let mut seed = u64::from(at) + 0x9e37_79b9_7f4a_7c15;
            for value in picture.iter_mut() {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *value = value.saturating_add_signed((seed >> 62) as i8 - 1);
            }
            let mut bytes = Cursor::new(Vec::new());
            picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 90)).expect("a picture in memory");
            let path = folder.join(format!("{at:05}.jpg"));
            std::fs::write(&path, bytes.into_inner()).expect("room for the photos");
            path
        })
        .collect()
}

struct Run {
    time: Duration,
    /// MiB, ten times a second.
    memory: Vec<u64>,
}

impl Run {
    fn memory_at(&self, share: f64) -> u64 {
        let at = (share * self.memory.len() as f64) as usize;
        self.memory.get(at.min(self.memory.len().saturating_sub(1))).copied().unwrap_or(0)
    }

    fn peak(&self) -> u64 {
        self.memory.iter().copied().max().unwrap_or(0)
    }
}

/// One audit from nothing, its memory watched.
fn audit(photos: &Path, jobs: u32) -> Run {
    let out = tempfile::tempdir().expect("a folder for the results");
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_crokeye"))
        .args(["audit", "--quiet", "--jobs", &jobs.to_string(), "--out"])
        .arg(out.path())
        .arg(photos)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut memory = Vec::new();
    loop {
        if child.try_wait().expect("the program is there").is_some() {
            return Run { time: start.elapsed(), memory };
        }
        memory.extend(resident_mib(child.id()));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Memory of a process that is in use, where the system tells.
fn resident_mib(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
