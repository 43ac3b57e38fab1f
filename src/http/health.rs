//! For those who keep watch over the program.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use super::App;
use super::error::{Answer, Problem};
use crate::service::connectors::state::{Doing, State as Connector};
use crate::service::figures::{Reading, Spent, Stage};
use crate::service::hall::Table;

/// A board without a frame for so long is not ready.
const STALE: Duration = Duration::from_secs(10);

/// The program answers.
#[utoipa::path(
    get, path = "/healthz", tag = "health", security(()),
    responses((status = 200, description = "It does", body = String, content_type = "text/plain"))
)]
pub async fn alive() -> &'static str {
    "ok\n"
}

/// The program can work: the database answers, and frames come to every board or are not needed.
#[utoipa::path(
    get, path = "/readyz", tag = "health", security(()),
    responses((status = 200, description = "It can", body = String, content_type = "text/plain"))
)]
pub async fn ready(State(app): State<Arc<App>>) -> Answer<&'static str> {
    app.store.list(1).await?;
    for table in app.hall.tables() {
        if let Some(lacking) = lacking(table) {
            return Err(Problem::unavailable(&format!("board {}: {lacking}", table.label.id)));
        }
    }
    Ok("ready\n")
}

/// What a board lacks to be watched.
fn lacking(table: &Table) -> Option<&'static str> {
    let (board, _) = table.hub.parts();
    match board["state"].as_str() {
        Some("watching") => {
            let fresh = table.board.figures.read().age_s.is_some_and(|age_s| age_s < STALE.as_secs_f64());
            (!fresh).then_some("no frame comes from the camera")
        }
        Some("waiting" | "ended") => None,
        _ => Some("it is not watched yet"),
    }
}

/// Figures in Prometheus' text format.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses((status = 200, description = "Figures", body = String, content_type = "text/plain"))
)]
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let boards: Vec<(&str, Reading)> =
        app.hall.tables().iter().map(|table| (table.label.id.as_str(), table.board.figures.read())).collect();
    let mut text = String::new();
    /// Name, what it counts, and the count.
    type Counter = (&'static str, &'static str, fn(&Reading) -> u64);
    let counters: [Counter; 7] = [
        ("frames", "Frames seen", |read| read.frames),
        ("settled_boards", "Boards counted", |read| read.settled),
        ("rounds", "Rounds told", |read| read.rounds),
        ("rounds_to_review", "Rounds that need review", |read| read.reviews),
        ("close_calls", "Discs of told rounds that were in doubt", |read| read.close_calls),
        ("board_restarts", "Times the board's thread began again", |read| read.restarts),
        ("camera_reconnects", "Times the camera came back", |read| read.reconnects),
    ];
    // Writing to a string does not fail.
    for (name, help, of) in counters {
        let _ = writeln!(text, "# HELP crokeye_{name}_total {help}.\n# TYPE crokeye_{name}_total counter");
        for (board, read) in &boards {
            let _ = writeln!(text, "crokeye_{name}_total{{board=\"{board}\"}} {}", of(read));
        }
    }
    let _ = writeln!(text, "# HELP crokeye_last_frame_age_seconds Age of the newest frame.");
    let _ = writeln!(text, "# TYPE crokeye_last_frame_age_seconds gauge");
    for (board, read) in &boards {
        if let Some(age_s) = read.age_s {
            let _ = writeln!(text, "crokeye_last_frame_age_seconds{{board=\"{board}\"}} {age_s:.3}");
        }
    }
    let _ = writeln!(text, "# HELP crokeye_stage_seconds Time spent in a stage of the work on frames.");
    let _ = writeln!(text, "# TYPE crokeye_stage_seconds summary");
    for (board, read) in &boards {
        for (stage, Spent { times, seconds }) in Stage::ALL.iter().zip(read.stages) {
            let labels = format!("{{board=\"{board}\",stage=\"{}\"}}", stage.name());
            let _ = writeln!(text, "crokeye_stage_seconds_sum{labels} {seconds:.6}");
            let _ = writeln!(text, "crokeye_stage_seconds_count{labels} {times}");
        }
    }
    connectors(&mut text, &app.connectors.states());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

/// How the connectors do.
fn connectors(text: &mut String, states: &[Connector]) {
    type Of = fn(&Connector) -> u64;
    let figures: [(&str, &str, &str, Of); 4] = [
        ("up", "gauge", "1 where the latest message was acknowledged", |state| u64::from(state.state == Doing::Works)),
        ("delivered_total", "counter", "Messages that were acknowledged", |state| state.delivered),
        ("failures_total", "counter", "Tries that failed", |state| state.failures),
        ("given_up_total", "counter", "Messages that were given up", |state| state.given_up),
    ];
    for (name, kind, help, of) in figures.iter().filter(|_| !states.is_empty()) {
        let _ = writeln!(text, "# HELP crokeye_connector_{name} {help}.\n# TYPE crokeye_connector_{name} {kind}");
        for state in states {
            let label = state.name.replace(['\\', '"', '\n'], "_");
            let _ =
                writeln!(text, "crokeye_connector_{name}{{kind=\"{}\",name=\"{label}\"}} {}", state.kind, of(state));
        }
    }
}
