//! Crokinole Match Notation, 1.0-draft, one match or a batch.
//!
//! Only `winner` of each game is certain; `scores` may or may not hold the 20s (the notation's own examples do not add up),
//! so the points come from the winner and the totals are kept beside them as stated. Its `hammer` is the team that shot
//! first. What crokeye wrote under its extension key comes back as it was.

use serde_json::Value;

use super::{ForeignRound, ImportError, Imported};
use crate::score::event::Player;
use crate::score::rules::End;
use crate::score::tally::{SideEntry, SideScore};

const NAME: &str = "CMN";

/// Reads a document or a batch.
///
/// # Errors
/// Not JSON, another version, or a required field is missing; the message names it.
pub fn read(bytes: &[u8]) -> Result<Vec<Imported>, ImportError> {
    let wrong = |reason: String| ImportError::Parse { format: NAME, reason };
    let file: Value = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    match file["cmn"].as_str() {
        Some(version) if version == "1.0" || version.starts_with("1.") => {}
        Some(version) => return Err(wrong(format!("version {version:?}, 1.x is understood"))),
        None => return Err(wrong("the field \"cmn\" with its version is missing".to_owned())),
    }
    if file["batch"] != Value::Bool(true) {
        return Ok(vec![one(&file, &file).map_err(wrong)?]);
    }
    let list = file["matches"].as_array().ok_or_else(|| wrong("a batch needs \"matches\"".to_owned()))?;
    list.iter()
        .enumerate()
        .map(|(at, entry)| one(entry, &file).map_err(|reason| wrong(format!("match {}: {reason}", at + 1))))
        .collect()
}

fn one(entry: &Value, file: &Value) -> Result<Imported, String> {
    let stated = &entry["match"];
    let mut imported = Imported::default();
    let date = stated["date"].as_str().ok_or("match.date is missing")?;
    imported.context.played_at = Some(date.parse().map_err(|error| format!("match.date {date:?}: {error}"))?);
    let format = stated["format"].as_str().ok_or("match.format is missing")?;
    let teams = stated["teams"].as_array().ok_or("match.teams is missing")?;
    if teams.len() != 2 {
        return Err(format!("match.teams has {} entries, two are needed", teams.len()));
    }
    for team in teams {
        let players = team["players"].as_array().ok_or("a team has no players")?;
        let named: Option<Vec<Player>> = players
            .iter()
            .map(|player| {
                let cid = player["cid"].as_str().map(str::to_owned);
                player["name"].as_str().map(|name| Player { cid, ..Player::named(name) })
            })
            .collect();
        imported.sides.push(named.ok_or("a player has no name")?);
    }
    let needed = if format == "singles" { 1 } else { 2 };
    if imported.sides.iter().all(|side| side.len() != needed) {
        imported.notes.push(format!("it says {format}, its teams have another number of players"));
    }
    let own = &stated["crokeye"];
    imported.rules = own["rules"].as_str().map(str::to_owned);
    imported.choices = strings(&own["choices"]);
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|n| *n > 0);
    if imported.rules.is_none() {
        imported.end = match stated["gameFormat"]["type"].as_str() {
            Some("fixed") => number(&stated["gameFormat"]["count"]).map(End::Rounds),
            Some("first_to") => {
                number(&stated["gameFormat"]["target"]).map(|points| End::FirstTo { points, margin: 1 })
            }
            _ => None,
        };
    }
    let games = stated["games"].as_array().ok_or("match.games is missing")?;
    for (at, game) in games.iter().enumerate() {
        imported.rounds.push(round(game).map_err(|reason| format!("game {}: {reason}", at + 1))?);
    }
    if imported.end.is_none() && imported.rules.is_none() {
        // Nothing says how long it was to be: it was as long as it is.
        imported.end = u32::try_from(games.len()).ok().filter(|games| *games > 0).map(End::Rounds);
    }
    imported.winner = Some(side(stated.get("winner").ok_or("match.winner is missing")?, "match.winner")?);
    if own["status"]["how"] == "shoot_out" {
        imported.shoot_out = imported.winner.flatten();
    }
    let event = if entry["event"].is_object() { &entry["event"] } else { &file["event"] };
    imported.context.event = event["name"].as_str().map(str::to_owned);
    for (key, value) in own["refs"].as_object().into_iter().flatten() {
        if let Some(value) = value.as_str() {
            imported.context.refs.insert(key.clone(), value.to_owned());
        }
    }
    for (key, value) in [("cmn.id", &entry["id"]), ("cmn.source", &file["source"]["app"])] {
        if let Some(text) = value.as_str() {
            imported.context.refs.insert(key.to_owned(), text.to_owned());
        }
    }
    if event.as_object().is_some_and(|fields| fields.keys().any(|key| key != "name")) {
        imported.context.extra.insert("cmn.event".to_owned(), event.clone());
    }
    Ok(imported)
}

fn round(game: &Value) -> Result<ForeignRound, String> {
    let winner = side(game.get("winner").ok_or("winner is missing")?, "winner")?;
    let first = game.get("hammer").filter(|value| !value.is_null()).map(|value| side(value, "hammer")).transpose()?;
    let own = &game["crokeye"];
    if let Ok(sides) = serde_json::from_value::<Vec<SideScore>>(own["sides"].clone()) {
        let last = own["last_shot"].as_u64().and_then(|side| usize::try_from(side).ok());
        return Ok(ForeignRound { sides: sides.iter().map(SideEntry::from).collect(), first: first.flatten(), last });
    }
    let points = match winner {
        Some(0) => [2, 0],
        Some(_) => [0, 2],
        None => [1, 1],
    };
    let pair = |name: &str| -> Result<[Option<i64>; 2], String> {
        match game.get(name) {
            None | Some(Value::Null) => Ok([None; 2]),
            Some(Value::Array(list)) if list.len() == 2 => {
                let number =
                    |value: &Value| value.as_i64().ok_or_else(|| format!("{name} holds {value}, not a number"));
                Ok([Some(number(&list[0])?), Some(number(&list[1])?)])
            }
            Some(other) => Err(format!("{name} is {other}, two numbers are needed")),
        }
    };
    let (scores, twenties) = (pair("scores")?, pair("twenties")?);
    let sides = [0, 1].map(|at| SideEntry {
        total: scores[at],
        twenties: twenties[at],
        points: Some(points[at]),
        ..SideEntry::default()
    });
    Ok(ForeignRound { sides: sides.to_vec(), first: first.flatten(), last: None })
}

fn side(value: &Value, what: &str) -> Result<Option<usize>, String> {
    match value.as_u64() {
        Some(side @ 0..=1) => Ok(Some(side as usize)),
        _ if value.is_null() => Ok(None),
        _ => Err(format!("{what} is {value}: 0, 1 or null is needed")),
    }
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
