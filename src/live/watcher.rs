//! Pictures at rest to events: finds and follows the board, counts, sees what covers it, and hands what is sure to the
//! rounds.
//!
//! A count is only believed where nothing covers the board. The board's place is looked for in every settled picture
//! where it was; if it, or the camera, was moved, discs and what is known of the board's look move with it.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::sync::Arc;
use std::time::Duration;

use image::RgbImage;

use super::colours::{Colours, Learnt};
use super::event::{BoardChange, CameraState, Event, SCHEMA, What};
use super::gate::{Area, Glimpse};
use super::hole;
use super::input::{Input, Key, Told};
use super::light::{self, Light};
use super::round::{self, Phase, Rounds, Seen};
use super::scenery::{self, Cover, Difference, Places, Scenery};
use super::tracker;
use super::tray::{Region, Tray};
use crate::board::{SHOOTING_LINE_MM, Side, State};
use crate::capture::{Frame, LensHint};
use crate::count::report::{Report, Review, Status, Timing, rounded};
use crate::count::{self, Count, Options, Scene};
use crate::detect;
use crate::geometry::Point;
use crate::register::{self, NotFound, Registration};

/// What a session needs to know.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Name of the source, as it stands in counts.
    pub source: String,
    /// How a picture is counted.
    pub options: Options,
    /// How rounds are played.
    pub round: round::Config,
    /// What is known about the lens.
    pub lens: LensHint,
    /// Colours of the sides that were measured before.
    pub colours: Colours,
    /// Trays of side a and b.
    pub trays: [Option<Region>; 2],
}

/// What there is to show of a session at any time.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Is the board known?
    pub board: bool,
    /// The count that stands.
    pub report: Option<Report>,
    /// 20s of the round, side a and b.
    pub twenties: [u32; 2],
    /// Number of the round.
    pub round: u32,
    /// Where it stands.
    pub phase: Phase,
    /// What is waited for.
    pub waits: String,
    /// Why no board was found in the last picture that was searched for one.
    pub not_found: Option<NotFound>,
    /// The light on the board, or in a picture without one.
    pub light: Option<Light>,
}

/// A picture and its count.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The picture.
    pub frame: Frame,
    /// Its count.
    pub count: Count,
}

/// A board that moved less than this, mm, has not moved: a track's own error is a tenth of it.
const BUMP_MM: f64 = 1.5;
/// Lines seen on less than this share of what is usual are looked for anew: discs hide a tenth of them at most.
const KEPT_COVERAGE: f64 = 0.85;
/// Board unseen for so long is lost.
const LOST: Duration = Duration::from_millis(3_000);
/// What only reaches over the ditch holds the count for so long.
const PATIENCE: Duration = Duration::from_secs(8);
/// A board that turned by less than this was not turned, radians: discs near the rim then move by their own error.
const LEAST_TURN_RAD: f64 = 0.008;
/// A whole board that differs so much was not recognised by its look: the board itself is another.
const COVERED_SHARE: f64 = 0.12;
/// Radius around a disc in which the picture must be the same for the disc to be the same, in disc radii.
const AROUND: f64 = 1.25;

/// A settled picture's place in time.
#[derive(Clone, Copy, Debug)]
struct Moment {
    number: u64,
    at: Duration,
    fused: u32,
    refined: bool,
}

/// When the work on a settled picture began, found the board, and found the discs, on the clock of the options.
#[derive(Clone, Copy, Debug)]
struct Laps {
    clock: fn() -> Duration,
    at: [Duration; 3],
}

impl Laps {
    /// Where the time went until now.
    fn timing(&self) -> Timing {
        let [began, found, detected] = self.at;
        let ms = |until: Duration, since: Duration| count::ms(until.saturating_sub(since));
        Timing {
            register: ms(found, began),
            detect: ms(detected, found),
            total: ms((self.clock)(), began),
            ..Timing::default()
        }
    }
}

/// What is known of the board.
#[derive(Clone, Debug)]
struct Anchored {
    registration: Registration,
    usual_coverage: f64,
}

/// Turns inputs into events.
#[derive(Debug)]
pub struct Watcher {
    settings: Settings,
    board: Option<Anchored>,
    area: Option<Option<Area>>,
    size_px: (u32, u32),
    unseen_since: Option<Duration>,
    scenery: Scenery,
    before: Places,
    colours: Colours,
    rounds: Rounds,
    trays: [Option<Tray>; 2],
    standing: Standing,
    counted: Option<Arc<Counted>>,
    held: Option<String>,
    /// A picture in which something only reaches over the ditch: since when, its frames, itself.
    beside: Option<(Duration, u32, RgbImage)>,
    camera: CameraState,
}

impl Watcher {
    /// Nothing seen yet.
    pub fn new(settings: Settings) -> Self {
        let rounds = Rounds::new(settings.round.clone());
        let (colours, trays) = (settings.colours.clone(), settings.trays.map(|tray| tray.map(Tray::new)));
        let standing = Standing { round: 1, waits: "a board".to_owned(), ..Standing::default() };
        Self {
            settings,
            board: None,
            area: None,
            size_px: (0, 0),
            unseen_since: None,
            scenery: Scenery::default(),
            before: Vec::new(),
            colours,
            rounds,
            trays,
            standing,
            counted: None,
            held: None,
            beside: None,
            camera: CameraState::Back,
        }
    }

    /// What the gate must watch from now on, where that has changed since it was last asked for.
    pub fn new_area(&mut self) -> Option<Option<Area>> {
        self.area.take()
    }

    /// What there is to show.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The count that stands, with its picture.
    pub fn counted(&self) -> Option<&Arc<Counted>> {
        self.counted.as_ref()
    }

    /// Where the board is, while it is known.
    pub fn registration(&self) -> Option<&Registration> {
        self.board.as_ref().map(|board| &board.registration)
    }

    /// Takes an input.
    pub fn take(&mut self, input: &Input) -> Vec<Event> {
        // A recording keeps microseconds: no decision may hang on less.
        let (frame, at) = (input.frame, Duration::from_micros(input.at.as_micros() as u64));
        let mut told: Vec<round::Told> = Vec::new();
        match &input.what {
            Told::Glimpse(Glimpse::Search(rgb)) => told.extend(self.search(rgb)),
            Told::Glimpse(Glimpse::Moving) => {
                self.beside = None;
                self.wait_for("the board to rest");
            }
            Told::Glimpse(Glimpse::Resting) if self.held.is_none() && self.unseen_since.is_none() => {
                told.extend(self.rounds.resting(at));
            }
            Told::Glimpse(Glimpse::Resting) => told.extend(self.after_patience(frame, at)),
            Told::Glimpse(Glimpse::Still { rgb, frames, refined }) => {
                told.extend(self.camera(CameraState::Back));
                let moment = Moment { number: frame, at, fused: *frames, refined: *refined };
                told.extend(self.still(rgb, &moment, false));
            }
            Told::Glimpse(Glimpse::Hole(rgb)) => self.hole(rgb, frame, at),
            Told::Glimpse(Glimpse::Dark) => told.extend(self.camera(CameraState::Dark)),
            Told::Camera(state) => told.extend(self.camera(*state)),
            Told::Key(Key::EndRound) => told.extend(self.rounds.end_by_key()),
            Told::Key(Key::Look) => {}
            Told::End => told.extend(self.rounds.end()),
        }
        (self.standing.phase, self.standing.round) = (self.rounds.phase(), self.rounds.number());
        self.standing.twenties = self.rounds.twenties();
        told.into_iter()
            .map(|(what, when)| {
                let (frame, at) = when.unwrap_or((frame, at));
                Event { schema: SCHEMA, what, at_ms: at.as_millis() as u64, frame }
            })
            .collect()
    }

    fn wait_for(&mut self, what: &str) {
        if self.standing.waits != what {
            self.standing.waits = what.to_owned();
        }
    }

    fn camera(&mut self, state: CameraState) -> Option<round::Told> {
        if self.camera == state {
            return None;
        }
        self.camera = state;
        match state {
            CameraState::Lost => self.wait_for("the camera"),
            CameraState::Dark => self.wait_for("light: the picture is black or covered"),
            CameraState::Frozen => self.wait_for("the camera: its picture does not change"),
            CameraState::Back => self.wait_for("the board to rest"),
        }
        Some((What::Camera { state }, None))
    }

    fn frame(&self, rgb: &RgbImage) -> Frame {
        Frame { source: self.settings.source.clone(), rgb: rgb.clone(), lens: self.settings.lens }
    }

    /// Looks for a board anywhere.
    fn search(&mut self, rgb: &RgbImage) -> Option<round::Told> {
        let frame = self.frame(rgb);
        match register::register(&frame, &self.settings.options.register) {
            Ok(found) => {
                self.standing.light = Some(light::light(rgb, Some(&found)));
                Some(self.anchor(&frame, found, None))
            }
            Err(reason) => {
                self.standing.light = Some(light::light(rgb, None));
                self.standing.not_found = Some(reason);
                None
            }
        }
    }

    /// Takes `registration` for the board's place from now on.
    fn anchor(&mut self, frame: &Frame, registration: Registration, moved: Option<(f64, f64)>) -> round::Told {
        self.size_px = frame.rgb.dimensions();
        self.area = Some(Some(Area::of(&registration, self.size_px)));
        self.unseen_since = None;
        self.standing.board = true;
        self.standing.not_found = None;
        self.wait_for("the board to rest");
        let board =
            count::assemble(frame, registration.clone(), nothing(), &self.settings.options).report.board.map(Box::new);
        let usual_coverage = registration.quality.coverage;
        self.board = Some(Anchored { registration, usual_coverage });
        let (change, moved_px, turned_deg) = match moved {
            Some((px, turn)) => (BoardChange::Moved, Some(rounded(px, 1)), Some(rounded(turn.to_degrees(), 2))),
            None => (BoardChange::Found, None, None),
        };
        (What::Board { change, moved_px, turned_deg, board }, None)
    }

    /// The board is at rest: count it.
    fn still(&mut self, rgb: &RgbImage, moment: &Moment, patient: bool) -> Vec<round::Told> {
        let frame = self.frame(rgb);
        let Some(anchored) = self.board.clone() else { return Vec::new() };
        let mut laps = Laps { clock: self.settings.options.clock, at: [(self.settings.options.clock)(); 3] };
        let stored = &anchored.registration;
        // Lines that are followed where they no longer lie are still found in places, but not all round.
        let tracked = register::track(&frame, stored).ok();
        let enough = KEPT_COVERAGE * anchored.usual_coverage;
        let found = match tracked {
            Some(tracked) if tracked.quality.coverage >= enough => Some(tracked),
            tracked => register::register(&frame, &self.settings.options.register).ok().or(tracked),
        };
        let Some(found) = found else { return self.unseen(rgb, moment.at) };
        self.standing.light = Some(light::light(rgb, Some(&found)));
        laps.at[1] = (laps.clock)();
        let moved_px = shift_px(stored, &found);
        let scale = stored.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(1.0);
        let turned = turn_of_lines(stored, &found).filter(|turn| turn.abs() > LEAST_TURN_RAD);
        let moved = moved_px > BUMP_MM * scale || turned.is_some();
        let mut detections = detect::detect(&frame, &found, &self.settings.options.detect);
        laps.at[2] = (laps.clock)();
        // What a covered board shows is not to be learnt from: all is tried on copies first.
        let mut colours = self.colours.clone();
        let learnt = self.settle(&mut colours, &mut detections);
        let now = scenery::places(rgb, &found);
        hole::fill(&mut detections, &found, self.scenery.known(), &now, &colours);
        let mut turn = 0.0;
        if moved {
            let rough = self.assembled(&frame, found.clone(), detections.clone());
            let by_discs = rough.scene.and_then(|scene| tracker::turn_between(self.rounds.tracker().discs(), &scene));
            turn = by_discs.or(turned).filter(|turn| turn.abs() > LEAST_TURN_RAD).unwrap_or(0.0);
        } else if learnt != Learnt::Swapped {
            let around = AROUND * detections.set.radius_mm;
            let agree = scenery::agreement(&self.before, &now);
            self.rounds.tracker_mut().steady(&mut detections, |at| agree(at, around));
        }
        let count = self.assembled(&frame, found.clone(), detections);
        let Some(scene) = &count.scene else { return Vec::new() };
        let mut known = self.scenery.clone();
        known.turn(turn);
        let difference = difference(&mut known, &now, scene, anchored.usual_coverage);
        if let Some(Cover { at, beside }) = difference.cover.filter(|cover| !(cover.beside && patient)) {
            let reason = format!("something covers the board near ({:.0}, {:.0}) mm", at.x, at.y);
            let out = self.hold(reason);
            self.beside = beside.then(|| (moment.at, moment.fused, rgb.clone()));
            return out;
        }
        let mut out = Vec::new();
        self.colours = colours;
        self.held = None;
        self.beside = None;
        self.unseen_since = None;
        if learnt == Learnt::Swapped {
            self.rounds.swap_sides();
        }
        if moved {
            self.rounds.tracker_mut().turn(turn);
            out.push(self.anchor(&frame, found, Some((moved_px, turn))));
        } else {
            let usual_coverage = anchored.usual_coverage.max(found.quality.coverage);
            self.board = Some(Anchored { registration: found, usual_coverage });
        }
        if learnt != Learnt::Nothing {
            let [a, b] = [0, 1].map(|side| count.report.sides.get(side).and_then(|side| side.colour.clone()));
            out.push((What::Sides { a, b }, None));
        }
        out.extend(self.settled(&frame, &count, &difference, moment, &laps));
        let surface_mm = scene.registration.surface_mm;
        known.learn(&now, &bases(scene), scene.detections.set.radius_mm, surface_mm, patient);
        self.scenery = known;
        self.before = now;
        out
    }

    /// A hand that only reaches over the ditch will go; a thing that was put there stays, and is counted beside.
    fn after_patience(&mut self, number: u64, at: Duration) -> Vec<round::Told> {
        match self.beside.take() {
            Some((since, fused, rgb)) if at >= since + PATIENCE => {
                self.still(&rgb, &Moment { number, at, fused, refined: false }, true)
            }
            waiting => {
                self.beside = waiting;
                Vec::new()
            }
        }
    }

    /// A complete board: the rounds take it.
    fn settled(
        &mut self,
        frame: &Frame,
        count: &Count,
        difference: &Difference,
        moment: &Moment,
        laps: &Laps,
    ) -> Vec<round::Told> {
        let Some(scene) = &count.scene else { return Vec::new() };
        let seen = Seen { frame: moment.number, at: moment.at, scene, ditch: difference.ditch };
        let mut happened = self.rounds.settled(&seen);
        let hole_mm = scene.registration.hole_mm;
        self.rounds.untold(moment.number, difference.unexplained.iter().any(|at| at.norm() < hole_mm));
        // What is known of 20s may just have changed.
        let mut counted = self.assembled(frame, scene.registration.clone(), scene.detections.clone());
        let report = &mut counted.report;
        for at in &difference.unexplained {
            let reason = format!("something of a disc's size near ({:.0}, {:.0}) mm is not counted", at.x, at.y);
            report.review.push(Review { disc: None, reason, at_mm: None, total_if_other: Default::default() });
            report.status = Status::Review;
        }
        if self.rounds.phase() == Phase::Ready {
            self.trays.iter_mut().flatten().for_each(|tray| tray.learn(&frame.rgb));
        }
        let mut report = report.clone();
        self.counted = Some(Arc::new(Counted { frame: frame.clone(), count: counted }));
        let tray = self.tray(frame, scene);
        self.rounds.keep(&report, tray);
        let same = self.standing.report.as_ref().is_some_and(|before| says_the_same(before, &report));
        self.standing.report = Some(report.clone());
        self.wait_for(match self.rounds.phase() {
            Phase::Ready => "the first shot",
            Phase::Playing => "a shot",
            Phase::Over => "the board to be cleared",
            Phase::Cleared => "an empty board",
        });
        if moment.refined && same && happened.is_empty() {
            return happened;
        }
        let discs = identities(&self.rounds, scene);
        report.timing_ms = laps.timing();
        let settled = What::Settled { fused: moment.fused, discs, ditch: difference.ditch, count: Box::new(report) };
        // The end of the round before stands before what the board shows now.
        let over = happened
            .iter()
            .rposition(|(what, _)| {
                matches!(what, What::Round(_) | What::Abandoned | What::Final { .. } | What::Resumed)
            })
            .map_or(0, |last| last + 1);
        happened.insert(over, (settled, None));
        happened
    }

    fn assembled(&self, frame: &Frame, registration: Registration, detections: detect::Detections) -> Count {
        let options = Options { set_aside: self.rounds.set_aside(), ..self.settings.options.clone() };
        count::assemble(frame, registration, detections, &options)
    }

    /// The board is not where it was, nor anywhere: covered for now, lost after a while.
    fn unseen(&mut self, rgb: &RgbImage, at: Duration) -> Vec<round::Told> {
        let since = *self.unseen_since.get_or_insert(at);
        let covered = self.board.as_ref().is_some_and(|board| {
            let now = scenery::places(rgb, &board.registration);
            let surface_mm = board.registration.surface_mm;
            self.scenery.compare(&now, &[], 0.0, surface_mm).share > COVERED_SHARE
        });
        if covered && at < since + LOST {
            return self.hold("something covers the board".to_owned());
        }
        if at < since + LOST {
            return self.hold("the board is not seen".to_owned());
        }
        self.board = None;
        self.counted = None;
        self.area = Some(None);
        self.unseen_since = None;
        self.standing.board = false;
        self.wait_for("a board");
        vec![(What::Board { change: BoardChange::Lost, moved_px: None, turned_deg: None, board: None }, None)]
    }

    fn hold(&mut self, reason: String) -> Vec<round::Told> {
        self.wait_for(&reason);
        if self.held.is_some() {
            return Vec::new();
        }
        self.held = Some(reason.clone());
        vec![(What::Held { reason }, None)]
    }

    /// Gives the discs their sides: by the names that a person gave, or by what `colours` remembers.
    fn settle(&self, colours: &mut Colours, detections: &mut detect::Detections) -> Learnt {
        let Some(names) = &self.settings.options.sides else { return colours.settle(detections) };
        names.assign(detections);
        colours.keep(detections);
        Learnt::Nothing
    }

    /// The hole rests while the rest of the board moves: whose disc lies in it?
    fn hole(&mut self, rgb: &RgbImage, number: u64, at: Duration) {
        let Some(board) = self.board.clone() else { return };
        let frame = self.frame(rgb);
        let mut detections = detect::detect(&frame, &board.registration, &self.settings.options.detect);
        // A hand may look like a colour of its own: what is known of colours is used, nothing is learnt.
        self.settle(&mut self.colours.clone(), &mut detections);
        let now = scenery::places(rgb, &board.registration);
        hole::fill(&mut detections, &board.registration, self.scenery.known(), &now, &self.colours);
        let count = self.assembled(&frame, board.registration, detections);
        let Some(scene) = &count.scene else { return };
        let (discs, verdicts) = (&scene.detections.discs, &scene.verdicts);
        let inside = discs.iter().zip(verdicts).find(|(_, verdict)| verdict.state == State::InHole);
        let sure = inside.is_none_or(|(disc, _)| disc.confidence >= self.settings.options.min_confidence);
        if sure {
            self.rounds.glance(inside.and_then(|(disc, _)| disc.side), number, at);
        }
    }

    fn tray(&self, frame: &Frame, scene: &Scene) -> Option<[Option<u32>; 2]> {
        if self.trays.iter().all(Option::is_none) {
            return None;
        }
        let scale = scene.registration.camera.scale_px_per_mm(Point::new(0.0, 0.0), 0.0).unwrap_or(1.0);
        let disc_px = scene.detections.set.radius_mm * scale;
        Some([0, 1].map(|side: usize| self.trays[side].as_ref().and_then(|tray| tray.discs(&frame.rgb, disc_px))))
    }
}

/// What differs from the known board; learns another light on the way.
fn difference(known: &mut Scenery, now: &Places, scene: &Scene, usual_coverage: f64) -> Difference {
    let radius_mm = scene.detections.set.radius_mm;
    let (surface_mm, coverage) = (scene.registration.surface_mm, scene.registration.quality.coverage);
    // Discs in the ditch are seen as differences: detected or not, all of them.
    let discs: Vec<_> = bases(scene).into_iter().filter(|at| at.norm() < surface_mm).collect();
    let difference = known.compare(now, &discs, radius_mm, surface_mm);
    if difference.cover.is_none() {
        return difference;
    }
    if Scenery::is_other_light(&difference, coverage, usual_coverage) {
        known.learn(now, &discs, radius_mm, surface_mm, true);
    } else if !known.heal(now, &discs, radius_mm, surface_mm) {
        return difference;
    }
    known.compare(now, &discs, radius_mm, surface_mm)
}

/// By how much the quadrant lines (or the pegs) of a board have turned, radians; None where that cannot be told.
fn turn_of_lines(before: &Registration, now: &Registration) -> Option<f64> {
    let turn = |before: Option<f64>, now: Option<f64>, period: f64| {
        let turn = now? - before?;
        Some(turn - (turn / period).round() * period)
    };
    let lines = turn(before.quadrant_rad, now.quadrant_rad, FRAC_PI_2);
    let pegs = turn(before.peg_rad, now.peg_rad, FRAC_PI_4);
    match (lines, pegs) {
        // One of them may be misread under discs and hands: then nothing is believed.
        (Some(lines), Some(pegs)) => {
            let apart = lines - pegs;
            ((apart - (apart / FRAC_PI_4).round() * FRAC_PI_4).abs() < LEAST_TURN_RAD).then_some(lines)
        }
        (lines, pegs) => lines.or(pegs),
    }
}

/// No discs: for the report of a board alone.
fn nothing() -> detect::Detections {
    let shape = detect::Config::default().shape;
    let set = detect::DiscSet {
        radius_mm: shape.radius_mm,
        radius_sigma_mm: 0.0,
        height_mm: shape.height_mm,
        height_sigma_mm: 0.0,
    };
    detect::Detections { set, discs: Vec::new(), rejected: Vec::new(), palette: [None, None] }
}

fn bases(scene: &Scene) -> Vec<Point<crate::geometry::BoardMm>> {
    scene.placed.iter().map(|placed| placed.base).collect()
}

/// The identities of a count's discs, in its order.
fn identities(rounds: &Rounds, scene: &Scene) -> Vec<Option<u32>> {
    let known = rounds.tracker().discs();
    let id = |at: Point<_>| known.iter().find(|disc| disc.base == at).map(|disc| disc.id);
    scene.placed.iter().map(|placed| id(placed.base)).collect()
}

/// The furthest that a point of the board moved in the picture, px.
fn shift_px(before: &Registration, now: &Registration) -> f64 {
    let places = (0..8).map(|i| {
        let (s, c) = (f64::from(i) * std::f64::consts::FRAC_PI_4).sin_cos();
        Point::new(SHOOTING_LINE_MM * c, SHOOTING_LINE_MM * s)
    });
    places
        .chain([Point::new(0.0, 0.0)])
        .filter_map(|at| Some(before.camera.project(at, 0.0)?.distance(now.camera.project(at, 0.0)?)))
        .fold(0.0, f64::max)
}

/// Do two reports agree in all that a person would act on?
fn says_the_same(before: &Report, now: &Report) -> bool {
    let calls = |report: &Report| -> Vec<(Option<Side>, u32, bool)> {
        report.discs.iter().map(|disc| (disc.side, disc.value, disc.close)).collect()
    };
    let totals = |report: &Report| -> Vec<u32> { report.sides.iter().map(|side| side.total).collect() };
    before.status == now.status && totals(before) == totals(now) && calls(before) == calls(now)
}
