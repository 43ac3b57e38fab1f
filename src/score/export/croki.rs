//! The body of croki.nl's `POST /api/ingest_score`, the laptop of the Dutch championship.
//!
//! Source: its API description 2.0.0. `pa` and `pb` are the raw points of a set (a round here), `ta` and `tb` its 20s; the
//! laptop works out 2/1/0 itself. Up to four sets; `pa` and `pb` are null for one not played. The match is named by exactly
//! one of match code, match id, or table with round: references `croki.match_code`, `croki.match_id`, `croki.table` and
//! `croki.round`. Sending the same twice is harmless; nothing counts until `complete`.

use serde_json::{Value, json};

use super::{ExportError, Exported, two_sides};
use crate::score::event::Finish;
use crate::score::game::{Match, Status};
use crate::score::standing::{How, Reached};

const NAME: &str = "croki.nl";

/// Sets a match has there.
const SETS: usize = 4;

/// The body for one match, finished or in progress.
///
/// # Errors
/// More than one match, three sides, more than four rounds, totals unknown, or no reference that names the match there.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let [exported] = matches else {
        return Err(ExportError::Unfit { format: NAME, reason: "one body holds one match".to_owned() });
    };
    let value = body(exported.game)?;
    let failed = |error: serde_json::Error| ExportError::Write { format: NAME, reason: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(&value).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What the body cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = vec![
        "names and players are left out: the laptop knows them from its draw".to_owned(),
        "discs per zone, first and last shooter are left out".to_owned(),
        "the result is worked out there, as 2/1/0 over four sets, whatever rules this match has".to_owned(),
    ];
    if game.standing().without_twenties > 0 {
        losses.push("rounds whose 20s are not known are sent with 0 20s".to_owned());
    }
    if game.standing().counted as usize > SETS {
        losses.push(format!("more than {SETS} rounds: the match cannot be written"));
    }
    losses
}

/// Does the match say which one it is there?
pub fn names_match(game: &Match) -> bool {
    let refs = &game.setup().context.refs;
    ["croki.match_code", "croki.match_id", "croki.table"].iter().any(|key| refs.contains_key(*key))
}

/// The body as JSON.
///
/// # Errors
/// As [`write`].
pub fn body(game: &Match) -> Result<Value, ExportError> {
    two_sides(NAME, game)?;
    let refs = &game.setup().context.refs;
    let text = |key: &str| refs.get(key).map(String::as_str);
    let number = |key: &str| -> Result<Option<u64>, ExportError> {
        let bad = |text: &str| ExportError::Missing { format: NAME, what: format!("{key} as a number, not {text:?}") };
        text(key).map(|text| text.trim().parse().map_err(|_| bad(text))).transpose()
    };
    let mut value = match (text("croki.match_code"), number("croki.match_id")?, number("croki.table")?) {
        (Some(code), ..) => json!({ "match_code": code }),
        (None, Some(id), _) => json!({ "match_id": id }),
        (None, None, Some(table)) => {
            let round = number("croki.round")?.ok_or_else(|| ExportError::Missing {
                format: NAME,
                what: "croki.round beside croki.table (--ref croki.round=N)".to_owned(),
            })?;
            json!({ "table": table, "round": round })
        }
        (None, None, None) => {
            return Err(ExportError::Missing {
                format: NAME,
                what:
                    "to know the match there: --ref croki.match_code=CODE, or croki.match_id=N, or croki.table=N with \
                       croki.round=N"
                        .to_owned(),
            });
        }
    };
    let counted: Vec<_> = game.counted().map(|(_, round)| round).collect();
    if counted.len() > SETS {
        let reason = format!("{} rounds, there are {SETS} sets", counted.len());
        return Err(ExportError::Unfit { format: NAME, reason });
    }
    let mut sets = Vec::new();
    for round in &counted {
        let [Some(pa), Some(pb)] = [0, 1].map(|at| round.sides.get(at).and_then(|side| side.total())) else {
            return Err(ExportError::Unfit { format: NAME, reason: "a round's totals are not known".to_owned() });
        };
        let [ta, tb] = [0, 1].map(|at| round.sides.get(at).and_then(|side| side.twenties()).unwrap_or(0));
        sets.push(json!({ "pa": pa, "pb": pb, "ta": ta, "tb": tb }));
    }
    let played = sets.len();
    sets.resize(SETS, json!({ "pa": null, "pb": null, "ta": 0, "tb": 0 }));
    value["sets"] = Value::Array(sets);
    value["complete"] = json!(played == SETS && !matches!(game.status(), Status::ShootOutDue));
    if let Some(winner) = shoot_out(game) {
        let key = ["croki.team_a", "croki.team_b"][winner];
        let team = number(key)?.ok_or_else(|| ExportError::Missing {
            format: NAME,
            what: format!("the team's number for the shoot-out winner: --ref {key}=N"),
        })?;
        value["shootout_winner"] = json!(team);
    }
    value["source"] = json!(text("croki.source").unwrap_or("crokeye"));
    Ok(value)
}

/// The side that won a shoot-out that was due, as an index.
fn shoot_out(game: &Match) -> Option<usize> {
    match (game.standing().reached, game.status(), game.finish()) {
        (
            Some(Reached::ShootOutDue),
            Status::Over { winner: Some(winner), how: How::ShootOut },
            Some((Finish::ShootOut { .. }, _)),
        ) => Some(winner.index()),
        _ => None,
    }
}
