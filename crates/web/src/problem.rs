//! Errors as RFC 9457 has them (`application/problem+json`). They name the invalid field and what
//! it takes.

use std::fmt::Display;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use control::ControlError;
use model::{FieldError, InvalidProvider, Role};
use serde::Serialize;
use store::StoreError;
use utoipa::{IntoResponses, ToSchema};

/// Why a request was not served.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    field: Option<String>,
    retry_after: Option<u64>,
}

/// Why a request was not served, as RFC 9457 writes it.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// Always `about:blank`: `status` and `code` say what kind it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The name of the status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// A word for programs.
    code: &'static str,
    /// What is wrong, for people.
    detail: String,
    /// The invalid field or parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// All invalid fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<WrongField>,
}

/// One invalid field.
#[derive(Serialize, ToSchema)]
pub(crate) struct WrongField {
    /// The field or parameter.
    field: String,
    /// What it takes.
    message: String,
}

/// The errors of every operation.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only describes the answers")]
pub(crate) enum Refusals {
    /// The request is malformed: a bad field, parameter or body. Nothing was changed.
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemBody),
    /// The token or the session is missing or wrong.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemBody),
    /// The caller's role does not allow it, or another site asks for a change.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemBody),
    /// There is no such thing.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemBody),
    /// The current state does not allow it. Nothing was changed.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemBody),
    /// The `Host` is not one of this server's names.
    #[response(status = 421, content_type = "application/problem+json")]
    Misdirected(ProblemBody),
    /// The token is wrong, and too many wrong ones came from the same address before.
    #[response(status = 429, content_type = "application/problem+json")]
    TooManyGuesses(ProblemBody),
    /// Something went wrong here.
    #[response(status = 500, content_type = "application/problem+json")]
    Internal(ProblemBody),
    /// The database cannot be used at the moment.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemBody),
}

/// Further errors of operations with a body.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only describes the answers")]
pub(crate) enum BodyRefusals {
    /// The body did not arrive in time. Nothing was changed.
    #[response(status = 408, content_type = "application/problem+json")]
    BodyTimeout(ProblemBody),
    /// The body is too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemBody),
    /// The body's content type is not JSON.
    #[response(status = 415, content_type = "application/problem+json")]
    UnsupportedMediaType(ProblemBody),
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, code, detail: detail.into(), field: None, retry_after: None }
    }

    /// `field` has a value that it cannot take; `message` says what it takes.
    pub(crate) fn field(field: impl Into<String>, message: impl Into<String>) -> Problem {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "invalid_field", message);
        Problem { field: Some(field.into()), ..problem }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// The same for every missing or wrong credential.
    pub(crate) fn unauthorized() -> Problem {
        let detail = "This needs the token: Authorization: Bearer <token>.";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
    }

    /// Too many wrong tokens came from the client's network.
    pub(crate) fn too_many_guesses(seconds: u64) -> Problem {
        let detail = format!("This is not the token, and too many wrong ones came before. Try again in {seconds} s.");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_guesses", detail);
        Problem { retry_after: Some(seconds), ..problem }
    }

    pub(crate) fn cross_site() -> Problem {
        let detail = "A change must come from this server's own pages or from a program, not from another site.";
        Problem::new(StatusCode::FORBIDDEN, "cross_site", detail)
    }

    /// The caller is known and may not do this.
    pub(crate) fn role_needed(needed: Role, has: Role) -> Problem {
        let detail = format!("This needs the role {}; yours is {}.", needed.as_str(), has.as_str());
        Problem::new(StatusCode::FORBIDDEN, "role_needed", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub(crate) fn method_not_allowed() -> Problem {
        let detail = "This path does not take this method.";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
    }

    pub(crate) fn too_large(limit: usize) -> Problem {
        let detail = format!("The body has more than {limit} bytes.");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    pub(crate) fn not_json() -> Problem {
        let detail = "The body must come with Content-Type: application/json.";
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)
    }

    pub(crate) fn misdirected() -> Problem {
        let detail = "This server does not answer to this Host. Allow the name with --allow-host.";
        Problem::new(StatusCode::MISDIRECTED_REQUEST, "misdirected", detail)
    }

    /// The current state does not allow it.
    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "conflict", detail)
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
    }

    pub(crate) fn internal(error: impl Display) -> Problem {
        tracing::error!("a request to the dashboard or the API failed: {error}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something went wrong here; the log says more.")
    }

    /// Why a page of a list could not be read. A conflict can only come from its cursor.
    pub(crate) fn of_page(error: StoreError) -> Problem {
        match error {
            StoreError::Conflict(_) => Problem::field("cursor", "must be the next_cursor of the page before"),
            error => error.into(),
        }
    }

    /// Its HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// What is wrong, for people.
    pub(crate) fn detail(&self) -> String {
        match &self.field {
            Some(field) => format!("{field} {}", self.detail),
            None => self.detail.clone(),
        }
    }

    /// The invalid field, if there is one, and what it takes.
    pub(crate) fn wrong_field(&self) -> Option<(&str, &str)> {
        Some((self.field.as_deref()?, &self.detail))
    }

    fn body(&self) -> ProblemBody {
        let wrong = |field: &String| WrongField { field: field.clone(), message: self.detail.clone() };
        ProblemBody {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            code: self.code,
            detail: self.detail(),
            field: self.field.clone(),
            errors: self.field.iter().map(wrong).collect(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"agentgazer\""));
        }
        headers.extend(self.retry_after.map(|seconds| (RETRY_AFTER, HeaderValue::from(seconds))));
        // Pages show it in their own form.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        match error {
            StoreError::NotFound => Problem::not_found("There is no such thing."),
            StoreError::Conflict(why) => Problem::conflict(why),
            StoreError::Unavailable(_) | StoreError::Setup(_) => {
                tracing::debug!(%error, "a request of the API met a database that cannot be used");
                Problem::unavailable("The database cannot be used at the moment; nothing was changed.")
            }
        }
    }
}

impl From<ControlError> for Problem {
    fn from(error: ControlError) -> Problem {
        match error {
            ControlError::Field { field, message } => Problem::field(field, message),
            ControlError::NotFound(text) => Problem::not_found(text),
            ControlError::Conflict(text) => Problem::conflict(text),
            ControlError::Forbidden(text) => Problem::new(StatusCode::FORBIDDEN, "role_needed", text),
            ControlError::TooMany(text) => Problem::bad_request(text),
            ControlError::NotStored(text) => Problem::unavailable(text),
            ControlError::Store(error) => error.into(),
            error @ ControlError::Failed(_) => Problem::internal(error),
        }
    }
}

impl From<FieldError> for Problem {
    fn from(error: FieldError) -> Problem {
        Problem::field(error.field, error.message)
    }
}

impl From<InvalidProvider> for Problem {
    fn from(error: InvalidProvider) -> Problem {
        Problem::field(error.field, error.message)
    }
}
