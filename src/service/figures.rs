//! Figures of a board for those who keep watch over the program.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::count::report::Timing;
use crate::live::event::CameraState;
use crate::live::{Event, What};

/// A stage of the work on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Getting a frame from its bytes.
    Decode,
    /// Finding the board.
    Register,
    /// Finding the discs.
    Detect,
    /// What covers the board, and the line rule.
    Judge,
}

impl Stage {
    /// All of them, in the order of the work.
    pub const ALL: [Self; 4] = [Self::Decode, Self::Register, Self::Detect, Self::Judge];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Register => "register",
            Self::Detect => "detect",
            Self::Judge => "judge",
        }
    }
}

/// How often a stage ran, and for how long together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// How often.
    pub times: u64,
    /// How long, s.
    pub seconds: f64,
}

/// What is counted since the start of the program.
#[derive(Debug, Default)]
pub struct Figures {
    frames: AtomicU64,
    settled: AtomicU64,
    rounds: AtomicU64,
    reviews: AtomicU64,
    close_calls: AtomicU64,
    restarts: AtomicU64,
    reconnects: AtomicU64,
    stages: Mutex<[Spent; 4]>,
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
    /// Discs of these rounds that were in doubt.
    pub close_calls: u64,
    /// How often the thread began again.
    pub restarts: u64,
    /// How often the camera came back.
    pub reconnects: u64,
    /// Age of the newest frame, s; None before the first.
    pub age_s: Option<f64>,
    /// What each of [`Stage::ALL`] took.
    pub stages: [Spent; 4],
}

impl Figures {
    /// A frame came.
    pub fn frame(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// A stage took so long.
    pub fn stage(&self, stage: Stage, took: Duration) {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spent) = stages.get_mut(stage as usize) {
            spent.times += 1;
            spent.seconds += took.as_secs_f64();
        }
    }

    /// Something happened.
    pub fn event(&self, event: &Event) {
        match &event.what {
            What::Settled { count, .. } => {
                let Timing { register, detect, total, .. } = count.timing_ms;
                let ms = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1000.0);
                self.stage(Stage::Register, ms(register));
                self.stage(Stage::Detect, ms(detect));
                self.stage(Stage::Judge, ms(total - register - detect));
                self.settled.fetch_add(1, Ordering::Relaxed)
            }
            What::Camera { state: CameraState::Back } => self.reconnects.fetch_add(1, Ordering::Relaxed),
            What::Round(result) => {
                self.reviews.fetch_add(u64::from(!result.review.is_empty()), Ordering::Relaxed);
                let close = result.review.iter().filter(|review| review.disc.is_some()).count() as u64;
                self.close_calls.fetch_add(close, Ordering::Relaxed);
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
            close_calls: of(&self.close_calls),
            restarts: of(&self.restarts),
            reconnects: of(&self.reconnects),
            age_s: last.map(|last| last.elapsed().as_secs_f64()),
            stages: *self.stages.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}
