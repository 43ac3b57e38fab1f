//! How far other systems have been told of the match log.
//!
//! The log itself is what waits to be told: a receiver has a place in each match, and what lies beyond it is still to come.
//! A place is moved on when the receiver has acknowledged, so that it is told everything at least once, across restarts.

use jiff::Timestamp;
use sqlx::Row;

use super::{Store, StoreError};

/// A match with events that a receiver has not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untold {
    /// Number of the match.
    pub number: i64,
    /// The latest event that was acknowledged; 0 for none.
    pub after: u64,
}

impl Store {
    /// Makes a receiver known. One that is new is told of what happens from now on, not of what is past.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn register(&self, receiver: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let known = sqlx::query("SELECT 1 FROM receiver WHERE name = $1").bind(receiver);
        if known.fetch_optional(&mut *tx).await?.is_none() {
            sqlx::query("INSERT INTO receiver (name, since_us) VALUES ($1, $2)")
                .bind(receiver)
                .bind(at.as_microsecond())
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO told (receiver, match_number, revision) SELECT $1, number, revision FROM game_match",
            )
            .bind(receiver)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Matches with events that the receiver has not acknowledged, the oldest first.
    ///
    /// # Errors
    /// The database refused.
    pub async fn untold(&self, receiver: &str) -> Result<Vec<Untold>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.number, COALESCE(t.revision, 0) AS after FROM game_match AS m \
             LEFT JOIN told AS t ON t.receiver = $1 AND t.match_number = m.number \
             WHERE m.revision > COALESCE(t.revision, 0) ORDER BY m.number",
        )
        .bind(receiver)
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                let after: i64 = row.try_get("after")?;
                Ok(Untold { number: row.try_get("number")?, after: after.unsigned_abs() })
            })
            .collect()
    }

    /// The receiver has acknowledged a match up to an event.
    ///
    /// # Errors
    /// The database cannot be written: the receiver will be told again.
    pub async fn acknowledge(&self, receiver: &str, number: i64, revision: u64) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO told (receiver, match_number, revision) VALUES ($1, $2, $3) \
             ON CONFLICT (receiver, match_number) DO UPDATE SET revision = excluded.revision",
        )
        .bind(receiver)
        .bind(number)
        .bind(i64::try_from(revision).unwrap_or(i64::MAX))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
