//! What every request passes: is it from one of our own pages, who sends it, does it end in time; and what every answer
//! carries.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::RequestExt;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::StreamExt;

use super::App;
use super::access::{Refused, Role};
use super::error::{Answer, Problem};

/// Name of the session's cookie.
pub const COOKIE: &str = "crokeye";
/// How long an answer may take; streams have none.
const PATIENCE: Duration = Duration::from_secs(60);

/// What browsers are told with every answer: nothing is loaded from elsewhere, nothing is framed, nothing is guessed.
pub const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Refuses requests that pages of others make: writes and WebSockets with a foreign origin, and, where no password is
/// asked for, any name of this computer that a foreign name server could give it.
pub async fn own_pages_only(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = text(headers, header::HOST).unwrap_or_default();
    let harmless = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        && !headers.contains_key(header::UPGRADE);
    let foreign_site = text(headers, HeaderName::from_static("sec-fetch-site")) == Some("cross-site");
    let foreign_origin = headers.contains_key(header::ORIGIN)
        && text(headers, header::ORIGIN)
            .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")))
            .is_none_or(|origin| !origin.eq_ignore_ascii_case(host));
    let foreign_name = app.access.is_open() && !is_this_computer(host);
    if foreign_name || (!harmless && (foreign_site || foreign_origin)) {
        return Problem::foreign().into_response();
    }
    next.run(request).await
}

/// Is this a name that only this computer itself has?
fn is_this_computer(host: &str) -> bool {
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let name = bracketed.map_or_else(|| host.rsplit_once(':').map_or(host, |(name, _)| name), |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Lets in who may see the scoreboard: everybody where it is public, else who may look.
pub async fn lookers(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if app.public_scoreboard {
        return next.run(request).await;
    }
    viewers(State(app), request, next).await
}

/// Lets in who may look; pages send others to the log-in.
pub async fn viewers(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with("/api/") && request.method() == Method::GET;
    match role(&app, request.headers(), address(&request)).await {
        Ok(Some(_)) => next.run(request).await,
        Ok(None) if is_page && request.uri().path() != "/metrics" => {
            Redirect::to(&format!("/login?to={}", wanted(request.uri()))).into_response()
        }
        Ok(None) => Problem::unknown().into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// The page that was asked for, with its board, as it stands in an address.
fn wanted(uri: &Uri) -> String {
    let board = uri.query().into_iter().flat_map(|query| query.split('&')).find_map(|part| part.strip_prefix("board="));
    let board = board.filter(|board| board.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    board.map_or_else(|| uri.path().to_owned(), |board| format!("{}%3Fboard%3D{board}", uri.path()))
}

/// Lets in who may decide.
pub async fn referees(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match role(&app, request.headers(), address(&request)).await {
        Ok(Some(Role::Referee)) => next.run(request).await,
        Ok(Some(Role::Viewer)) => Problem::forbidden().into_response(),
        Ok(None) => Problem::unknown().into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Lets an address send only so many photos.
pub async fn uploads(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match app.uploads.take(address(&request)) {
        Ok(()) => next.run(request).await,
        Err(wait) => {
            forget(request).await;
            Problem::too_many_photos(wait.as_secs() + 1).into_response()
        }
    }
}

/// Reads a body and forgets it, as far as it may go: who is still sending would not hear the answer.
pub async fn forget(request: Request) {
    let mut body = request.into_limited_body().into_data_stream();
    while let Some(Ok(_)) = body.next().await {}
}

/// Ends what takes too long.
pub async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(PATIENCE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::timeout().into_response(),
    }
}

/// The role of who asks: by a token, else by the session.
pub async fn role(app: &App, headers: &HeaderMap, from: IpAddr) -> Answer<Option<Role>> {
    if app.access.is_open() {
        return Ok(Some(Role::Referee));
    }
    if let Some(token) = text(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")) {
        return app.access.token(token.trim(), from).await.map(Some).map_err(Problem::from);
    }
    Ok(session(headers).and_then(|session| app.access.role(session)))
}

/// The address that a request comes from.
fn address(request: &Request) -> IpAddr {
    let connected = request.extensions().get::<ConnectInfo<SocketAddr>>();
    connected.map_or(IpAddr::from([0, 0, 0, 0]), |ConnectInfo(from)| from.ip())
}

/// The session that a request shows.
pub fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = text(headers, header::COOKIE)?.split(';');
    cookies.filter_map(|cookie| cookie.trim().split_once('=')).find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Wrong => Problem::wrong_password(),
            Refused::Wait(wait) => Problem::slow_down(wait.as_secs() + 1),
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_this_computer_has() {
        for name in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "LOCALHOST:80"] {
            assert!(is_this_computer(name), "{name}");
        }
        for name in ["", "evil.example", "localhost.evil.example:80", "192.168.1.4:80", "127.0.0.1.evil.example"] {
            assert!(!is_this_computer(name), "{name}");
        }
    }

    #[test]
    fn who_logs_in_comes_back_to_the_board() {
        let to = |uri: &'static str| wanted(&Uri::from_static(uri));
        assert_eq!(to("/referee"), "/referee");
        assert_eq!(to("/referee?lang=fr&board=hall-2"), "/referee%3Fboard%3Dhall-2");
        assert_eq!(to("/referee?board=a%26b"), "/referee");
    }

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=b; crokeye=abc; crokeyes=no"));
        assert_eq!(session(&headers), Some("abc"));
    }
}
