//! CSV of rounds: one line a round and side, void rounds included and marked.

use super::{ExportError, Exported};
use crate::score::game::{Match, Round};

const NAME: &str = "CSV of rounds";

/// The columns, in order. New ones are appended, never inserted.
pub const COLUMNS: [&str; 25] = [
    "match",
    "played_at",
    "event",
    "rules",
    "format",
    "round",
    "counts",
    "side",
    "name",
    "opponents",
    "points",
    "total",
    "twenties",
    "set_aside",
    "in_20",
    "in_15",
    "in_10",
    "in_5",
    "out",
    "shot_first",
    "shot_last",
    "source",
    "corrections",
    "void_reason",
    "author",
];

/// A header and the lines of all matches.
///
/// # Errors
/// The CSV writer failed.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let failed = |reason: String| ExportError::Write { format: NAME, reason };
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS).map_err(|error| failed(error.to_string()))?;
    for exported in matches {
        let counted: Vec<u32> = exported.game.counted().map(|(number, _)| number).collect();
        for (number, round) in (1u32..).zip(exported.game.rounds()) {
            for line in lines(exported, number, round, counted.binary_search(&number).is_ok()) {
                csv.write_record(&line).map_err(|error| failed(error.to_string()))?;
            }
        }
    }
    csv.into_inner().map_err(|error| failed(error.to_string()))
}

/// What the lines cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = vec!["the parameters of the rules are left out, their set's name stands in every line".to_owned()];
    if game.rounds().iter().any(|round| !round.amendments.is_empty()) {
        losses.push("corrected rounds appear with their latest numbers, and how often they were corrected".to_owned());
    }
    if game.finish().is_some() {
        losses.push("that the match was ended by hand (shoot-out, forfeit) is left out".to_owned());
    }
    losses.push("evidence and the times of each entry are left out".to_owned());
    losses
}

fn lines(exported: &Exported, number: u32, round: &Round, counts: bool) -> Vec<Vec<String>> {
    let game = exported.game;
    let points = game.points_of(round);
    let text = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let flag = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let source = serde_json::to_value(&round.source).ok();
    let source = source.as_ref().and_then(|value| value["by"].as_str()).unwrap_or_default().to_owned();
    let format = game.format();
    format
        .parties()
        .iter()
        .zip(&round.sides)
        .map(|(party, side)| {
            let others = format.parties().iter().filter(|other| *other != party).map(|other| game.name(*other));
            let board = if let crate::score::tally::SideScore::Zones { zones, .. } = side { Some(zones) } else { None };
            let aside = if let crate::score::tally::SideScore::Zones { set_aside, .. } = side {
                Some(*set_aside)
            } else {
                None
            };
            vec![
                exported.id.to_string(),
                game.played_at().to_string(),
                game.setup().context.event.clone().unwrap_or_default(),
                game.setup().rules_name.clone(),
                format.name().to_owned(),
                number.to_string(),
                flag(counts),
                party.letter().to_string(),
                game.name(*party),
                others.collect::<Vec<_>>().join(" | "),
                points[party.index()].to_string(),
                text(side.total()),
                text(side.twenties()),
                text(aside),
                text(board.map(|zones| zones.twenty)),
                text(board.map(|zones| zones.fifteen)),
                text(board.map(|zones| zones.ten)),
                text(board.map(|zones| zones.five)),
                text(board.map(|zones| zones.out)),
                flag(format.party_at(round.first) == *party),
                flag(format.party_at(round.last) == *party),
                source.clone(),
                round.amendments.len().to_string(),
                round.void.as_ref().map(|void| void.reason.clone()).unwrap_or_default(),
                round.author.clone(),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::COLUMNS;

    #[test]
    fn column_names_are_unique() {
        let mut names = COLUMNS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }
}
