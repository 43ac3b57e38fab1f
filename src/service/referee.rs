//! The only writer of the match log: rounds that the boards propose, and what people decide about them.
//!
//! Orders are taken one after another, so that no two of them are decided on the same state. An order is answered when
//! it is on disk. A proposed round that cannot be written, because the disk is full or the database busy, is kept and
//! tried again; it is lost only with the program. No match is played at two boards at once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

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

/// A board whose score is kept: who is told, and how rounds are taken.
#[derive(Debug)]
pub struct Seat {
    /// The board's id.
    pub board: String,
    /// Told what happens at it.
    pub hub: Arc<Hub>,
    /// The match to play; else the one that it played last, and for the first board the newest, if they are not over.
    pub named: Option<i64>,
    /// Take rounds without a doubt at once.
    pub accept: bool,
}

/// What is asked of the referee; boards by their place in the list of sheets.
#[derive(Debug)]
enum Order {
    Propose { at: usize, gathered: Box<Gathered> },
    Act { number: i64, expected: Option<u64>, command: Box<Command>, author: String, answer: Answer },
    Start { at: usize, setup: Box<Setup>, author: String, answer: Answer },
    Play { at: usize, number: i64, answer: Answer },
    Wait(oneshot::Sender<()>),
}

type Answer = oneshot::Sender<Result<Done, OrderError>>;

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
    /// Another board plays it.
    #[error("match {number} is played at board {board}: start another one there first")]
    Elsewhere {
        /// Which match.
        number: i64,
        /// The other board's id.
        board: String,
    },
    /// The program is ending.
    #[error("crokeye is ending")]
    Ending,
}

/// Takes orders for one board; all boards' orders go to the same task.
#[derive(Clone, Debug)]
pub struct Referee {
    at: usize,
    orders: mpsc::Sender<Order>,
    play: watch::Receiver<Play>,
}

/// What is known of one board.
struct Sheet {
    board: String,
    hub: Arc<Hub>,
    accept: bool,
    current: Option<Loaded>,
    play: watch::Sender<Play>,
    /// Rounds that wait for the disk, with the match that they were played in.
    unwritten: VecDeque<(Option<i64>, Gathered)>,
}

/// The task behind it.
struct Desk {
    store: Store,
    sheets: Vec<Sheet>,
    /// When rounds that wait are written again.
    again: Option<Instant>,
}

impl Referee {
    /// Starts the task and gives a [`Referee`] for each board, in their order. The task ends when nobody holds one any
    /// more, after the last order.
    ///
    /// # Errors
    /// The store cannot be read, there is no such match, or two boards are named the same one.
    pub async fn start(store: Store, seats: Vec<Seat>) -> Result<(Vec<Self>, JoinHandle<()>), OrderError> {
        let matches = matches_of(&store, &seats).await?;
        let (orders, receiver) = mpsc::channel(QUEUE);
        let (mut sheets, mut referees) = (Vec::new(), Vec::new());
        for (at, (seat, number)) in seats.into_iter().zip(matches).enumerate() {
            let current = match number {
                Some(number) => Some(store.load(number).await?),
                None => None,
            };
            let Seat { board, hub, accept, .. } = seat;
            let (sender, play) = watch::channel(Play::default());
            let sheet = Sheet { board, hub, accept, current, play: sender, unwritten: VecDeque::new() };
            sheet.show(None);
            sheets.push(sheet);
            referees.push(Self { at, orders: orders.clone(), play });
        }
        let task = tokio::spawn(Desk { store, sheets, again: None }.work(receiver));
        Ok((referees, task))
    }

    /// What is played at the board, and each change of it.
    pub fn play(&self) -> watch::Receiver<Play> {
        self.play.clone()
    }

    /// Proposes a round, from a thread that may wait.
    pub fn propose_blocking(&self, gathered: Gathered) {
        // The task ends after all boards: should it have died, its end is told by whoever watches it.
        let _ = self.orders.blocking_send(Order::Propose { at: self.at, gathered: Box::new(gathered) });
    }

    /// Waits until all that was asked before has been done, from a thread that may wait.
    pub fn wait_blocking(&self) {
        let (answer, answered) = oneshot::channel();
        // Where the task is gone there is nothing to wait for.
        if self.orders.blocking_send(Order::Wait(answer)).is_ok() {
            let _ = answered.blocking_recv();
        }
    }

    /// Has a person's command about a match decided and written, whichever board plays it.
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

    /// Starts a match and plays it at the board from now on.
    ///
    /// # Errors
    /// It is refused, or cannot be written.
    pub async fn start_match(&self, setup: Setup, author: &str) -> Result<Done, OrderError> {
        let (at, setup, author) = (self.at, Box::new(setup), author.to_owned());
        self.ask(|answer| Order::Start { at, setup, author, answer }).await
    }

    /// Plays another match at the board from now on.
    ///
    /// # Errors
    /// There is none of this number, or another board plays it.
    pub async fn play_match(&self, number: i64) -> Result<Done, OrderError> {
        self.ask(|answer| Order::Play { at: self.at, number, answer }).await
    }

    async fn ask(&self, order: impl FnOnce(Answer) -> Order) -> Result<Done, OrderError> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(order(answer)).await.map_err(|_| OrderError::Ending)?;
        answered.await.map_err(|_| OrderError::Ending)?
    }
}

/// What each board plays at the start: the match named, else the one it played last, else, for the first board, the
/// newest; the latter two only while they are not over. No match is played twice.
async fn matches_of(store: &Store, seats: &[Seat]) -> Result<Vec<Option<i64>>, OrderError> {
    let mut taken: Vec<Option<i64>> = vec![None; seats.len()];
    for (at, seat) in seats.iter().enumerate() {
        let Some(number) = seat.named else { continue };
        if let Some(other) = taken.iter().position(|other| *other == Some(number)) {
            return Err(OrderError::Elsewhere { number, board: seats[other].board.clone() });
        }
        taken[at] = Some(number);
    }
    let played = store.played().await?;
    for (at, seat) in seats.iter().enumerate() {
        let Some(&number) = played.get(&seat.board) else { continue };
        if taken[at].is_none()
            && !taken.contains(&Some(number))
            && !matches!(store.load(number).await?.game.status(), Status::Over { .. })
        {
            taken[at] = Some(number);
        }
    }
    if let Some(first) = taken.first().copied()
        && first.is_none()
        && let Some(newest) = store.list(1).await?.first().filter(|newest| newest.summary.state != "over")
        && !taken.contains(&Some(newest.number))
    {
        taken[0] = Some(newest.number);
    }
    Ok(taken)
}

impl Desk {
    async fn work(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            let again = self.again.unwrap_or_else(|| Instant::now() + AGAIN);
            let order = tokio::select! {
                order = orders.recv() => order,
                () = tokio::time::sleep_until(again), if self.again.is_some() => {
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
            Order::Propose { at, gathered } => {
                if let Some(sheet) = self.sheets.get_mut(at) {
                    if sheet.unwritten.len() == MOST_UNWRITTEN {
                        sheet.unwritten.pop_front();
                    }
                    let number = sheet.current.as_ref().map(|current| current.number);
                    sheet.unwritten.push_back((number, *gathered));
                }
                self.write_waiting().await;
            }
            Order::Act { number, expected, command, author, answer } => {
                let done = self.store.execute(number, expected, &command, Timestamp::now(), &author).await;
                drop(answer.send(self.done(done)));
            }
            Order::Start { at, setup, author, answer } => {
                let command = Command::Create(setup);
                let done = self.store.create(&command, Timestamp::now(), &author).await;
                drop(answer.send(self.played(at, done).await));
            }
            Order::Play { at, number, answer } => {
                let elsewhere =
                    self.sheets.iter().enumerate().find(|(other, sheet)| *other != at && sheet.plays(number));
                let done = match elsewhere {
                    Some((_, sheet)) => Err(OrderError::Elsewhere { number, board: sheet.board.clone() }),
                    None => {
                        let loaded = self.store.load(number).await;
                        self.played(at, loaded).await
                    }
                };
                drop(answer.send(done));
            }
            Order::Wait(answer) => drop(answer.send(())),
        }
    }

    fn done(&mut self, done: Result<(Loaded, Vec<Record>), StoreError>) -> Result<Done, OrderError> {
        let (loaded, records) = done?;
        for sheet in self.sheets.iter_mut().filter(|sheet| sheet.plays(loaded.number)) {
            sheet.current = Some(loaded.clone());
            sheet.show(records.last());
        }
        Ok(Done { loaded, records })
    }

    async fn played(&mut self, at: usize, loaded: Result<Loaded, StoreError>) -> Result<Done, OrderError> {
        let loaded = loaded?;
        if let Some(sheet) = self.sheets.get_mut(at) {
            sheet.current = Some(loaded.clone());
            sheet.show(None);
            if let Err(error) = self.store.keep_played(&sheet.board, loaded.number).await {
                tracing::error!(%error, board = sheet.board, "after a restart the board may play another match");
            }
        }
        Ok(Done { loaded, records: Vec::new() })
    }

    /// Proposes the rounds that wait, the oldest of each board first, as far as they can be written.
    async fn write_waiting(&mut self) {
        let mut all = true;
        for sheet in &mut self.sheets {
            all &= sheet.write_waiting(&self.store).await;
        }
        self.again = (!all).then(|| Instant::now() + AGAIN);
    }
}

impl Sheet {
    fn plays(&self, number: i64) -> bool {
        self.current.as_ref().is_some_and(|current| current.number == number)
    }

    /// As [`Desk::write_waiting`] for one board; could all be written?
    async fn write_waiting(&mut self, store: &Store) -> bool {
        while let Some((number, gathered)) = self.unwritten.front() {
            let Some(number) = *number else {
                self.told(gathered.round, "no match is played: the round is not kept");
                self.unwritten.pop_front();
                continue;
            };
            match offered(store, number, gathered, self.accept).await {
                Ok(None) => self.told(gathered.round, "its picture is not kept any more: not proposed"),
                Ok(Some(Offered { loaded, records, .. })) if self.plays(number) => {
                    self.current = Some(loaded);
                    self.show(records.last());
                }
                Ok(Some(_)) => {}
                Err(error) if error.is_refusal() => self.told(gathered.round, &error.to_string()),
                Err(error) => {
                    tracing::error!(%error, round = gathered.round, "a round cannot be written; trying again");
                    self.told(gathered.round, "the round cannot be written: is the disk full? It is tried again");
                    return false;
                }
            }
            self.unwritten.pop_front();
        }
        true
    }

    /// Says why a round did not become a proposal.
    fn told(&self, round: u32, reason: &str) {
        tracing::warn!(board = self.board, round, reason, "a round is not proposed");
        let event = json!({ "schema": SCHEMA, "event": "not_proposed", "round": round, "reason": reason });
        self.hub.tell(&event, None);
    }

    /// Tells where the match stands.
    fn show(&self, because: Option<&Record>) {
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
