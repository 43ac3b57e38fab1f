//! Crokinole Match Notation, 1.0-draft: JSON, one CMN "game" a round.
//!
//! Source: the notation's README. Its `hammer` is the team that shot *first*; a round here knows first and last shooter
//! apart, so `hammer` is written from the first. Its `scores` are raw totals. What it has no field for goes under the
//! extension key `crokeye`, which readers must ignore.

use serde_json::{Value, json};

use super::{ExportError, Exported, two_sides};
use crate::score::format::{Format, Party};
use crate::score::game::{Match, Round, Status};
use crate::score::rules::{Conversion, End};

const NAME: &str = "CMN";

/// One match as a document, several as a batch.
///
/// # Errors
/// A match has three sides or is not over.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let mut documents = Vec::new();
    for exported in matches {
        documents.push(document(exported)?);
    }
    let source = json!({ "app": "crokeye", "version": env!("CARGO_PKG_VERSION") });
    let value = match documents.as_mut_slice() {
        [one] => {
            one["source"] = source;
            one.clone()
        }
        _ => json!({ "cmn": "1.0", "batch": true, "source": source, "matches": documents }),
    };
    let failed = |error: serde_json::Error| ExportError::Write { format: NAME, reason: error.to_string() };
    let mut bytes = serde_json::to_vec_pretty(&value).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What CMN's own fields cannot hold.
pub fn losses(game: &Match) -> Vec<String> {
    let mut losses = Vec::new();
    if game.format().sides() != 2 {
        losses.push("three sides: CMN knows two, the match cannot be written".to_owned());
    }
    if game.format() == Format::TwoVersusOne {
        losses.push("two against one is written as doubles with one player missing".to_owned());
    }
    if game.rules().conversion != Conversion::MatchPoints {
        losses.push("CMN assumes 2/1/0: the points of this match stand only under the extension key".to_owned());
    }
    if matches!(game.rules().end, End::FirstTo { margin, .. } if margin > 1) {
        losses.push("the margin of first-to stands only under the extension key".to_owned());
    }
    if game.rounds().iter().any(|round| round.sides.iter().any(|side| side.zones().is_some())) {
        losses.push("discs per zone stand only under the extension key".to_owned());
    }
    losses.push("the hammer is written as the team that shot first, which is CMN's meaning; the last shooter stands only under the extension key".to_owned());
    losses
}

fn document(exported: &Exported) -> Result<Value, ExportError> {
    let game = exported.game;
    two_sides(NAME, game)?;
    let Status::Over { winner, .. } = game.status() else {
        return Err(ExportError::Unfit {
            format: NAME,
            reason: "it records results, and the match is not over".into(),
        });
    };
    let teams: Vec<Value> = game
        .setup()
        .sides
        .iter()
        .map(|side| {
            let players = side.players.iter().map(|player| match &player.cid {
                Some(cid) => json!({ "name": player.name, "cid": cid }),
                None => json!({ "name": player.name }),
            });
            json!({ "players": players.collect::<Vec<_>>() })
        })
        .collect();
    let game_format = match game.rules().end {
        End::Rounds(count) => json!({ "type": "fixed", "count": count }),
        End::Target(target) => json!({ "type": "first_to", "target": target }),
        End::FirstTo { points, .. } => json!({ "type": "first_to", "target": points }),
    };
    let date = game.played_at().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut document = json!({
        "cmn": "1.0",
        "id": exported.id.to_string(),
        "match": {
            "date": date,
            "format": if game.format() == Format::Singles { "singles" } else { "doubles" },
            "teams": teams,
            "gameFormat": game_format,
            "games": game.counted().map(|(number, round)| one_game(game, number, round)).collect::<Vec<_>>(),
            "winner": winner.map(Party::index),
            "crokeye": {
                "rules": game.setup().rules_name,
                "choices": game.setup().choices,
                "format": game.format(),
                "points": &game.standing().points[..2],
                "status": game.status(),
                "refs": game.setup().context.refs,
            },
        },
    });
    if let Some(event) = &game.setup().context.event {
        document["event"] = json!({ "name": event });
    }
    Ok(document)
}

fn one_game(game: &Match, number: u32, round: &Round) -> Value {
    let points = game.points_of(round);
    let winner = match points[0].cmp(&points[1]) {
        std::cmp::Ordering::Greater => Some(0),
        std::cmp::Ordering::Less => Some(1),
        std::cmp::Ordering::Equal => None,
    };
    let first = game.format().party_at(round.first).index();
    let mut value = json!({ "winner": winner, "hammer": first });
    let both = |what: Vec<Option<u32>>| what.into_iter().collect::<Option<Vec<u32>>>();
    if let Some(scores) = both(round.sides.iter().map(|side| side.total()).collect()) {
        value["scores"] = json!(scores);
    }
    if let Some(twenties) = both(round.sides.iter().map(|side| side.twenties()).collect()) {
        value["twenties"] = json!(twenties);
    }
    value["crokeye"] = json!({
        "round": number,
        "points": &points[..2],
        "first_seat": round.first,
        "last_seat": round.last,
        "last_shot": game.format().party_at(round.last).index(),
        "sides": round.sides,
        "odd": round.odd,
    });
    value
}
