//! A program elsewhere: takes what is sent to it, answers as it is told to, and remembers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub path: String,
    headers: HeaderMap,
    bytes: Bytes,
    pub body: Value,
}

impl Sent {
    /// A header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn signature(&self) -> Option<&str> {
        self.headers.get("webhook-signature").map(|value| value.to_str().unwrap())
    }

    /// Does the signature hold, and is it new? As docs/connectors.md tells receivers to look.
    pub fn is_signed_with(&self, key: &[u8]) -> bool {
        let (id, timestamp) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let age_secs = jiff::Timestamp::now().as_second() - timestamp.parse::<i64>().unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(&self.bytes);
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        self.signature() == Some(&expected) && (0..300).contains(&age_secs)
    }
}

#[derive(Default)]
struct Behaviour {
    sent: Vec<Sent>,
    statuses: VecDeque<u16>,
    refused: Vec<(String, u16, String)>,
    takes: Duration,
}

/// The program.
pub struct Receiver {
    address: std::net::SocketAddr,
    behaviour: Arc<Mutex<Behaviour>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let behaviour = Arc::<Mutex<Behaviour>>::default();
        let router = Router::new().fallback(take).with_state(Arc::clone(&behaviour));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, behaviour }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers these statuses first, then 200.
    pub fn answer_first(&self, statuses: &[u16]) {
        self.behaviour.lock().unwrap().statuses = statuses.iter().copied().collect();
    }

    /// Refuses a match by its code.
    pub fn refuse(&self, code: &str, status: u16, error: &str) {
        self.behaviour.lock().unwrap().refused.push((code.to_owned(), status, error.to_owned()));
    }

    /// Takes so long for each request.
    pub fn take_ms(&self, ms: u64) {
        self.behaviour.lock().unwrap().takes = Duration::from_millis(ms);
    }

    /// All that was sent so far.
    pub fn sent(&self) -> Vec<Sent> {
        self.behaviour.lock().unwrap().sent.clone()
    }

    /// Waits until so much was sent, and a moment longer: more than that is a fault.
    pub async fn until(&self, count: usize) -> Vec<Sent> {
        let waited = tokio::time::timeout(PATIENCE, async {
            while self.sent().len() < count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        waited.await.unwrap_or_else(|_| panic!("{} of {count} came: {:?}", self.sent().len(), self.sent()));
        tokio::time::sleep(Duration::from_millis(200)).await;
        let sent = self.sent();
        assert_eq!(sent.len(), count, "{sent:?}");
        sent
    }
}

async fn take(State(behaviour): State<Arc<Mutex<Behaviour>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let takes = behaviour.lock().unwrap().takes;
    tokio::time::sleep(takes).await;
    let mut behaviour = behaviour.lock().unwrap();
    let refused = behaviour.refused.iter().find(|(code, ..)| body["match_code"] == json!(code)).cloned();
    behaviour.sent.push(Sent { path: head.uri.path().to_owned(), headers: head.headers, bytes, body });
    let status = behaviour.statuses.pop_front().unwrap_or(200);
    let status = StatusCode::from_u16(refused.as_ref().map_or(status, |(_, status, _)| *status)).unwrap();
    let ok = status.is_success();
    let mut answer = json!({ "ok": ok });
    if let Some((.., error)) = refused {
        answer["error"] = json!(error);
    }
    if ok && head.uri.path() == "/api/ingest_tables" {
        let round = if head.uri.query() == Some("round=2") { json!(2) } else { json!(1) };
        let team = |id: u32, name: &str| json!({ "id": id, "name": name });
        answer["matches"] = json!([
            { "match_code": "MD55", "match_id": 55, "round": round, "table": 4, "team_a": team(7, "Ann"),
              "team_b": team(9, "Bob"), "status": "open" },
            { "match_code": "MD56", "match_id": 56, "round": round, "table": null, "team_a": team(8, "Cid"),
              "team_b": null, "status": "bye" },
        ]);
    }
    let location = [(header::LOCATION, "/elsewhere")];
    (status, location, answer.to_string()).into_response()
}
