//! Care of the database: whose it is, whether it is whole, backups.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use sqlx::Row;

use super::evidence::{document, neighbour, sync_folder, write_whole};
use super::open::layout;
use super::rows::{Connection, evidence_of};
use super::{Store, StoreError, Summary, load_on};

/// What a full check found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Layout of the database.
    pub layout: i64,
    /// Matches read.
    pub matches: usize,
    /// Events read.
    pub events: u64,
    /// Documents read.
    pub documents: usize,
    /// What is wrong, one sentence each; empty when all is well.
    pub faults: Vec<String>,
    /// Documents that are named and not here, one sentence each: a match read from another database's JSON leaves them there.
    pub elsewhere: Vec<String>,
}

impl Store {
    /// The check at every start: SQLite's own, and that each match's latest event is the one its row names.
    pub(super) async fn check_quickly(&self) -> Result<(), StoreError> {
        let damaged = |reason: String| StoreError::Damaged { path: self.path.clone(), reason };
        let said: String = sqlx::query("PRAGMA quick_check(1)").fetch_one(&self.pool).await?.try_get(0)?;
        if said != "ok" {
            return Err(damaged(said));
        }
        let stray = sqlx::query(
            "SELECT number FROM game_match AS m WHERE revision < 1 OR NOT EXISTS \
             (SELECT 1 FROM event AS e WHERE e.match_number = m.number AND e.revision = m.revision AND e.chain = m.head) \
             LIMIT 1",
        )
        .fetch_optional(&self.pool)
        .await?;
        match stray {
            Some(row) => Err(damaged(format!("match {} and its log disagree", row.try_get::<i64, _>(0)?))),
            None => Ok(()),
        }
    }

    /// The full check: the file, references, every event's chain, every match folded and compared with its row, every
    /// document's bytes. It sees the database as it is at one instant, writers or not, and goes on behind what it cannot read.
    ///
    /// # Errors
    /// Only when the database cannot be read at all; faults are in the report.
    pub async fn check(&self) -> Result<Report, StoreError> {
        let mut report = Report::default();
        let mut tx = self.pool.begin().await?;
        report.layout = report.told("its layout", layout(&mut tx).await).unwrap_or_default();
        let said = sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *tx).await;
        let said: Vec<String> = report.told("the file", said.map_err(StoreError::from)).unwrap_or_default();
        report.faults.extend(said.into_iter().filter(|said| said != "ok"));
        let strays = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *tx).await;
        for row in report.told("references", strays.map_err(StoreError::from)).unwrap_or_default() {
            report.faults.push(format!("a row of table {} refers to nothing", row.try_get::<String, _>(0)?));
        }
        let (numbers, hidden) = numbers_found(&mut tx).await;
        report.told("the table of matches", hidden.map_or(Ok(()), Err));
        let mut named = BTreeMap::new();
        for number in numbers {
            let read = check_match(&mut tx, number, &mut named, &mut report).await;
            report.told(&format!("match {number}"), read);
        }
        let documents =
            sqlx::query_scalar::<_, String>("SELECT sha256 FROM evidence ORDER BY sha256").fetch_all(&mut *tx).await;
        drop(tx);
        let Some(documents) = report.told("the table of documents", documents.map_err(StoreError::from)) else {
            return Ok(report);
        };
        for sha256 in &documents {
            report.documents += 1;
            report.told("documents", self.fetch(sha256).await.map(|_| ()));
            named.remove(sha256);
        }
        for (sha256, number) in named {
            if self.evidence_path(&sha256).exists() {
                report
                    .faults
                    .push(format!("match {number} names evidence {sha256}: its file is there, its entry is lost"));
            } else {
                report.elsewhere.push(format!("match {number} names evidence {sha256}"));
            }
        }
        Ok(report)
    }

    /// Numbers of all matches that can be found, oldest first, and why there may be more.
    ///
    /// # Errors
    /// The database cannot be reached at all.
    pub async fn numbers_found(&self) -> Result<(Vec<i64>, Option<StoreError>), StoreError> {
        Ok(numbers_found(&mut *self.pool.acquire().await?).await)
    }

    /// Copies the database as it is at one instant, writers or not, and every document, to a new place. The copy has its name
    /// only when it is complete. Gives what is damaged and left out.
    ///
    /// # Errors
    /// The place is taken or cannot be written.
    pub async fn backup(&self, target: &Path) -> Result<Vec<String>, StoreError> {
        if target.symlink_metadata().is_ok() {
            return Err(StoreError::Exists(target.to_owned()));
        }
        let failed = |source| StoreError::File { path: target.to_owned(), source };
        // An absolute path is never taken for one of SQLite's URIs.
        let place = std::path::absolute(target).map_err(failed)?;
        let part = neighbour(&place);
        let copied = self.copy(&part, &place).await;
        let done = copied.and_then(|left_out| {
            std::fs::rename(&part, &place).map_err(failed)?;
            sync_folder(&place);
            Ok(left_out)
        });
        if done.is_err() {
            // Of no use; that it may stay behind is no error of its own.
            let _ = std::fs::remove_file(&part);
        }
        done
    }

    /// Writes the copy of the database to `part` and the documents to where they belong beside `place`.
    async fn copy(&self, part: &Path, place: &Path) -> Result<Vec<String>, StoreError> {
        let failed = |source| StoreError::File { path: place.to_owned(), source };
        let name = part.to_str().ok_or_else(|| failed(std::io::Error::other("its name is not UTF-8")))?;
        sqlx::query("VACUUM INTO $1")
            .bind(name)
            .execute(&self.pool)
            .await
            .map_err(|error| failed(std::io::Error::other(StoreError::from(error).to_string())))?;
        std::fs::File::open(part).and_then(|file| file.sync_all()).map_err(failed)?;
        let folder = Self::evidence_folder(place);
        let mut left_out = Vec::new();
        // Those that the copy names, and any added since.
        for sha256 in self.evidence().await? {
            match self.fetch(&sha256).await {
                Ok(bytes) => write_whole(&document(&folder, &sha256), &bytes)?,
                Err(error) => left_out.push(error.to_string()),
            }
        }
        Ok(left_out)
    }
}

impl Report {
    /// What was read; what kept from reading it is a fault of `what`.
    fn told<T>(&mut self, what: &str, read: Result<T, StoreError>) -> Option<T> {
        let fault = match read {
            Ok(read) => return Some(read),
            Err(StoreError::Sql { message, .. }) => format!("{what}: {message}"),
            Err(StoreError::NoMatch(_)) => format!("{what}: its row or its events are missing"),
            Err(error) => error.to_string(),
        };
        self.faults.push(fault);
        None
    }
}

/// A damaged page hides what lies behind it: then the table is read from its other end too, and the events are asked.
async fn numbers_found(connection: &mut Connection) -> (Vec<i64>, Option<StoreError>) {
    let ways = [
        (i64::MIN, "SELECT number FROM game_match WHERE number > $1 ORDER BY number LIMIT 1"),
        (i64::MAX, "SELECT number FROM game_match WHERE number < $1 ORDER BY number DESC LIMIT 1"),
        (i64::MIN, "SELECT match_number FROM event WHERE match_number > $1 ORDER BY match_number LIMIT 1"),
        (i64::MAX, "SELECT match_number FROM event WHERE match_number < $1 ORDER BY match_number DESC LIMIT 1"),
    ];
    let (mut found, mut hidden) = (BTreeSet::new(), None);
    for (mut last, way) in ways {
        let failed = loop {
            match sqlx::query_scalar(way).bind(last).fetch_optional(&mut *connection).await {
                Ok(Some(number)) => {
                    found.insert(number);
                    last = number;
                }
                Ok(None) => break None,
                Err(error) => break Some(error.into()),
            }
        };
        hidden = hidden.or(failed);
        if hidden.is_none() {
            break;
        }
    }
    (found.into_iter().collect(), hidden)
}

/// Reads a match and compares it with its row.
/// Notes the documents it names, each with the match.
async fn check_match(
    connection: &mut Connection,
    number: i64,
    named: &mut BTreeMap<String, i64>,
    report: &mut Report,
) -> Result<(), StoreError> {
    report.matches += 1;
    let mut events = 0;
    let loaded = load_on(connection, number, &mut |record| {
        events += 1;
        named.extend(evidence_of(&record.event).iter().map(|evidence| (evidence.sha256.clone(), number)));
    })
    .await;
    report.events += events;
    let game = loaded?.game;
    let row = sqlx::query("SELECT revision, summary FROM game_match WHERE number = $1").bind(number);
    let row = row.fetch_one(connection).await?;
    let (revision, summary): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
    if game.revision() != revision.unsigned_abs() {
        report.faults.push(format!("match {number}: {events} events, its row says {revision}"));
    }
    if serde_json::from_str::<Summary>(&summary).ok() != Some(Summary::of(&game)) {
        report.faults.push(format!("match {number}: its summary is not what its events come to"));
    }
    Ok(())
}
