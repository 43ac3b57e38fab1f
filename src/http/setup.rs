//! A board's set-up: its camera and what is wrong, what was chosen, and where the board is.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::IntoResponse;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::App;
use super::boards::At;
use super::error::{Answer, Problem};
use crate::live::Region;
use crate::service::hall::Table;
use crate::service::setup::{self, Chosen, Start};

/// A picture older than this is none any more, s.
const OLD_S: f64 = 4.0;

type Sent = Result<Bytes, BytesRejection>;

/// Choices that change; null takes a choice back, what is not named stays.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default)]
#[schema(as = SetupChange)]
struct Change {
    #[serde(deserialize_with = "named")]
    #[schema(value_type = Option<String>)]
    source: Option<Option<String>>,
    #[serde(deserialize_with = "named")]
    #[schema(value_type = Option<String>)]
    size: Option<Option<String>>,
    #[serde(deserialize_with = "named")]
    #[schema(value_type = Option<f64>)]
    fps: Option<Option<f64>>,
    #[serde(deserialize_with = "named")]
    #[schema(value_type = Option<Vec<String>>)]
    colours: Option<Option<[String; 2]>>,
    #[schema(value_type = Option<Vec<Option<Region>>>)]
    trays: Option<[Option<Region>; 2]>,
    #[serde(deserialize_with = "named")]
    #[schema(value_type = Option<Start>)]
    start: Option<Option<Start>>,
}

/// A field that is there, be it null.
fn named<'de, D: Deserializer<'de>, T: Deserialize<'de>>(given: D) -> Result<Option<T>, D::Error> {
    T::deserialize(given).map(Some)
}

impl Change {
    fn over(self, mut chosen: Chosen) -> Chosen {
        chosen.source = self.source.unwrap_or(chosen.source);
        chosen.size = self.size.unwrap_or(chosen.size);
        chosen.fps = self.fps.unwrap_or(chosen.fps);
        chosen.colours = self.colours.unwrap_or(chosen.colours);
        chosen.trays = self.trays.unwrap_or(chosen.trays);
        chosen.start = self.start.unwrap_or(chosen.start);
        chosen
    }
}

/// Points to look at.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
struct Look {
    start: Option<Start>,
}

/// The cameras of this computer.
#[utoipa::path(
    get, path = "/api/v1/cameras", tag = "set-up",
    responses((status = 200, description = "The cameras", body = Value))
)]
pub async fn cameras() -> Answer<impl IntoResponse> {
    let listed = tokio::task::spawn_blocking(setup::cameras).await.map_err(|_| Problem::fault())?;
    let listed: Vec<Value> =
        listed.into_iter().map(|one| json!({ "source": one.number.to_string(), "name": one.name })).collect();
    Ok(Json(json!({ "cameras": listed })))
}

/// The camera as it is, what is wrong, and what was chosen.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/setup", tag = "set-up",
    params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "The set-up", body = Value))
)]
pub async fn show(At(table): At) -> impl IntoResponse {
    Json(shown(&table))
}

/// Chooses; the set-up after it.
#[utoipa::path(
    post, path = "/api/v1/boards/{board}/setup", tag = "set-up",
    params(("board" = String, Path, description = "Id of the board")),
    request_body(
        content = Change,
        description = "Choices that change: `source`, `size`, `fps`, `colours`, `trays`, `start`; null takes one back",
        example = json!({"fps": 10.0})
    ),
    responses((status = 200, description = "The set-up", body = Value))
)]
pub async fn choose(State(app): State<Arc<App>>, At(table): At, body: Sent) -> Answer<impl IntoResponse> {
    let change: Change = serde_json::from_slice(&body?)?;
    let next = change.over(table.setup.chosen());
    if let Some(source) = &next.source {
        let others = app.hall.tables().iter().filter(|other| other.label.id != table.label.id);
        if let Some(other) = others.into_iter().find(|other| other.setup.takes(source)) {
            return Err(Problem::refused(format!("board {} has this camera already", other.label.id)));
        }
    }
    let kept = serde_json::to_string(&next)?;
    let working = Arc::clone(&table);
    let size_px = table.board.pictures.size_px();
    let chosen = tokio::task::spawn_blocking(move || working.setup.choose(&working.board, next, size_px));
    chosen.await.map_err(|_| Problem::fault())??;
    app.store.keep_setup(&table.label.id, &kept).await?;
    Ok(Json(shown(&table)))
}

/// Where the board is, and the points that a person set.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/calibration", tag = "set-up",
    params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "Where the board is", body = Value))
)]
pub async fn calibration(At(table): At) -> impl IntoResponse {
    let (board, _) = table.hub.parts();
    Json(json!({
        "start": table.setup.chosen().start, "board": board["board"], "not_found": board["standing"]["not_found"],
        "size_px": table.board.pictures.size_px(),
    }))
}

/// Looks for the board in the newest picture, at the points given or by itself; nothing is kept.
#[utoipa::path(
    post, path = "/api/v1/boards/{board}/calibration", tag = "set-up",
    params(("board" = String, Path, description = "Id of the board")),
    request_body(
        content = Look, description = "`start`: points that a person set; null: by itself",
        example = json!({"start": null})
    ),
    responses((status = 200, description = "What was found", body = Value))
)]
pub async fn preview(State(app): State<Arc<App>>, At(table): At, body: Sent) -> Answer<impl IntoResponse> {
    let Look { start } = serde_json::from_slice(&body?)?;
    let place = app.counter.place()?;
    let found = app.counter.run(place, move || table.board.look(start)).await?;
    let found = found.ok_or_else(|| Problem::unavailable("there is no picture yet"))?;
    Ok(Json(json!(found.map_err(Problem::refused)?)))
}

fn shown(table: &Table) -> Value {
    let (board, _) = table.hub.parts();
    let figures = table.board.figures.read();
    let size_px = table.board.pictures.size_px();
    json!({
        "source": board["source"],
        "configured": table.setup.configured,
        "state": board["state"],
        "live": table.board.is_live(),
        "reason": board["reason"],
        "size_px": size_px,
        "frames": figures.frames,
        "frame_age_s": figures.age_s,
        "light": board["standing"]["light"],
        "model": board["board"]["model"],
        "not_found": board["standing"]["not_found"],
        "troubles": troubles(&board, figures.age_s),
        "chosen": table.setup.chosen(),
    })
}

/// What is wrong, the worst first, as words that do not change.
fn troubles(board: &Value, age_s: Option<f64>) -> Vec<&'static str> {
    if board["state"] == "ended" {
        return vec!["ended"];
    }
    if board["state"] != "watching" {
        return Vec::new();
    }
    match board["camera"].as_str() {
        Some("lost") => return vec!["no_picture"],
        Some("dark") => return vec!["black"],
        Some("frozen") => return vec!["frozen"],
        _ => {}
    }
    if age_s.is_none_or(|age| age > OLD_S) {
        return vec!["no_picture"];
    }
    let (standing, light) = (&board["standing"], &board["standing"]["light"]);
    let all =
        [("no_board", standing["board"] == false), ("dark", light["dark"] == true), ("glare", light["glare"] == true)];
    all.into_iter().filter(|(_, is)| *is).map(|(trouble, _)| trouble).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_taken_back_by_null_and_stays_where_it_is_not_named() {
        let before = Chosen { source: Some("0".to_owned()), fps: Some(5.0), ..Chosen::default() };
        let change: Change = serde_json::from_str(r#"{"author": "Ann", "source": null, "size": "640x480"}"#).unwrap();
        let after = change.over(before);
        assert_eq!((after.source, after.size.as_deref(), after.fps), (None, Some("640x480"), Some(5.0)));
    }

    #[test]
    fn troubles_are_told_the_worst_first() {
        let watching =
            |standing: Value, camera: Value| json!({ "state": "watching", "standing": standing, "camera": camera });
        let well = || json!({ "board": true, "light": { "dark": false, "glare": false } });
        let dim = || json!({ "board": true, "light": { "dark": true, "glare": false } });
        assert_eq!(troubles(&watching(well(), Value::Null), Some(0.1)), Vec::<&str>::new());
        assert_eq!(troubles(&watching(dim(), Value::Null), Some(9.0)), ["no_picture"]);
        assert_eq!(troubles(&watching(well(), Value::Null), None), ["no_picture"]);
        assert_eq!(troubles(&watching(dim(), json!("frozen")), Some(0.1)), ["frozen"]);
        assert_eq!(troubles(&watching(well(), json!("dark")), Some(0.1)), ["black"]);
        let unseen = json!({ "board": false, "light": { "dark": true, "glare": false } });
        assert_eq!(troubles(&watching(unseen, Value::Null), Some(0.1)), ["no_board", "dark"]);
        let glare = json!({ "board": true, "light": { "dark": false, "glare": true } });
        assert_eq!(troubles(&watching(glare, Value::Null), Some(0.1)), ["glare"]);
        assert_eq!(troubles(&json!({ "state": "restarting" }), None), Vec::<&str>::new());
        assert_eq!(troubles(&json!({ "state": "ended" }), None), ["ended"]);
    }
}
