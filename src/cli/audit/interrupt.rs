//! Ctrl-C: the first asks to stop after the pictures in flight, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

/// Exit status of an interrupted run, as a shell gives it.
pub(super) const STATUS: u8 = 130;

/// Set when the run shall stop.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Starts to listen.
pub(super) fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(STATUS.into());
        }
    })
    .context("cannot listen to Ctrl-C")
}

/// Whether the run shall stop.
pub(super) fn is_stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}
