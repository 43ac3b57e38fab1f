//! The board's thread: frames to events, told to the hub; rounds with their evidence, told to the referee.
//!
//! The thread restarts by itself: after a fault in it, or when its source fails, half a second later and then twice as
//! long each time up to ten seconds. A finite source is played on its own clock and not faster; the sample round is played
//! again and again, as long as a round is waited for.

mod teller;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::watch;

use super::figures::Figures;
use super::hub::{Hub, Part};
use super::pictures::Pictures;
use super::referee::{Play, Referee};
use crate::capture::LensHint;
use crate::capture::feed::Feed;
use crate::count::Options;
use crate::live::event::SCHEMA;
use crate::live::input::Told;
use crate::live::{GateConfig, Key, Player, RoundConfig, Settings};
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

/// What a board is told at its start.
#[derive(Clone)]
pub struct Wishes {
    /// The source as people write it, without passwords.
    pub name: String,
    /// Where frames come from.
    pub eye: Eye,
    /// What is known about the lens.
    pub lens: LensHint,
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

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    keys: Mutex<Vec<Key>>,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
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
    pub fn start(wishes: Wishes, hub: Arc<Hub>, referee: Referee) -> std::io::Result<Self> {
        let (pictures, figures, shared) = (Arc::default(), Arc::default(), Arc::new(Shared::default()));
        let keeper = Keeper {
            wishes,
            hub,
            play: referee.play(),
            referee,
            pictures: Arc::clone(&pictures),
            figures: Arc::clone(&figures),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new().name("board".to_owned()).spawn(move || keeper.keep_running())?;
        Ok(Self { pictures, figures, shared, thread: Mutex::new(Some(thread)) })
    }

    /// A person presses a key.
    pub fn press(&self, key: Key) {
        self.shared.keys.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    /// Ends the thread and waits for it.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
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
    /// The match is another one now.
    Match,
    /// The program is stopped.
    Stopped,
}

/// The thread.
struct Keeper {
    wishes: Wishes,
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
                Ok(Ok(Ended::Match)) => continue,
                Ok(Ok(Ended::Source)) => {
                    self.tell_state("ended", None);
                    break;
                }
                Ok(Err(reason)) => {
                    tracing::warn!(reason, "the board's source fails; starting again");
                    self.tell_state("restarting", Some(&reason));
                }
                Err(_) => {
                    tracing::error!("a fault in the board's thread; starting again");
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
        let play = self.play.borrow().clone();
        let settings = settings(&self.wishes, &play);
        match &self.wishes.eye {
            Eye::Finite { open, again, speed } => self.finite(open, *again, *speed, settings, &play),
            #[cfg(feature = "opencv")]
            Eye::Camera { source, wishes } => self.camera(source, wishes, settings, &play),
        }
    }

    fn finite(&self, open: &Open, again: bool, speed: f64, settings: Settings, play: &Play) -> Result<Ended, String> {
        let mut player = Player::new(settings, GateConfig::default());
        let mut teller = Teller::new(self);
        let start = Instant::now();
        let (mut frame, mut at, mut paused) = (0, Duration::ZERO, Duration::ZERO);
        let mut interval = Duration::ZERO;
        loop {
            let mut feed = open()?;
            let (first, since) = (frame, at);
            teller.state("watching");
            while let Some(taken) = feed.next().map_err(|error| error.to_string())? {
                (frame, at) = (first + taken.number, since + taken.at);
                interval = if taken.number == 1 { taken.at } else { interval };
                let due = start + paused + at.div_f64(speed);
                while Instant::now() < due && !self.shared.stopped() {
                    std::thread::sleep(due.saturating_duration_since(Instant::now()).min(LOOK));
                }
                if let Some(ended) = self.interrupted(play) {
                    return Ok(ended);
                }
                self.pictures.show(&taken.rgb);
                self.figures.frame();
                let mut told: Vec<_> = player.frame(&taken.rgb, frame, at).into_iter().collect();
                told.extend(self.shared.keys().into_iter().map(|key| player.tell(Told::Key(key), frame, at)));
                for (input, events) in &told {
                    teller.take(input, events, player.watcher().standing());
                }
                self.pictures.show_count(player.watcher().counted());
            }
            if !again {
                let (input, events) = player.tell(Told::End, frame, at);
                teller.take(&input, &events, player.watcher().standing());
                teller.end();
                return Ok(Ended::Source);
            }
            let since = Instant::now();
            self.referee.wait_blocking();
            teller.state("waiting");
            while !self.play.borrow().wants_round {
                if let Some(ended) = self.interrupted(play) {
                    return Ok(ended);
                }
                self.pictures.catch_up();
                std::thread::sleep(LOOK);
            }
            paused += since.elapsed();
            (frame, at) = (frame + 1, at + interval);
        }
    }

    #[cfg(feature = "opencv")]
    fn camera(
        &self,
        source: &crate::capture::source::Source,
        wishes: &crate::capture::live::Wishes,
        settings: Settings,
        play: &Play,
    ) -> Result<Ended, String> {
        use super::camera::Camera;
        let camera = Camera::start(source, wishes, None, true, &self.shared.stop).map_err(|error| error.to_string())?;
        let Some(camera) = camera else { return Ok(Ended::Stopped) };
        let keys = camera.keys();
        let mut watcher = crate::live::Watcher::new(settings);
        let mut teller = Teller::new(self);
        teller.state("watching");
        loop {
            if let Some(ended) = self.interrupted(play) {
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

    /// Is there a reason to end the session?
    fn interrupted(&self, began: &Play) -> Option<Ended> {
        if self.shared.stopped() {
            return Some(Ended::Stopped);
        }
        let other = self.play.borrow().number != began.number;
        other.then_some(Ended::Match)
    }

    fn rest(&self, wait: Duration) {
        let until = Instant::now() + wait;
        while Instant::now() < until && !self.shared.stopped() {
            std::thread::sleep(LOOK);
        }
    }

    fn tell_state(&self, state: &str, reason: Option<&str>) {
        let value = json!({ "source": self.wishes.name, "state": state, "reason": reason });
        let event = json!({ "schema": SCHEMA, "event": "watching", "state": state, "reason": reason });
        self.hub.tell(&event, Some((Part::Board, value)));
    }
}

/// How the board is watched for this match: its rules and discs; without a match by the rules of the NCA. Colours are
/// learnt from the board, which also tells a disc in the hole by them; the intake matches them to the players by name.
fn settings(wishes: &Wishes, play: &Play) -> Settings {
    let house = || RuleSet::builtin("nca").and_then(|set| set.settle()).ok().map(|(rules, _)| rules);
    let rules = play.setup.as_ref().map(|setup| setup.rules.clone()).or_else(house);
    let format = play.setup.as_ref().map_or(Format::Singles, |setup| setup.format);
    let discs = rules.as_ref().map_or(12, |rules| format.discs(rules));
    Settings {
        source: wishes.name.clone(),
        options: Options { max_discs: discs, ..Options::default() },
        round: RoundConfig { rules, discs, ..RoundConfig::default() },
        lens: wishes.lens,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests;
