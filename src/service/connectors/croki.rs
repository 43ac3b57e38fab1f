//! croki.nl, the laptop of a Dutch championship: which table plays what, and the score of each match as it is confirmed.
//!
//! A match that names itself there (references `croki.match_code`, `croki.match_id`, or `croki.table` with `croki.round`)
//! is sent whole whenever its counted rounds have changed: confirmed, corrected, voided, undone. Sending the same twice is
//! harmless there. What was acknowledged is the match as of a place in its log, which the store remembers: after a restart
//! the connector goes on where it was. One match that is refused holds up no other.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use jiff::Timestamp;
use reqwest::{Client, Url};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};
use utoipa::ToSchema;

use super::settings::Croki as Settings;
use super::state::{Fate, Reporter};
use super::{ConnectorError, Place, backoff, client, heard};
use crate::score::export::croki;
use crate::score::game::Match;
use crate::service::new_match::NewMatch;
use crate::store::{Store, StoreError, Untold};

/// Under which name the store remembers what was acknowledged.
const RECEIVER: &str = "croki";
/// How often the log is looked at without being told: other programs write it too.
const LOOK: Duration = Duration::from_secs(30);
/// The shortest wait after a refusal: somebody has to change something first.
const REFUSED: Duration = Duration::from_secs(20);
/// The header with the key.
const KEY: &str = "x-api-key";

/// A match that is to be played at a table, as the laptop lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = TournamentMatch)]
pub struct Table {
    /// Its code there.
    pub match_code: Option<String>,
    /// Its number there.
    pub match_id: Option<u64>,
    /// Round of the tournament.
    pub round: Option<u64>,
    /// Where it is played.
    pub table: Option<u64>,
    /// Who plays.
    #[serde(deserialize_with = "or_default")]
    pub team_a: Team,
    /// Against whom; without a name for a bye.
    #[serde(deserialize_with = "or_default")]
    pub team_b: Team,
    /// How far it is, in the laptop's words.
    pub status: Option<String>,
}

/// A team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = TournamentTeam)]
pub struct Team {
    /// Its number there.
    pub id: Option<u64>,
    /// What it is called.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
}

/// Null says as little as nothing.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(value)?.unwrap_or_default())
}

/// Why the laptop gives nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrokiError {
    /// It is not there.
    #[error("the croki.nl laptop does not answer: {0}")]
    Away(String),
    /// It will not.
    #[error("the croki.nl laptop refuses: {0}")]
    Refused(String),
    /// It speaks otherwise.
    #[error("the croki.nl laptop answers what is not understood: {0}")]
    Strange(String),
}

/// The laptop, to be asked.
#[derive(Clone, Debug)]
pub struct Laptop {
    client: Client,
    tables: Url,
    score: Url,
    key: String,
    source: String,
}

impl Laptop {
    pub(super) fn new(settings: &Settings) -> Result<Self, ConnectorError> {
        let wrong = |reason: String| ConnectorError::Croki(reason);
        let mut base = client::address(&settings.url).map_err(wrong)?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let at = |path: &str| base.join(path).map_err(|error| wrong(error.to_string()));
        let key = settings.api_key.read().map_err(|error| wrong(format!("api_key: {error}")))?;
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("api_key: it holds signs that a key cannot have".to_owned()));
        }
        Ok(Self {
            client: client::client()?,
            tables: at("api/ingest_tables")?,
            score: at("api/ingest_score")?,
            key,
            source: settings.source.clone(),
        })
    }

    pub(super) fn shown(&self) -> String {
        client::shown(&self.score)
    }

    /// The matches of a round of the tournament, or of the one that is played now.
    ///
    /// # Errors
    /// See [`CrokiError`].
    pub async fn tables(&self, round: Option<u64>) -> Result<Vec<Table>, CrokiError> {
        let mut url = self.tables.clone();
        if let Some(round) = round {
            url.query_pairs_mut().append_pair("round", &round.to_string());
        }
        let mut answer = acknowledged(client::send(self.client.get(url).header(KEY, &self.key), true).await)?;
        let list = ["matches", "tables"].iter().find_map(|key| Some(answer.get_mut(key)?.take()));
        let list = list.ok_or_else(|| CrokiError::Strange("there are no \"matches\" in it".to_owned()))?;
        serde_json::from_value(list).map_err(|error| CrokiError::Strange(error.to_string()))
    }

    async fn post(&self, body: &Value) -> Result<(), CrokiError> {
        let request = self.client.post(self.score.clone()).header(KEY, &self.key);
        let request = request.header(reqwest::header::CONTENT_TYPE, "application/json").body(body.to_string());
        acknowledged(client::send(request, true).await).map(drop)
    }
}

/// Every answer carries `ok`; where that is not true, `error` says why.
fn acknowledged(answer: Result<client::Answer, String>) -> Result<Value, CrokiError> {
    let answer = answer.map_err(CrokiError::Away)?;
    let value: Result<Value, _> = serde_json::from_slice(&answer.body);
    let said = value.as_ref().ok().and_then(|value| value["error"].as_str()).map(str::to_owned);
    match (answer.status, value) {
        (200..300, Ok(value)) if value["ok"] == true => Ok(value),
        (200..300, Ok(_)) => Err(CrokiError::Refused(said.unwrap_or_else(|| "it does not say why".to_owned()))),
        (200..300, Err(error)) => Err(CrokiError::Strange(error.to_string())),
        (status @ 400..500, _) => Err(CrokiError::Refused(said.unwrap_or_else(|| format!("it answers {status}")))),
        (status, _) => Err(CrokiError::Away(said.unwrap_or_else(|| format!("it answers {status}")))),
    }
}

impl Table {
    /// The match as it is started here.
    pub fn new_match(&self, colours: Vec<String>) -> NewMatch {
        let mut refs = BTreeMap::new();
        let mut keep = |key: &str, value: Option<String>| value.map(|value| refs.insert(format!("croki.{key}"), value));
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        keep("match_code", self.match_code.clone());
        keep("match_id", number(self.match_id));
        keep("table", number(self.table));
        keep("round", number(self.round));
        keep("team_a", number(self.team_a.id));
        keep("team_b", number(self.team_b.id));
        let names = [&self.team_a.name, &self.team_b.name].map(|name| name.trim().to_owned());
        // A team's name is that of two players only where both are: "X/Y".
        let pairs = names.iter().all(|name| name.split('/').filter(|part| !part.trim().is_empty()).count() == 2);
        let sides = names.map(|name| if pairs { name } else { name.replace('/', " & ") });
        NewMatch {
            sides: sides.to_vec(),
            rules: "nk-nl".to_owned(),
            first: "A".to_owned(),
            colours,
            refs,
            ..NewMatch::default()
        }
    }
}

/// What waits to be tried again.
struct Waiting {
    tries: u32,
    next: Instant,
}

/// The connector.
pub(super) struct Croki {
    pub laptop: Laptop,
    pub store: Store,
    pub reporter: Reporter,
}

impl Croki {
    /// Has the store remember it: the first time, it sends what is confirmed from now on.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn register(&self) -> Result<(), StoreError> {
        self.store.register(RECEIVER, Timestamp::now()).await
    }

    /// Sends scores, for ever.
    pub async fn work(self, places: Vec<Place>) {
        let mut heard = heard(&places);
        let mut waiting = BTreeMap::new();
        loop {
            if let Err(error) = self.settle(&mut waiting).await {
                self.store_fails(&error);
            }
            let now = Instant::now();
            let next = waiting.values().map(|waiting: &Waiting| waiting.next).min();
            let next = next.unwrap_or(now + LOOK).min(now + LOOK).max(now + Duration::from_millis(100));
            tokio::select! {
                () = sleep_until(next) => {}
                message = heard.next() => match message {
                    // A match that has changed is tried at once.
                    Some((_, message)) if message.json.contains("\"event\":\"match\"") => waiting.clear(),
                    Some(_) => {}
                    None => return,
                }
            }
        }
    }

    /// Sends all that is due.
    async fn settle(&self, waiting: &mut BTreeMap<i64, Waiting>) -> Result<(), StoreError> {
        for untold in self.store.untold(RECEIVER).await? {
            let number = untold.number;
            if waiting.get(&number).is_some_and(|waiting| waiting.next > Instant::now()) {
                continue;
            }
            match self.send(untold).await? {
                Ok(()) => drop(waiting.remove(&number)),
                Err(error) => {
                    let tries = waiting.get(&number).map_or(0, |waiting| waiting.tries) + 1;
                    let least = if matches!(error, CrokiError::Refused(_)) { REFUSED } else { Duration::ZERO };
                    let next = Instant::now() + backoff::wait(tries).max(least);
                    waiting.insert(number, Waiting { tries, next });
                    self.reporter.fails(&error.to_string());
                    self.reporter.sent(number, Fate::Waits, Some(&error.to_string()));
                }
            }
        }
        Ok(())
    }

    /// Sends a match, if its rounds are others than those that were acknowledged.
    async fn send(&self, Untold { number, after }: Untold) -> Result<Result<(), CrokiError>, StoreError> {
        let mut log = Vec::new();
        let game = self.store.load_with(number, &mut |record| log.push(record.clone())).await?.game;
        let before = Match::replay(log.iter().filter(|record| record.revision <= after));
        let before = before.and_then(|game| croki::body(&game).ok()).filter(has_sets);
        let names_itself = croki::names_match(&game);
        let now = names_itself.then(|| croki::body(&game));
        match now {
            None => {}
            Some(Err(error)) => self.reporter.sent(number, Fate::Unfit, Some(&error.to_string())),
            Some(Ok(now)) if before.is_none() && !has_sets(&now) => {}
            Some(Ok(now)) if before.as_ref() == Some(&now) => {}
            Some(Ok(mut now)) => {
                if !game.setup().context.refs.contains_key("croki.source") {
                    now["source"] = self.laptop.source.clone().into();
                }
                if let Err(error) = self.laptop.post(&now).await {
                    return Ok(Err(error));
                }
                self.reporter.delivered();
                self.reporter.sent(number, Fate::Sent, None);
            }
        }
        self.store.acknowledge(RECEIVER, number, game.revision()).await?;
        Ok(Ok(()))
    }

    fn store_fails(&self, error: &StoreError) {
        tracing::error!(%error, "the match log cannot be read for croki.nl");
        self.reporter.fails("the match log cannot be read or written: is the disk full?");
    }
}

fn has_sets(body: &Value) -> bool {
    body["sets"].as_array().is_some_and(|sets| sets.iter().any(|set| !set["pa"].is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(a: &str, b: &str) -> Table {
        let team = |id, name: &str| Team { id: Some(id), name: name.to_owned() };
        Table {
            match_code: Some("MD55".to_owned()),
            table: Some(4),
            team_a: team(7, a),
            team_b: team(9, b),
            ..Table::default()
        }
    }

    #[test]
    fn a_table_becomes_a_match_that_names_itself_there() {
        let setup = table("Ann", "Bob").new_match(Vec::new()).setup().unwrap();
        assert_eq!(setup.context.refs["croki.match_code"], "MD55");
        assert_eq!(setup.context.refs["croki.team_b"], "9");
        assert!(!setup.context.refs.contains_key("croki.round"));
        let players = |a: &str, b: &str| table(a, b).new_match(Vec::new()).setup().unwrap().sides[0].players.len();
        assert_eq!(players("Ann/Bea", "Cid/Dan"), 2);
        assert_eq!(players("Ann/Bea", "The Others"), 1);
        assert_eq!(players("A/B/C", "D/E"), 1);
    }

    #[test]
    fn an_answer_is_an_acknowledgement_only_where_it_says_ok() {
        let answer = |status, body: &str| {
            acknowledged(Ok(client::Answer { status, body: body.as_bytes().to_vec(), retry_after: None }))
        };
        assert!(answer(200, "{\"ok\":true}").is_ok());
        assert_eq!(answer(200, "{\"ok\":false,\"error\":\"no\"}"), Err(CrokiError::Refused("no".to_owned())));
        assert_eq!(answer(401, "{\"ok\":false,\"error\":\"bad key\"}"), Err(CrokiError::Refused("bad key".to_owned())));
        assert!(matches!(answer(200, "<html>"), Err(CrokiError::Strange(_))));
        assert_eq!(answer(404, ""), Err(CrokiError::Refused("it answers 404".to_owned())));
        assert!(matches!(answer(502, "<html>"), Err(CrokiError::Away(_))));
        assert!(matches!(answer(200, "{}"), Err(CrokiError::Refused(_))));
    }
}
