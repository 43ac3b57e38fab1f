//! `results.jsonl`: the public count of each picture, one a line, with what the audit adds under `audit`.

use std::io::Write;

use super::OutputError;
use crate::audit::Audit;

/// Writes all pictures in their order.
///
/// # Errors
/// The writer's.
pub fn write(audit: &Audit, mut out: impl Write) -> Result<(), OutputError> {
    for item in &audit.items {
        serde_json::to_writer(&mut out, item)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
