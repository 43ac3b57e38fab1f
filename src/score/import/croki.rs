//! croki.nl's matches: an ingest body, an answer with one `match`, or a list (`matches`, `round_matches`).
//!
//! A set is a round: `pa`, `pb` its raw points, `ta`, `tb` its 20s; null means not played. An ingest body has no names, so
//! its sides are called A and B.

use serde_json::Value;

use super::{ForeignRound, ImportError, Imported, partners};
use crate::score::rules::End;
use crate::score::tally::SideEntry;

const NAME: &str = "croki.nl JSON";

/// Reads one or many matches.
///
/// # Errors
/// Not JSON, no sets, or a number where none can be.
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, ImportError> {
    let wrong = |reason: String| ImportError::Parse { format: NAME, reason };
    let file: Value = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    let list: Vec<&Value> = match &file {
        Value::Array(list) => list.iter().collect(),
        file => ["matches", "round_matches"]
            .iter()
            .find_map(|key| file[*key].as_array())
            .map(|list| list.iter().collect())
            .unwrap_or_else(|| vec![if file["match"].is_object() { &file["match"] } else { file }]),
    };
    let mut matches = Vec::new();
    for (at, entry) in list.iter().enumerate() {
        // A list of a draw holds matches not yet played and byes.
        if list.len() > 1 && !entry["sets"].is_array() {
            continue;
        }
        matches.push(one(entry).map_err(|reason| wrong(format!("match {}: {reason}", at + 1)))?);
    }
    Ok(matches)
}

fn one(entry: &Value) -> Result<Imported, String> {
    let sets = entry["sets"].as_array().ok_or("\"sets\" is missing")?;
    let mut imported = Imported { rules: Some("nk-nl".to_owned()), ..Imported::default() };
    for (key, default) in [("team_a", "A"), ("team_b", "B")] {
        let name = entry[key]["name"].as_str().or_else(|| entry[key].as_str());
        if name.is_none() {
            imported.notes.push(format!("it does not name {key}: it is called {default}"));
        }
        let mut players = partners(name.unwrap_or(default));
        // A team name is not two players' names; only "X/Y" is.
        players.truncate(2);
        imported.sides.push(players);
        if let Some(id) = entry[key]["id"].as_u64() {
            imported.context.refs.insert(format!("croki.{key}"), id.to_string());
        }
    }
    if imported.sides[0].len() != imported.sides[1].len() {
        // Team names with a slash in one only: take both whole.
        for (side, key) in [(0, "team_a"), (1, "team_b")] {
            if let Some(name) = entry[key]["name"].as_str() {
                imported.sides[side] = vec![crate::score::event::Player::named(name)];
            }
        }
        imported.sides.iter_mut().for_each(|side| side.truncate(1));
    }
    for (at, set) in sets.iter().enumerate() {
        let number = |key: &str| -> Result<Option<i64>, String> {
            match set.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => value.as_i64().map(Some).ok_or_else(|| format!("set {}: {key} is {value}", at + 1)),
            }
        };
        match (number("pa")?, number("pb")?) {
            (Some(a), Some(b)) => {
                let side = |total, twenties: Option<i64>| SideEntry {
                    total: Some(total),
                    twenties: Some(twenties.unwrap_or(0)),
                    ..SideEntry::default()
                };
                let sides = vec![side(a, number("ta")?), side(b, number("tb")?)];
                imported.rounds.push(ForeignRound { sides, ..ForeignRound::default() });
            }
            (None, None) => {}
            _ => imported.notes.push(format!("set {} is half entered and left out", at + 1)),
        }
    }
    imported.end = Some(End::Rounds(4));
    for (field, key) in [
        ("match_code", "croki.match_code"),
        ("match_id", "croki.match_id"),
        ("table", "croki.table"),
        ("round", "croki.round"),
        ("source", "croki.source"),
    ] {
        match &entry[field] {
            Value::String(text) => drop(imported.context.refs.insert(key.to_owned(), text.clone())),
            Value::Number(number) => drop(imported.context.refs.insert(key.to_owned(), number.to_string())),
            _ => {}
        }
    }
    if let Some(winner) = entry["shootout_winner"].as_u64() {
        let id = |key: &str| entry[key]["id"].as_u64();
        imported.shoot_out = [id("team_a"), id("team_b")].iter().position(|id| *id == Some(winner));
        if imported.shoot_out.is_none() {
            imported
                .notes
                .push(format!("the shoot-out's winner {winner} is neither team: the winner is to be entered"));
        }
    }
    Ok(imported)
}
