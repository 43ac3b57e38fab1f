//! crokinole-tourney's backup: players with numbers, games between them.
//!
//! A game without both players is a bye or not drawn yet and is passed over. 20s are sums over the game and are kept beside
//! it: which round they fell in is not known.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ForeignRound, ImportError, Imported, partners};
use crate::score::rules::End;
use crate::score::tally::SideEntry;

const NAME: &str = "a crokinole-tourney backup";

/// Reads the games of a backup.
///
/// # Errors
/// Not JSON, no players, or a game with a player who is not listed.
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, ImportError> {
    let wrong = |reason: String| ImportError::Parse { format: NAME, reason };
    let file: Value = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    let players = file["players"].as_array().ok_or_else(|| wrong("\"players\" is missing".to_owned()))?;
    let names: BTreeMap<i64, &str> =
        players.iter().filter_map(|player| Some((player["id"].as_i64()?, player["name"].as_str()?))).collect();
    let games = file["games"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut matches = Vec::new();
    for (at, game) in games.iter().enumerate() {
        if let Some(imported) = one(game, &names).map_err(|reason| wrong(format!("game {}: {reason}", at + 1)))? {
            matches.push(imported);
        }
    }
    Ok(matches)
}

fn one(game: &Value, names: &BTreeMap<i64, &str>) -> Result<Option<Imported>, String> {
    let (Some(p1), Some(p2)) = (game["p1id"].as_i64(), game["p2id"].as_i64()) else { return Ok(None) };
    let mut imported = Imported::default();
    for id in [p1, p2] {
        let name = names.get(&id).ok_or_else(|| format!("player {id} is not listed"))?;
        imported.sides.push(partners(name));
    }
    let number = |value: &Value, what: &str| -> Result<Option<i64>, String> {
        if value.is_null() { Ok(None) } else { value.as_i64().map(Some).ok_or_else(|| format!("{what} is {value}")) }
    };
    let points = [number(&game["p1points"], "p1points")?, number(&game["p2points"], "p2points")?];
    let twenties = [number(&game["p1twenties"], "p1twenties")?, number(&game["p2twenties"], "p2twenties")?];
    for round in game["gameRounds"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let both = [number(&round["p1points"], "p1points")?, number(&round["p2points"], "p2points")?];
        let [Some(a), Some(b)] = both else { continue };
        let sides = [a, b].map(|points| SideEntry { points: Some(points), ..SideEntry::default() });
        imported.rounds.push(ForeignRound { sides: sides.to_vec(), ..ForeignRound::default() });
    }
    imported.end = u32::try_from(imported.rounds.len()).ok().filter(|rounds| *rounds > 0).map(End::Rounds);
    if let [Some(a), Some(b)] = points {
        imported.winner = Some(match a.cmp(&b) {
            std::cmp::Ordering::Greater => Some(0),
            std::cmp::Ordering::Less => Some(1),
            std::cmp::Ordering::Equal => None,
        });
        imported.context.extra.insert("tourney.points".to_owned(), serde_json::json!([a, b]));
    }
    if let [Some(a), Some(b)] = twenties {
        imported.context.extra.insert("tourney.twenties".to_owned(), serde_json::json!([a, b]));
    }
    for (field, key) in [("stage", "tourney.stage"), ("round", "tourney.round"), ("n", "tourney.n")] {
        match &game[field] {
            Value::String(text) => drop(imported.context.refs.insert(key.to_owned(), text.clone())),
            Value::Number(number) => drop(imported.context.refs.insert(key.to_owned(), number.to_string())),
            _ => {}
        }
    }
    Ok(Some(imported))
}
