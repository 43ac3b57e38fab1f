//! The only writer of the match log: rounds that the board proposes, and what people decide about them.
//!
//! Orders are taken one after another, so that no two of them are decided on the same state. An order is answered when
//! it is on disk. A proposed round that cannot be written, because the disk is full or the database busy, is kept and
//! tried again; it is lost only with the program.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::gather::Gathered;
use super::hub::{Hub, Part};
use super::proposal::{CountOffer, Offered, ProposalError, propose};
use crate::live::event::SCHEMA;
use crate::score::event::Setup;
use crate::score::export::json::view;
use crate::score::game::Status;
use crate::score::{Command, Record};
use crate::store::{Loaded, Store, StoreError};

/// Orders that may wait.
const QUEUE: usize = 64;
/// Rounds that may wait for the disk.
const MOST_UNWRITTEN: usize = 32;
/// How long to wait before a round is written again.
const AGAIN: Duration = Duration::from_secs(5);
/// Author of what the camera proposes.
const CAMERA: &str = "camera";

/// What the board may know of the match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Play {
    /// How the match is played; None while none is.
    pub setup: Option<Setup>,
    /// Number of the match.
    pub number: Option<i64>,
    /// Is a round waited for: a match goes on, and no proposal waits for a decision?
    pub wants_round: bool,
}

/// What is asked of the referee.
#[derive(Debug)]
enum Order {
    Propose(Box<Gathered>),
    Act { number: i64, expected: Option<u64>, command: Box<Command>, author: String, answer: Answer },
    Start { setup: Box<Setup>, author: String, answer: Answer },
    Play { number: i64, answer: Answer },
    Wait(oneshot::Sender<()>),
}

type Answer = oneshot::Sender<Result<Done, StoreError>>;

/// A match after an order, with what the order appended.
#[derive(Clone, Debug)]
pub struct Done {
    /// The match.
    pub loaded: Loaded,
    /// What was appended.
    pub records: Vec<Record>,
}

/// Why an order came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The rules or the store refuse.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The program is ending.
    #[error("crokeye is ending")]
    Ending,
}

/// Takes orders.
#[derive(Clone, Debug)]
pub struct Referee {
    orders: mpsc::Sender<Order>,
    play: watch::Receiver<Play>,
}

/// The task behind it.
struct Desk {
    store: Store,
    hub: Arc<Hub>,
    accept: bool,
    current: Option<Loaded>,
    play: watch::Sender<Play>,
    unwritten: VecDeque<Gathered>,
}

impl Referee {
    /// Starts the task: it plays the match named, else the newest that goes on. `accept`: rounds without a doubt are
    /// taken at once. The task ends when nobody holds a [`Referee`] any more, after the last order.
    ///
    /// # Errors
    /// The store cannot be read, or there is no such match.
    pub async fn start(
        store: Store,
        hub: Arc<Hub>,
        named: Option<i64>,
        accept: bool,
    ) -> Result<(Self, tokio::task::JoinHandle<()>), StoreError> {
        let number = match named {
            Some(number) => Some(number),
            None => store.list(1).await?.first().filter(|listed| listed.summary.state != "over").map(|one| one.number),
        };
        let current = match number {
            Some(number) => Some(store.load(number).await?),
            None => None,
        };
        let (orders, receiver) = mpsc::channel(QUEUE);
        let (sender, play) = watch::channel(Play::default());
        let mut desk = Desk { store, hub, accept, current, play: sender, unwritten: VecDeque::new() };
        desk.show(None);
        let task = tokio::spawn(desk.work(receiver));
        Ok((Self { orders, play }, task))
    }

    /// What is played, and each change of it.
    pub fn play(&self) -> watch::Receiver<Play> {
        self.play.clone()
    }

    /// Proposes a round, from a thread that may wait.
    pub fn propose_blocking(&self, gathered: Gathered) {
        // The task ends after all boards: should it have died, its end is told by whoever watches it.
        let _ = self.orders.blocking_send(Order::Propose(Box::new(gathered)));
    }

    /// Waits until all that was asked before has been done, from a thread that may wait.
    pub fn wait_blocking(&self) {
        let (answer, answered) = oneshot::channel();
        // Where the task is gone there is nothing to wait for.
        if self.orders.blocking_send(Order::Wait(answer)).is_ok() {
            let _ = answered.blocking_recv();
        }
    }

    /// Has a person's command decided and written.
    ///
    /// # Errors
    /// It is refused, or cannot be written.
    pub async fn act(
        &self,
        number: i64,
        expected: Option<u64>,
        command: Command,
        author: &str,
    ) -> Result<Done, OrderError> {
        let (command, author) = (Box::new(command), author.to_owned());
        self.ask(|answer| Order::Act { number, expected, command, author, answer }).await
    }

    /// Starts a match and plays it from now on.
    ///
    /// # Errors
    /// It is refused, or cannot be written.
    pub async fn start_match(&self, setup: Setup, author: &str) -> Result<Done, OrderError> {
        let (setup, author) = (Box::new(setup), author.to_owned());
        self.ask(|answer| Order::Start { setup, author, answer }).await
    }

    /// Plays another match from now on.
    ///
    /// # Errors
    /// There is none of this number.
    pub async fn play_match(&self, number: i64) -> Result<Done, OrderError> {
        self.ask(|answer| Order::Play { number, answer }).await
    }

    async fn ask(&self, order: impl FnOnce(Answer) -> Order) -> Result<Done, OrderError> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(order(answer)).await.map_err(|_| OrderError::Ending)?;
        Ok(answered.await.map_err(|_| OrderError::Ending)??)
    }
}

impl Desk {
    async fn work(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            let order = tokio::select! {
                order = orders.recv() => order,
                () = tokio::time::sleep(AGAIN), if !self.unwritten.is_empty() => {
                    self.write_waiting().await;
                    continue;
                }
            };
            match order {
                Some(order) => self.take(order).await,
                None => break,
            }
        }
        self.write_waiting().await;
    }

    async fn take(&mut self, order: Order) {
        // Who does not wait for an answer any more has gone away; what was done stays done.
        match order {
            Order::Propose(gathered) => {
                if self.unwritten.len() == MOST_UNWRITTEN {
                    self.unwritten.pop_front();
                }
                self.unwritten.push_back(*gathered);
                self.write_waiting().await;
            }
            Order::Act { number, expected, command, author, answer } => {
                let done = self.store.execute(number, expected, &command, Timestamp::now(), &author).await;
                drop(answer.send(self.done(done)));
            }
            Order::Start { setup, author, answer } => {
                let command = Command::Create(setup);
                let done = self.store.create(&command, Timestamp::now(), &author).await;
                drop(answer.send(self.played(done)));
            }
            Order::Play { number, answer } => {
                let done = self.store.load(number).await;
                drop(answer.send(self.played(done)));
            }
            Order::Wait(answer) => drop(answer.send(())),
        }
    }

    fn done(&mut self, done: Result<(Loaded, Vec<Record>), StoreError>) -> Result<Done, StoreError> {
        let (loaded, records) = done?;
        if self.current.as_ref().is_some_and(|current| current.number == loaded.number) {
            self.current = Some(loaded.clone());
            self.show(records.last());
        }
        Ok(Done { loaded, records })
    }

    fn played(&mut self, loaded: Result<Loaded, StoreError>) -> Result<Done, StoreError> {
        let loaded = loaded?;
        self.current = Some(loaded.clone());
        self.show(None);
        Ok(Done { loaded, records: Vec::new() })
    }

    /// Proposes the rounds that wait, the oldest first, as far as they can be written.
    async fn write_waiting(&mut self) {
        while let Some(gathered) = self.unwritten.front() {
            let Some(number) = self.current.as_ref().map(|current| current.number) else {
                self.told(gathered.round, "no match is played: the round is not kept");
                self.unwritten.pop_front();
                continue;
            };
            match offered(&self.store, number, gathered, self.accept).await {
                Ok(None) => self.told(gathered.round, "its picture is not kept any more: not proposed"),
                Ok(Some(Offered { loaded, records, .. })) => {
                    self.current = Some(loaded);
                    self.show(records.last());
                }
                Err(error) if error.is_refusal() => self.told(gathered.round, &error.to_string()),
                Err(error) => {
                    tracing::error!(%error, round = gathered.round, "a round cannot be written; trying again");
                    self.told(gathered.round, "the round cannot be written: is the disk full? It is tried again");
                    return;
                }
            }
            self.unwritten.pop_front();
        }
    }

    /// Says why a round did not become a proposal.
    fn told(&self, round: u32, reason: &str) {
        tracing::warn!(round, reason, "a round is not proposed");
        let event = json!({ "schema": SCHEMA, "event": "not_proposed", "round": round, "reason": reason });
        self.hub.tell(&event, None);
    }

    /// Tells where the match stands.
    fn show(&mut self, because: Option<&Record>) {
        let shown = self.current.as_ref().map_or(Value::Null, shown);
        let because = because.map(|record| {
            json!({ "step": record.revision, "event": record.event.name(), "author": record.author, "at": record.at })
        });
        let event = json!({ "schema": SCHEMA, "event": "match", "because": because, "match": shown });
        self.hub.tell(&event, Some((Part::Match, shown)));
        let game = self.current.as_ref().map(|current| &current.game);
        let next = Play {
            setup: game.map(|game| game.setup().clone()),
            number: self.current.as_ref().map(|current| current.number),
            wants_round: game
                .is_some_and(|game| game.status() == Status::Open && game.open_proposals().next().is_none()),
        };
        self.play.send_if_modified(|play| {
            let changed = *play != next;
            *play = next;
            changed
        });
    }
}

/// A match as other programs see it, with its handles and what an undo would take back.
pub fn shown(loaded: &Loaded) -> Value {
    let mut value = view(&loaded.game);
    value["number"] = json!(loaded.number);
    value["id"] = json!(loaded.id);
    value["undoable"] = json!(loaded.game.undoable());
    value
}

async fn offered(
    store: &Store,
    number: i64,
    gathered: &Gathered,
    accept: bool,
) -> Result<Option<Offered>, ProposalError> {
    let Some(shown) = &gathered.shown else { return Ok(None) };
    let count = serde_json::to_vec(&shown.count)
        .map_err(|error| crate::score::intake::IntakeError::Parse(error.to_string()))?;
    let offer = CountOffer {
        photo: Some((&shown.photo, "image/jpeg", &format!("round-{}.jpg", gathered.round))),
        clip: Some((&shown.clip, "video/x-motion-jpeg", &format!("round-{}.mjpeg", gathered.round))),
        count: &count,
        accept,
    };
    propose(store, CAMERA, number, &offer).await.map(Some)
}

#[cfg(test)]
mod tests;
