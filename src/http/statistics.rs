//! What players' rounds come to, over all matches and match by match.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::App;
use super::error::Answer;
use crate::score::stats::{self, Collector};

/// Matches that are looked at, the newest: a club plays some hundreds a year.
const MOST_MATCHES: u32 = 2_000;

/// Statistics, `crokeye.stats/1`; each player with `series`, a line a match, oldest first.
#[utoipa::path(
    get, path = "/api/v1/statistics", tag = "matches",
    responses((status = 200, description = "Statistics, `crokeye.stats/1`", body = Value))
)]
pub async fn statistics(State(app): State<Arc<App>>) -> Answer<impl IntoResponse> {
    let mut all = Collector::default();
    let mut series: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for listed in app.store.list(MOST_MATCHES).await?.iter().rev() {
        let loaded = app.store.load(listed.number).await?;
        all.add(&loaded.game);
        let mut one = Collector::default();
        one.add(&loaded.game);
        for player in stats::view(&one.finish())["players"].as_array().into_iter().flatten() {
            let mut line = player.clone();
            line["number"] = json!(listed.number);
            line["played_at"] = json!(listed.summary.played_at);
            if let Some(fields) = line.as_object_mut() {
                fields.remove("name");
            }
            series.entry(known_as(player)).or_default().push(line);
        }
    }
    let mut value = stats::view(&all.finish());
    for player in value["players"].as_array_mut().into_iter().flatten() {
        let lines = series.remove(&known_as(player)).unwrap_or_default();
        player["series"] = json!(lines);
    }
    Ok(Json(value))
}

/// The name under which two spellings of a player are one.
fn known_as(player: &Value) -> String {
    stats::key(player["name"].as_str().unwrap_or_default())
}
