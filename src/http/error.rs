//! Errors as clients see them: `application/problem+json` (RFC 9457). Only this file knows HTTP statuses.
//!
//! What went wrong inside is logged; a client is told what it can do, never a path, a database's text or a stack.

use std::any::Any;

use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::score::export::ExportError;
use crate::service::counter::CounterError;
use crate::service::new_match::NewMatchError;
use crate::service::referee::OrderError;
use crate::store::StoreError;

/// An error on its way to a client.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    kind: &'static str,
    detail: String,
    retry_after_secs: Option<u64>,
}

/// What handlers give.
pub type Answer<T> = Result<T, Problem>;

impl Problem {
    fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), retry_after_secs: None }
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

    /// A fault of the program.
    pub fn fault() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", "a fault in crokeye; its log says more")
    }

    /// Not able to, for now.
    pub fn unavailable(detail: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({
            "type": "about:blank", "title": self.status.canonical_reason(), "status": self.status.as_u16(),
            "kind": self.kind, "detail": self.detail,
        });
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
            StoreError::Refused(reason) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "refused", reason.to_string()),
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
