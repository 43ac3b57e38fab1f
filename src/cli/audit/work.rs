//! Counts what the journal does not hold yet, and makes the pictures that the report still lacks.
//!
//! A thread holds one decoded photo at a time; what is done goes into the journal at once.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use crokeye::audit::journal::{Entry, Found, Journal};
use crokeye::audit::picture::{self, Grade};
use crokeye::audit::{self, Audit, Item, Settings};
use crokeye::capture::about::about;
use crokeye::capture::{Frame, photo};
use crokeye::count;
use crokeye::count::report::{ImageSize, Status};

use super::AuditArgs;
use super::interrupt::{self, STOP};
use super::options::Lens;
use super::results::Folder;
use super::say::Progress;
use crate::cli::parallel::{self, spread};

const FAULT: &str = "a fault in crokeye stopped the counting of this picture: please report it with the picture";

/// Counting into a folder.
pub(super) struct Work<'a> {
    settings: Settings,
    lens: Lens,
    folder: &'a Folder,
    journal: Mutex<Journal>,
    /// What every count depends on besides the picture: program and options.
    basis: String,
    threads: usize,
    quiet: bool,
}

/// What became of one photo.
enum Done {
    /// The journal holds it, or another thread is at it.
    Known,
    /// It was counted.
    Counted(Box<Entry>, Status),
}

/// A photo with the key of its entry.
struct Keyed {
    done: Done,
    sha256: String,
    basis: String,
}

/// Entries of all photos by path, in order, and how many were counted now.
pub(super) type Counted = (Vec<(String, Entry)>, usize);

impl<'a> Work<'a> {
    pub fn new(args: &AuditArgs, settings: Settings, folder: &'a Folder) -> Result<Self> {
        let lens = Lens::of(args)?;
        // Whatever of the options changes what is measured. How it is judged is worked out anew in every run.
        let measured = format!("{:?} {:?} {lens:?}", settings.options.register, settings.options.detect);
        let heic = if cfg!(feature = "heic") { "+heic" } else { "" };
        let basis = format!("{}{heic} {}", env!("CARGO_PKG_VERSION"), audit::key(&measured, ""));
        let threads = args.jobs.map_or_else(parallel::cores, usize::from);
        let journal = Mutex::new(folder.journal()?);
        Ok(Self { settings, lens, folder, journal, basis, threads, quiet: args.quiet || args.json })
    }

    /// Counts the photos that are not in the journal; gives the entries of all, in order, and how many
    /// were counted now. None when interrupted.
    pub fn count(&self, photos: &[PathBuf]) -> Result<Option<Counted>> {
        let claimed = Mutex::new(HashSet::new());
        let mut fresh = 0;
        let mut progress = Progress::new(photos.len(), self.quiet);
        let mut keys: Vec<Option<(String, String)>> = vec![None; photos.len()];
        let one = |path: &PathBuf| self.one(path, &claimed);
        spread(self.threads, photos, &STOP, one, |index, keyed| {
            let status = match keyed.done {
                Done::Known => None,
                Done::Counted(entry, status) => {
                    let full = || format!("cannot write into {}", self.folder.path().display());
                    self.journal().append(&entry).with_context(full)?;
                    fresh += 1;
                    Some(status)
                }
            };
            progress.done(status);
            keys[index] = Some((keyed.sha256, keyed.basis));
            Ok(())
        })?;
        progress.finish();
        if interrupt::is_stopped() {
            let counted = keys.iter().flatten().count();
            eprintln!(
                "Stopped: {counted} of {} photos are counted. The same command goes on from there.",
                photos.len()
            );
            return Ok(None);
        }
        let mut journal = self.journal();
        let entry = |(path, key): (&PathBuf, Option<(String, String)>)| {
            let (sha256, basis) = key.context("a photo was not counted")?;
            let entry = journal.read(&sha256, &basis).context("the journal cannot be read")?;
            Ok((path.to_string_lossy().into_owned(), entry))
        };
        let entries = photos.iter().zip(keys).map(entry).collect::<Result<Vec<_>>>()?;
        Ok(Some((entries, fresh)))
    }

    /// Counts one photo, unless that is done. A fault in the counting is that photo's error and no one else's.
    fn one(&self, path: &Path, claimed: &Mutex<HashSet<String>>) -> Keyed {
        let bytes = match photo::read_bytes(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                // There is no content to know it by: name and reason stand for it.
                let sha256 = audit::sha256(format!("{} {error}", path.display()).as_bytes());
                return self.refused(sha256, error.to_string());
            }
        };
        let sha256 = audit::sha256(&bytes);
        let basis = self.basis.clone();
        let is_new = claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(sha256.clone());
        if !is_new || self.journal().has(&sha256, &basis) {
            return Keyed { done: Done::Known, sha256, basis };
        }
        let frame = match self.frame(path, &bytes) {
            Ok(frame) => frame,
            Err(error) => return self.refused(sha256, error.to_string()),
        };
        let counted = catch_unwind(AssertUnwindSafe(|| count::run(&frame, &self.settings.options)));
        let Ok(count) = counted else { return self.refused(sha256, FAULT.to_owned()) };
        let about = about(&bytes);
        let (width, height) = frame.rgb.dimensions();
        let status = count.report.status;
        let key = audit::key(&sha256, &basis);
        // Drawing needs the pixels, which are at hand now; what fails here is made up for at the end.
        let camera = count.scene.as_ref().map(|scene| &scene.registration.camera);
        if let Ok(made) = picture::make(&frame.rgb, &count.report, camera, Grade::Plain) {
            made.iter().for_each(|made| drop(self.folder.keep_picture(&key, made)));
        }
        let mut entry = Entry::new(sha256.clone(), basis.clone(), count.into());
        entry.taken = about.taken;
        entry.camera = about.camera;
        entry.size = Some(ImageSize { width, height });
        Keyed { done: Done::Counted(Box::new(entry), status), sha256, basis }
    }

    fn refused(&self, sha256: String, reason: String) -> Keyed {
        let entry = Entry::new(sha256.clone(), self.basis.clone(), Found::Unreadable(reason));
        let done = Done::Counted(Box::new(entry), Status::Error);
        Keyed { done, sha256, basis: self.basis.clone() }
    }

    fn frame(&self, path: &Path, bytes: &[u8]) -> Result<Frame, photo::PhotoError> {
        let mut frame = photo::decode(&path.to_string_lossy(), bytes)?;
        frame.lens = self.lens.hint(frame.lens, frame.rgb.width(), frame.rgb.height());
        Ok(frame)
    }

    /// Makes the pictures that the report shows and the folder lacks. False when interrupted.
    pub fn draw(&self, audit: &Audit) -> Result<bool> {
        let lacks = |item: &&Item| {
            let names = picture::names(&item.report, item.grade());
            item.report.image.is_some() && names.iter().any(|name| !self.folder.has_picture(&item.audit.key, name))
        };
        let jobs: Vec<&Item> = audit.items.iter().filter(lacks).collect();
        spread(self.threads, &jobs, &STOP, |item| self.draw_one(item), |_, done| done)?;
        if interrupt::is_stopped() {
            eprintln!("Stopped before the report was written. The same command goes on from there.");
        }
        Ok(!interrupt::is_stopped())
    }

    fn draw_one(&self, item: &Item) -> Result<()> {
        let path = Path::new(&item.report.source);
        // A photo that went away since it was counted has no picture in the report.
        let Ok(frame) = photo::read(path) else { return Ok(()) };
        let camera = item.audit.measured.as_ref().map(|measured| &measured.registration.camera);
        let drawn = catch_unwind(AssertUnwindSafe(|| picture::make(&frame.rgb, &item.report, camera, item.grade())));
        let Ok(Ok(made)) = drawn else { return Ok(()) };
        made.iter().try_for_each(|made| self.folder.keep_picture(&item.audit.key, made))
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
