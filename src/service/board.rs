//! The board's thread: frames to events, told to the hub; rounds with their evidence, told to the referee.
//!
//! The thread restarts by itself: after a fault in it, or when its source fails, half a second later and then twice as
//! long each time up to ten seconds. A finite source is played on its own clock and not faster; the sample round is played
//! again and again, as long as a round is waited for.

mod teller;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;

use super::figures::{Figures, Stage};
use super::hub::{Hub, Part};
use super::pictures::Pictures;
use super::referee::{Play, Referee};
use crate::capture::feed::{Feed, Taken};
use crate::capture::profile::Profile;
use crate::capture::{Frame, LensHint};
use crate::count::{self, Options, SideColours, report};
use crate::live::event::SCHEMA;
use crate::live::input::Told;
use crate::live::{Colours, GateConfig, Key, Player, Region, RoundConfig, Settings};
use crate::register::start::Start;
use crate::score::Format;
use crate::score::rules::RuleSet;
use teller::Teller;

/// First and longest wait before the thread starts again.
const BACKOFF: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];
/// A session that held so long starts again without delay.
const HELD: Duration = Duration::from_secs(60);
/// How often a waiting thread looks whether it is wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Opens a finite source anew.
pub type Open = Arc<dyn Fn() -> Result<Box<dyn Feed>, String> + Send + Sync>;

/// Where frames come from.
#[derive(Clone)]
pub enum Eye {
    /// A source that ends, played on its own clock.
    Finite {
        /// Opens it.
        open: Open,
        /// Play it again as long as a round is waited for.
        again: bool,
        /// So many times faster than its clock.
        speed: f64,
    },
    /// A camera.
    #[cfg(feature = "opencv")]
    Camera {
        /// Which one.
        source: crate::capture::source::Source,
        /// How it is opened.
        wishes: crate::capture::live::Wishes,
    },
}

/// How a board is called.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its id: in addresses and in the configuration.
    pub id: String,
    /// Its name for people, where it has one.
    pub name: Option<String>,
}

/// What a board is told at its start.
#[derive(Clone)]
pub struct Wishes {
    /// The source as people write it, without passwords.
    pub name: String,
    /// Where frames come from.
    pub eye: Eye,
    /// How it is looked at.
    pub look: Look,
}

/// What a person knows of a board, its camera and its discs; nothing of it is required.
#[derive(Clone, Debug)]
pub struct Look {
    /// Horizontal field of view of the pictures, degrees.
    pub fov_deg: Option<f64>,
    /// Name of the camera's calibration; of a camera, its settings are kept there.
    pub calibration: Option<String>,
    /// Colours of side a and side b.
    pub sides: Option<SideColours>,
    /// Chance of a wrong call that is tolerated.
    pub close_level: f64,
    /// Discs of a side, where that is not what the match's rules say.
    pub discs: Option<u32>,
    /// Rest after which a round is over although not every shot was seen.
    pub quiet: Duration,
    /// Trays of side a and side b.
    pub trays: [Option<Region>; 2],
    /// Where a person says that the board is; without it the board is searched for.
    pub start: Option<Arc<Start>>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            fov_deg: None,
            calibration: None,
            sides: None,
            close_level: Options::default().judge.close_level,
            discs: None,
            quiet: RoundConfig::default().quiet,
            trays: [None; 2],
            start: None,
        }
    }
}

/// What other threads hold of a board.
pub struct Board {
    /// Its pictures.
    pub pictures: Arc<Pictures>,
    /// Its figures.
    pub figures: Arc<Figures>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// A board as it is found in a picture.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Where it is.
    pub board: report::Board,
    /// RMS distance of the lines seen from those fitted, px.
    pub residual_px: f64,
    /// Share of the lines that was seen, 0 to 1.
    pub coverage: f64,
}

struct Shared {
    stop: AtomicBool,
    keys: Mutex<Vec<Key>>,
    /// What is wished, and how often that changed.
    wishes: Mutex<(u64, Arc<Wishes>)>,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wishes(&self) -> (u64, Arc<Wishes>) {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keys(&self) -> Vec<Key> {
        std::mem::take(&mut self.keys.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Board {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(label: Label, wishes: Wishes, hub: Arc<Hub>, referee: Referee) -> std::io::Result<Self> {
        let (pictures, figures) = (Arc::default(), Arc::default());
        let shared =
            Shared { stop: AtomicBool::default(), keys: Mutex::default(), wishes: Mutex::new((0, Arc::new(wishes))) };
        let shared = Arc::new(shared);
        let name = format!("board {}", label.id);
        let keeper = Keeper {
            label,
            hub,
            play: referee.play(),
            referee,
            pictures: Arc::clone(&pictures),
            figures: Arc::clone(&figures),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new().name(name).spawn(move || keeper.keep_running())?;
        Ok(Self { pictures, figures, shared, thread: Mutex::new(Some(thread)) })
    }

    /// A person presses a key.
    pub fn press(&self, key: Key) {
        self.shared.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    /// Watches by other wishes from now on: what goes on is begun anew.
    pub fn change(&self, wishes: Wishes) {
        let mut shared = self.shared.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        *shared = (shared.0 + 1, Arc::new(wishes));
    }

    /// Does it watch a camera, and no source that ends?
    pub fn is_live(&self) -> bool {
        !matches!(self.shared.wishes().1.eye, Eye::Finite { .. })
    }

    /// Looks for the board in the newest picture, where `start` points or everywhere; None before the first picture. Takes
    /// as long as a count: not for a thread that serves requests.
    ///
    /// # Errors
    /// No board is found; the reason.
    pub fn look(&self, start: Option<Start>) -> Option<Result<Found, String>> {
        let rgb = self.pictures.newest_rgb()?;
        let (_, wishes) = self.shared.wishes();
        let looked = settings(&wishes, &Play::default(), rgb.dimensions()).and_then(|settings| {
            let mut options = settings.options;
            options.register.start = start.map(Arc::new);
            let count = count::run(&Frame { source: settings.source, rgb, lens: settings.lens }, &options);
            let reason = count.report.review.first().map_or_else(String::new, |doubt| doubt.reason.clone());
            let (board, scene) = count.report.board.zip(count.scene).ok_or(reason)?;
            let quality = scene.registration.quality;
            Ok(Found { board, residual_px: quality.residual_px, coverage: quality.coverage })
        });
        Some(looked)
    }

    /// Asks the thread to end, and does not wait for it.
    pub fn ask_to_stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Ends the thread and waits for it.
    pub fn stop(&self) {
        self.ask_to_stop();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A thread that died has said so already.
            let _ = thread.join();
        }
    }
}

/// How a session ended.
enum Ended {
    /// The source is at its end.
    Source,
    /// The match is another one now, or what is wished.
    Other,
    /// The program is stopped.
    Stopped,
}

/// What held when a session began.
struct Began {
    play: Play,
    change: u64,
    wishes: Arc<Wishes>,
}

/// The thread.
struct Keeper {
    label: Label,
    hub: Arc<Hub>,
    play: watch::Receiver<Play>,
    referee: Referee,
    pictures: Arc<Pictures>,
    figures: Arc<Figures>,
    shared: Arc<Shared>,
}

impl Keeper {
    fn keep_running(self) {
        let mut wait = BACKOFF[0];
        while !self.shared.stopped() {
            let began = Instant::now();
            self.tell_state("starting", None);
            // A fault in one session must not end the watching: it is told, and the next begins with nothing of it.
            let ended = catch_unwind(AssertUnwindSafe(|| self.session()));
            match ended {
                Ok(Ok(Ended::Stopped)) => break,
                Ok(Ok(Ended::Other)) => continue,
                Ok(Ok(Ended::Source)) => {
                    self.tell_state("ended", None);
                    self.rest(Duration::MAX);
                    continue;
                }
                Ok(Err(reason)) => {
                    tracing::warn!(board = self.label.id, reason, "the board's source fails; starting again");
                    self.tell_state("restarting", Some(&reason));
                }
                Err(_) => {
                    tracing::error!(board = self.label.id, "a fault in the board's thread; starting again");
                    self.tell_state("restarting", Some("a fault in crokeye"));
                }
            }
            self.figures.restarted();
            wait = if began.elapsed() > HELD { BACKOFF[0] } else { wait };
            self.rest(wait);
            wait = (wait * 2).min(BACKOFF[1]);
        }
    }

    /// One session: from a source that is opened to its end.
    fn session(&self) -> Result<Ended, String> {
        let (change, wishes) = self.shared.wishes();
        let began = Began { play: self.play.borrow().clone(), change, wishes };
        match &began.wishes.eye {
            Eye::Finite { open, again, speed } => self.finite(open, *again, *speed, &began),
            #[cfg(feature = "opencv")]
            Eye::Camera { source, wishes } => self.camera(source, wishes, &began),
        }
    }

    fn finite(&self, open: &Open, again: bool, speed: f64, began: &Began) -> Result<Ended, String> {
        let mut player: Option<Player> = None;
        let mut teller = Teller::new(self);
        let start = Instant::now();
        let (mut frame, mut at, mut paused) = (0, Duration::ZERO, Duration::ZERO);
        let mut interval = Duration::ZERO;
        loop {
            if again {
                let since = Instant::now();
                if let Some(ended) = self.wait_for_wish(open, began, &teller)? {
                    return Ok(ended);
                }
                paused += since.elapsed();
            }
            let mut feed = open()?;
            let (first, since) = (frame, at);
            teller.state("watching");
            while let Some(taken) = self.next(feed.as_mut())? {
                (frame, at) = (first + taken.number, since + taken.at);
                interval = if taken.number == 1 { taken.at } else { interval };
                let due = start + paused + at.div_f64(speed);
                while Instant::now() < due && !self.shared.stopped() {
                    std::thread::sleep(due.saturating_duration_since(Instant::now()).min(LOOK));
                }
                if let Some(ended) = self.interrupted(began) {
                    return Ok(ended);
                }
                self.pictures.show(&taken.rgb);
                self.figures.frame();
                let player = match &mut player {
                    Some(player) => player,
                    none => {
                        let settings = settings(&began.wishes, &began.play, taken.rgb.dimensions())?;
                        none.insert(Player::new(settings, GateConfig::default()))
                    }
                };
                let mut told: Vec<_> = player.frame(&taken.rgb, frame, at).into_iter().collect();
                told.extend(self.shared.keys().into_iter().map(|key| player.tell(Told::Key(key), frame, at)));
                for (input, events) in &told {
                    teller.take(input, events, player.watcher().standing());
                }
                self.pictures.show_count(player.watcher().counted());
            }
            if !again {
                if let Some(player) = &mut player {
                    let (input, events) = player.tell(Told::End, frame, at);
                    teller.take(&input, &events, player.watcher().standing());
                }
                teller.end();
                return Ok(Ended::Source);
            }
            (frame, at) = (frame + 1, at + interval);
        }
    }

    /// Waits until a round is wanted: one that was proposed, now or before a restart, is decided first.
    fn wait_for_wish(&self, open: &Open, began: &Began, teller: &Teller) -> Result<Option<Ended>, String> {
        self.referee.wait_blocking();
        if self.play.borrow().wants_round {
            return Ok(None);
        }
        teller.state("waiting");
        if self.figures.read().frames == 0
            && let Some(taken) = self.next(open()?.as_mut())?
        {
            self.pictures.show(&taken.rgb);
        }
        while !self.play.borrow().wants_round {
            if let Some(ended) = self.interrupted(began) {
                return Ok(Some(ended));
            }
            self.pictures.catch_up();
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }

    #[cfg(feature = "opencv")]
    fn camera(
        &self,
        source: &crate::capture::source::Source,
        wishes: &crate::capture::live::Wishes,
        began: &Began,
    ) -> Result<Ended, String> {
        use super::camera::Camera;
        let calibration = began.wishes.look.calibration.as_deref();
        let camera = Camera::start(source, wishes, calibration, true, &self.shared.stop);
        let Some(camera) = camera.map_err(|error| error.to_string())? else { return Ok(Ended::Stopped) };
        let keys = camera.keys();
        let mut watcher = crate::live::Watcher::new(settings(&began.wishes, &began.play, camera.size_px)?);
        let mut teller = Teller::new(self);
        teller.state("watching");
        loop {
            if let Some(ended) = self.interrupted(began) {
                return Ok(ended);
            }
            if camera.is_dead() {
                return Err("the thread that looks at frames has died".to_owned());
            }
            for key in self.shared.keys() {
                match key {
                    Key::EndRound => keys.end_round(),
                    Key::Look => keys.look(),
                }
            }
            if let Some(decoded) = camera.decoded() {
                self.figures.stage(Stage::Decode, decoded);
            }
            match camera.picture() {
                Some(rgb) => {
                    self.figures.frame();
                    self.pictures.show(&rgb);
                }
                None => self.pictures.catch_up(),
            }
            if let Some(input) = camera.take(LOOK) {
                let events = watcher.take(&input);
                if let Some(area) = watcher.new_area() {
                    camera.set_area(area);
                }
                teller.take(&input, &events, watcher.standing());
                self.pictures.show_count(watcher.counted());
            }
        }
    }

    /// The next frame of a finite source, and how long it took.
    fn next(&self, feed: &mut dyn Feed) -> Result<Option<Taken>, String> {
        let start = Instant::now();
        let taken = feed.next().map_err(|error| error.to_string())?;
        self.figures.stage(Stage::Decode, start.elapsed());
        Ok(taken)
    }

    /// Is there a reason to end the session?
    fn interrupted(&self, began: &Began) -> Option<Ended> {
        if self.shared.stopped() {
            return Some(Ended::Stopped);
        }
        let other = self.play.borrow().number != began.play.number || self.shared.wishes().0 != began.change;
        other.then_some(Ended::Other)
    }

    /// Waits so long, or until the program is stopped or something else is wished.
    fn rest(&self, wait: Duration) {
        let (since, (change, _)) = (Instant::now(), self.shared.wishes());
        while since.elapsed() < wait && !self.shared.stopped() && self.shared.wishes().0 == change {
            std::thread::sleep(LOOK);
        }
    }

    fn tell_state(&self, state: &str, reason: Option<&str>) {
        let value = json!({
            "id": self.label.id, "name": self.label.name, "source": self.shared.wishes().1.name, "state": state, "reason": reason,
        });
        let event = json!({ "schema": SCHEMA, "event": "watching", "state": state, "reason": reason });
        self.hub.tell(&event, Some((Part::Board, value)));
    }
}

/// How pictures of this size are watched for this match: its rules and discs; without a match by the rules of the NCA.
/// Colours that nobody named are learnt from the board, which also tells a disc in the hole by them; the intake matches
/// them to the players by name.
fn settings(wishes: &Wishes, play: &Play, size_px: (u32, u32)) -> Result<Settings, String> {
    let house = || RuleSet::builtin("nca").and_then(|set| set.settle()).ok().map(|(rules, _)| rules);
    let rules = play.setup.as_ref().map(|setup| setup.rules.clone()).or_else(house);
    let format = play.setup.as_ref().map_or(Format::Singles, |setup| setup.format);
    let look = &wishes.look;
    let discs = look.discs.unwrap_or_else(|| rules.as_ref().map_or(12, |rules| format.discs(rules)));
    let profile = look.calibration.as_deref().map(Profile::load_or_new).transpose();
    let profile = profile.map_err(|error| error.to_string())?.unwrap_or_default();
    let lens = match look.fov_deg {
        Some(fov) => Some(LensHint::from_fov(fov, size_px.0)),
        None => profile.lens_hint(size_px).map_err(|error| error.to_string())?,
    };
    let (w, h) = size_px;
    if look.trays.iter().flatten().any(|tray| !tray.lies_in(size_px)) {
        return Err(format!("a tray does not lie in the picture, which is {w} x {h} px: change it and start again"));
    }
    let mut options = Options { max_discs: discs, sides: look.sides.clone(), clock, ..Options::default() };
    options.judge.close_level = look.close_level;
    options.register.start.clone_from(&look.start);
    Ok(Settings {
        source: wishes.name.clone(),
        options,
        round: RoundConfig { rules, discs, quiet: look.quiet, ..RoundConfig::default() },
        lens: lens.unwrap_or(LensHint { uncropped: true, ..LensHint::default() }),
        colours: Colours::remembered(profile.colours),
        trays: look.trays,
    })
}

/// Time since the program first looked at this clock: of counts only differences matter.
fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests;
