//! The boards of the hall: which one a request means, and all of them at a glance.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, RawPathParams, State};
use axum::http::request::Parts;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use super::App;
use super::error::{Answer, Problem};
use super::schema;
use crate::live::Key;
use crate::service::hall::Table;

/// The board that a request means: the one in its path, else the one of `?board=`, else the first.
pub struct At(pub Arc<Table>);

#[derive(Deserialize)]
struct Asked {
    board: Option<String>,
}

impl FromRequestParts<Arc<App>> for At {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Answer<Self> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let named = path.iter().flatten().find(|(name, _)| *name == "board").map(|(_, id)| id.to_owned());
        let asked: Result<Query<Asked>, QueryRejection> = Query::try_from_uri(&parts.uri);
        let named = named.or_else(|| asked.ok().and_then(|Query(asked)| asked.board));
        let table = app.hall.find(named.as_deref());
        table.cloned().map(At).ok_or_else(|| Problem::not_found("such board; GET /api/v1/boards lists them"))
    }
}

/// All boards, each with what goes on at it.
#[utoipa::path(
    get, path = "/api/v1/boards", tag = "boards",
    responses((status = 200, description = "The boards", body = schema::Boards))
)]
pub async fn list(State(app): State<Arc<App>>) -> impl IntoResponse {
    let boards: Vec<Value> = app.hall.tables().iter().map(|table| glance(table)).collect();
    Json(json!({ "boards": boards }))
}

/// What a hall wants to see of a board: the state without pictures' geometry and without the match's past.
fn glance(table: &Table) -> Value {
    let (mut board, mut game) = table.hub.parts();
    let keep = |value: Option<&mut Value>, wanted: &[&str]| {
        if let Some(Value::Object(fields)) = value {
            fields.retain(|name, _| wanted.contains(&name.as_str()));
        }
    };
    keep(board.get_mut("count"), &["sides", "status"]);
    keep(Some(&mut board), &["source", "state", "reason", "camera", "held", "standing", "count"]);
    let rounds = game["rounds"].as_array().map_or(0, Vec::len);
    let proposals = game["proposals"].as_array().map_or(0, Vec::len);
    keep(Some(&mut game), &["number", "id", "sides", "status", "next_first", "rules"]);
    keep(game.get_mut("rules"), &["name"]);
    if game.is_object() {
        game["rounds"] = json!(rounds);
        game["proposals"] = json!(proposals);
    }
    let label = &table.label;
    let age_s = table.board.figures.read().age_s;
    json!({ "id": label.id, "name": label.name, "board": board, "match": game, "frame_age_s": age_s })
}

/// Presses a key at a board: the round is over, or look again.
#[utoipa::path(
    post, path = "/api/v1/boards/{board}/keys/{key}", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("key" = String, Path, description = "`end_round`: the round is over; `look`: look again")
    ),
    responses((status = 200, description = "It was pressed", body = schema::Pressed))
)]
pub async fn press(At(table): At, Path(named): Path<Vec<(String, String)>>) -> Answer<impl IntoResponse> {
    let key = match named.iter().find(|(name, _)| name == "key").map(|(_, key)| key.as_str()) {
        Some("end_round") => Key::EndRound,
        Some("look") => Key::Look,
        _ => return Err(Problem::not_found("such key: end_round, look")),
    };
    table.board.press(key);
    Ok(Json(json!({ "pressed": key })))
}
