//! Matches over HTTP: list, show, start; rounds proposed, confirmed, corrected, undone, voided; exports, evidence, rules.
//!
//! A command names its author, and may name the step that it was decided on (`expected`): then it is refused should
//! anybody have changed the match since.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::App;
use super::boards::At;
use super::error::{Answer, Problem, created, unchanged};
use super::schema;
use crate::score::event::{Evidence, Finish, RoundEntry, Source};
use crate::score::export::{self, Exported, Target};
use crate::score::notation::SeatName;
use crate::score::rules::{BUILTIN, RuleSet};
use crate::score::tally::SideEntry;
use crate::score::{Command, Record};
use crate::service::new_match::NewMatch;
use crate::service::referee::{Done, shown};
use crate::store::{Loaded, StoreError};

/// Longest name of an author, letters.
const LONGEST_NAME: usize = 60;
/// Matches listed when nothing is said, and at most.
const LISTED: [u32; 2] = [50, 1_000];

/// A body that may be too large or broken off.
pub type Body = Result<Bytes, BytesRejection>;

/// What every command may say.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Said<T> {
    /// Who does it; `referee` without it.
    #[serde(default)]
    author: String,
    /// The revision that was seen: refused should the match have changed since.
    #[serde(default)]
    expected: Option<u64>,
    #[serde(flatten)]
    pub what: T,
}

impl<T: DeserializeOwned> Said<T> {
    /// From a body; an empty one says nothing.
    pub fn read(body: Body) -> Answer<Self> {
        let body = body?;
        Ok(serde_json::from_slice(if body.is_empty() { b"{}" } else { &body })?)
    }

    /// Who does it; without a name the referee.
    pub fn author(&self) -> String {
        author(&self.author)
    }
}

/// A name as it goes into a log.
pub fn author(name: &str) -> String {
    let name: String = name.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
    if name.is_empty() { "referee".to_owned() } else { name }
}

/// Nothing more to say.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Nothing {}

#[derive(Debug, Deserialize, ToSchema)]
struct Reason {
    reason: String,
}

#[derive(Debug, Deserialize, ToSchema)]
struct Sides {
    #[serde(default)]
    sides: Option<Vec<SideEntry>>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
struct Confirmed {
    /// Other numbers than those proposed.
    #[serde(default)]
    sides: Option<Vec<SideEntry>>,
    /// Why they are others.
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct Correction {
    #[serde(default)]
    sides: Option<Vec<SideEntry>>,
    #[serde(default)]
    first: Option<String>,
    reason: String,
}

#[derive(Debug, Deserialize, ToSchema)]
struct Of {
    #[serde(default)]
    of: Option<u64>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct First {
    seat: String,
}

#[derive(Debug, Deserialize, ToSchema)]
struct Ending {
    finish: Finish,
    #[serde(default)]
    reason: Option<String>,
}

/// What a list is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limit {
    limit: Option<u32>,
}

/// Matches, newest first.
#[utoipa::path(
    get, path = "/api/v1/matches", tag = "matches",
    params(("limit" = Option<u32>, Query, description = "How many; 50 without it, 1,000 at most")),
    responses((status = 200, description = "Matches, newest first", body = schema::Matches))
)]
pub async fn list(
    State(app): State<Arc<App>>,
    limit: Result<Query<Limit>, QueryRejection>,
) -> Answer<impl IntoResponse> {
    let Query(limit) = limit.map_err(|_| Problem::bad_request("limit is a number"))?;
    let limit = limit.limit.unwrap_or(LISTED[0]).min(LISTED[1]);
    Ok(Json(json!({ "matches": app.store.list(limit).await? })))
}

/// A match with its log.
#[utoipa::path(
    get, path = "/api/v1/matches/{id}", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    responses((status = 200, description = "The match with its log", body = schema::Match))
)]
pub async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<impl IntoResponse> {
    let (loaded, log) = whole(&app, &id).await?;
    let mut value = shown(&loaded);
    value["log"] = json!(log);
    Ok(Json(value))
}

/// Starts a match, which is played at the board from now on.
#[utoipa::path(
    post, path = "/api/v1/matches", tag = "matches",
    params(("board" = Option<String>, Query, description = "Id of the board; the first without it")),
    request_body(
        content = Said<NewMatch>,
        example = json!({"sides": ["Ann", "Bob"], "rules": "nca", "first": "A", "author": "Carol"})
    ),
    responses((status = 201, description = "The match", body = schema::Match))
)]
pub async fn start(At(table): At, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<BTreeMap<String, Value>>::read(body)?;
    let wanted: NewMatch = serde_json::from_value(json!(said.what))?;
    let done = table.referee.start_match(wanted.setup()?, &said.author()).await?;
    Ok(created(Json(shown(&done.loaded))))
}

/// Plays this match at the board from now on.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/play", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("board" = Option<String>, Query, description = "Id of the board; the first without it")
    ),
    responses((status = 200, description = "The match", body = schema::Match))
)]
pub async fn play(State(app): State<Arc<App>>, At(table): At, Path(id): Path<String>) -> Answer<impl IntoResponse> {
    let number = app.store.find(&id).await?;
    answer(table.referee.play_match(number).await?)
}

/// Adds a round that a person counted.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/rounds", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    request_body(
        content = Said<Sides>,
        example = json!({
            "sides": [{"total": 60, "twenties": 1}, {"zones": {"15": 2, "10": 1}, "set_aside": 1}], "author": "Carol"
        })
    ),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn record(State(app): State<Arc<App>>, Path(id): Path<String>, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<Sides>::read(body)?;
    let sides = said.what.sides.clone().ok_or_else(|| Problem::bad_request("sides is missing"))?;
    let round = RoundEntry { sides, first: None, last: None, source: Source::Person, evidence: Vec::new() };
    act(&app, &id, &said, Command::Record { round }).await
}

/// Takes a proposed round, as it is or with other numbers.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/proposals/{proposal}/confirm", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("proposal" = u64, Path, description = "Number of the proposal")
    ),
    request_body(content = Said<Confirmed>, example = json!({"author": "Carol", "expected": 2})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn confirm(
    State(app): State<Arc<App>>,
    Path((id, proposal)): Path<(String, String)>,
    body: Body,
) -> Answer<impl IntoResponse> {
    let said = Said::<Confirmed>::read(body)?;
    let Confirmed { sides, reason } = said.what.clone();
    let command = Command::Accept { proposal: number(&proposal)?, sides, reason };
    act(&app, &id, &said, command).await
}

/// Rejects a proposed round.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/proposals/{proposal}/dismiss", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("proposal" = u64, Path, description = "Number of the proposal")
    ),
    request_body(content = Said<Reason>, example = json!({"reason": "the board was bumped", "author": "Carol"})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn dismiss(
    State(app): State<Arc<App>>,
    Path((id, proposal)): Path<(String, String)>,
    body: Body,
) -> Answer<impl IntoResponse> {
    let said = Said::<Reason>::read(body)?;
    let command = Command::Dismiss { proposal: number(&proposal)?, reason: said.what.reason.clone() };
    act(&app, &id, &said, command).await
}

/// Changes a round.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/rounds/{round}/correct", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("round" = u32, Path, description = "Number of the round, from 1")
    ),
    request_body(
        content = Said<Correction>,
        example = json!({"sides": [{"total": 55}, {"total": 70}], "reason": "it touched the line", "author": "Carol"})
    ),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn correct(
    State(app): State<Arc<App>>,
    Path((id, round)): Path<(String, String)>,
    body: Body,
) -> Answer<impl IntoResponse> {
    let said = Said::<Correction>::read(body)?;
    let Correction { sides, first, reason } = &said.what;
    let first = match first {
        Some(first) => Some(seat(&app, &id, first).await?),
        None => None,
    };
    let command =
        Command::Correct { round: number(&round)?, sides: sides.clone(), first, last: None, reason: reason.clone() };
    act(&app, &id, &said, command).await
}

/// Makes a round count no more.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/rounds/{round}/void", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("round" = u32, Path, description = "Number of the round, from 1")
    ),
    request_body(content = Said<Reason>, example = json!({"reason": "the board was bumped"})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn void(
    State(app): State<Arc<App>>,
    Path((id, round)): Path<(String, String)>,
    body: Body,
) -> Answer<impl IntoResponse> {
    let said = Said::<Reason>::read(body)?;
    let command = Command::Void { round: number(&round)?, reason: said.what.reason.clone() };
    act(&app, &id, &said, command).await
}

/// Takes back the latest step.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/undo", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    request_body(content = Said<Of>, example = json!({"of": 3})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn undo(State(app): State<Arc<App>>, Path(id): Path<String>, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<Of>::read(body)?;
    let command = Command::Undo { of: said.what.of };
    act(&app, &id, &said, command).await
}

/// Does again what was taken back.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/redo", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    request_body(content = Said<Nothing>, example = json!({})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn redo(State(app): State<Arc<App>>, Path(id): Path<String>, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<Nothing>::read(body)?;
    act(&app, &id, &said, Command::Redo).await
}

/// Says who starts the next round.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/first", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    request_body(content = Said<First>, example = json!({"seat": "B"})),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn first(State(app): State<Arc<App>>, Path(id): Path<String>, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<First>::read(body)?;
    let seat = seat(&app, &id, &said.what.seat).await?;
    act(&app, &id, &said, Command::SetFirst { seat }).await
}

/// Ends the match by hand.
#[utoipa::path(
    post, path = "/api/v1/matches/{id}/finish", tag = "matches",
    params(("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID")),
    request_body(
        content = Said<Ending>, example = json!({"finish": {"how": "as_it_stands"}, "reason": "the hall closes"})
    ),
    responses((status = 200, description = "The match, with what was appended", body = schema::Match))
)]
pub async fn finish(State(app): State<Arc<App>>, Path(id): Path<String>, body: Body) -> Answer<impl IntoResponse> {
    let said = Said::<Ending>::read(body)?;
    let command = Command::Finish { finish: said.what.finish.clone(), reason: said.what.reason.clone() };
    act(&app, &id, &said, command).await
}

/// Writes a match in another system's format.
#[utoipa::path(
    get, path = "/api/v1/matches/{id}/export/{format}", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        (
            "format" = String, Path,
            description = "`cmn`, `croki`, `scorekinole`, `reference`, `tourney`, `rounds-csv`, `discs-csv`, `json`"
        )
    ),
    responses(
        (
            status = 200, description = "The file",
            content(
                (Value = "application/json"), (String = "text/csv"), (String = "text/plain"),
                (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
            )
        )
    )
)]
pub async fn export(
    State(app): State<Arc<App>>,
    Path((id, format)): Path<(String, String)>,
) -> Answer<impl IntoResponse> {
    let target = Target::ALL.into_iter().find(|target| target.name() == format);
    let target = target.ok_or_else(|| Problem::not_found("such format"))?;
    let (loaded, log) = whole(&app, &id).await?;
    let mut counts = Vec::new();
    if target == Target::DiscsCsv {
        for evidence in all_evidence(&loaded).filter(|evidence| evidence.kind == "count") {
            match app.store.fetch(&evidence.sha256).await {
                Ok(bytes) => counts.push((evidence.sha256.clone(), bytes)),
                // A match read from another database names documents that stayed there.
                Err(StoreError::NoEvidence(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    let exported = Exported { id: loaded.id, game: &loaded.game, log: &log, counts: &counts };
    let bytes = export::export(target, &[exported])?;
    let media_type = match target.extension() {
        "json" => "application/json",
        "csv" => "text/csv; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    };
    let file = format!("attachment; filename=\"match-{}.{}.{}\"", loaded.number, target.name(), target.extension());
    Ok(([(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, file)], bytes))
}

/// A document of a match: a photo, a count, a clip.
#[utoipa::path(
    get, path = "/api/v1/matches/{id}/evidence/{sha256}", tag = "matches",
    params(
        ("id" = String, Path, description = "Number, `last`, or at least four letters of either end of the UUID"),
        ("sha256" = String, Path, description = "The document's SHA-256 in hexadecimal")
    ),
    responses(
        (
            status = 200, description = "The document",
            content(
                (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/png"), (Vec<u8> = "image/webp"),
                (Value = "application/json"), (Vec<u8> = "application/octet-stream")
            )
        ),
        (status = 304, description = "`If-None-Match` names it: the client has it")
    )
)]
pub async fn evidence(
    State(app): State<Arc<App>>,
    Path((id, sha256)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer<Response> {
    let loaded = app.store.load(app.store.find(&id).await?).await?;
    let proposed = loaded.game.proposals().iter().flat_map(|proposal| &proposal.round.evidence);
    let found = all_evidence(&loaded).chain(proposed).find(|evidence| evidence.sha256 == sha256);
    let found = found.ok_or_else(|| Problem::not_found("such document"))?;
    // Documents are named by their content: one that was seen never changes.
    let tag = format!("\"{}\"", found.sha256);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes()) {
        return Ok(unchanged());
    }
    let bytes = app.store.fetch(&found.sha256).await?;
    // Only what a browser shows without running anything; the rest is saved.
    let (media_type, how) = match found.media_type.as_str() {
        safe @ ("image/jpeg" | "image/png" | "image/webp" | "application/json") => (safe, "inline"),
        _ => ("application/octet-stream", "attachment"),
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, how.to_owned()),
        (header::CACHE_CONTROL, "private, max-age=604800, immutable".to_owned()),
        (header::ETAG, tag),
    ];
    Ok((headers, bytes).into_response())
}

/// The published rule sets.
#[utoipa::path(
    get, path = "/api/v1/rules", tag = "rules",
    responses((status = 200, description = "The rule sets", body = schema::RuleSets))
)]
pub async fn rules() -> Answer<impl IntoResponse> {
    let sets = BUILTIN.iter().filter_map(|(name, _)| RuleSet::builtin(name).ok());
    let sets: Vec<Value> = sets.map(|set| json!({ "name": set.name, "title": set.title })).collect();
    Ok(Json(json!({ "rules": sets })))
}

/// A rule set with the source of every value.
#[utoipa::path(
    get, path = "/api/v1/rules/{name}", tag = "rules", params(("name" = String, Path, description = "Such as `nca`")),
    responses((status = 200, description = "The rule set", body = schema::RuleSet))
)]
pub async fn rule_set(Path(name): Path<String>) -> Answer<impl IntoResponse> {
    let set = RuleSet::builtin(&name).map_err(|_| Problem::not_found("such rule set"))?;
    let rows = set.rows().map_err(|_| Problem::fault())?;
    let value = json!({
        "schema": "crokeye.rules/1", "name": set.name, "title": set.title, "sources": set.sources, "parameters": rows,
    });
    Ok(Json(value))
}

async fn act<T: DeserializeOwned>(app: &App, id: &str, said: &Said<T>, command: Command) -> Answer<Json<Value>> {
    let number = app.store.find(id).await?;
    let referee = &app.hall.find(None).ok_or_else(Problem::fault)?.referee;
    answer(referee.act(number, said.expected, command, &said.author()).await?)
}

fn answer(done: Done) -> Answer<Json<Value>> {
    let mut value = shown(&done.loaded);
    value["appended"] = json!(done.records);
    Ok(Json(value))
}

async fn whole(app: &App, id: &str) -> Answer<(Loaded, Vec<Record>)> {
    let mut log = Vec::new();
    let number = app.store.find(id).await?;
    let loaded = app.store.load_with(number, &mut |record| log.push(record.clone())).await?;
    Ok((loaded, log))
}

fn all_evidence(loaded: &Loaded) -> impl Iterator<Item = &Evidence> {
    loaded.game.rounds().iter().flat_map(|round| &round.evidence)
}

async fn seat(app: &App, id: &str, text: &str) -> Answer<crate::score::Seat> {
    let name: SeatName = text.parse().map_err(|reason: String| Problem::bad_request(reason))?;
    let loaded = app.store.load(app.store.find(id).await?).await?;
    Ok(name.seat(loaded.game.format()).map_err(StoreError::Refused)?)
}

fn number<N: std::str::FromStr>(text: &str) -> Answer<N> {
    text.parse().map_err(|_| Problem::not_found("such number"))
}
