//! Connectors: what happens here, told to programs elsewhere.
//!
//! | module | who is told |
//! |---|---|
//! | [`webhook`] | any program: signed requests, one event each |
//! | [`croki`] | the laptop of a Dutch championship: scores of matches that it knows |
//! | [`mqtt`] | a broker: state, score and events, announced to Home Assistant |
//! | [`settings`], [`state`] | what the configuration says; how they do |
//!
//! Each is a task of its own that listens at the hub like everybody else: a receiver that is slow or dead is given the
//! state when it is there again, and nobody waits for it.

mod backoff;
mod client;
pub mod croki;
mod mqtt;
pub mod settings;
mod signature;
pub mod state;
pub mod webhook;

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, SelectAll, Stream, StreamExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::hub::{Hub, Message};
use crate::store::{Store, StoreError};
use croki::{Croki, Laptop};
use settings::Settings;
use state::{State, States};
use webhook::Hook;

/// A board that is told about.
#[derive(Clone, Debug)]
pub struct Place {
    /// What it is called in addresses and topics.
    pub id: String,
    /// What happens there.
    pub hub: Arc<Hub>,
}

/// Why a connector cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ConnectorError {
    /// A webhook is none.
    #[error("[[webhook]] {name:?}: {reason}")]
    Webhook {
        /// What it is called.
        name: String,
        /// Why.
        reason: String,
    },
    /// Two webhooks of a name.
    #[error("[[webhook]] {0:?}: there are two of this name; what a hook was told is remembered by it")]
    Twice(String),
    /// croki.nl is not there like this.
    #[error("[croki]: {0}")]
    Croki(String),
    /// No broker is there like this.
    #[error("[mqtt]: {0}")]
    Mqtt(String),
    /// What was told cannot be remembered.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no client.
    #[error("no client for HTTP: {0}")]
    Client(String),
}

/// The connectors of a program.
#[derive(Debug)]
pub struct Connectors {
    states: Arc<States>,
    laptop: Option<Laptop>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Connectors {
    /// Starts all of them; they end when `closing` turns true.
    ///
    /// # Errors
    /// See [`ConnectorError`]: what a person wrote is looked at before anything is started. That a receiver is not there
    /// is no error.
    pub async fn start(
        settings: &Settings,
        places: Vec<Place>,
        store: &Store,
        closing: &watch::Receiver<bool>,
    ) -> Result<Self, ConnectorError> {
        let states = States::new(places.clone());
        let mut hooks = Vec::new();
        for (at, hook) in settings.webhook.iter().enumerate() {
            if settings.webhook[..at].iter().any(|other| other.name == hook.name) {
                return Err(ConnectorError::Twice(hook.name.clone()));
            }
            hooks.push(Hook::new(hook, store.clone(), &states)?);
        }
        let laptop = settings.croki.as_ref().map(Laptop::new).transpose()?;
        let report = |receiver: String| states.add("mqtt", "mqtt", receiver);
        let mqtt = settings.mqtt.as_ref().map(|settings| mqtt::prepare(settings, report)).transpose()?;

        let mut tasks = Vec::new();
        for hook in hooks {
            hook.register().await?;
            tasks.push(tokio::spawn(until(closing.clone(), hook.work(places.clone()))));
        }
        if let Some(laptop) = laptop.clone() {
            let reporter = states.add("croki", "croki.nl", laptop.shown());
            let croki = Croki { laptop, store: store.clone(), reporter };
            croki.register().await?;
            tasks.push(tokio::spawn(until(closing.clone(), croki.work(places.clone()))));
        }
        if let Some(mqtt) = mqtt {
            tasks.push(tokio::spawn(mqtt.work(places, closing.clone())));
        }
        Ok(Self { states, laptop, tasks: Mutex::new(tasks) })
    }

    /// How they do.
    pub fn states(&self) -> Vec<State> {
        self.states.read()
    }

    /// The laptop of a championship, where there is one.
    pub fn laptop(&self) -> Option<&Laptop> {
        self.laptop.as_ref()
    }

    /// Waits for their end, after `closing` has turned true.
    pub async fn ended(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            // A task that died has said so already.
            let _ = task.await;
        }
    }
}

/// Works until the program ends. What was not acknowledged then is sent again by the next run.
async fn until(mut closing: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        _ = closing.wait_for(|closing| *closing) => {}
        () = work => {}
    }
}

/// What happens at a board, with the board's id.
type Heard = SelectAll<Pin<Box<dyn Stream<Item = (String, Message)> + Send>>>;

/// Listens at all boards.
fn heard(places: &[Place]) -> Heard {
    stream::select_all(places.iter().map(|place| {
        let listener = place.hub.listen(None);
        let messages = stream::unfold((place.id.clone(), listener), async |(id, mut listener)| {
            let message = listener.next().await?;
            Some(((id.clone(), message), (id, listener)))
        });
        messages.boxed()
    }))
}
