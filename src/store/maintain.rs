//! Care of the database: whose it is, whether it is whole, backups.

use std::path::Path;

use serde::Serialize;
use sqlx::Row;

use super::evidence::write_whole;
use super::open::layout;
use super::rows::Connection;
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
    /// document's bytes. It sees the database as it is at one instant, writers or not.
    ///
    /// # Errors
    /// Only when the database cannot be read at all; faults are in the report.
    pub async fn check(&self) -> Result<Report, StoreError> {
        let mut tx = self.pool.begin().await?;
        let mut report = Report { layout: layout(&mut tx).await?, ..Report::default() };
        for row in sqlx::query("PRAGMA integrity_check").fetch_all(&mut *tx).await? {
            let said: String = row.try_get(0)?;
            if said != "ok" {
                report.faults.push(said);
            }
        }
        for row in sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *tx).await? {
            report.faults.push(format!("a row of table {} refers to nothing", row.try_get::<String, _>(0)?));
        }
        for row in sqlx::query("SELECT number FROM game_match ORDER BY number").fetch_all(&mut *tx).await? {
            if let Err(error) = check_match(&mut tx, row.try_get(0)?, &mut report).await {
                report.faults.push(error.to_string());
            }
        }
        let documents = sqlx::query("SELECT sha256 FROM evidence ORDER BY sha256").fetch_all(&mut *tx).await?;
        drop(tx);
        for row in documents {
            report.documents += 1;
            if let Err(error) = self.fetch(row.try_get(0)?).await {
                report.faults.push(error.to_string());
            }
        }
        Ok(report)
    }

    /// Copies the database as it is at one instant, writers or not, and every document, to a new place.
    ///
    /// # Errors
    /// The place is taken or cannot be written.
    pub async fn backup(&self, target: &Path) -> Result<(), StoreError> {
        if target.exists() {
            return Err(StoreError::Exists(target.to_owned()));
        }
        // Documents first: those added meanwhile are named only by events added meanwhile.
        let before = self.evidence().await?;
        sqlx::query("VACUUM INTO $1").bind(target.to_string_lossy().into_owned()).execute(&self.pool).await?;
        let after = self.evidence().await?;
        let folder = Self::evidence_folder(target);
        for sha256 in before.iter().chain(after.iter().filter(|new| !before.contains(new))) {
            let bytes = self.fetch(sha256).await?;
            write_whole(&folder.join(&sha256[..2]).join(sha256), &bytes)?;
        }
        Ok(())
    }
}

/// Reads a match and compares it with its row.
async fn check_match(connection: &mut Connection, number: i64, report: &mut Report) -> Result<(), StoreError> {
    report.matches += 1;
    let mut events = 0;
    let loaded = load_on(connection, number, &mut |_| events += 1).await;
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
