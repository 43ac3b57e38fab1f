//! The straight line from a frame to a count: register, detect, judge, assemble. The only place that knows the order.
//!
//! In: a [`Frame`] and [`Options`]. Out: a [`Count`]: the public [`report::Report`] and, for drawing and for tracking,
//! the [`Scene`] that it was made from. Nothing is printed, drawn or read from a clock here.

mod doubt;
mod draw;
mod marks;
pub mod overlay;
pub mod palette;
mod place;
pub mod report;
mod sides;
mod telling;
#[cfg(test)]
pub(crate) mod testing;
pub mod top_view;

use std::time::Duration;

use crate::board::Side;
use crate::capture::Frame;
use crate::detect::{self, Detections};
use crate::judge::{self, Edges, Placed, Verdict};
use crate::register::{self, NotFound, Registration};
use report::{ImageSize, Report, Timing};

pub use sides::{SideColours, SideColoursError};

/// How a picture is counted.
#[derive(Clone, Debug)]
pub struct Options {
    /// Colours of side a and side b, where the caller names them; otherwise a is the darker.
    pub sides: Option<SideColours>,
    /// 20s taken off the board during the round, side a and b.
    pub set_aside: [u32; 2],
    /// More discs of one side than this, those set aside included, cannot be: 12 is the most that any rule set gives.
    pub max_discs: u32,
    /// How far the circle that touches the board lies inside the widest circle of a disc (chamfer, round edge), mm.
    pub edge_inset_mm: f64,
    /// A disc less sure than this sends a count to review when it matters.
    pub min_confidence: f64,
    /// How strict a call is.
    pub judge: judge::Config,
    /// How the board is found.
    pub register: register::Config,
    /// How discs are found.
    pub detect: detect::Config,
    /// Time since some fixed moment; [`no_clock`] leaves all timing 0.
    pub clock: fn() -> Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sides: None,
            set_aside: [0, 0],
            max_discs: 12,
            edge_inset_mm: 0.0,
            min_confidence: 0.75,
            judge: judge::Config::default(),
            register: register::Config::default(),
            detect: detect::Config::default(),
            clock: no_clock,
        }
    }
}

/// The clock that stands still: for tests and wherever the same bytes are wanted again.
pub fn no_clock() -> Duration {
    Duration::ZERO
}

/// A count with what it was made from.
#[derive(Clone, Debug)]
pub struct Count {
    /// What is published.
    pub report: Report,
    /// What it was made from; None where no board was found.
    pub scene: Option<Scene>,
}

/// A registered and judged board.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Where the board is.
    pub registration: Registration,
    /// What lies on it, sides as reported.
    pub detections: Detections,
    /// The discs as the line rule was asked about them, in the same order.
    pub placed: Vec<Placed>,
    /// Its answers, in the same order.
    pub verdicts: Vec<Verdict>,
}

/// Counts one picture.
pub fn run(frame: &Frame, options: &Options) -> Count {
    timed(frame, options, || register::register(frame, &options.register))
}

/// Counts one picture of a camera that stands still: the board is looked for where it was in an earlier picture, and
/// everywhere only if it is no longer there.
pub fn run_tracked(frame: &Frame, before: &Registration, options: &Options) -> Count {
    timed(frame, options, || register::track(frame, before).or_else(|_| register::register(frame, &options.register)))
}

fn timed(frame: &Frame, options: &Options, find: impl FnOnce() -> Result<Registration, NotFound>) -> Count {
    let start = (options.clock)();
    let found = find();
    let registered = (options.clock)();
    let mut timing = Timing { register: ms(registered - start), total: ms(registered - start), ..Timing::default() };
    let registration = match found {
        Ok(registration) => registration,
        Err(reason) => return no_board(frame, &reason, timing),
    };
    let detections = detect::detect(frame, &registration, &options.detect);
    timing.detect = ms((options.clock)() - registered);
    let mut count = assemble(frame, registration, detections, options);
    let end = (options.clock)();
    timing.total = ms(end - start);
    count.report.timing_ms = timing;
    count
}

/// The count of a board whose place and discs are known.
pub fn assemble(frame: &Frame, registration: Registration, detections: Detections, options: &Options) -> Count {
    judged(&frame.source, telling::image_size(frame), registration, detections, options)
}

/// The same without the picture itself: what was measured in it may be judged again when more is known.
pub fn judged(
    source: &str,
    size: ImageSize,
    registration: Registration,
    detections: Detections,
    options: &Options,
) -> Count {
    let mut detections = detections;
    let naming = sides::assign(&mut detections, options.sides.as_ref());
    let edges =
        Edges { inner_mm: registration.inner_mm(), centres: registration.centres(), hole_mm: registration.hole_mm };
    let placed: Vec<Placed> = detections
        .discs
        .iter()
        .map(|disc| place::placed(&registration, &detections.set, disc, options.edge_inset_mm))
        .collect();
    let verdicts = placed.iter().map(|disc| judge::judge(disc, &edges, &options.judge)).collect();
    let scene = Scene { registration, detections, placed, verdicts };
    let totals = sides::totals(&scene, &naming, options);
    let review = doubt::review(size, &scene, &totals, &naming, options);
    let report = telling::report(source, size, &scene, totals, review);
    Count { report, scene: Some(scene) }
}

fn no_board(frame: &Frame, reason: &NotFound, timing: Timing) -> Count {
    let report = Report::no_board(&frame.source, telling::image_size(frame), reason.to_string());
    Count { report: Report { timing_ms: timing, ..report }, scene: None }
}

pub(crate) fn ms(span: Duration) -> f64 {
    report::rounded(span.as_secs_f64() * 1000.0, 2)
}

/// Index of a side in arrays of two.
fn index(side: Side) -> usize {
    match side {
        Side::A => 0,
        Side::B => 1,
    }
}

#[cfg(test)]
mod tests;
