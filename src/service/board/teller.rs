//! What happens in a session, told to the hub and, where a round is over, to the referee.

use serde_json::{Value, json};

use super::Keeper;
use crate::live::event::{CameraState, DiscChange, SCHEMA};
use crate::live::{Event, Input, Phase, Standing, What};
use crate::service::gather::Gatherer;
use crate::service::hub::Part;

/// Tells what happened in a session.
pub(super) struct Teller<'a> {
    keeper: &'a Keeper,
    gatherer: Gatherer,
    standing: Value,
}

impl<'a> Teller<'a> {
    pub(super) fn new(keeper: &'a Keeper) -> Self {
        Self { keeper, gatherer: Gatherer::default(), standing: Value::Null }
    }

    pub(super) fn state(&self, state: &str) {
        let event = json!({ "schema": SCHEMA, "event": "watching", "state": state, "reason": null });
        self.keeper.hub.update(Part::Board, |board| {
            board["state"] = json!(state);
            board["reason"] = Value::Null;
        });
        self.keeper.hub.tell(&event, None);
    }

    pub(super) fn take(&mut self, input: &Input, events: &[Event], standing: &Standing) {
        for event in events {
            self.keeper.figures.event(event);
            let Ok(value) = serde_json::to_value(event) else { continue };
            self.keeper.hub.update(Part::Board, |board| keep(board, event, &value));
            self.keeper.hub.tell(&value, None);
        }
        let now = standing_json(standing);
        if now != self.standing {
            self.standing.clone_from(&now);
            let event = json!({ "schema": SCHEMA, "event": "standing", "standing": now });
            self.keeper.hub.update(Part::Board, |board| {
                if standing.phase == Phase::Ready {
                    board["clearing"] = json!(false);
                }
                board["standing"] = now;
            });
            self.keeper.hub.tell(&event, None);
        }
        match self.gatherer.take(input, events) {
            Ok(over) => over.into_iter().for_each(|gathered| self.keeper.referee.propose_blocking(gathered)),
            Err(error) => tracing::error!(%error, "a frame is not kept as evidence"),
        }
    }

    pub(super) fn end(&mut self) {
        if let Some(gathered) = self.gatherer.end() {
            self.keeper.referee.propose_blocking(gathered);
        }
    }
}

/// Keeps what an event says about the board for those who come later.
fn keep(board: &mut Value, event: &Event, value: &Value) {
    match &event.what {
        What::Board { .. } => board["board"] = value["board"].clone(),
        What::Settled { .. } => {
            board["count"] = value["count"].clone();
            board["discs"] = value["discs"].clone();
            board["held"] = Value::Null;
        }
        What::Clearing => board["clearing"] = json!(true),
        What::Disc { change: DiscChange::Placed, .. } => board["clearing"] = json!(false),
        What::Held { reason } => board["held"] = json!(reason),
        What::Camera { state } => {
            board["camera"] = if *state == CameraState::Back { Value::Null } else { json!(state) }
        }
        What::Sides { a, b } => board["sides"] = json!({ "a": a, "b": b }),
        What::Round(_) => board["round"] = value.clone(),
        _ => {}
    }
}

fn standing_json(standing: &Standing) -> Value {
    let phase = match standing.phase {
        Phase::Ready => "ready",
        Phase::Playing => "playing",
        Phase::Over => "over",
        Phase::Cleared => "cleared",
    };
    json!({
        "board": standing.board, "round": standing.round, "phase": phase, "twenties": standing.twenties,
        "waits": standing.waits, "not_found": standing.not_found.as_ref().map(ToString::to_string), "light": standing.light,
    })
}
