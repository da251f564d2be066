//! Replaces the name of the model in a body or path. No other byte changes.

use std::ops::Range;

use crate::endpoint::model_span;
use crate::json::Json;

/// Replaces every `model` at the top level of `body`. `None` if there is none or the body cannot be
/// read.
///
/// It replaces all of them, because parsers differ in which of two equal keys they use.
pub fn body_with_model(body: &[u8], model: &str) -> Option<Vec<u8>> {
    let text = simdutf8::basic::from_utf8(body).ok()?;
    let mut places: Vec<Range<usize>> = Vec::new();
    Json::parse_fields(text, |key, value| {
        if key == "model" {
            let start = value.raw().as_ptr().addr() - text.as_ptr().addr();
            places.push(start..start + value.raw().len());
        }
    })
    .ok()?;
    let name = serde_json::Value::from(model).to_string();
    let mut spliced = Vec::with_capacity(body.len() + places.len() * name.len());
    let mut copied = 0;
    for place in &places {
        spliced.extend_from_slice(&body[copied..place.start]);
        spliced.extend_from_slice(name.as_bytes());
        copied = place.end;
    }
    spliced.extend_from_slice(&body[copied..]);
    (!places.is_empty()).then_some(spliced)
}

/// Replaces the model `asked` in a path that names it as Google's paths do:
/// `/v1beta/models/{model}:generateContent`.
pub fn path_with_model(path: &str, asked: &str, model: &str) -> Option<String> {
    let span = model_span(path).filter(|span| path.get(span.clone()) == Some(asked))?;
    Some([&path[..span.start], model, &path[span.end..]].concat())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_name_is_replaced() {
        let check = |body: &str, expected: Option<&str>| {
            let spliced = body_with_model(body.as_bytes(), "small-1");
            assert_eq!(spliced.as_deref(), expected.map(str::as_bytes), "{body}");
        };
        check(r#"{"model":"large","n": 1.0}"#, Some(r#"{"model":"small-1","n": 1.0}"#));
        check(
            "{ \"n\":1e2,\n\t\"model\" :  \"l\\u0061rge\" , \"x\":\"\\u00e9é\"}",
            Some("{ \"n\":1e2,\n\t\"model\" :  \"small-1\" , \"x\":\"\\u00e9é\"}"),
        );
        check(r#"{"mod\u0065l":"large"}"#, Some(r#"{"mod\u0065l":"small-1"}"#));
        check(r#"{"model":"a","model":"b"}"#, Some(r#"{"model":"small-1","model":"small-1"}"#));
        check(r#"{"model":null}"#, Some(r#"{"model":"small-1"}"#));
        check(r#"{"messages":[{"model":"large"}],"metadata":{"model":"x"}}"#, None);
        check(r#"{"model":"large""#, None);
        check(r#"["model"]"#, None);
    }

    #[test]
    fn a_model_in_a_path_is_replaced_there() {
        let check = |path: &str, asked: &str, expected: Option<&str>| {
            assert_eq!(path_with_model(path, asked, "small-1").as_deref(), expected, "{path}");
        };
        check(
            "/v1beta/models/large:streamGenerateContent",
            "large",
            Some("/v1beta/models/small-1:streamGenerateContent"),
        );
        check(
            "/v1/publishers/google/models/g%3AgenerateContent",
            "g",
            Some("/v1/publishers/google/models/small-1%3AgenerateContent"),
        );
        check("/v1beta/models/larger:generateContent", "large", None);
        check(
            "/v1beta%2fmodels%2Flarge%3agenerateContent//",
            "large",
            Some("/v1beta%2fmodels%2Fsmall-1%3agenerateContent//"),
        );
        check("/v1/chat/completions", "completions", None);
    }
}
