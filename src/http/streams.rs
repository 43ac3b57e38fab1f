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
use crate::service::hall::Table;
use crate::service::hub::{Id, Listener, Message};
use crate::service::pictures::{Drawn, Jpeg, Kind};

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
    get, path = "/api/v1/boards/{board}/state", tag = "boards",
    params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "Board and match now", body = schema::State))
)]
pub async fn state(At(table): At) -> impl IntoResponse {
    let json = table.hub.snapshot().json;
    ([(header::CONTENT_TYPE, "application/json")], json.to_string())
}

/// Events as server-sent events; `Last-Event-ID` resumes.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/events", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("last" = Option<String>, Query, description = "Id of the last message that was seen: what came after follows"),
        ("last-event-id" = Option<String>, Header, description = "As `last`")
    ),
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
    get, path = "/api/v1/boards/{board}/live", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("last" = Option<String>, Query, description = "Id of the last message that was seen: what came after follows")
    ),
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
    get, path = "/api/v1/boards/{board}/picture.jpg", tag = "boards",
    params(("board" = String, Path, description = "Id of the board")),
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
    get, path = "/api/v1/boards/{board}/picture.mjpeg", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("fps" = Option<f64>, Query, description = "Pictures a second, 0.1 to 10; without it they come as they change")
    ),
    responses(
        (
            status = 200, description = "Pictures as they change, without end", body = Vec<u8>,
            content_type = "multipart/x-mixed-replace"
        )
    )
)]
pub async fn pictures(State(app): State<Arc<App>>, At(table): At, pace: Paced) -> Answer<impl IntoResponse> {
    let steady = Pace::steady(pace)?;
    let shown = Arc::clone(&table.board.pictures);
    let changes = shown.stream();
    // The newest picture first: a board at rest may not show another one for long.
    let newest = tokio::task::spawn_blocking(move || shown.newest()).await;
    let newest: Option<Jpeg> = newest.ok().and_then(Result::ok).flatten().map(Jpeg::from);
    Ok(reel(Raw(changes), newest, steady, app.closing.clone()))
}

/// The count that stands, drawn on its picture.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/overlay.jpg", tag = "boards",
    params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "The picture", body = Vec<u8>, content_type = "image/jpeg"))
)]
pub async fn overlay(At(table): At) -> Answer<impl IntoResponse> {
    count(&table, Kind::Overlay).await
}

/// The count that stands, seen from above.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/top.jpg", tag = "boards",
    params(("board" = String, Path, description = "Id of the board")),
    responses((status = 200, description = "The picture", body = Vec<u8>, content_type = "image/jpeg"))
)]
pub async fn top(At(table): At) -> Answer<impl IntoResponse> {
    count(&table, Kind::Top).await
}

async fn count(table: &Table, kind: Kind) -> Answer<impl IntoResponse + use<>> {
    let drawn = table.board.pictures.counts().borrow().clone();
    let drawn = drawn.ok_or_else(|| Problem::unavailable("nothing is counted yet"))?;
    let jpeg = tokio::task::spawn_blocking(move || drawn.jpeg(kind)).await.ok().flatten();
    let jpeg = jpeg.ok_or_else(Problem::fault)?;
    Ok(([(header::CONTENT_TYPE, "image/jpeg")], jpeg.to_vec()))
}

/// Each count drawn on its picture, as it changes.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/overlay.mjpeg", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("fps" = Option<f64>, Query, description = "Pictures a second, 0.1 to 10; without it they come as they change")
    ),
    responses(
        (
            status = 200, description = "Pictures, without end", body = Vec<u8>,
            content_type = "multipart/x-mixed-replace"
        )
    )
)]
pub async fn overlays(State(app): State<Arc<App>>, At(table): At, pace: Paced) -> Answer<impl IntoResponse> {
    counts(&app, &table, pace, Kind::Overlay)
}

/// Each count seen from above, as it changes.
#[utoipa::path(
    get, path = "/api/v1/boards/{board}/top.mjpeg", tag = "boards",
    params(
        ("board" = String, Path, description = "Id of the board"),
        ("fps" = Option<f64>, Query, description = "Pictures a second, 0.1 to 10; without it they come as they change")
    ),
    responses(
        (
            status = 200, description = "Pictures, without end", body = Vec<u8>,
            content_type = "multipart/x-mixed-replace"
        )
    )
)]
pub async fn tops(State(app): State<Arc<App>>, At(table): At, pace: Paced) -> Answer<impl IntoResponse> {
    counts(&app, &table, pace, Kind::Top)
}

fn counts(app: &App, table: &Table, pace: Paced, kind: Kind) -> Answer<impl IntoResponse + use<>> {
    let source = Counts { changes: table.board.pictures.counts(), drawing: None, kind };
    Ok(reel(source, None, Pace::steady(pace)?, app.closing.clone()))
}

/// Where the pictures of a stream come from.
trait Source: Send + 'static {
    /// The next one; None once there will be no more.
    fn next(&mut self) -> impl Future<Output = Option<Jpeg>> + Send;
}

/// What the camera shows.
struct Raw(watch::Receiver<Option<Jpeg>>);

impl Source for Raw {
    async fn next(&mut self) -> Option<Jpeg> {
        loop {
            self.0.changed().await.ok()?;
            if let Some(jpeg) = self.0.borrow_and_update().clone() {
                return Some(jpeg);
            }
        }
    }
}

/// What is counted.
struct Counts {
    changes: watch::Receiver<Option<Arc<Drawn>>>,
    /// One that is being drawn: whoever does not wait for it to the end begins with it again.
    drawing: Option<Arc<Drawn>>,
    kind: Kind,
}

impl Source for Counts {
    async fn next(&mut self) -> Option<Jpeg> {
        loop {
            while self.drawing.is_none() {
                self.changes.changed().await.ok()?;
                self.drawing = self.changes.borrow_and_update().clone();
            }
            let (drawn, kind) = (self.drawing.clone()?, self.kind);
            let jpeg = tokio::task::spawn_blocking(move || drawn.jpeg(kind)).await.ok().flatten();
            self.drawing = None;
            if jpeg.is_some() {
                return jpeg;
            }
        }
    }
}

/// How a stream is wanted.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Pace {
    /// Pictures a second, whether they change or not; without it they come as they change.
    fps: Option<f64>,
}

impl Pace {
    /// The time between two pictures.
    fn steady(asked: Result<Query<Self>, QueryRejection>) -> Answer<Option<Duration>> {
        let wrong = || Problem::bad_request("fps is a number from 0.1 to 10");
        let Query(pace) = asked.map_err(|_| wrong())?;
        let within = |fps: f64| (0.1..=10.0).contains(&fps).then(|| Duration::from_secs_f64(1.0 / fps));
        pace.fps.map(|fps| within(fps).ok_or_else(wrong)).transpose()
    }
}

type Paced = Result<Query<Pace>, QueryRejection>;

fn reel<S: Source>(
    source: S,
    newest: Option<Jpeg>,
    steady: Option<Duration>,
    closing: watch::Receiver<bool>,
) -> impl IntoResponse {
    let reel = Reel { source, closing, newest, steady, shown: 0 };
    let parts = stream::unfold(reel, async |mut reel| Some((Ok::<_, Infallible>(reel.next().await?), reel)));
    let media_type = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    ([(header::CONTENT_TYPE, media_type)], Body::from_stream(parts))
}

/// A stream of pictures.
struct Reel<S> {
    source: S,
    closing: watch::Receiver<bool>,
    newest: Option<Jpeg>,
    /// The newest is sent again after so long.
    steady: Option<Duration>,
    /// How often the newest was sent.
    shown: u32,
}

impl<S: Source> Reel<S> {
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
            let again = self.steady.unwrap_or(if self.shown < 2 { SOON } else { ALIVE });
            tokio::select! {
                next = self.source.next() => {
                    (self.newest, self.shown) = (Some(next?), 0);
                    return self.newest.clone();
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
