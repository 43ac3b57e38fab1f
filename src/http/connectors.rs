//! How the connectors do; and the tables of a Dutch championship, to start their matches from.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::App;
use super::boards::At;
use super::error::{Answer, Problem, created};
use super::matches::{Body, Said};
use super::schema;
use crate::service::connectors::croki::{CrokiError, Laptop, Table};
use crate::service::referee::shown;

/// Which round of a tournament.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Round {
    round: Option<u64>,
}

/// Which match of a tournament: one that fits in all that is said.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
pub struct Choice {
    match_code: Option<String>,
    match_id: Option<u64>,
    table: Option<u64>,
    round: Option<u64>,
    colours: Vec<String>,
}

/// How the connectors do.
#[utoipa::path(
    get, path = "/api/v1/connectors", tag = "connectors",
    responses((status = 200, description = "The connectors", body = schema::Connectors))
)]
pub async fn list(State(app): State<Arc<App>>) -> impl IntoResponse {
    Json(json!({ "connectors": app.connectors.states() }))
}

/// What is played at which table, as the croki.nl laptop has it.
#[utoipa::path(
    get, path = "/api/v1/croki/tables", tag = "connectors",
    params(("round" = Option<u64>, Query, description = "Round of the tournament; the laptop's own choice without it")),
    responses((status = 200, description = "Its matches", body = schema::Tables))
)]
pub async fn tables(
    State(app): State<Arc<App>>,
    round: Result<Query<Round>, QueryRejection>,
) -> Answer<impl IntoResponse> {
    let Query(round) = round.map_err(|_| Problem::bad_request("round is a number"))?;
    Ok(Json(json!({ "matches": laptop(&app)?.tables(round.round).await? })))
}

/// Starts the match of a table at the board; its score is sent to the laptop from then on.
#[utoipa::path(
    post, path = "/api/v1/croki/matches", tag = "connectors",
    params(("board" = Option<String>, Query, description = "Id of the board; the first without it")),
    request_body(content = Said<Choice>, example = json!({"table": 4, "round": 2, "author": "Carol"})),
    responses((status = 201, description = "The match", body = schema::Match))
)]
pub async fn start(State(app): State<Arc<App>>, At(board): At, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<Choice>::read(body)?;
    let choice = &said.what;
    if choice.match_code.is_none() && choice.match_id.is_none() && choice.table.is_none() {
        return Err(Problem::bad_request("say which match: match_code, match_id or table"));
    }
    let tables = laptop(&app)?.tables(choice.round).await?;
    let fitting: Vec<&Table> = tables.iter().filter(|table| choice.fits(table)).collect();
    let table = match fitting.as_slice() {
        [] => return Err(Problem::not_found("such match at the croki.nl laptop")),
        [one] => one,
        _ => return Err(Problem::bad_request("several matches fit: say the match_code, the match_id or the round")),
    };
    let setup = table.new_match(choice.colours.clone()).setup()?;
    let done = board.referee.start_match(setup, &said.author()).await?;
    Ok(created(Json(shown(&done.loaded))))
}

impl Choice {
    fn fits(&self, table: &Table) -> bool {
        (self.match_code.is_none() || self.match_code == table.match_code)
            && (self.match_id.is_none() || self.match_id == table.match_id)
            && (self.table.is_none() || self.table == table.table)
            && (self.round.is_none() || self.round == table.round)
    }
}

fn laptop(app: &App) -> Answer<&Laptop> {
    app.connectors.laptop().ok_or_else(|| Problem::not_found("croki.nl laptop: [croki] in the configuration names one"))
}

impl From<CrokiError> for Problem {
    fn from(error: CrokiError) -> Self {
        Problem::upstream(error.to_string())
    }
}
