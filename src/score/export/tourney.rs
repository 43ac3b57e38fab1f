//! crokinole-tourney's backup JSON: players with numbers, and games between them.
//!
//! Source: its schema. `{players: [{id, name, present}], games: [{id, stage seed|elim, round, n, p1id, p2id, p1points,
//! p2points, p1twenties, p2twenties, gameRounds: [{p1points, p2points}]}]}`. A "player" is one name; partners are joined by a
//! slash. References `tourney.stage`, `tourney.round` and `tourney.n` place a game.

use serde_json::{Value, json};

use super::{ExportError, Exported, two_sides};
use crate::score::format::Party;
use crate::score::game::Match;

const NAME: &str = "crokinole-tourney";

/// One backup with every side as a player, numbered in order of appearance.
///
/// # Errors
/// Three sides, or a reference that is not a number or stage.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let mut names: Vec<String> = Vec::new();
    let mut games = Vec::new();
    for (at, exported) in matches.iter().enumerate() {
        two_sides(NAME, exported.game)?;
        let mut number = |party: Party| {
            let name = exported.game.name(party);
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            }) + 1
        };
        let (p1, p2) = (number(Party::A), number(Party::B));
        games.push(one_game(exported.game, at + 1, p1, p2)?);
    }
    let players: Vec<Value> =
        names.iter().enumerate().map(|(at, name)| json!({ "id": at + 1, "name": name, "present": true })).collect();
    let failed = |error: serde_json::Error| ExportError::Write { format: NAME, reason: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(&json!({ "players": players, "games": games })).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What the backup cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = vec![
        "20s are summed over the match; totals of the rounds are left out".to_owned(),
        "date, rules, discs per zone, first and last shooter are left out".to_owned(),
    ];
    if game.format().players(Party::A) > 1 {
        losses.push("partners become one player with both names".to_owned());
    }
    if game.standing().without_twenties > 0 {
        losses.push("the sums of 20s are left out, as some rounds' 20s are not known".to_owned());
    }
    if game.format().sides() != 2 {
        losses.push("three sides: the match cannot be written".to_owned());
    }
    losses
}

fn one_game(game: &Match, id: usize, p1: usize, p2: usize) -> Result<Value, ExportError> {
    let refs = &game.setup().context.refs;
    let number = |key: &str, default: u64| -> Result<u64, ExportError> {
        let Some(text) = refs.get(key) else { return Ok(default) };
        let bad = |_| ExportError::Missing { format: NAME, what: format!("{key} as a number, not {text:?}") };
        text.trim().parse().map_err(bad)
    };
    let stage = refs.get("tourney.stage").map_or("seed", String::as_str);
    if !["seed", "elim"].contains(&stage) {
        let what = format!("tourney.stage as seed or elim, not {stage:?}");
        return Err(ExportError::Missing { format: NAME, what });
    }
    let standing = game.standing();
    let rounds: Vec<Value> = game
        .counted()
        .map(|(_, round)| game.points_of(round))
        .map(|points| json!({ "p1points": points[0], "p2points": points[1] }))
        .collect();
    let mut value = json!({
        "id": id,
        "stage": stage,
        "round": number("tourney.round", 1)?,
        "n": number("tourney.n", id as u64)?,
        "p1id": p1,
        "p2id": p2,
        "p1points": standing.points[0],
        "p2points": standing.points[1],
    });
    if standing.without_twenties == 0 && standing.counted > 0 {
        value["p1twenties"] = json!(standing.twenties[0]);
        value["p2twenties"] = json!(standing.twenties[1]);
    }
    value["gameRounds"] = Value::Array(rounds);
    Ok(value)
}
