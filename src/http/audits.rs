//! Audits over HTTP: begun, filled with photos and a sheet, looked at, decided, downloaded, deleted.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::App;
use super::counts::photo;
use super::error::{Answer, Problem, created};
use super::matches::author;
use crate::audit::columns::Named;
use crate::audit::decision::Change;
use crate::audit::output::{OutputError, jsonl, tables, workbook};
use crate::audit::{Audit, Item, Sheet};
use crate::service::audits::{AuditError, Listed, NewAudit, Session};
use crate::service::counter::CounterError;

/// Name and version of an audit's form.
const SCHEMA: &str = "crokeye.audit/1";
/// Pieces of a report that may wait for who downloads it.
const PIECES: usize = 4;
/// Size of a piece, bytes.
const PIECE: usize = 256 << 10;
/// How long who downloads a report may take for a piece.
const PATIENCE: Duration = Duration::from_secs(10);

type Sent = Result<Bytes, BytesRejection>;

/// What a file is called.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Called {
    name: String,
    /// Columns that are called otherwise, `picture=Foto,a=Rot`.
    columns: Option<String>,
}

type Asked = Result<Query<Called>, QueryRejection>;

/// A decision about a picture.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
struct Decided {
    #[serde(default)]
    author: String,
    #[serde(default)]
    reason: Option<String>,
    sha256: String,
    #[serde(flatten)]
    change: Change,
}

/// Audits that are open.
#[utoipa::path(
    get, path = "/api/v1/audits", tag = "audits",
    responses((status = 200, description = "The audits", body = Value))
)]
pub async fn list(State(app): State<Arc<App>>) -> Answer<impl IntoResponse> {
    let brief = |one: Listed| json!({ "id": one.id, "began_at": one.began, "pictures": one.photos });
    let listed = work(&app, |app| Ok(app.audits.list())).await?;
    Ok(Json(json!({ "audits": listed.into_iter().map(brief).collect::<Vec<_>>() })))
}

/// Begins an audit.
#[utoipa::path(
    post, path = "/api/v1/audits", tag = "audits",
    request_body(
        content = NewAudit, description = "What `crokeye audit` may be told of all pictures; may be empty",
        example = json!({})
    ),
    responses((status = 201, description = "The audit, `crokeye.audit/1`", body = Value))
)]
pub async fn begin(State(app): State<Arc<App>>, body: Sent) -> Answer<impl IntoResponse> {
    let body = body?;
    let wanted: NewAudit = serde_json::from_slice(if body.is_empty() { b"{}" } else { &body })?;
    let value = work(&app, move |app| whole(&*app.audits.begin(&wanted)?)).await?;
    Ok(created(Json(value)))
}

/// An audit as it stands: numbers, and each picture's count with what the audit adds.
#[utoipa::path(
    get, path = "/api/v1/audits/{id}", tag = "audits", params(("id" = String, Path, description = "Id of the audit")),
    responses((status = 200, description = "The audit, `crokeye.audit/1`", body = Value))
)]
pub async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<impl IntoResponse> {
    Ok(Json(work(&app, move |app| whole(&*app.audits.find(&id)?)).await?))
}

/// Deletes an audit.
#[utoipa::path(
    delete, path = "/api/v1/audits/{id}", tag = "audits",
    params(("id" = String, Path, description = "Id of the audit")),
    responses((status = 200, description = "It was deleted", body = Value))
)]
pub async fn delete(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<impl IntoResponse> {
    work(&app, move |app| app.audits.delete(&id)).await?;
    Ok(Json(json!({ "deleted": true })))
}

/// Takes a photo and counts it; the picture as it stands in the audit. A photo that cannot be read stands there too.
#[utoipa::path(
    post, path = "/api/v1/audits/{id}/photos", tag = "audits",
    params(
        ("id" = String, Path, description = "Id of the audit"),
        ("name" = String, Query, description = "What the file is called")
    ),
    request_body(content = Vec<u8>, content_type = "image/jpeg", description = "A photo: JPEG, PNG or WebP"),
    responses((status = 201, description = "The picture as it stands in the audit", body = Value))
)]
pub async fn add(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asked: Asked,
    request: Request,
) -> Answer<impl IntoResponse> {
    let name = called(asked)?.name;
    let session = app.audits.find(&id)?;
    let (place, bytes) = photo(&app, request).await?;
    let refused = match app.counter.within_limits(&bytes) {
        Ok(()) => None,
        Err(error @ CounterError::TooManyPixels { .. }) => Some(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let added = app.counter.run(place, move || {
        let sha256 = session.add(&name, &bytes, refused)?;
        let audit = session.audit()?;
        let item = audit.items.iter().find(|item| item.audit.sha256 == sha256).ok_or(AuditError::NoPicture)?;
        Ok::<_, AuditError>(shown(item))
    });
    Ok(created(Json(added.await??)))
}

/// Takes the sheet of typed scores.
#[utoipa::path(
    put, path = "/api/v1/audits/{id}/sheet", tag = "audits",
    params(
        ("id" = String, Path, description = "Id of the audit"),
        ("name" = String, Query, description = "What the file is called"),
        (
            "columns" = Option<String>, Query,
            description = "Columns that are called otherwise, such as `picture=Foto,a=Rot`"
        )
    ),
    request_body(
        content = Vec<u8>, content_type = "application/octet-stream",
        description = "The sheet of typed scores: CSV or XLSX"
    ),
    responses((status = 200, description = "The audit, `crokeye.audit/1`", body = Value))
)]
pub async fn sheet(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asked: Asked,
    body: Sent,
) -> Answer<impl IntoResponse> {
    let (called, body) = (called(asked)?, body?);
    let columns = called.columns.unwrap_or_default();
    let named = columns.split(',').filter(|column| !column.trim().is_empty()).map(str::parse::<Named>);
    let named = named.collect::<Result<Vec<_>, _>>().map_err(Problem::bad_request)?;
    let session = app.audits.find(&id)?;
    let sheet =
        tokio::task::spawn_blocking(move || Sheet::read(&body, &named)).await.map_err(|_| Problem::fault())??;
    let value = work(&app, move |_| {
        session.set_sheet(Some((called.name, sheet)));
        whole(&session)
    });
    Ok(Json(value.await?))
}

/// Takes the sheet away.
#[utoipa::path(
    delete, path = "/api/v1/audits/{id}/sheet", tag = "audits",
    params(("id" = String, Path, description = "Id of the audit")),
    responses((status = 200, description = "The audit, `crokeye.audit/1`", body = Value))
)]
pub async fn no_sheet(State(app): State<Arc<App>>, Path(id): Path<String>) -> Answer<impl IntoResponse> {
    let value = work(&app, move |app| {
        let session = app.audits.find(&id)?;
        session.set_sheet(None);
        whole(&session)
    });
    Ok(Json(value.await?))
}

/// Takes a decision about a picture; the audit after it.
#[utoipa::path(
    post, path = "/api/v1/audits/{id}/decisions", tag = "audits",
    params(("id" = String, Path, description = "Id of the audit")),
    request_body(
        content = Decided, description = "The picture by its `sha256`, and what is decided of it; `author`, `reason`"
    ),
    responses((status = 200, description = "The audit, `crokeye.audit/1`", body = Value))
)]
pub async fn decide(State(app): State<Arc<App>>, Path(id): Path<String>, body: Sent) -> Answer<impl IntoResponse> {
    let decided: Decided = serde_json::from_slice(&body?)?;
    let by = author(&decided.author);
    let reason = decided.reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let value = work(&app, move |app| {
        let session = app.audits.find(&id)?;
        session.decide(&decided.sha256, decided.change, by, reason)?;
        whole(&session)
    });
    Ok(Json(value.await?))
}

/// A picture of the report: the photo made small, the view from above, an enlarged disc.
#[utoipa::path(
    get, path = "/api/v1/audits/{id}/pictures/{sha256}/{name}", tag = "audits",
    params(
        ("id" = String, Path, description = "Id of the audit"),
        ("sha256" = String, Path, description = "The picture"),
        ("name" = String, Path, description = "Which view of it, as its `shows` names them")
    ),
    responses((status = 200, description = "The view", body = Vec<u8>, content_type = "image/jpeg"))
)]
pub async fn picture(
    State(app): State<Arc<App>>,
    Path((id, sha256, name)): Path<(String, String, String)>,
) -> Answer<impl IntoResponse> {
    let jpeg = work(&app, move |app| app.audits.find(&id)?.picture(&sha256, &name)).await?;
    Ok(([(header::CONTENT_TYPE, "image/jpeg")], jpeg))
}

/// A file of results.
#[utoipa::path(
    get, path = "/api/v1/audits/{id}/{file}", tag = "audits",
    params(("id" = String, Path, description = "Id of the audit"), ("file" = String, Path,
        description = "`report.html`, `results.csv`, `discs.csv`, `results.xlsx`, `results.jsonl`, `decisions.json`")),
    responses((status = 200, description = "The file", content(
        (String = "text/html"), (String = "text/csv"), (String = "application/jsonl"), (Value = "application/json"),
        (Vec<u8> = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    )))
)]
pub async fn file(State(app): State<Arc<App>>, Path((id, name)): Path<(String, String)>) -> Answer<Response> {
    let media_type = match name.as_str() {
        "report.html" => "text/html; charset=utf-8",
        "results.csv" | "discs.csv" => "text/csv; charset=utf-8",
        "results.xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "results.jsonl" => "application/jsonl",
        "decisions.json" => "application/json",
        _ => return Err(Problem::not_found("such file")),
    };
    let saved = format!("attachment; filename=\"{name}\"");
    let headers = [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, saved)];
    let session = app.audits.find(&id)?;
    if name == "report.html" {
        return Ok((headers, report(session)).into_response());
    }
    let bytes = work(&app, move |_| {
        let audit = session.audit()?;
        let mut out = Vec::new();
        match name.as_str() {
            "results.csv" => tables::pictures(&audit).write_csv(&mut out)?,
            "discs.csv" => tables::discs(&audit).write_csv(&mut out)?,
            "results.xlsx" => out = workbook::bytes(&audit)?,
            "results.jsonl" => jsonl::write(&audit, &mut out)?,
            _ => out = serde_json::to_vec_pretty(&session.decisions()).map_err(OutputError::from)?,
        }
        Ok(out)
    });
    Ok((headers, bytes.await?).into_response())
}

/// The report as it is written: a season's is too large for the memory.
fn report(session: Arc<Session>) -> Body {
    let (pieces, ready) = mpsc::channel(PIECES);
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let mut pipe = io::BufWriter::with_capacity(PIECE, Pipe { pieces: pieces.clone(), runtime });
        let written = session.report(&mut pipe).and_then(|()| Ok(pipe.flush()?));
        if let Err(error) = written {
            tracing::warn!(%error, "a report was not written to its end");
            // Told to the connection, so that half a report is not taken for a whole one.
            let _ = pieces.try_send(Err(io::Error::other("the report was not written to its end")));
        }
    });
    Body::from_stream(stream::unfold(ready, async |mut ready| Some((ready.recv().await?, ready))))
}

/// Writes into the body of an answer; who does not take it for too long ends it.
struct Pipe {
    pieces: mpsc::Sender<io::Result<Bytes>>,
    runtime: Handle,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = timeout(PATIENCE, self.pieces.send(Ok(Bytes::copy_from_slice(bytes))));
        match self.runtime.block_on(sent) {
            Ok(Ok(())) => Ok(bytes.len()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The whole audit.
fn whole(session: &Session) -> Result<Value, AuditError> {
    let audit: Arc<Audit> = session.audit()?;
    let rows = |rows: Vec<(usize, &str)>| -> Vec<Value> {
        rows.into_iter().map(|(row, reason)| json!({ "row": row, "reason": reason })).collect()
    };
    Ok(json!({
        "schema": SCHEMA,
        "id": session.id,
        "began_at": session.began,
        "tally": audit.tally(),
        "sheet": session.sheet(),
        "conventions": audit.conventions,
        "rows_without_picture": rows(audit.unmatched.iter().map(|(row, why)| (*row, why.as_str())).collect()),
        "unusable_rows": rows(audit.faults.iter().map(|fault| (fault.row, fault.reason.as_str())).collect()),
        "unused_columns": audit.unused,
        "pictures": audit.ranked().into_iter().map(shown).collect::<Vec<_>>(),
    }))
}

/// A picture with whether a person has to look at it, and the pictures that there are of it.
fn shown(item: &Item) -> Value {
    let mut value = json!(item);
    value["audit"]["needs_eyes"] = json!(item.needs_eyes());
    value["audit"]["shows"] = match item.report.image {
        Some(_) => json!(crate::audit::picture::names(&item.report, item.grade())),
        None => json!([]),
    };
    value
}

fn called(asked: Asked) -> Answer<Called> {
    asked.map(|Query(called)| called).map_err(|_| Problem::bad_request("say name=FILE, and columns=ROLE=TITLE,..."))
}

/// Does what reads and writes files, off the threads that answer requests.
async fn work<T: Send + 'static>(
    app: &Arc<App>,
    what: impl FnOnce(&App) -> Result<T, AuditError> + Send + 'static,
) -> Answer<T> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || what(&app)).await.map_err(|_| Problem::fault())?;
    Ok(done?)
}
