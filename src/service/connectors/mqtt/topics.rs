//! Topics of a board and what is said under them, worked out from the hub's state and messages.

use serde_json::{Value, json};

/// Said where we are there.
pub(super) const ONLINE: &str = "online";
/// Said where we are not.
pub(super) const OFFLINE: &str = "offline";

/// Types of what is told as events, Home Assistant wants to know them beforehand: of the board, then steps of the match.
pub(super) const EVENT_TYPES: [&str; 16] = [
    "twenty",
    "clearing",
    "round_over",
    "board",
    "camera",
    "round_proposed",
    "proposal_dismissed",
    "round_recorded",
    "round_corrected",
    "round_voided",
    "first_set",
    "side_renamed",
    "evidence_attached",
    "match_finished",
    "undone",
    "redone",
];

/// Are we there?
pub(super) fn status(prefix: &str) -> String {
    format!("{prefix}/status")
}

/// A topic of a board.
pub(super) fn of(prefix: &str, board: &str, what: &str) -> String {
    format!("{prefix}/{board}/{what}")
}

/// The retained topics of a board in this state.
pub(super) fn retained(prefix: &str, board: &str, state: &Value) -> [(String, Value); 3] {
    [("board", watching(&state["board"])), ("score", score(&state["match"])), ("count", count(&state["board"]))]
        .map(|(what, value)| (of(prefix, board, what), value))
}

fn watching(board: &Value) -> Value {
    let standing = &board["standing"];
    json!({
        "state": board["state"], "reason": board["reason"], "phase": standing["phase"], "round": standing["round"],
        "clearing": board["clearing"] == true, "held": board["held"], "camera": board["camera"], "waits": standing["waits"],
    })
}

fn score(game: &Value) -> Value {
    let side = |at: usize| {
        let side = &game["sides"][at];
        json!({ "name": side["name"], "colour": side["colour"], "points": side["points"], "total": side["total"],
                "twenties": side["twenties"] })
    };
    let waiting = game["proposals"].as_array().map_or(0, Vec::len);
    json!({
        "match": game["number"], "state": game["status"]["state"], "winner": game["status"]["winner"],
        "rounds": game["rounds_counted"], "first": game["next_first"]["side"], "waiting": waiting,
        "a": side(0), "b": side(1),
    })
}

/// What lies on the board by the count's sides; the match's may be the other way round: their colours tell.
fn count(board: &Value) -> Value {
    let side = |at: usize| {
        let side = &board["count"]["sides"][at];
        json!({ "colour": side["colour"], "total": side["total"], "twenties": board["standing"]["twenties"][at] })
    };
    json!({ "status": board["count"]["status"], "a": side(0), "b": side(1) })
}

/// What a message tells as an event; None for those that change the state alone.
pub(super) fn event(message: &Value) -> Option<Value> {
    let mut event = match message["event"].as_str()? {
        "twenty" => json!({ "side": message["side"], "twenties": message["twenties"] }),
        "clearing" => json!({}),
        "round" => {
            let sides = message["sides"].as_array().into_iter().flatten();
            let sides: Vec<Value> = sides
                .map(|side| json!({ "side": side["side"], "colour": side["colour"], "total": side["total"] }))
                .collect();
            json!({ "round": message["round"], "ended": message["ended"], "status": message["status"], "sides": sides })
        }
        "board" => json!({ "change": message["change"] }),
        "camera" => json!({ "state": message["state"] }),
        "match" => {
            let (because, game) = (&message["because"], &message["match"]);
            json!({ "step": because["step"], "author": because["author"], "match": game["number"],
                    "rounds": game["rounds_counted"],
                    "points": [game["sides"][0]["points"], game["sides"][1]["points"]] })
        }
        _ => return None,
    };
    let name = match message["event"].as_str()? {
        "round" => "round_over",
        "match" => message["because"]["event"].as_str()?,
        name => name,
    };
    event["event_type"] = json!(EVENT_TYPES.iter().find(|known| **known == name)?);
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_without_a_match_or_a_count_is_told_without_them() {
        let topics = retained("crokeye", "1", &json!({ "board": { "state": "watching" }, "match": null }));
        assert_eq!(topics[0].0, "crokeye/1/board");
        assert_eq!((&topics[0].1["state"], &topics[0].1["clearing"]), (&json!("watching"), &json!(false)));
        assert_eq!((&topics[1].1["match"], &topics[1].1["a"]["points"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn events_carry_a_type_that_was_announced() {
        let recorded = json!({ "event": "match", "because": { "event": "round_recorded", "author": "Ann", "step": 3 },
                               "match": { "number": 7, "rounds_counted": 1, "sides": [{ "points": 2 }, { "points": 0 }] } });
        let told = event(&recorded).unwrap();
        assert_eq!((&told["event_type"], &told["points"]), (&json!("round_recorded"), &json!([2, 0])));
        let over = json!({ "event": "round", "round": 4, "sides": [{ "side": "a", "total": 55, "count": {} }] });
        let told = event(&over).unwrap();
        assert_eq!((&told["event_type"], &told["sides"][0]["total"]), (&json!("round_over"), &json!(55)));
        for none in [json!({ "event": "standing" }), json!({ "event": "match", "because": null }), json!({}), json!(7)]
        {
            assert_eq!(event(&none), None, "{none}");
        }
    }
}
