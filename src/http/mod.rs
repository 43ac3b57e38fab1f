//! The service over HTTP: pages, REST under `/api/v1`, events, pictures.
//!
//! | module | what it holds |
//! |---|---|
//! | [`error`] | problem+json; the only file that knows statuses |
//! | [`access`] | passwords, sessions, tokens, the brake on guessing |
//! | `guard` | what every request passes: origin, role, time |
//! | `boards`, `matches`, `counts`, `streams`, `session`, `pages`, `health` | the routes |
//! | [`limit`] | how many photos an address may send |
//! | `server` | connections: limits on headers and time, the end without breaking what was begun |

pub mod access;
mod boards;
mod counts;
mod error;
mod guard;
mod health;
pub mod limit;
mod matches;
mod pages;
mod server;
mod session;
mod streams;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::service::counter::Counter;
use crate::service::hall::Hall;
use crate::store::Store;
use access::Access;
use error::Problem;
use limit::Limit;

pub use server::serve;

/// Largest body of a command, bytes.
const MAX_COMMAND: usize = 64 << 10;
/// Largest photo, bytes.
const MAX_PHOTO: usize = 40 << 20;
/// Most pixels of a photo that is sent in: the largest phone pictures in common use have 50 million.
pub const MAX_PIXELS: u64 = 60_000_000;
/// Photos that may wait to be counted.
pub const PHOTO_QUEUE: usize = 4;

/// What the routes work with.
pub struct App {
    /// To read from; written by the referee alone.
    pub store: Store,
    /// The boards.
    pub hall: Arc<Hall>,
    /// Counts photos.
    pub counter: Counter,
    /// How many photos an address may send.
    pub uploads: Limit,
    /// Who may do what.
    pub access: Arc<Access>,
    /// May everybody see the scoreboard, where passwords are asked for?
    pub public_scoreboard: bool,
    /// True once the program is asked to end: streams end then.
    pub closing: watch::Receiver<bool>,
}

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    let commands = Router::new()
        .route("/api/v1/matches", post(matches::start))
        .route("/api/v1/matches/{id}/play", post(matches::play))
        .route("/api/v1/matches/{id}/rounds", post(matches::record))
        .route("/api/v1/matches/{id}/rounds/{round}/correct", post(matches::correct))
        .route("/api/v1/matches/{id}/rounds/{round}/void", post(matches::void))
        .route("/api/v1/matches/{id}/proposals/{proposal}/confirm", post(matches::confirm))
        .route("/api/v1/matches/{id}/proposals/{proposal}/dismiss", post(matches::dismiss))
        .route("/api/v1/matches/{id}/undo", post(matches::undo))
        .route("/api/v1/matches/{id}/redo", post(matches::redo))
        .route("/api/v1/matches/{id}/first", post(matches::first))
        .route("/api/v1/matches/{id}/finish", post(matches::finish))
        .route("/api/v1/boards/{board}/keys/{key}", post(boards::press))
        .layer(DefaultBodyLimit::max(MAX_COMMAND))
        .route(
            "/api/v1/counts",
            post(counts::count)
                .route_layer(from_fn_with_state(Arc::clone(&app), guard::uploads))
                .layer(DefaultBodyLimit::max(MAX_PHOTO)),
        )
        .route_layer(from_fn_with_state(Arc::clone(&app), guard::referees));
    let scoreboard = Router::new()
        .route("/api/v1/state", get(streams::state))
        .route("/api/v1/events", get(streams::events))
        .route("/api/v1/live", get(streams::live))
        .route("/api/v1/boards", get(boards::list))
        .route("/api/v1/boards/{board}/state", get(streams::state))
        .route("/api/v1/boards/{board}/events", get(streams::events))
        .route("/api/v1/boards/{board}/live", get(streams::live))
        .route("/", get(pages::scoreboard))
        .route("/overlay", get(pages::overlay))
        .route("/boards", get(pages::boards))
        .route_layer(from_fn_with_state(Arc::clone(&app), guard::lookers));
    let views = Router::new()
        .route("/api/v1/boards/{board}/picture.jpg", get(streams::picture))
        .route("/api/v1/boards/{board}/picture.mjpeg", get(streams::pictures))
        .route("/api/v1/matches", get(matches::list))
        .route("/api/v1/matches/{id}", get(matches::show))
        .route("/api/v1/matches/{id}/export/{format}", get(matches::export))
        .route("/api/v1/matches/{id}/evidence/{sha256}", get(matches::evidence))
        .route("/api/v1/rules", get(matches::rules))
        .route("/api/v1/rules/{name}", get(matches::rule_set))
        .route("/metrics", get(health::metrics))
        .route("/referee", get(pages::referee))
        .route("/history", get(pages::history))
        .route_layer(from_fn_with_state(Arc::clone(&app), guard::viewers));
    let open = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/login", get(pages::login))
        .route("/assets/{name}", get(pages::asset))
        .route(
            "/api/v1/session",
            get(session::who).post(session::log_in).delete(session::log_out).layer(DefaultBodyLimit::max(MAX_COMMAND)),
        );
    let mut router = commands
        .merge(scoreboard)
        .merge(views)
        .merge(open)
        .fallback(async || Problem::not_found("such address"))
        .method_not_allowed_fallback(async || Problem::method())
        .layer(from_fn(guard::in_time))
        .layer(from_fn_with_state(Arc::clone(&app), guard::own_pages_only))
        .layer(CatchPanicLayer::custom(error::died));
    for (name, value) in guard::HEADERS {
        router = router.layer(SetResponseHeaderLayer::if_not_present(name, value));
    }
    router.with_state(app)
}
