//! Logging in and out.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, header};
use axum::response::{AppendHeaders, IntoResponse};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::App;
use super::access::{Role, SESSION};
use super::error::{Answer, Problem};
use super::guard::{COOKIE, session};
use super::schema;

/// A password.
#[derive(Deserialize, ToSchema)]
struct Given {
    password: String,
}

/// Who asks, as far as is known.
#[utoipa::path(
    get, path = "/api/v1/session", tag = "session", security(()),
    responses((status = 200, description = "Who asks", body = schema::Session))
)]
pub async fn who(State(app): State<Arc<App>>, headers: HeaderMap) -> impl IntoResponse {
    let role = match app.access.is_open() {
        true => Some(Role::Referee),
        false => session(&headers).and_then(|session| app.access.role(session)),
    };
    Json(json!({ "role": role.map(Role::name), "password": !app.access.is_open() }))
}

/// Opens a session for who knows a password.
#[utoipa::path(
    post, path = "/api/v1/session", tag = "session", security(()), request_body(content = Given),
    responses((status = 200, description = "Logged in; the cookie `crokeye` is set", body = schema::Session))
)]
pub async fn log_in(
    State(app): State<Arc<App>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    body: Result<Bytes, BytesRejection>,
) -> Answer<impl IntoResponse> {
    if app.access.is_open() {
        return Err(Problem::bad_request("no password is asked for here"));
    }
    let given: Given = serde_json::from_slice(&body?)?;
    let (session, role) = app.access.log_in(&given.password, from.ip()).await?;
    let age = SESSION.as_secs();
    let cookie = format!("{COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}");
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Json(json!({ "role": role.name() }))))
}

/// Forgets the session.
#[utoipa::path(
    delete, path = "/api/v1/session", tag = "session", security(()),
    responses((status = 200, description = "Logged out", body = schema::Session))
)]
pub async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap) -> impl IntoResponse {
    if let Some(session) = session(&headers) {
        app.access.log_out(session);
    }
    let cookie = format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    (AppendHeaders([(header::SET_COOKIE, cookie)]), Json(json!({ "role": null })))
}
