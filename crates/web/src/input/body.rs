//! JSON bodies, read strictly: an unknown field or a wrong type is an error that names the field.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use super::words::takes;
use crate::problem::Problem;

/// The largest body that the API takes.
const LIMIT: usize = 64 * 1024;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        // A page of another site can send forms and plain text without asking, but not this type.
        if !is_json(request.headers()) {
            return Err(Problem::not_json());
        }
        let bytes = to_bytes(request.into_body(), LIMIT).await.map_err(|_| Problem::too_large(LIMIT))?;
        read(&bytes).map(Body)
    }
}

/// Reads an optional field that takes no `null`: one that is there must have a value.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// Reads in two steps, so that a mistake in the JSON is told by its position and all others by their field.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let json: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Problem::bad_request(format!("The body is not valid JSON: see line {line}, column {column}."))
    })?;
    read_json(json)
}

/// Reads JSON that has been parsed, and names the field that is wrong.
pub(crate) fn read_json<T: DeserializeOwned>(json: serde_json::Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(json).map_err(|error| {
        // Only what the field takes is said, never what was given: it may be a key.
        match takes(&error.path().to_string(), &error.inner().to_string()) {
            (Some(field), message) => Problem::field(field, message),
            (None, message) => Problem::bad_request(format!("The body {message}.")),
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Sample {
        count: u64,
        #[serde(default, deserialize_with = "present")]
        ratio: Option<f64>,
        #[serde(default, deserialize_with = "present")]
        on: Option<bool>,
        #[serde(default, deserialize_with = "present")]
        key: Option<String>,
        #[serde(default, deserialize_with = "present")]
        action: Option<model::Action>,
    }

    #[test]
    fn what_is_wrong_is_named_with_what_it_takes() {
        for (body, expected) in [
            (r#"{"count":"1"}"#, "count must be a whole number"),
            (r#"{"count":-1}"#, "count must be a whole number"),
            (r#"{"count":1.5}"#, "count must be a whole number"),
            (r#"{"count":1,"ratio":"x"}"#, "ratio must be a number"),
            (r#"{"count":1,"ratio":null}"#, "ratio must be a number"),
            (r#"{"count":1,"on":"yes"}"#, "on must be true or false"),
            (r#"{"count":1,"on":1}"#, "on must be true or false"),
            (r#"{"count":1,"key":12345}"#, "key must be text"),
            (r#"{"count":1,"action":"explode"}"#, "action must be one of `deactivate`, `block`, `observe`"),
            (r#"{"count":1,"action":3}"#, "action must be a word"),
            (r#"{"count":1,"wrong":1}"#, "wrong is not known here; known: `count`, `ratio`, `on`, `key`, `action`"),
            ("{}", "count must be given"),
            ("[]", "The body must be an object."),
            ("7", "The body must be an object."),
            (r#"{"count":1"#, "The body is not valid JSON: see line 1, column 10."),
            ("", "The body is not valid JSON: see line 1, column 0."),
            (r#"{"count":1} x"#, "The body is not valid JSON: see line 1, column 13."),
        ] {
            let problem = read::<Sample>(body.as_bytes()).expect_err(body);
            assert_eq!(problem.detail(), expected, "{body}");
        }
    }
}
