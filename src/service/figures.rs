//! Figures of a board for those who keep watch over the program.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::live::event::CameraState;
use crate::live::{Event, What};

/// What is counted since the start of the program.
#[derive(Debug, Default)]
pub struct Figures {
    frames: AtomicU64,
    settled: AtomicU64,
    rounds: AtomicU64,
    reviews: AtomicU64,
    restarts: AtomicU64,
    reconnects: AtomicU64,
    last: Mutex<Option<Instant>>,
}

/// The figures at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Frames seen.
    pub frames: u64,
    /// Boards counted.
    pub settled: u64,
    /// Rounds told.
    pub rounds: u64,
    /// Of these, rounds that need review.
    pub reviews: u64,
    /// How often the thread began again.
    pub restarts: u64,
    /// How often the camera came back.
    pub reconnects: u64,
    /// Age of the newest frame, s; None before the first.
    pub age_s: Option<f64>,
}

impl Figures {
    /// A frame came.
    pub fn frame(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Something happened.
    pub fn event(&self, event: &Event) {
        match &event.what {
            What::Settled { .. } => self.settled.fetch_add(1, Ordering::Relaxed),
            What::Camera { state: CameraState::Back } => self.reconnects.fetch_add(1, Ordering::Relaxed),
            What::Round(result) => {
                self.reviews.fetch_add(u64::from(!result.review.is_empty()), Ordering::Relaxed);
                self.rounds.fetch_add(1, Ordering::Relaxed)
            }
            _ => 0,
        };
    }

    /// The thread begins again.
    pub fn restarted(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// The figures now.
    pub fn read(&self) -> Reading {
        let of = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        Reading {
            frames: of(&self.frames),
            settled: of(&self.settled),
            rounds: of(&self.rounds),
            reviews: of(&self.reviews),
            restarts: of(&self.restarts),
            reconnects: of(&self.reconnects),
            age_s: last.map(|last| last.elapsed().as_secs_f64()),
        }
    }
}
