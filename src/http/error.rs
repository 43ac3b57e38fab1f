//! Errors as clients see them: `application/problem+json` (RFC 9457). Only this file knows HTTP statuses.
//!
//! What went wrong inside is logged; a client is told what it can do, never a path, a database's text or a stack.

use std::any::Any;

use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::audit::UnusableSheet;
use crate::score::export::ExportError;
use crate::service::audits::AuditError;
use crate::service::counter::CounterError;
use crate::service::new_match::NewMatchError;
use crate::service::referee::OrderError;
use crate::service::setup::SetupError;
use crate::store::StoreError;

/// An error on its way to a client.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    kind: &'static str,
    detail: String,
    /// Why the rules refuse, for who has words of its own.
    violation: Option<Box<Value>>,
    retry_after_secs: Option<u64>,
}

/// Every kind of problem with its status: what clients may rely on, and what the document of the API says.
pub const KINDS: [(&str, u16); 20] = [
    ("bad_request", 400),
    ("log_in", 401),
    ("wrong_password", 401),
    ("forbidden", 403),
    ("foreign_origin", 403),
    ("not_found", 404),
    ("method", 405),
    ("timeout", 408),
    ("conflict", 409),
    ("played_elsewhere", 409),
    ("too_large", 413),
    ("refused", 422),
    ("not_a_photo", 422),
    ("not_a_sheet", 422),
    ("not_exported", 422),
    ("slow_down", 429),
    ("busy", 429),
    ("fault", 500),
    ("upstream", 502),
    ("unavailable", 503),
];

/// What handlers give.
pub type Answer<T> = Result<T, Problem>;

impl Problem {
    fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), violation: None, retry_after_secs: None }
    }

    /// There is nothing at this address.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what}"))
    }

    /// There is something, but it is not done like this.
    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this address does not take that method")
    }

    /// The request is not understood.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// Nobody knows who asks.
    pub fn unknown() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "log_in", "log in first, or send a token")
    }

    /// The password is wrong.
    pub fn wrong_password() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "wrong_password", "that is not the password")
    }

    /// The role is not enough.
    pub fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "this needs the role referee")
    }

    /// The request comes from a page of somebody else.
    pub fn foreign() -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign_origin", "this request comes from a page of another site")
    }

    /// Too many tries.
    pub fn slow_down(secs: u64) -> Self {
        Self::wait(secs, format!("too many wrong passwords: try again in {secs} s"))
    }

    /// Too many photos from one address.
    pub fn too_many_photos(secs: u64) -> Self {
        Self::wait(secs, format!("too many photos from this address: go on in {secs} s"))
    }

    fn wait(secs: u64, detail: String) -> Self {
        let busy = Self::new(StatusCode::TOO_MANY_REQUESTS, "slow_down", detail);
        Self { retry_after_secs: Some(secs), ..busy }
    }

    /// It took too long.
    pub fn timeout() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the request took too long")
    }

    /// It is understood, and cannot be done.
    pub fn refused(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", detail)
    }

    /// A fault of the program.
    pub fn fault() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", "a fault in crokeye; its log says more")
    }

    /// A program elsewhere does not do its part.
    pub fn upstream(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "upstream", detail)
    }

    /// Not able to, for now.
    pub fn unavailable(detail: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({
            "type": "about:blank", "title": self.status.canonical_reason(), "status": self.status.as_u16(),
            "kind": self.kind, "detail": self.detail,
        });
        if let Some(violation) = self.violation {
            body["violation"] = *violation;
        }
        let mut response = (self.status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(secs) = self.retry_after_secs {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(secs));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(reason) => Self {
                violation: Some(Box::new(json!(reason))),
                ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", reason.to_string())
            },
            StoreError::Conflict { expected, found } => Self::new(
                StatusCode::CONFLICT,
                "conflict",
                format!("the match has changed meanwhile: it is at step {found}, not {expected}; look at it again"),
            ),
            StoreError::NoMatch(_) | StoreError::Ambiguous { .. } => Self::not_found("such match"),
            StoreError::NoEvidence(_) => Self::not_found("such document"),
            other => {
                tracing::error!(error = %other, "the store fails");
                Self::unavailable("the database cannot be read or written: is the disk full? The log says more")
            }
        }
    }
}

impl From<OrderError> for Problem {
    fn from(error: OrderError) -> Self {
        match error {
            OrderError::Store(error) => error.into(),
            OrderError::Elsewhere { .. } => Self::new(StatusCode::CONFLICT, "played_elsewhere", error.to_string()),
            OrderError::Ending => Self::unavailable("crokeye is ending"),
        }
    }
}

impl From<NewMatchError> for Problem {
    fn from(error: NewMatchError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", error.to_string())
    }
}

impl From<ExportError> for Problem {
    fn from(error: ExportError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_exported", error.to_string())
    }
}

impl From<CounterError> for Problem {
    fn from(error: CounterError) -> Self {
        let detail = error.to_string();
        match error {
            CounterError::Busy => {
                Self { retry_after_secs: Some(2), ..Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", detail) }
            }
            CounterError::TooManyPixels { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail),
            CounterError::Photo(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_a_photo", detail),
            CounterError::Fault => Self::fault(),
        }
    }
}

impl From<SetupError> for Problem {
    fn from(error: SetupError) -> Self {
        Self::refused(error.to_string())
    }
}

impl From<AuditError> for Problem {
    fn from(error: AuditError) -> Self {
        let detail = error.to_string();
        match error {
            AuditError::NoAudit | AuditError::NoPicture => Self::not_found(&detail),
            AuditError::TooMany => Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", detail),
            AuditError::Full | AuditError::TooManyDecisions => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
            }
            AuditError::Colours(_) | AuditError::Decision(_) => Self::bad_request(detail),
            AuditError::Io(_) | AuditError::Output(_) => {
                tracing::error!(%error, "an audit fails");
                Self::unavailable("the audit cannot be read or written: is the disk full? The log says more")
            }
        }
    }
}

impl From<UnusableSheet> for Problem {
    fn from(error: UnusableSheet) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_a_sheet", error.to_string())
    }
}

impl From<BytesRejection> for Problem {
    fn from(error: BytesRejection) -> Self {
        match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is larger than is taken here")
            }
            _ => Self::bad_request("the body could not be read to its end"),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::bad_request(format!("the body is not the JSON that belongs here: {error}"))
    }
}

/// Something was made.
pub fn created(what: impl IntoResponse) -> impl IntoResponse {
    (StatusCode::CREATED, what)
}

/// The client has it already.
pub fn unchanged() -> Response {
    StatusCode::NOT_MODIFIED.into_response()
}

/// A handler that died.
pub fn died(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request ended in a fault");
    Problem::fault().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds as they stand in this file: what follows a status is a kind.
    #[test]
    fn the_list_of_kinds_is_whole_and_true() {
        let code = include_str!("error.rs").split("#[cfg(test)]").next().unwrap();
        let mut found: Vec<(&str, &str)> = Vec::new();
        for part in code.split("StatusCode::").skip(1) {
            let name = part.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).next().unwrap();
            let rest = part[name.len()..].trim_start_matches(|c: char| c == ',' || c.is_whitespace());
            if let Some(kind) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) {
                found.push((kind, name));
            }
        }
        for (kind, name) in &found {
            let status =
                KINDS.iter().find(|(known, _)| known == kind).unwrap_or_else(|| panic!("{kind} is not listed")).1;
            let title = StatusCode::from_u16(status).unwrap().canonical_reason().unwrap();
            assert_eq!(title.to_uppercase().replace(' ', "_"), *name, "{kind}");
        }
        assert!(KINDS.iter().all(|(kind, _)| found.iter().any(|(used, _)| used == kind)), "{found:?}");
    }
}
