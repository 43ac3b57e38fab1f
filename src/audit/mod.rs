//! The audit of a season: many saved photos against a sheet of typed scores.
//!
//! ```text
//! photos -> count -> journal -> pool -> judge again -> decisions -> against the sheet -> results, report
//! sheet -> table -> columns -> claims ---------------------------------^
//! ```
//! The journal holds what was measured in each photo; everything after it is a pure function of the journal, the sheet and
//! the decisions, so that an audit that was interrupted ends as one that was not.

pub mod claim;
pub mod columns;
pub mod compare;
pub mod decision;
pub mod duplicates;
pub mod item;
pub mod journal;
pub mod matching;
pub mod output;
pub mod picture;
pub mod pool;
pub mod sheet;
#[cfg(test)]
pub(crate) mod testing;

use sha2::{Digest, Sha256};

pub use item::{Audit, Item, Pooling, Settings, Sheet, Tally, UnusableSheet, audit};

/// Hash of a content, in hexadecimal figures.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Start of the names of files about the picture of that content and basis.
pub fn key(sha256: &str, basis: &str) -> String {
    let mut both = self::sha256(format!("{sha256} {basis}").as_bytes());
    both.truncate(16);
    both
}
