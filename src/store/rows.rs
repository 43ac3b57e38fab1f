//! The rows behind a match: records to chained rows and back, in the transaction of the caller.

use std::str::FromStr;

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::{QueryBuilder, Row};
use uuid::Uuid;

use super::evidence::is_name;
use super::{StoreError, Summary, hex};
use crate::score::event::Evidence;
use crate::score::{Event, Match, Record};

pub(super) type Connection = sqlx::SqliteConnection;

/// Writes a new match with its first records; moves `state` on. Gives its number.
pub(super) async fn insert(
    connection: &mut Connection,
    id: Uuid,
    state: &mut Option<Match>,
    records: &[Record],
) -> Result<i64, StoreError> {
    let next = sqlx::query("SELECT COALESCE(MAX(number), 0) + 1 FROM game_match");
    let number: i64 = next.fetch_one(&mut *connection).await?.try_get(0)?;
    let rows = seal(number, "", state, records)?;
    let (revision, head, summary) = closing(number, state, &rows)?;
    sqlx::query(
        "INSERT INTO game_match (number, id, created_us, revision, head, summary) VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(number)
    .bind(id.to_string())
    .bind(records.first().map_or(0, |record| record.at.as_microsecond()))
    .bind(revision)
    .bind(head)
    .bind(summary)
    .execute(&mut *connection)
    .await?;
    insert_events(connection, number, &rows).await?;
    Ok(number)
}

/// A match's identity, revision and chain value.
pub(super) async fn head(connection: &mut Connection, number: i64) -> Result<(Uuid, u64, String), StoreError> {
    let row = sqlx::query("SELECT id, revision, head FROM game_match WHERE number = $1")
        .bind(number)
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| StoreError::NoMatch(number.to_string()))?;
    let revision: i64 = row.try_get("revision")?;
    Ok((uuid(row.try_get("id")?, number)?, revision.unsigned_abs(), row.try_get("head")?))
}

pub(super) fn uuid(text: String, number: i64) -> Result<Uuid, StoreError> {
    Uuid::from_str(&text).map_err(|error| StoreError::Unreadable { number, revision: 0, reason: error.to_string() })
}

pub(super) fn records(after: u64, at: Timestamp, author: &str, events: Vec<Event>) -> Vec<Record> {
    let at = stored(at);
    events
        .into_iter()
        .zip(after + 1..)
        .map(|(event, revision)| Record { revision, at, author: author.to_owned(), event })
        .collect()
}

/// A time as it is stored, to the microsecond: what is shown now is what will be read later.
fn stored(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// Appends records to a match, with its new revision and summary; moves `state` on. Gives the new chain value.
pub(super) async fn write(
    connection: &mut Connection,
    number: i64,
    state: &mut Option<Match>,
    head: &str,
    records: &[Record],
) -> Result<String, StoreError> {
    let rows = seal(number, head, state, records)?;
    let (revision, head, summary) = closing(number, state, &rows)?;
    insert_events(connection, number, &rows).await?;
    sqlx::query("UPDATE game_match SET revision = $1, head = $2, summary = $3 WHERE number = $4")
        .bind(revision)
        .bind(&head)
        .bind(summary)
        .bind(number)
        .execute(connection)
        .await?;
    Ok(head)
}

/// The documents an event names.
pub(super) fn evidence_of(event: &Event) -> &[Evidence] {
    match event {
        Event::RoundRecorded { evidence, .. } => evidence,
        Event::RoundProposed { round, .. } => &round.evidence,
        Event::EvidenceAttached { evidence, .. } => std::slice::from_ref(evidence),
        _ => &[],
    }
}

/// An event as stored.
struct Sealed {
    revision: i64,
    at_us: i64,
    author: String,
    body: String,
    chain: String,
}

/// Records as they are stored, chained onto `head`; moves `state` on.
fn seal(number: i64, head: &str, state: &mut Option<Match>, records: &[Record]) -> Result<Vec<Sealed>, StoreError> {
    let mut chain = head.to_owned();
    let mut rows = Vec::with_capacity(records.len());
    for record in records {
        let revision = i64::try_from(record.revision).unwrap_or(i64::MAX);
        let broken = |error: serde_json::Error| StoreError::Unreadable { number, revision, reason: error.to_string() };
        if let Some(wrong) = evidence_of(&record.event).iter().find(|evidence| !is_name(&evidence.sha256)) {
            return Err(StoreError::NoName(wrong.sha256.clone()));
        }
        let body = serde_json::to_string(&record.event).map_err(broken)?;
        let at_us = record.at.as_microsecond();
        chain = link(&chain, revision, at_us, &record.author, &body);
        rows.push(Sealed { revision, at_us, author: record.author.clone(), body, chain: chain.clone() });
        Match::apply(state, &Record { at: stored(record.at), ..record.clone() });
    }
    Ok(rows)
}

/// What a match's row says after its latest event: revision, chain value, summary.
fn closing(number: i64, state: &Option<Match>, rows: &[Sealed]) -> Result<(i64, String, String), StoreError> {
    let (Some(game), Some(last)) = (state, rows.last()) else { return Err(StoreError::NoMatch(number.to_string())) };
    let broken = |error: serde_json::Error| StoreError::Unreadable {
        number,
        revision: last.revision,
        reason: error.to_string(),
    };
    Ok((last.revision, last.chain.clone(), serde_json::to_string(&Summary::of(game)).map_err(broken)?))
}

async fn insert_events(connection: &mut Connection, number: i64, rows: &[Sealed]) -> Result<(), StoreError> {
    /// Rows of one statement: below the 32,766 values that SQLite takes, and enough that the statement costs nothing.
    const AT_ONCE: usize = 500;
    for rows in rows.chunks(AT_ONCE) {
        let mut statement =
            QueryBuilder::new("INSERT INTO event (match_number, revision, at_us, author, body, chain) ");
        statement.push_values(rows, |mut values, row| {
            values.push_bind(number).push_bind(row.revision).push_bind(row.at_us);
            values.push_bind(&row.author).push_bind(&row.body).push_bind(&row.chain);
        });
        statement.build().execute(&mut *connection).await?;
    }
    Ok(())
}

/// Folds a match's log, a block at a time so that memory does not grow with it, checking the chain.
pub(super) async fn read(
    connection: &mut Connection,
    number: i64,
    each: &mut (dyn FnMut(&Record) + Send),
) -> Result<Option<Match>, StoreError> {
    /// Rows fetched at once.
    const BLOCK: i64 = 1_000;
    let (mut state, mut chain, mut after) = (None, String::new(), 0i64);
    loop {
        let rows = sqlx::query(
            "SELECT revision, at_us, author, body, chain FROM event \
             WHERE match_number = $1 AND revision > $2 ORDER BY revision LIMIT $3",
        )
        .bind(number)
        .bind(after)
        .bind(BLOCK)
        .fetch_all(&mut *connection)
        .await?;
        for row in &rows {
            let revision: i64 = row.try_get("revision")?;
            let broken = |reason: &str| StoreError::Unreadable { number, revision, reason: reason.to_owned() };
            let (at_us, author, body): (i64, String, String) =
                (row.try_get("at_us")?, row.try_get("author")?, row.try_get("body")?);
            if revision != after + 1 {
                return Err(broken("the event before it is missing"));
            }
            chain = link(&chain, revision, at_us, &author, &body);
            if chain != row.try_get::<String, _>("chain")? {
                return Err(broken("it was changed behind crokeye's back (its chain value does not fit)"));
            }
            let record = Record {
                revision: revision.unsigned_abs(),
                at: Timestamp::from_microsecond(at_us).map_err(|error| broken(&error.to_string()))?,
                author,
                event: serde_json::from_str(&body).map_err(|error| broken(&error.to_string()))?,
            };
            each(&record);
            Match::apply(&mut state, &record);
            after = revision;
        }
        if (rows.len() as i64) < BLOCK {
            return Ok(state);
        }
    }
}

/// The chain value of an event: SHA-256 over the one before it and everything stored with it.
fn link(previous: &str, revision: i64, at_us: i64, author: &str, body: &str) -> String {
    let mut hash = Sha256::new();
    for part in [previous, &revision.to_string(), &at_us.to_string(), author, body] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}
