//! What goes on while one looks: state, events, pictures.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::timeout;

use super::App;
use super::boards::At;
use super::error::{Answer, Problem};
use super::schema;
use crate::service::hub::{Id, Listener, Message};
use crate::service::pictures::Jpeg;

/// How often an idle stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);
/// How long one who looks may take for a message before the connection ends.
const PATIENCE: Duration = Duration::from_secs(10);
/// When a picture is sent again that no other followed.
const SOON: Duration = Duration::from_millis(250);
/// What parts the pictures of a stream.
const BOUNDARY: &str = "crokeye-picture";

/// The last message that was seen.
#[derive(Debug, Default, Deserialize)]
pub struct Since {
    last: Option<String>,
}

/// The whole state, `crokeye.state/1`.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/state", tag = "boards", params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "Board and match now", body = schema::State))
)]
pub async fn state(At(table): At) -> impl IntoResponse {
    let json = table.hub.snapshot().json;
    ([(header::CONTENT_TYPE, "application/json")], json.to_string())
}

/// Events as server-sent events; `Last-Event-ID` resumes.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/events", tag = "boards",
    params(("board" = String, Path, description = "Id of the board"), ("last" = Option<String>, Query, description = "Id of the last message that was seen: what came after follows"), ("last-event-id" = Option<String>, Header, description = "As `last`")),
    responses((status = 200, description = "Events, without end", body = String, content_type = "text/event-stream"))
)]
pub async fn events(
    State(app): State<Arc<App>>,
    At(table): At,
    since: Result<Query<Since>, QueryRejection>,
    headers: HeaderMap,
) -> impl IntoResponse {
    let named = headers.get("last-event-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let listener = table.hub.listen(last(named.or_else(|| asked(since))));
    let events = messages(listener, app.closing.clone());
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE))
}

/// Each message as an event, until the program ends.
fn messages(listener: Listener, closing: watch::Receiver<bool>) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((listener, closing), async |(mut listener, mut closing)| {
        let message = next(&mut listener, &mut closing).await?;
        let event = Event::default().id(message.id.to_string()).data(&*message.json);
        Some((Ok(event), (listener, closing)))
    })
}

async fn next(listener: &mut Listener, closing: &mut watch::Receiver<bool>) -> Option<Message> {
    tokio::select! {
        message = listener.next() => message,
        _ = closing.wait_for(|closing| *closing) => None,
    }
}

/// Events over a WebSocket, each as `{"id": ..., "data": ...}`; `?last=ID` resumes.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/live", tag = "boards", params(("board" = String, Path, description = "Id of the board"), ("last" = Option<String>, Query, description = "Id of the last message that was seen: what came after follows")),
    responses((status = 101, description = "A WebSocket: each message is `{\"id\", \"data\"}`"))
)]
pub async fn live(
    State(app): State<Arc<App>>,
    At(table): At,
    since: Result<Query<Since>, QueryRejection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let upgrade = upgrade.map_err(|_| Problem::bad_request("this address speaks WebSocket"))?;
    let listener = table.hub.listen(last(asked(since)));
    let closing = app.closing.clone();
    let upgrade = upgrade.max_message_size(4 << 10).max_frame_size(4 << 10);
    Ok(upgrade.on_upgrade(move |socket| talk(socket, listener, closing)))
}

async fn talk(mut socket: WebSocket, mut listener: Listener, mut closing: watch::Receiver<bool>) {
    loop {
        let frame = tokio::select! {
            message = next(&mut listener, &mut closing) => match message {
                Some(message) => Frame::text(format!("{{\"id\":\"{}\",\"data\":{}}}", message.id, message.json)),
                None => break,
            },
            // What a client says is of no concern, but its leaving is.
            said = socket.recv() => match said {
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = tokio::time::sleep(ALIVE) => Frame::Ping(Bytes::new()),
        };
        if !matches!(timeout(PATIENCE, socket.send(frame)).await, Ok(Ok(()))) {
            return;
        }
    }
    // Said where it is still heard.
    let _ = timeout(PATIENCE, socket.send(Frame::Close(None))).await;
}

/// The newest picture.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/picture.jpg", tag = "boards", params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "The newest picture", body = Vec<u8>, content_type = "image/jpeg"))
)]
pub async fn picture(At(table): At) -> Answer<impl IntoResponse> {
    let pictures = Arc::clone(&table.board.pictures);
    let picture = tokio::task::spawn_blocking(move || pictures.newest()).await;
    match picture {
        Ok(Ok(Some(jpeg))) => Ok(([(header::CONTENT_TYPE, "image/jpeg")], jpeg)),
        Ok(Ok(None)) => Err(Problem::unavailable("there is no picture yet")),
        _ => Err(Problem::fault()),
    }
}

/// Pictures as they change, as `multipart/x-mixed-replace`.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/picture.mjpeg", tag = "boards", params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "Pictures as they change, without end", body = Vec<u8>,
        content_type = "multipart/x-mixed-replace"))
)]
pub async fn pictures(State(app): State<Arc<App>>, At(table): At) -> Answer<impl IntoResponse> {
    let shown = Arc::clone(&table.board.pictures);
    let (changes, closing) = (shown.stream(), app.closing.clone());
    // The newest picture first: a board at rest may not show another one for long.
    let newest = tokio::task::spawn_blocking(move || shown.newest()).await;
    let newest: Option<Jpeg> = newest.ok().and_then(Result::ok).flatten().map(Jpeg::from);
    let reel = Reel { changes, closing, newest, shown: 0 };
    let parts = stream::unfold(reel, async |mut reel| Some((Ok::<_, Infallible>(reel.next().await?), reel)));
    let media_type = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    Ok(([(header::CONTENT_TYPE, media_type)], Body::from_stream(parts)))
}

/// A stream of pictures.
struct Reel {
    changes: watch::Receiver<Option<Jpeg>>,
    closing: watch::Receiver<bool>,
    newest: Option<Jpeg>,
    /// How often the newest was sent.
    shown: u32,
}

impl Reel {
    /// The next part; None once the program ends.
    async fn next(&mut self) -> Option<Bytes> {
        let jpeg = match &self.newest {
            Some(newest) if self.shown == 0 => newest.clone(),
            _ => self.changed().await?,
        };
        self.shown += 1;
        let head = format!("--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", jpeg.len());
        Some(Bytes::from([head.as_bytes(), &jpeg, b"\r\n"].concat()))
    }

    /// The next picture, or the newest again: browsers show a part when they have seen the one after it.
    async fn changed(&mut self) -> Option<Jpeg> {
        loop {
            let again = if self.shown < 2 { SOON } else { ALIVE };
            tokio::select! {
                changed = self.changes.changed() => {
                    changed.ok()?;
                    if let Some(jpeg) = self.changes.borrow_and_update().clone() {
                        (self.newest, self.shown) = (Some(jpeg.clone()), 0);
                        return Some(jpeg);
                    }
                }
                () = tokio::time::sleep(again) => {
                    if let Some(jpeg) = &self.newest {
                        return Some(jpeg.clone());
                    }
                }
                _ = self.closing.wait_for(|closing| *closing) => return None,
            }
        }
    }
}

fn asked(since: Result<Query<Since>, QueryRejection>) -> Option<String> {
    since.ok().and_then(|Query(since)| since.last)
}

/// What is no number of ours is as good as none: then the whole state is told.
fn last(text: Option<String>) -> Option<Id> {
    text.and_then(|text| text.parse().ok())
}
