//! A broker of messages: each board's state, score and count as retained topics, what happens as messages, and whether we
//! are there at all.
//!
//! | topic, after the prefix | retained | what |
//! |---|---|---|
//! | `status` | yes | `online` or `offline`; the broker says `offline` for us where we cannot (last will) |
//! | `BOARD/board` | yes | watching, phase of the round, being cleared, what is held or waited for |
//! | `BOARD/score` | yes | the match: names, points, totals, 20s, rounds, proposals that wait |
//! | `BOARD/count` | yes | what lies on the board: totals and 20s by side |
//! | `BOARD/event` | no | what happened: `event_type` and what belongs to it |
//!
//! Topics are worked out from the hub's state and sent where they differ from what was sent. A new connection is sent
//! everything again: while there was none nothing had to be kept.

mod discovery;
mod topics;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use rumqttc::{AsyncClient, Event, EventLoop, LastWill, MqttOptions, Packet, QoS, Transport};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::settings::Mqtt as Settings;
use super::state::Reporter;
use super::{ConnectorError, Place, backoff, client, heard};

/// How often the broker hears from us.
const ALIVE: Duration = Duration::from_secs(30);
/// How long a connection may take, s.
const CONNECT_SECS: u64 = 5;
/// Messages that may wait for the connection.
const QUEUE: usize = 1_024;
/// Largest message, bytes.
const LARGEST: usize = 256 << 10;
/// How long a last word may take.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The connector.
pub(super) struct Mqtt {
    prefix: String,
    discovery: String,
    client: AsyncClient,
    connection: EventLoop,
    reporter: Reporter,
}

/// What becomes of the connection.
enum Link {
    Up,
    Down(String),
}

/// Prepares a connector: nothing is sent yet.
///
/// # Errors
/// A topic or the password is none.
pub(super) fn prepare(settings: &Settings, report: impl FnOnce(String) -> Reporter) -> Result<Mqtt, ConnectorError> {
    let wrong = |reason: &str| ConnectorError::Mqtt(reason.to_owned());
    let is_topic =
        |text: &str| !text.contains(['+', '#', '\0']) && !text.starts_with(['/', '$']) && !text.ends_with('/');
    if settings.prefix.is_empty() || !is_topic(&settings.prefix) || !is_topic(&settings.discovery) {
        return Err(wrong("prefix and discovery are topics: no +, no #, no slash at an end"));
    }
    if settings.host.trim().is_empty() {
        return Err(wrong("host is empty"));
    }
    let port = settings.port.unwrap_or(if settings.tls { 8883 } else { 1883 });
    // A broker knows one of each name: a second program with the same prefix would throw the first one out.
    let mut options = MqttOptions::new(settings.prefix.replace('/', "-"), settings.host.trim(), port);
    options.set_keep_alive(ALIVE).set_max_packet_size(LARGEST, LARGEST);
    let will = LastWill::new(topics::status(&settings.prefix), topics::OFFLINE, QoS::AtLeastOnce, true);
    options.set_last_will(will);
    match (&settings.user, &settings.password) {
        (Some(user), Some(password)) => {
            let password = password.read().map_err(|error| ConnectorError::Mqtt(format!("password: {error}")))?;
            options.set_credentials(user, password);
        }
        (Some(user), None) => drop(options.set_credentials(user, "")),
        (None, Some(_)) => return Err(wrong("password: there is no user that it belongs to")),
        (None, None) => {}
    }
    if settings.tls {
        client::provide_cryptography();
        options.set_transport(Transport::tls_with_default_config());
    }
    let (client, mut connection) = AsyncClient::new(options, QUEUE);
    connection.network_options.set_connection_timeout(CONNECT_SECS);
    let reporter = report(format!("{}:{port}", settings.host.trim()));
    Ok(Mqtt { prefix: settings.prefix.clone(), discovery: settings.discovery.clone(), client, connection, reporter })
}

impl Mqtt {
    /// Publishes what happens until the program ends.
    pub async fn work(self, places: Vec<Place>, mut closing: watch::Receiver<bool>) {
        let Self { prefix, discovery, client, connection, reporter } = self;
        let (links, mut link) = mpsc::channel(16);
        let connection = tokio::spawn(keep_connected(connection, links));
        let mut heard = heard(&places);
        let mut voice = Voice { prefix, discovery, client, sent: BTreeMap::new(), up: false };
        loop {
            tokio::select! {
                _ = closing.wait_for(|closing| *closing) => break,
                now = link.recv() => match now {
                    Some(Link::Up) => {
                        reporter.works();
                        voice.begin(&places);
                    }
                    Some(Link::Down(reason)) => {
                        voice.up = false;
                        reporter.fails(&reason);
                    }
                    None => break,
                },
                message = heard.next() => match message {
                    Some((board, message)) => {
                        let place = places.iter().find(|place| place.id == board);
                        let said = place.map_or(0, |place| voice.tell(place, &message.json));
                        (0..said).for_each(|_| reporter.delivered());
                    }
                    None => break,
                },
            }
        }
        if voice.up {
            // Who leaves in order is not given the last will.
            let last = voice.client.publish(topics::status(&voice.prefix), QoS::AtLeastOnce, true, topics::OFFLINE);
            let said = tokio::time::timeout(LAST_WORD, last).await;
            if said.is_ok_and(|said| said.is_ok()) && voice.client.disconnect().await.is_ok() {
                let _ = tokio::time::timeout(LAST_WORD, async { while link.recv().await.is_some() {} }).await;
            }
        }
        connection.abort();
    }
}

/// Keeps the connection, anew when it ends. A task of its own: polled together with anything else a connection that is
/// being made would be dropped whenever the other thing happens.
async fn keep_connected(mut connection: EventLoop, links: mpsc::Sender<Link>) {
    let mut tries = 0;
    loop {
        let link = match connection.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                tries = 0;
                Link::Up
            }
            Ok(Event::Outgoing(rumqttc::Outgoing::Disconnect)) => return,
            Ok(_) => continue,
            Err(error) => {
                tries += 1;
                Link::Down(why(&error))
            }
        };
        let is_down = matches!(link, Link::Down(_));
        if links.send(link).await.is_err() {
            return;
        }
        if is_down {
            tokio::time::sleep(backoff::wait(tries)).await;
        }
    }
}

/// The innermost reason is the one that says something.
fn why(error: &rumqttc::ConnectionError) -> String {
    if let rumqttc::ConnectionError::ConnectionRefused(code) = error {
        return format!("the broker refuses: {code:?}");
    }
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

/// What is said to the broker.
struct Voice {
    prefix: String,
    discovery: String,
    client: AsyncClient,
    /// What each retained topic was sent.
    sent: BTreeMap<String, String>,
    up: bool,
}

impl Voice {
    /// A new connection: everything is said.
    fn begin(&mut self, places: &[Place]) {
        self.up = true;
        self.sent.clear();
        self.retain(topics::status(&self.prefix), topics::ONLINE.to_owned());
        for place in places {
            if !self.discovery.is_empty() {
                for (topic, config) in discovery::configs(&self.discovery, &self.prefix, &place.id) {
                    self.retain(topic, config.to_string());
                }
            }
            self.show(place);
        }
    }

    /// Says what a message changes; how many messages that were.
    fn tell(&mut self, place: &Place, json: &str) -> usize {
        if !self.up {
            return 0;
        }
        let mut said = self.show(place);
        if let Some(event) = serde_json::from_str::<Value>(json).ok().as_ref().and_then(topics::event) {
            // News that cannot be sent now is none later.
            let topic = topics::of(&self.prefix, &place.id, "event");
            said += usize::from(self.client.try_publish(topic, QoS::AtLeastOnce, false, event.to_string()).is_ok());
        }
        said
    }

    /// Says the retained topics of a board that have changed.
    fn show(&mut self, place: &Place) -> usize {
        let Ok(state) = serde_json::from_str::<Value>(&place.hub.snapshot().json) else { return 0 };
        let topics = topics::retained(&self.prefix, &place.id, &state);
        topics.into_iter().filter(|(topic, value)| self.retain(topic.clone(), value.to_string())).count()
    }

    /// Says a retained topic if it has changed. One that finds no room is said with the next message.
    fn retain(&mut self, topic: String, value: String) -> bool {
        let is_new = self.sent.get(&topic) != Some(&value);
        let said = is_new && self.client.try_publish(&topic, QoS::AtLeastOnce, true, value.clone()).is_ok();
        if said {
            self.sent.insert(topic, value);
        }
        said
    }
}
