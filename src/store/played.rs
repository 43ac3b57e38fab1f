//! Which match each board of the service plays, and what was chosen for the board.

use std::collections::BTreeMap;

use sqlx::Row;

use super::{Store, StoreError};

impl Store {
    /// Keeps that a board plays a match from now on.
    ///
    /// # Errors
    /// There is no such match, or the database refuses.
    pub async fn keep_played(&self, board: &str, number: i64) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO played (board, match_number) VALUES ($1, $2) \
             ON CONFLICT (board) DO UPDATE SET match_number = excluded.match_number",
        )
        .bind(board)
        .bind(number)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The match that each board played last, by the board's id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn played(&self) -> Result<BTreeMap<String, i64>, StoreError> {
        let rows = sqlx::query("SELECT board, match_number FROM played").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get("board")?, row.try_get("match_number")?))).collect()
    }

    /// Keeps what was chosen for a board, in place of what was before.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn keep_setup(&self, board: &str, chosen: &str) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO board_setup (board, chosen) VALUES ($1, $2) \
             ON CONFLICT (board) DO UPDATE SET chosen = excluded.chosen",
        )
        .bind(board)
        .bind(chosen)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// What was chosen for each board, by the board's id.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn setups(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let rows = sqlx::query("SELECT board, chosen FROM board_setup").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get("board")?, row.try_get("chosen")?))).collect()
    }
}
