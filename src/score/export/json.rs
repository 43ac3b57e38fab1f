//! crokeye's own JSON (`crokeye.match/1`): everything, the log included. Nothing is lost in it.

use serde_json::{Value, json};

use super::{ExportError, Exported};
use crate::score::format::Party;
use crate::score::game::{Match, Status};

/// Name of the form, with its version.
pub const SCHEMA: &str = "crokeye.match/1";

/// One object a line.
///
/// # Errors
/// The JSON writer failed.
pub fn write(matches: &[Exported]) -> Result<Vec<u8>, ExportError> {
    let mut bytes = Vec::new();
    for exported in matches {
        let mut value = view(exported.game);
        value["id"] = json!(exported.id);
        value["log"] = json!(exported.log);
        let failed = |error: serde_json::Error| ExportError::Write { format: SCHEMA, reason: error.to_string() };
        serde_json::to_writer(&mut bytes, &value).map_err(failed)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// A match as other programs see it, without its log.
pub fn view(game: &Match) -> Value {
    let format = game.format();
    let standing = game.standing();
    let counted: Vec<u32> = game.counted().map(|(number, _)| number).collect();
    let known = |missing: u32, sum: u64| if missing == 0 { json!(sum) } else { Value::Null };
    let sides: Vec<Value> = format
        .parties()
        .iter()
        .map(|party| {
            let at = party.index();
            json!({
                "side": party,
                "name": game.name(*party),
                "players": game.setup().sides.get(at).map(|side| &side.players),
                "colour": game.setup().sides.get(at).and_then(|side| side.colour.as_ref()),
                "points": standing.points[at],
                "total": known(standing.without_totals, standing.totals[at]),
                "twenties": known(standing.without_twenties, standing.twenties[at]),
            })
        })
        .collect();
    let rounds: Vec<Value> = (1u32..)
        .zip(game.rounds())
        .map(|(number, round)| {
            let points = game.points_of(round);
            let side = |(party, score): (&Party, &crate::score::tally::SideScore)| {
                json!({
                    "side": party,
                    "points": points[party.index()],
                    "total": score.total(),
                    "twenties": score.twenties(),
                    "entry": score,
                })
            };
            json!({
                "round": number,
                "counts": counted.binary_search(&number).is_ok(),
                "sides": format.parties().iter().zip(&round.sides).map(side).collect::<Vec<_>>(),
                "first": { "seat": round.first, "side": format.party_at(round.first) },
                "last": { "seat": round.last, "side": format.party_at(round.last) },
                "source": round.source,
                "odd": round.odd,
                "evidence": round.evidence,
                "at": round.at,
                "author": round.author,
                "reason": round.reason,
                "amendments": round.amendments,
                "void": round.void,
            })
        })
        .collect();
    let next = matches!(game.status(), Status::Open).then(|| {
        let seat = game.next_first();
        json!({ "seat": seat, "side": format.party_at(seat), "player": format.player_at(seat) })
    });
    json!({
        "schema": SCHEMA,
        "revision": game.revision(),
        "played_at": game.played_at(),
        "rules": { "name": game.setup().rules_name, "choices": game.setup().choices,
                   "defaults_taken": game.setup().defaults_taken, "parameters": game.rules() },
        "format": format,
        "event": game.setup().context.event,
        "refs": game.setup().context.refs,
        "sides": sides,
        "status": game.status(),
        "next_first": next,
        "rounds_counted": standing.counted,
        "rounds": rounds,
        "proposals": game.open_proposals().collect::<Vec<_>>(),
        "notices": game.notices(),
    })
}
