//! The match log in SQL: append-only, with an expected revision, evidence by content, and how far receivers were told of it.
//!
//! Only this module knows SQL. A write is one transaction: events, the match's revision and the summary for lists together
//! or not at all; it is acknowledged only when SQLite says it is on disk (WAL, `synchronous = FULL`). Evidence lies in a
//! folder beside the database and is on disk before the event that names it.

mod error;
mod evidence;
mod maintain;
mod open;
mod played;
mod receivers;
mod rows;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::sqlite::SqlitePool;
use utoipa::ToSchema;
use uuid::Uuid;

pub use error::StoreError;
pub use maintain::Report;
pub use open::Purpose;
pub use receivers::Untold;
use rows::{Connection, head, insert, read, records, uuid, write};

use crate::score::game::Status;
use crate::score::import::Plan;
use crate::score::{Command, Event, Format, Match, Record};

/// An open store.
#[derive(Clone, Debug)]
pub struct Store {
    pool: SqlitePool,
    path: PathBuf,
}

/// A match as listed: what its events come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Summary {
    /// Names of the sides.
    pub sides: Vec<String>,
    /// Name of the rule set.
    pub rules: String,
    /// How many play.
    pub format: Format,
    /// Points per side.
    pub points: Vec<u64>,
    /// Rounds that count.
    pub rounds: u32,
    /// Proposals waiting.
    pub proposals: usize,
    /// `open`, `shoot_out_due` or `over`.
    pub state: String,
    /// Winner's letter; none while open and for a draw.
    pub winner: Option<char>,
    /// When it was played.
    pub played_at: Timestamp,
    /// The event it belongs to.
    #[serde(default)]
    pub event: Option<String>,
}

impl Summary {
    /// What a list shows of a match.
    pub fn of(game: &Match) -> Self {
        let parties = game.format().parties();
        let (state, winner) = match game.status() {
            Status::Open => ("open", None),
            Status::ShootOutDue => ("shoot_out_due", None),
            Status::Over { winner, .. } => ("over", winner),
        };
        Self {
            sides: parties.iter().map(|party| game.name(*party)).collect(),
            rules: game.setup().rules_name.clone(),
            format: game.format(),
            points: parties.iter().map(|party| game.standing().points[party.index()]).collect(),
            rounds: game.standing().counted,
            proposals: game.open_proposals().count(),
            state: state.to_owned(),
            winner: winner.map(|party| party.letter()),
            played_at: game.played_at(),
            event: game.setup().context.event.clone(),
        }
    }
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Listed {
    /// Short number.
    pub number: i64,
    /// Identity everywhere else.
    pub id: Uuid,
    /// Number of events.
    pub revision: u64,
    /// What they come to.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A match read from the log.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Short number.
    pub number: i64,
    /// Identity everywhere else.
    pub id: Uuid,
    /// The state.
    pub game: Match,
}

impl Store {
    /// Where the database lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the database, letting it tidy its write-ahead log.
    pub async fn close(self) {
        self.pool.close().await;
    }

    /// Starts a match.
    ///
    /// # Errors
    /// The setup is refused, or the database is.
    pub async fn create(&self, command: &Command, at: Timestamp, author: &str) -> Result<Loaded, StoreError> {
        let events = Match::decide(None, command)?;
        let id = Uuid::now_v7();
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let mut state = None;
        let number = insert(&mut tx, id, &mut state, &records(0, at, author, events)).await?;
        tx.commit().await?;
        let game = state.ok_or_else(|| StoreError::NoMatch(number.to_string()))?;
        Ok(Loaded { number, id, game })
    }

    /// Takes over matches from elsewhere with their logs, all of them or none.
    ///
    /// # Errors
    /// One of them is here already.
    pub async fn restore(&self, plans: &[Plan]) -> Result<Vec<Loaded>, StoreError> {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let mut all = Vec::new();
        for plan in plans {
            let id = plan.id.unwrap_or_else(Uuid::now_v7);
            let here = sqlx::query("SELECT number FROM game_match WHERE id = $1")
                .bind(id.to_string())
                .fetch_optional(&mut *tx)
                .await?;
            if let Some(row) = here {
                return Err(StoreError::AlreadyHere { id, number: row.try_get(0)? });
            }
            let mut state = None;
            let number = insert(&mut tx, id, &mut state, &plan.log).await?;
            let game = state.ok_or_else(|| StoreError::NoMatch(number.to_string()))?;
            all.push(Loaded { number, id, game });
        }
        tx.commit().await?;
        Ok(all)
    }

    /// Decides a command against the latest state and appends what it makes, in one transaction.
    ///
    /// `expected` is the revision the caller has seen; `None` takes whatever is there.
    ///
    /// # Errors
    /// [`StoreError::Refused`] by the rules, [`StoreError::Conflict`] when somebody appended since `expected`.
    pub async fn execute(
        &self,
        number: i64,
        expected: Option<u64>,
        command: &Command,
        at: Timestamp,
        author: &str,
    ) -> Result<(Loaded, Vec<Record>), StoreError> {
        let (loaded, all) = self.execute_all(number, expected, std::slice::from_ref(command), at, author).await?;
        Ok((loaded, all))
    }

    /// As [`Store::execute`] for several commands: all of them are appended, or none.
    ///
    /// # Errors
    /// The first command that is refused; nothing is written then.
    pub async fn execute_all(
        &self,
        number: i64,
        expected: Option<u64>,
        commands: &[Command],
        at: Timestamp,
        author: &str,
    ) -> Result<(Loaded, Vec<Record>), StoreError> {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let (id, revision, head) = head(&mut tx, number).await?;
        if let Some(expected) = expected
            && expected != revision
        {
            return Err(StoreError::Conflict { expected, found: revision });
        }
        let mut state = read(&mut tx, number, &mut |_| {}).await?;
        let mut all = Vec::new();
        let mut chain = head;
        for command in commands {
            let events = Match::decide(state.as_ref(), command)?;
            let at_revision = state.as_ref().map_or(0, Match::revision);
            let new = records(at_revision, at, author, events);
            chain = write(&mut tx, number, &mut state, &chain, &new).await?;
            all.extend(new);
        }
        tx.commit().await?;
        let game = state.ok_or_else(|| StoreError::NoMatch(number.to_string()))?;
        Ok((Loaded { number, id, game }, all))
    }

    /// Appends events that were decided against `state` elsewhere, in a long-running writer that keeps its matches.
    ///
    /// `state` is moved on only when the events are on disk.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the log is not where `state` is.
    pub async fn append(
        &self,
        number: i64,
        state: &mut Match,
        events: Vec<Event>,
        at: Timestamp,
        author: &str,
    ) -> Result<Vec<Record>, StoreError> {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let (_, found, head) = head(&mut tx, number).await?;
        if found != state.revision() {
            return Err(StoreError::Conflict { expected: state.revision(), found });
        }
        let new = records(found, at, author, events);
        let mut next = Some(state.clone());
        write(&mut tx, number, &mut next, &head, &new).await?;
        tx.commit().await?;
        if let Some(next) = next {
            *state = next;
        }
        Ok(new)
    }

    /// Reads a match.
    ///
    /// # Errors
    /// It is not there, or its log was tampered with.
    pub async fn load(&self, number: i64) -> Result<Loaded, StoreError> {
        self.load_with(number, &mut |_| {}).await
    }

    /// Reads a match and shows each event of its log on the way.
    ///
    /// # Errors
    /// It is not there, or its log was tampered with.
    pub async fn load_with(&self, number: i64, each: &mut (dyn FnMut(&Record) + Send)) -> Result<Loaded, StoreError> {
        load_on(&mut *self.pool.acquire().await?, number, each).await
    }

    /// Finds a match by its number, its UUID or at least four characters of either end of it, or `last`.
    ///
    /// # Errors
    /// None or several fit.
    pub async fn find(&self, handle: &str) -> Result<i64, StoreError> {
        let handle = handle.trim();
        let rows = if handle.eq_ignore_ascii_case("last") {
            sqlx::query("SELECT number FROM game_match ORDER BY number DESC LIMIT 1").fetch_all(&self.pool).await?
        } else if let Ok(number) = handle.trim_start_matches('#').parse::<i64>() {
            sqlx::query("SELECT number FROM game_match WHERE number = $1").bind(number).fetch_all(&self.pool).await?
        } else if handle.len() >= 4 && handle.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
            let handle = handle.to_ascii_lowercase();
            sqlx::query("SELECT number FROM game_match WHERE id LIKE $1 || '%' OR id LIKE '%' || $1 LIMIT 3")
                .bind(handle)
                .fetch_all(&self.pool)
                .await?
        } else {
            Vec::new()
        };
        match rows.as_slice() {
            [] => Err(StoreError::NoMatch(handle.to_owned())),
            [row] => Ok(row.try_get(0)?),
            several => Err(StoreError::Ambiguous { handle: handle.to_owned(), found: several.len() }),
        }
    }

    /// The latest matches, newest first.
    ///
    /// # Errors
    /// The database refused, or a summary cannot be read.
    pub async fn list(&self, limit: u32) -> Result<Vec<Listed>, StoreError> {
        let rows = sqlx::query("SELECT number, id, revision, summary FROM game_match ORDER BY number DESC LIMIT $1")
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                let number: i64 = row.try_get("number")?;
                let revision: i64 = row.try_get("revision")?;
                let broken = |reason: String| StoreError::Unreadable { number, revision, reason };
                let summary: String = row.try_get("summary")?;
                Ok(Listed {
                    number,
                    id: uuid(row.try_get("id")?, number)?,
                    revision: revision.unsigned_abs(),
                    summary: serde_json::from_str(&summary).map_err(|error| broken(error.to_string()))?,
                })
            })
            .collect()
    }

    /// Numbers of all matches, oldest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn numbers(&self) -> Result<Vec<i64>, StoreError> {
        let rows = sqlx::query("SELECT number FROM game_match ORDER BY number").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

async fn load_on(
    connection: &mut Connection,
    number: i64,
    each: &mut (dyn FnMut(&Record) + Send),
) -> Result<Loaded, StoreError> {
    let (id, ..) = head(connection, number).await?;
    let state = read(connection, number, each).await?;
    let game = state.ok_or_else(|| StoreError::NoMatch(number.to_string()))?;
    Ok(Loaded { number, id, game })
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
