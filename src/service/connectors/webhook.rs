//! A program that is sent what happens.
//!
//! Steps of a match are read from the log and not from the hub: what is still to be sent is what the log holds beyond the
//! receiver's place in it. So none is lost, neither with the program nor while the receiver is away, and each has the same
//! id whenever it is sent. What happens at the board is sent while it is new: a few tries, then the next.
//! A hook is one task and sends one message at a time: its order is kept, and it holds up nobody but itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Client, Url};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::settings::Webhook;
use super::state::{Reporter, States};
use super::{ConnectorError, Place, backoff, client, heard, signature};
use crate::score::Record;
use crate::score::game::Match;
use crate::service::referee::shown;
use crate::store::{Loaded, Store, StoreError, Untold};

/// Kinds of events that a hook may ask for: the steps of matches (`match`, or one by `match.NAME`), what `crokeye watch`
/// tells, what the service tells, and `*` for all of them.
pub const KINDS: [&str; 19] = [
    "*",
    "match",
    "board",
    "settled",
    "disc",
    "twenty",
    "sides",
    "advice",
    "held",
    "clearing",
    "round",
    "final",
    "resumed",
    "abandoned",
    "camera",
    "standing",
    "watching",
    "not_proposed",
    "connector",
];
/// The steps of a match, as its log names them.
pub const STEPS: [&str; 12] = [
    "match_created",
    "round_proposed",
    "proposal_dismissed",
    "round_recorded",
    "round_corrected",
    "round_voided",
    "first_set",
    "side_renamed",
    "evidence_attached",
    "match_finished",
    "undone",
    "redone",
];
/// Name and version of what is sent.
pub const SCHEMA: &str = "crokeye.hook/1";

/// How often something new is tried.
const NEWS_TRIES: u32 = 5;
/// How often what the receiver itself refuses is tried.
const REFUSED_TRIES: u32 = 10;
/// How long a step of a match is tried.
const STEP_PATIENCE: Duration = Duration::from_secs(3 * 24 * 3600);
/// How often the log is looked at without being told: other programs write it too.
const LOOK: Duration = Duration::from_secs(30);

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// A hook that is ready to start.
pub(super) struct Hook {
    receiver: String,
    url: Url,
    wanted: Wanted,
    key: Option<Vec<u8>>,
    client: Client,
    store: Store,
    reporter: Reporter,
    /// Places that are acknowledged, of which the store may not know yet.
    acknowledged: HashMap<i64, u64>,
}

/// What kind of event a message holds.
#[derive(Deserialize)]
struct Kind {
    event: String,
}

/// How long a message is worth trying.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// A step of a match.
    Step,
    /// What happens at the board.
    News,
}

/// Why a try failed.
struct Failure {
    reason: String,
    /// The receiver was there and will not have it.
    refused: bool,
    retry_after: Option<Duration>,
}

impl Hook {
    /// From what the configuration says.
    ///
    /// # Errors
    /// The address, the secret or a kind of event is none.
    pub fn new(settings: &Webhook, store: Store, states: &Arc<States>) -> Result<Self, ConnectorError> {
        let wrong = |reason: String| ConnectorError::Webhook { name: settings.name.clone(), reason };
        let url = client::address(&settings.url).map_err(wrong)?;
        let key = match &settings.secret {
            Some(secret) => {
                let secret = secret.read().map_err(|error| wrong(format!("secret: {error}")))?;
                Some(signature::key(&secret).map_err(|reason| wrong(format!("secret: {reason}")))?)
            }
            None => None,
        };
        Ok(Self {
            receiver: format!("webhook {}", settings.name),
            wanted: Wanted::new(&settings.events).map_err(wrong)?,
            key,
            client: client::client()?,
            store,
            reporter: states.add("webhook", &settings.name, client::shown(&url)),
            url,
            acknowledged: HashMap::new(),
        })
    }

    /// Has the store remember it: a hook that is new is told from now on.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn register(&self) -> Result<(), StoreError> {
        self.store.register(&self.receiver, Timestamp::now()).await
    }

    /// Sends what happens, for ever.
    pub async fn work(mut self, places: Vec<Place>) {
        let mut heard = heard(&places);
        loop {
            let look = tokio::time::timeout(LOOK, heard.next()).await;
            let Ok(message) = look else {
                self.steps().await;
                continue;
            };
            let Some((board, message)) = message else { return };
            let Ok(Kind { event }) = serde_json::from_str(&message.json) else { continue };
            if matches!(event.as_str(), "match" | "snapshot") {
                self.steps().await;
            } else if self.wanted.news(&event) {
                let id = format!("{}.{}", board, message.id);
                let body = format!(
                    "{{\"schema\":\"{SCHEMA}\",\"id\":{},\"type\":{},\"board\":{},\"data\":{}}}",
                    json!(id),
                    json!(event),
                    json!(board),
                    message.json
                );
                self.deliver(&id, &body, Worth::News).await;
            }
        }
    }

    /// Sends the steps that the receiver has not acknowledged, those of a match in their order.
    async fn steps(&mut self) {
        if !self.wanted.any_step() {
            return;
        }
        let untold = match self.store.untold(&self.receiver).await {
            Ok(untold) => untold,
            Err(error) => return self.store_fails(&error),
        };
        for Untold { number, after } in untold {
            if let Err(error) = self.steps_of(number, after).await {
                self.store_fails(&error);
            }
        }
    }

    async fn steps_of(&mut self, number: i64, after: u64) -> Result<(), StoreError> {
        let after = after.max(self.acknowledged.get(&number).copied().unwrap_or(0));
        let mut log = Vec::new();
        let Loaded { id, .. } = self.store.load_with(number, &mut |record| log.push(record.clone())).await?;
        let mut state = None;
        for record in &log {
            Match::apply(&mut state, record);
            if record.revision <= after {
                continue;
            }
            if let (Some(game), true) = (&state, self.wanted.step(record.event.name())) {
                let step = step(record, &Loaded { number, id, game: game.clone() });
                self.deliver(&step.id, &step.body, Worth::Step).await;
            }
            self.acknowledged.insert(number, record.revision);
            self.store.acknowledge(&self.receiver, number, record.revision).await?;
        }
        // Known to the store now.
        self.acknowledged.remove(&number);
        Ok(())
    }

    /// Sends a message until it is acknowledged or no longer worth it.
    async fn deliver(&self, id: &str, body: &str, worth: Worth) {
        let began = Instant::now();
        for tries in 1u32.. {
            let failure = match self.send(id, body).await {
                Ok(()) => return self.reporter.delivered(),
                Err(failure) => failure,
            };
            self.reporter.fails(&failure.reason);
            let enough = match worth {
                Worth::News => tries >= NEWS_TRIES,
                Worth::Step if failure.refused => tries >= REFUSED_TRIES,
                Worth::Step => began.elapsed() >= STEP_PATIENCE,
            };
            if enough {
                tracing::warn!(hook = self.receiver, id, tries, reason = failure.reason, "a message is given up");
                return self.reporter.gives_up();
            }
            tokio::time::sleep(backoff::wait(tries).max(failure.retry_after.unwrap_or_default())).await;
        }
    }

    async fn send(&self, id: &str, body: &str) -> Result<(), Failure> {
        // The time is that of this try: a receiver can tell an old message that somebody sends again.
        let now = Timestamp::now().as_second();
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let mut request = request.header(ID, id).header(TIMESTAMP, now);
        if let Some(key) = &self.key {
            request = request.header(SIGNATURE, signature::sign(key, id, now, body));
        }
        let answer = client::send(request.body(body.to_owned()), false).await;
        let answer = answer.map_err(|reason| Failure { reason, refused: false, retry_after: None })?;
        match answer.status {
            200..300 => Ok(()),
            status => Err(Failure {
                reason: format!("it answers {status}"),
                // Too early, too much, too slow: later may be better.
                refused: (300..500).contains(&status) && !matches!(status, 408 | 425 | 429),
                retry_after: answer.retry_after,
            }),
        }
    }

    fn store_fails(&self, error: &StoreError) {
        tracing::error!(%error, hook = self.receiver, "the match log cannot be read for a webhook");
        self.reporter.fails("the match log cannot be read or written: is the disk full?");
    }
}

/// A step of a match as it is sent.
struct Step {
    id: String,
    body: String,
}

/// A step with the match as it was after it: the same whenever it is sent.
fn step(record: &Record, loaded: &Loaded) -> Step {
    let id = format!("{}.{}", loaded.id, record.revision);
    let body = json!({
        "schema": SCHEMA, "id": id, "type": format!("match.{}", record.event.name()), "board": null,
        "data": { "step": record.revision, "at": record.at, "author": record.author, "match": shown(loaded) },
    });
    Step { id, body: body.to_string() }
}

/// What a hook asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted(Vec<String>);

impl Wanted {
    fn new(kinds: &[String]) -> Result<Self, String> {
        let known =
            |kind: &str| KINDS.contains(&kind) || kind.strip_prefix("match.").is_some_and(|step| STEPS.contains(&step));
        match kinds.iter().find(|kind| !known(kind)) {
            _ if kinds.is_empty() => Err("events names none; leave it out for the steps of matches".to_owned()),
            Some(kind) => Err(format!(
                "{kind:?} is no kind of event; there are {} and, of single steps, match.{}",
                KINDS.join(", "),
                STEPS.join(", match.")
            )),
            None => Ok(Self(kinds.to_vec())),
        }
    }

    fn has(&self, kind: &str) -> bool {
        self.0.iter().any(|wanted| wanted == "*" || wanted == kind)
    }

    fn news(&self, kind: &str) -> bool {
        KINDS.contains(&kind) && self.has(kind)
    }

    fn step(&self, name: &str) -> bool {
        self.has("match") || self.has(&format!("match.{name}"))
    }

    fn any_step(&self) -> bool {
        self.has("match") || self.0.iter().any(|wanted| wanted.starts_with("match."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Event;

    fn wanted(kinds: &[&str]) -> Result<Wanted, String> {
        Wanted::new(&kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_hook_asks_for_kinds_that_there_are() {
        let all = wanted(&["*"]).unwrap();
        assert!(all.news("twenty") && all.step("undone") && all.any_step() && !all.news("snapshot"));
        let some = wanted(&["round", "match.round_recorded"]).unwrap();
        assert!(some.news("round") && !some.news("twenty") && some.step("round_recorded") && !some.step("undone"));
        assert!(!wanted(&["round"]).unwrap().any_step());
        for wrong in [&["rounds"][..], &["match.nope"], &["match", "snapshot"], &[]] {
            assert!(wanted(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_steps_are_those_of_the_log() {
        let error = serde_json::from_value::<Event>(json!({ "event": "nope" })).unwrap_err().to_string();
        let expected: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(expected, STEPS);
    }
}
