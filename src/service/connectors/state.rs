//! How the connectors do: for the API, the pages, the metrics, and once on stderr.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Place;
use crate::live::event::SCHEMA;
use crate::service::hub::Part;

/// Matches whose sending is remembered for those who look.
const MATCHES: usize = 20;

/// What a connector does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// Nothing was sent yet.
    Idle,
    /// The latest try worked.
    Works,
    /// The latest try failed; it is tried again.
    Fails,
}

/// How a connector does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Connector)]
pub struct State {
    /// `webhook`, `croki` or `mqtt`.
    pub kind: &'static str,
    /// What it is called.
    pub name: String,
    /// Who is spoken to, without what is secret.
    pub receiver: String,
    /// What it does.
    pub state: Doing,
    /// Why the latest try failed, as a sentence.
    pub reason: Option<String>,
    /// Since when it does that.
    pub since: Timestamp,
    /// Messages that were acknowledged.
    pub delivered: u64,
    /// Tries that failed.
    pub failures: u64,
    /// Messages that were given up.
    pub given_up: u64,
    /// How each match was sent, the latest last; croki.nl only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Sent>,
}

/// How a match was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = SentMatch)]
pub struct Sent {
    /// Number of the match.
    pub number: i64,
    /// What became of it.
    pub state: Fate,
    /// Why it was not taken, as a sentence.
    pub reason: Option<String>,
    /// When that was.
    pub at: Timestamp,
}

/// What became of a match that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was acknowledged.
    Sent,
    /// It is tried again.
    Waits,
    /// It cannot be sent as it is.
    Unfit,
}

/// How all connectors do.
#[derive(Debug)]
pub struct States {
    places: Vec<Place>,
    all: Mutex<Vec<State>>,
}

impl States {
    /// No connector yet.
    pub(super) fn new(places: Vec<Place>) -> Arc<Self> {
        Arc::new(Self { places, all: Mutex::default() })
    }

    /// One more connector.
    pub(super) fn add(self: &Arc<Self>, kind: &'static str, name: &str, receiver: String) -> Reporter {
        let state = State {
            kind,
            name: name.to_owned(),
            receiver,
            state: Doing::Idle,
            reason: None,
            since: Timestamp::now(),
            delivered: 0,
            failures: 0,
            given_up: 0,
            matches: Vec::new(),
        };
        let mut all = self.lock();
        all.push(state);
        let at = all.len() - 1;
        self.keep(&all);
        Reporter { states: Arc::clone(self), at }
    }

    /// All of them now.
    pub fn read(&self) -> Vec<State> {
        self.lock().clone()
    }

    fn keep(&self, all: &[State]) {
        self.places.iter().for_each(|place| place.hub.keep(Part::Connectors, json!(all)));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<State>> {
        // Changed field by field: whatever a fault left is still a state to show.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Through which one connector tells how it does.
#[derive(Debug)]
pub(super) struct Reporter {
    states: Arc<States>,
    at: usize,
}

impl Reporter {
    /// The receiver is there.
    pub fn works(&self) {
        self.change(|state| (state.state, state.reason) = (Doing::Works, None));
    }

    /// A message was acknowledged.
    pub fn delivered(&self) {
        self.change(|state| {
            (state.state, state.reason) = (Doing::Works, None);
            state.delivered += 1;
        });
    }

    /// A try failed.
    pub fn fails(&self, reason: &str) {
        self.change(|state| {
            (state.state, state.reason) = (Doing::Fails, Some(reason.to_owned()));
            state.failures += 1;
        });
    }

    /// A message is not tried again.
    pub fn gives_up(&self) {
        self.change(|state| state.given_up += 1);
    }

    /// What became of a match.
    pub fn sent(&self, number: i64, fate: Fate, reason: Option<&str>) {
        self.change(|state| {
            let reason = reason.map(str::to_owned);
            let last = state.matches.iter().find(|sent| sent.number == number);
            if last.is_some_and(|last| last.state == fate && last.reason == reason && fate != Fate::Sent) {
                return;
            }
            state.matches.retain(|sent| sent.number != number);
            state.matches.push(Sent { number, state: fate, reason, at: Timestamp::now() });
            if state.matches.len() > MATCHES {
                state.matches.remove(0);
            }
        });
    }

    /// Changes the state; who listens is told where that is more than a number.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut all = self.states.lock();
        let Some(state) = all.get_mut(self.at) else { return };
        let before = state.clone();
        change(state);
        if before.state != state.state {
            state.since = Timestamp::now();
            match (state.state, &state.reason) {
                (Doing::Fails, Some(reason)) => {
                    tracing::warn!(kind = state.kind, name = state.name, reason, "a connector fails; trying again");
                }
                _ if before.state == Doing::Fails => {
                    tracing::warn!(kind = state.kind, name = state.name, "a connector works again");
                }
                _ => {}
            }
        }
        let told = (before.state, &before.reason, &before.matches) != (state.state, &state.reason, &state.matches);
        let event = json!({ "schema": SCHEMA, "event": "connector", "connector": state });
        if !told {
            return self.states.keep(&all);
        }
        let now: Value = json!(*all);
        for place in &self.states.places {
            place.hub.tell(&event, Some((Part::Connectors, now.clone())));
        }
    }
}
