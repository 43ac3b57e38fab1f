//! Many photos at once: decoded, counted and drawn by a few threads, handed back in the order given.
//!
//! A thread holds one decoded photo at a time, so that memory is bounded by the threads and not by the photos.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use crokeye::capture::{LensHint, photo};
use crokeye::count::report::Report;
use crokeye::count::{self, Options, overlay, top_view};
use image::RgbImage;

use crate::cli::parallel::spread;

/// What is done with every photo.
pub(super) struct Batch {
    pub options: Options,
    /// Horizontal field of view, where it is told.
    pub fov_deg: Option<f64>,
    /// Where overlays go.
    pub overlay: Option<PathBuf>,
    /// Where top views go.
    pub top_view: Option<PathBuf>,
    /// Whether top views are drawn on.
    pub top_view_marks: bool,
    /// Processor cores to use.
    pub threads: usize,
}

/// One photo.
pub(super) struct Job {
    pub path: PathBuf,
    /// Stem of the names of what is written for it.
    pub name: String,
}

/// Time since the program first asked.
pub(super) fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

impl Batch {
    /// Counts all photos; `take` gets the reports in the order of the jobs.
    ///
    /// # Errors
    /// Of `take`, and where a picture cannot be written. Photos not begun by then are left out.
    pub fn run(&self, jobs: &[Job], mut take: impl FnMut(Report) -> Result<()>) -> Result<()> {
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        spread(
            self.threads,
            jobs,
            &AtomicBool::new(false),
            |job| self.one(job),
            |index, done| {
                early.insert(index, done);
                while let Some(done) = early.remove(&wanted) {
                    wanted += 1;
                    take(done?)?;
                }
                Ok(())
            },
        )
    }

    /// Counts one photo. A fault in the counting is that photo's error and no one else's.
    fn one(&self, job: &Job) -> Result<Report> {
        catch_unwind(AssertUnwindSafe(|| self.counted(job))).unwrap_or_else(|_| {
            let sentence = "a fault in crokeye stopped the counting of this picture: please report it with the picture";
            Ok(Report::error(&job.path.to_string_lossy(), sentence.to_owned()))
        })
    }

    fn counted(&self, job: &Job) -> Result<Report> {
        let start = clock();
        let mut frame = match photo::read(&job.path) {
            Ok(frame) => frame,
            Err(error) => return Ok(Report::error(&job.path.to_string_lossy(), error.to_string())),
        };
        if let Some(fov_deg) = self.fov_deg {
            frame.lens = LensHint::from_fov(fov_deg, frame.rgb.width());
        }
        let decode_ms = (clock() - start).as_secs_f64() * 1000.0;
        let mut count = count::run(&frame, &self.options);
        count.report.timing_ms.add_decode(decode_ms);
        if let Some(folder) = &self.overlay {
            save(folder, &format!("{}.overlay.png", job.name), &overlay::draw(&frame, &count))?;
        }
        if let (Some(folder), Some(scene)) = (&self.top_view, &count.scene) {
            let drawn =
                if self.top_view_marks { top_view::draw_marked(&frame, scene) } else { top_view::draw(&frame, scene) };
            save(folder, &format!("{}.top.png", job.name), &drawn)?;
        }
        Ok(count.report)
    }
}

fn save(folder: &Path, name: &str, picture: &RgbImage) -> Result<()> {
    let path = folder.join(name);
    picture.save(&path).with_context(|| format!("cannot write {}", path.display()))
}
