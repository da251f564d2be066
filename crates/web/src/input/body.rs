//! JSON bodies, read strictly: an unknown field or a wrong type is an error that names the field.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use super::error_text::takes;
use super::strict::Strict;
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

/// A JSON body that may be left out.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let is_json = is_json(request.headers());
        let bytes = to_bytes(request.into_body(), LIMIT).await.map_err(|_| Problem::too_large(LIMIT))?;
        match (bytes.is_empty(), is_json) {
            (true, _) => Ok(MaybeBody(T::default())),
            (false, true) => read(&bytes).map(MaybeBody),
            (false, false) => Err(Problem::not_json()),
        }
    }
}

/// Reads an optional field that does not accept `null`.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// Reads in two steps: invalid JSON is reported by its position, any other mistake by its field.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let json: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Problem::bad_request(format!("The body is not valid JSON: see line {line}, column {column}."))
    })?;
    read_json(json)
}

/// Reads parsed JSON, and names an invalid field.
pub(crate) fn read_json<T: DeserializeOwned>(json: serde_json::Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(Strict(json)).map_err(|error| {
        // The message never repeats the given value: it may be a key.
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
        #[serde(default)]
        limits: Vec<Limit>,
        #[serde(default)]
        most: Option<Limit>,
        #[serde(default)]
        ids: Vec<model::ChannelId>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Limit {
        count: u64,
    }

    #[test]
    fn invalid_field_is_named_with_what_it_takes() {
        for (body, expected) in [
            (r#"{"count":"1"}"#, "count must be a whole number"),
            (r#"{"count":-1}"#, "count must be a whole number"),
            (r#"{"count":1.5}"#, "count must be a whole number"),
            (r#"{"count":-1.0}"#, "count must be a whole number"),
            (r#"{"count":1e300}"#, "count must be a whole number"),
            (r#"{"count":1,"ratio":"x"}"#, "ratio must be a number"),
            (r#"{"count":1,"ratio":null}"#, "ratio must be a number"),
            (r#"{"count":1,"on":"yes"}"#, "on must be true or false"),
            (r#"{"count":1,"on":1}"#, "on must be true or false"),
            (r#"{"count":1,"key":12345}"#, "key must be text"),
            (r#"{"count":1,"action":"explode"}"#, "action must be one of `deactivate`, `block`, `observe`"),
            (r#"{"count":1,"action":3}"#, "action must be a word"),
            (r#"{"count":1,"action":{"block":null}}"#, "action must be a word"),
            (
                r#"{"count":1,"wrong":1}"#,
                "wrong is not known here; known: `count`, `ratio`, `on`, `key`, `action`, `limits`, `most`, `ids`",
            ),
            (r#"{"count":1,"limits":{"count":1}}"#, "limits must be a list"),
            (r#"{"count":1,"limits":[{"count":1},[1]]}"#, "limits[1] must be an object"),
            (r#"{"count":1,"limits":[{"count":"1"}]}"#, "limits[0].count must be a whole number"),
            (r#"{"count":1,"most":[1]}"#, "most must be an object"),
            (r#"{"count":1,"ids":["x"]}"#, "ids[0] must be an id such as 01a1e113-cde6-7655-bec5-72125b2b0e22"),
            (r#"{"count":1,"ids":[7]}"#, "ids[0] must be an id such as 01a1e113-cde6-7655-bec5-72125b2b0e22"),
            ("{}", "count must be given"),
            ("[]", "The body must be an object."),
            ("[1,0.5,true]", "The body must be an object."),
            ("7", "The body must be an object."),
            (r#"{"count":1"#, "The body is not valid JSON: see line 1, column 10."),
            ("", "The body is not valid JSON: see line 1, column 0."),
            (r#"{"count":1} x"#, "The body is not valid JSON: see line 1, column 13."),
        ] {
            let problem = read::<Sample>(body.as_bytes()).expect_err(body);
            assert_eq!(problem.detail(), expected, "{body}");
        }
    }

    #[test]
    fn valid_body_is_read() {
        let id = "01a1e113-cde6-7655-bec5-72125b2b0e22";
        let body = r#"{"count":1.0,"ratio":2,"on":true,"key":"k","action":"block","limits":[{"count":2}],"most":null,"ids":["ID"]}"#;
        let read = read::<Sample>(body.replace("ID", id).as_bytes()).map_err(|problem| problem.detail()).unwrap();
        assert_eq!((read.count, read.ratio, read.on, read.key.as_deref()), (1, Some(2.0), Some(true), Some("k")));
        assert_eq!((read.action, read.limits[0].count, read.most.is_none()), (Some(model::Action::Block), 2, true));
        assert_eq!(read.ids[0].to_string(), id);
    }
}
