//! `crokeye audit --watch`: keeps going as a camera uploads photos.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Result;

use super::results::Folder;
use super::{AuditArgs, interrupt, pass, photos, say, status};

/// How often the folders are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(1000);

/// A file that did not change for this long is whole: cameras and copies write without longer breaks.
const WHOLE_AFTER: Duration = Duration::from_millis(2500);

/// What a file looks like from outside.
type Seen = (u64, Option<SystemTime>);

/// Counts what is there and then what comes, until Ctrl-C.
pub(super) fn run(args: &AuditArgs, folder: &Folder) -> Result<ExitCode> {
    let mut counted: HashMap<PathBuf, Seen> = HashMap::new();
    let mut last = None;
    if !args.quiet && !args.json {
        eprintln!("Waiting for photos; Ctrl-C ends it.");
    }
    while !interrupt::is_stopped() {
        let whole: Vec<(PathBuf, Seen)> =
            photos(args).into_iter().filter_map(|path| seen(&path).map(|seen| (path, seen))).collect();
        let is_new = whole.len() != counted.len() || whole.iter().any(|(path, seen)| counted.get(path) != Some(seen));
        if is_new {
            let paths: Vec<PathBuf> = whole.iter().map(|(path, _)| path.clone()).collect();
            if let Some(passed) = pass(args, folder, &paths)? {
                say::summary(args, folder, &passed)?;
                last = Some(status(&passed.audit));
                counted = whole.into_iter().collect();
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(last.unwrap_or_else(|| ExitCode::from(interrupt::STATUS)))
}

/// Size and time of a file that is no longer written to.
fn seen(path: &std::path::Path) -> Option<Seen> {
    let about = std::fs::metadata(path).ok().filter(|about| about.is_file())?;
    let changed = about.modified().ok();
    // A clock that was set back must not hide a file for ever: a time in the future counts as long ago.
    let rests = changed.is_none_or(|time| time.elapsed().map_or(true, |since| since > WHOLE_AFTER));
    rests.then_some((about.len(), changed))
}
