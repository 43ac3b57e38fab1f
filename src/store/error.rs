//! What can go wrong with the store, each with what a person can do about it.

use std::path::PathBuf;

use crate::score::Violation;

/// A failed store operation. Nothing was written unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The command was refused by the rules of the match.
    #[error(transparent)]
    Refused(#[from] Violation),
    /// Somebody else appended first.
    #[error("the match has changed meanwhile: expected revision {expected}, found {found}; look at it again")]
    Conflict {
        /// What the writer had seen.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// No such match.
    #[error("there is no match {0}; `crokeye match list` shows them")]
    NoMatch(String),
    /// A match to take over is here already.
    #[error("match {id} is here already, as number {number}")]
    AlreadyHere {
        /// Its identity.
        id: uuid::Uuid,
        /// Its number.
        number: i64,
    },
    /// Several matches fit.
    #[error("{handle:?} fits {found} matches; give more of it, or the number")]
    Ambiguous {
        /// As given.
        handle: String,
        /// How many fit.
        found: usize,
    },
    /// Written by a newer program.
    #[error(
        "{path} was written by a newer crokeye (its layout is {found}, this one knows up to {known}): update crokeye"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest known here.
        known: i64,
    },
    /// Some other database, or no database at all.
    #[error("{path} is not a crokeye database: {reason}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why it is thought so.
        reason: String,
    },
    /// The file is damaged.
    #[error("{path} is damaged: {reason}; restore a backup, or save what is readable with `crokeye db export`")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A stored event cannot be read.
    #[error("match {number}, event {revision}: {reason}")]
    Unreadable {
        /// Number of the match.
        number: i64,
        /// Revision of the event.
        revision: i64,
        /// Why.
        reason: String,
    },
    /// The target of a backup exists.
    #[error("{0} exists already: a backup never overwrites")]
    Exists(PathBuf),
    /// Evidence that is named is not there.
    #[error("evidence {0} is not in the store")]
    NoEvidence(String),
    /// Evidence has other bytes than its name says.
    #[error("evidence {sha256} is damaged: its bytes hash to {found}")]
    EvidenceDamaged {
        /// As named.
        sha256: String,
        /// As found.
        found: String,
    },
    /// A file operation failed.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The database refused.
    #[error("database: {0}")]
    Sql(#[from] sqlx::Error),
    /// The layout could not be brought up to date.
    #[error("bringing the database's layout up to date failed: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
}
