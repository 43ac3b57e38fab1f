//! What happens, told to many: numbered messages, the latest of them kept, and the state they come to.
//!
//! A listener names the last message that it saw and is given what came after. One that asks for more than is kept, that
//! comes from another run of the program, or that is too slow for its queue is given the whole state instead and goes on
//! from there: nobody waits for a listener, and no listener is left with a gap.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Messages that are kept for those who come back.
const KEPT: usize = 1_024;
/// Messages that may wait for one listener.
const QUEUE: usize = 256;

/// Name and version of the state's form.
pub const STATE_SCHEMA: &str = "crokeye.state/1";

/// A message's place: the run of the program and a number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    run: u64,
    number: u64,
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:x}-{}", self.run, self.number)
    }
}

impl FromStr for Id {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (run, number) = text.trim().split_once('-').ok_or(())?;
        let run = u64::from_str_radix(run, 16).map_err(|_| ())?;
        Ok(Self { run, number: number.parse().map_err(|_| ())? })
    }
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its place.
    pub id: Id,
    /// One JSON object.
    pub json: Arc<str>,
}

/// A part of the state; the latest value of each is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What the board shows.
    Board,
    /// The match that is played.
    Match,
    /// How the connectors do.
    Connectors,
}

#[derive(Debug)]
struct State {
    next: u64,
    kept: VecDeque<Message>,
    board: Value,
    game: Value,
    connectors: Value,
}

/// Tells what happens.
#[derive(Debug)]
pub struct Hub {
    run: u64,
    state: Mutex<State>,
    live: broadcast::Sender<Message>,
}

impl Hub {
    /// Nothing happened yet; `run` is a number that no other run of the program has, such as the time of its start.
    pub fn new(run: u64) -> Arc<Self> {
        let kept = VecDeque::with_capacity(KEPT);
        let state = State { next: 1, kept, board: Value::Null, game: Value::Null, connectors: json!([]) };
        Arc::new(Self { run, state: Mutex::new(state), live: broadcast::Sender::new(QUEUE) })
    }

    /// Tells an event, after the part of the state that it changed.
    pub fn tell(&self, event: &Value, changed: Option<(Part, Value)>) {
        let mut state = self.lock();
        if let Some((part, value)) = changed {
            *state.part(part) = value;
        }
        let message = Message { id: Id { run: self.run, number: state.next }, json: event.to_string().into() };
        state.next += 1;
        if state.kept.len() == KEPT {
            state.kept.pop_front();
        }
        state.kept.push_back(message.clone());
        // Sent under the lock, so that a listener who joins now sees it once. Nobody listening is no error.
        let _ = self.live.send(message);
    }

    /// Changes a part of the state without an event.
    pub fn keep(&self, part: Part, value: Value) {
        *self.lock().part(part) = value;
    }

    /// Changes a part of the state in place without an event.
    pub fn update(&self, part: Part, change: impl FnOnce(&mut Value)) {
        change(self.lock().part(part));
    }

    /// What the board shows and the match that is played, both together.
    pub fn parts(&self) -> (Value, Value) {
        let state = self.lock();
        (state.board.clone(), state.game.clone())
    }

    /// The whole state, with the number of the last message in it.
    pub fn snapshot(&self) -> Message {
        let state = self.lock();
        self.snapshot_of(&state)
    }

    /// Listens from now on, or from after `last`.
    pub fn listen(self: &Arc<Self>, last: Option<Id>) -> Listener {
        let state = self.lock();
        let live = self.live.subscribe();
        let first = state.kept.front().map_or(state.next, |message| message.id.number);
        let known = last.filter(|id| id.run == self.run && id.number + 1 >= first && id.number < state.next);
        let backlog = match known {
            Some(id) => state.kept.iter().filter(|message| message.id.number > id.number).cloned().collect(),
            None => VecDeque::from([self.snapshot_of(&state)]),
        };
        drop(state);
        Listener { hub: Arc::clone(self), live, backlog }
    }

    fn snapshot_of(&self, state: &State) -> Message {
        let id = Id { run: self.run, number: state.next - 1 };
        let value = json!({
            "schema": STATE_SCHEMA, "event": "snapshot", "id": id.to_string(), "board": state.board, "match": state.game,
            "connectors": state.connectors,
        });
        Message { id, json: value.to_string().into() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A change is made whole under the lock: one that died while holding it leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn part(&mut self, part: Part) -> &mut Value {
        match part {
            Part::Board => &mut self.board,
            Part::Match => &mut self.game,
            Part::Connectors => &mut self.connectors,
        }
    }
}

/// One who listens.
#[derive(Debug)]
pub struct Listener {
    hub: Arc<Hub>,
    live: broadcast::Receiver<Message>,
    backlog: VecDeque<Message>,
}

impl Listener {
    /// The next message; None once the program ends.
    pub async fn next(&mut self) -> Option<Message> {
        if let Some(message) = self.backlog.pop_front() {
            return Some(message);
        }
        match self.live.recv().await {
            Ok(message) => Some(message),
            Err(RecvError::Lagged(_)) => {
                // What still waits is older than the state, and known with it.
                let state = self.hub.lock();
                self.live = self.hub.live.subscribe();
                Some(self.hub.snapshot_of(&state))
            }
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64) -> Value {
        json!({ "event": "test", "number": number })
    }

    async fn number(listener: &mut Listener) -> Value {
        let message = listener.next().await.unwrap();
        serde_json::from_str::<Value>(&message.json).unwrap()["number"].clone()
    }

    #[tokio::test]
    async fn who_comes_back_is_told_what_came_after() {
        let hub = Hub::new(7);
        (1..=5).for_each(|i| hub.tell(&event(i), None));
        let mut listener = hub.listen("7-3".parse().ok());
        hub.tell(&event(6), None);
        assert_eq!([number(&mut listener).await, number(&mut listener).await, number(&mut listener).await], [4, 5, 6]);
    }

    #[tokio::test]
    async fn who_is_new_or_from_another_run_or_too_old_is_given_the_state() {
        let hub = Hub::new(7);
        hub.tell(&event(1), Some((Part::Board, json!({ "total": 55 }))));
        (0..KEPT as u64 + 5).for_each(|i| hub.tell(&event(i), None));
        for last in [None, "8-3".parse().ok(), "7-2".parse().ok(), "7-99999".parse().ok()] {
            let message = hub.listen(last).next().await.unwrap();
            let value: Value = serde_json::from_str(&message.json).unwrap();
            assert_eq!((&value["event"], &value["board"]["total"]), (&json!("snapshot"), &json!(55)), "{last:?}");
        }
    }

    #[tokio::test]
    async fn a_slow_listener_is_given_the_state_and_goes_on_without_a_repeat() {
        let hub = Hub::new(7);
        let mut listener = hub.listen(None);
        listener.next().await.unwrap();
        (1..=QUEUE as u64 + 50).for_each(|i| hub.tell(&event(i), None));
        let snapshot = listener.next().await.unwrap();
        assert_eq!(snapshot.id.number, QUEUE as u64 + 50);
        hub.tell(&event(1_000), None);
        assert_eq!(number(&mut listener).await, 1_000);
    }

    #[test]
    fn ids_come_back_from_text_and_nonsense_is_none() {
        let id = Id { run: 0xbeef, number: 12 };
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "-", "1", "x-1", "1-x", "1--1", "1-99999999999999999999999"] {
            assert!(text.parse::<Id>().is_err(), "{text}");
        }
    }
}
