//! CSV of discs: one line a disc of every count (`crokeye.count/1`) kept as evidence on a round.
//!
//! The figures are copied as they stand in the count, text for text; nothing here knows what they measure.

use serde_json::Value;

use super::{ExportError, Exported};
use crate::score::game::Match;

const NAME: &str = "CSV of discs";

/// The columns, in order: the round, then fields of the count's disc (a pair becomes two columns).
pub const COLUMNS: [&str; 19] = [
    "match",
    "round",
    "counts",
    "count_sha256",
    "picture",
    "disc",
    "count_side",
    "colour",
    "state",
    "value",
    "line",
    "margin_mm",
    "margin_sigma_mm",
    "close",
    "confidence",
    "base_x_mm",
    "base_y_mm",
    "base_x_px",
    "base_y_px",
];

/// A header and the lines of all matches. The values are those of the count, before a person corrected the round.
///
/// # Errors
/// A count kept as evidence is not JSON, or the CSV writer failed.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let failed = |reason: String| ExportError::Write { format: NAME, reason };
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS).map_err(|error| failed(error.to_string()))?;
    for exported in matches {
        let counted: Vec<u32> = exported.game.counted().map(|(number, _)| number).collect();
        for (number, round) in (1u32..).zip(exported.game.rounds()) {
            for evidence in round.evidence.iter().filter(|evidence| evidence.kind == "count") {
                let Some((_, bytes)) = exported.counts.iter().find(|(sha256, _)| *sha256 == evidence.sha256) else {
                    continue;
                };
                let count: Value = serde_json::from_slice(bytes)
                    .map_err(|error| failed(format!("count {}: {error}", evidence.sha256)))?;
                let round = [
                    exported.id.to_string(),
                    number.to_string(),
                    if counted.binary_search(&number).is_ok() { "yes" } else { "no" }.to_owned(),
                    evidence.sha256.clone(),
                    cell(&count["source"]),
                ];
                for disc in count["discs"].as_array().map(Vec::as_slice).unwrap_or_default() {
                    csv.write_record(round.iter().cloned().chain(fields(disc)))
                        .map_err(|error| failed(error.to_string()))?;
                }
            }
        }
    }
    csv.into_inner().map_err(|error| failed(error.to_string()))
}

/// What the lines cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let without =
        game.rounds().iter().filter(|round| !round.evidence.iter().any(|evidence| evidence.kind == "count")).count();
    let mut losses = vec!["only discs are written: points, rules and results are left out".to_owned()];
    if without > 0 {
        losses.push(format!("{without} round(s) have no count as evidence and give no line"));
    }
    if game.rounds().iter().any(|round| !round.amendments.is_empty()) {
        losses.push("corrections of rounds do not change the discs that were counted".to_owned());
    }
    losses
}

fn fields(disc: &Value) -> [String; 14] {
    [
        cell(&disc["id"]),
        cell(&disc["side"]),
        cell(&disc["colour"]["name"]),
        cell(&disc["state"]),
        cell(&disc["value"]),
        cell(&disc["line"]),
        cell(&disc["margin_mm"]),
        cell(&disc["margin_sigma_mm"]),
        cell(&disc["close"]),
        cell(&disc["confidence"]),
        cell(&disc["base_mm"][0]),
        cell(&disc["base_mm"][1]),
        cell(&disc["base_px"][0]),
        cell(&disc["base_px"][1]),
    ]
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
