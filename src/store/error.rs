//! What can go wrong with the store, each with what a person can do about it.

use std::path::{Path, PathBuf};

use crate::score::Violation;

// SQLite's numbers.
const BUSY: i32 = 5;
const READ_ONLY: i32 = 8;
const CORRUPT: i32 = 11;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

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
    /// Evidence cannot be called that.
    #[error("{0:?} names no evidence: that takes a SHA-256, 64 hexadecimal digits in lower case")]
    NoName(String),
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
    /// There is no database.
    #[error("there is no database at {0}; `crokeye match new` makes one")]
    NoDatabase(PathBuf),
    /// It should be written and cannot be.
    #[error("{path} cannot be written: {reason}")]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
    /// The database refused.
    #[error("database: {message}")]
    Sql {
        /// SQLite's number for it.
        code: Option<i32>,
        /// What it says.
        message: String,
    },
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let (code, message) = match &error {
            sqlx::Error::Database(inner) => {
                // The lowest byte says what it is, the others where it happened.
                let code = inner.code().and_then(|code| code.parse().ok()).map(|code: i32| code & 0xff);
                (code, inner.message().to_owned())
            }
            other => (None, other.to_string()),
        };
        Self::Sql { code, message }
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::Execute(error) => error.into(),
            other => {
                let message = format!("its layout could not be brought up to date: {other}");
                Self::Sql { code: None, message }
            }
        }
    }
}

impl StoreError {
    /// The error with what its number means for the database that gave it.
    pub(super) fn of(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::Sql { code: Some(CORRUPT), message } => Self::Damaged { path, reason: message },
            Self::Sql { code: Some(NOT_A_DATABASE), message } => Self::Foreign { path, reason: message },
            Self::Sql { code: Some(READ_ONLY | CANNOT_OPEN), message } => Self::ReadOnly { path, reason: message },
            other => other,
        }
    }

    /// Did another program keep SQLite from it?
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sql { code: Some(BUSY), .. })
    }

    /// Did SQLite fail because it could not write, be it only the files it reads with?
    pub(super) fn forbids_writing(&self) -> bool {
        matches!(self, Self::Sql { code: Some(READ_ONLY | CANNOT_OPEN), .. } | Self::ReadOnly { .. })
    }
}
