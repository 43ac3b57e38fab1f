//! The service over HTTP: pages, REST under `/api/v1`, events, pictures.
//!
//! | module | what it holds |
//! |---|---|
//! | [`error`] | problem+json; the only file that knows statuses |
//! | [`access`] | passwords, sessions, tokens, the brake on guessing |
//! | `guard` | what every request passes: origin, role, time |
//! | `boards`, `setup`, `streams`, `matches`, `statistics`, `counts`, `audits` | the routes |
//! | `connectors`, `session`, `pages`, `health` | more of them |
//! | `openapi`, `schema` | the document of the API, its shapes and its viewer |
//! | [`limit`] | how many photos an address may send |
//! | `server` | connections: limits on headers and time, the end without breaking what was begun |

pub mod access;
mod audits;
mod boards;
mod connectors;
mod counts;
mod error;
mod guard;
mod health;
pub mod limit;
mod matches;
mod openapi;
mod pages;
mod schema;
mod server;
mod session;
mod setup;
mod statistics;
mod streams;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post, put};
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::service::audits::Audits;
use crate::service::connectors::Connectors;
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
/// Largest sheet of typed scores, bytes.
const MAX_SHEET: usize = 4 << 20;
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
    /// Who elsewhere is told.
    pub connectors: Arc<Connectors>,
    /// Audits that are open.
    pub audits: Audits,
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
        .route("/api/v1/croki/tables", get(connectors::tables))
        .route("/api/v1/croki/matches", post(connectors::start))
        .route("/api/v1/boards/{board}/keys/{key}", post(boards::press))
        .route("/api/v1/boards/{board}/setup", post(setup::choose))
        .route("/api/v1/boards/{board}/calibration", post(setup::preview))
        .route("/api/v1/audits", post(audits::begin))
        .route("/api/v1/audits/{id}", delete(audits::delete))
        .route("/api/v1/audits/{id}/decisions", post(audits::decide))
        .layer(DefaultBodyLimit::max(MAX_COMMAND))
        .route("/api/v1/audits/{id}/photos", post(audits::add).layer(DefaultBodyLimit::max(MAX_PHOTO)))
        .route(
            "/api/v1/audits/{id}/sheet",
            put(audits::sheet).delete(audits::no_sheet).layer(DefaultBodyLimit::max(MAX_SHEET)),
        )
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
        .route("/api/v1/boards/{board}/overlay.jpg", get(streams::overlay))
        .route("/api/v1/boards/{board}/overlay.mjpeg", get(streams::overlays))
        .route("/api/v1/boards/{board}/top.jpg", get(streams::top))
        .route("/api/v1/boards/{board}/top.mjpeg", get(streams::tops))
        .route("/api/v1/matches", get(matches::list))
        .route("/api/v1/matches/{id}", get(matches::show))
        .route("/api/v1/matches/{id}/export/{format}", get(matches::export))
        .route("/api/v1/matches/{id}/evidence/{sha256}", get(matches::evidence))
        .route("/api/v1/connectors", get(connectors::list))
        .route("/api/v1/cameras", get(setup::cameras))
        .route("/api/v1/boards/{board}/setup", get(setup::show))
        .route("/api/v1/boards/{board}/calibration", get(setup::calibration))
        .route("/api/v1/audits", get(audits::list))
        .route("/api/v1/audits/{id}", get(audits::show))
        .route("/api/v1/audits/{id}/{file}", get(audits::file))
        .route("/api/v1/audits/{id}/pictures/{sha256}/{name}", get(audits::picture))
        .route("/api/v1/statistics", get(statistics::statistics))
        .route("/api/v1/rules", get(matches::rules))
        .route("/api/v1/rules/{name}", get(matches::rule_set))
        .route("/api/v1/openapi.json", get(openapi::document))
        .route("/api/docs", get(openapi::viewer_front))
        .route("/api/docs/", get(openapi::viewer_page))
        .route("/api/docs/{*name}", get(openapi::viewer))
        .route("/metrics", get(health::metrics))
        .route("/referee", get(pages::referee))
        .route("/history", get(pages::history))
        .route("/audit", get(pages::audit))
        .route("/setup", get(pages::setup))
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
