//! The results as files, one file a format: bytes to a writer, never a path.

pub mod html;
pub mod jsonl;
pub mod tables;
pub mod workbook;

use crate::count::report::Status;

/// Why a result cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The disk is full or gone.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A table.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// A workbook.
    #[error("the workbook cannot be made: {0}")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// Name of a status in files.
fn status_name(status: Status) -> &'static str {
    match status {
        Status::Counted => "counted",
        Status::Review => "review",
        Status::NoBoard => "no_board",
        Status::Error => "error",
    }
}
