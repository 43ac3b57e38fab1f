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

/// A board without a frame for so long is not ready.
const STALE: Duration = Duration::from_secs(10);

/// The program answers.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// The program can work: the database answers, and frames come or are not needed.
pub async fn ready(State(app): State<Arc<App>>) -> Answer<&'static str> {
    app.store.list(1).await?;
    let state: serde_json::Value = serde_json::from_str(&app.hub.snapshot().json).unwrap_or_default();
    let watching = state["board"]["state"] == "watching";
    let age_s = app.board.figures.read().age_s;
    match state["board"]["state"].as_str() {
        Some("watching") if age_s.is_some_and(|age_s| age_s < STALE.as_secs_f64()) => Ok("ready\n"),
        _ if watching => Err(Problem::unavailable("no frame comes from the camera")),
        Some("waiting" | "ended") => Ok("ready\n"),
        _ => Err(Problem::unavailable("the board is not watched yet")),
    }
}

/// Figures in Prometheus' text format.
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let read = app.board.figures.read();
    let counters = [
        ("frames", "Frames seen", read.frames),
        ("settled_boards", "Boards counted", read.settled),
        ("rounds", "Rounds told", read.rounds),
        ("rounds_to_review", "Rounds that need review", read.reviews),
        ("board_restarts", "Times the board's thread began again", read.restarts),
        ("camera_reconnects", "Times the camera came back", read.reconnects),
    ];
    let mut text = String::new();
    for (name, help, value) in counters {
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP crokeye_{name}_total {help}.\n# TYPE crokeye_{name}_total counter");
        let _ = writeln!(text, "crokeye_{name}_total{{board=\"1\"}} {value}");
    }
    if let Some(age_s) = read.age_s {
        let _ = writeln!(text, "# HELP crokeye_last_frame_age_seconds Age of the newest frame.");
        let _ = writeln!(text, "# TYPE crokeye_last_frame_age_seconds gauge");
        let _ = writeln!(text, "crokeye_last_frame_age_seconds{{board=\"1\"}} {age_s:.3}");
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
            let _ = writeln!(text, "crokeye_connector_{name}{{kind=\"{}\",name=\"{label}\"}} {}", state.kind, of(state));
        }
    }
}
