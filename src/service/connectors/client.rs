//! Requests to other programs: how long they may take, whom they trust, what of an answer is read.

use std::sync::Once;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Url};

use super::ConnectorError;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read, bytes.
const MOST: usize = 1 << 20;
/// The longest wait that a receiver may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// An answer.
pub(super) struct Answer {
    pub status: u16,
    /// As far as it was asked for, and never more than a mebibyte.
    pub body: Vec<u8>,
    /// When to try again, where the receiver says so.
    pub retry_after: Option<Duration>,
}

/// A client that follows nobody elsewhere and trusts whom this computer trusts.
pub(super) fn client() -> Result<Client, ConnectorError> {
    provide_cryptography();
    Client::builder()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .timeout(PATIENCE)
        .user_agent(concat!("crokeye/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| ConnectorError::Client(error.to_string()))
}

/// One choice of cryptography for all of TLS.
pub(super) fn provide_cryptography() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A program that chose one before keeps its own.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// An address to send to.
pub(super) fn address(text: &str) -> Result<Url, String> {
    let url: Url = text.trim().parse().map_err(|error| format!("{text:?} is no address: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err(format!("{text:?} is no address: it begins with http:// or https://")),
    }
}

/// An address as it is shown: what comes after the host may be secret.
pub(super) fn shown(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Sends a request. An answer of any status is an answer; its body is read only where it is `wanted`.
///
/// # Errors
/// No answer came, as a sentence without the address.
pub(super) async fn send(request: RequestBuilder, wanted: bool) -> Result<Answer, String> {
    let mut response = request.send().await.map_err(why)?;
    let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
    let mut body = Vec::new();
    while wanted && let Some(chunk) = response.chunk().await.map_err(why)? {
        if body.len() + chunk.len() > MOST {
            return Err("its answer is too long".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, body, retry_after })
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let secs: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(secs).min(LONGEST_WAIT))
}

/// The innermost reason is the one that says something: "connection refused".
fn why(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", PATIENCE.as_secs());
    }
    let error = error.without_url();
    let mut reason: &dyn std::error::Error = &error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}
