//! Gemini's generateContent and streamGenerateContent, as the official SDKs expect them: every
//! piece of a stream is a whole response, sent as an event or as the element of an array.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::output::Framing;
use crate::output::{Envelope, Output, pieces, scripted_error};

/// The answer as one body.
pub(crate) fn body(envelope: &Envelope<'_>, output: &Output) -> Bytes {
    let parts = match output {
        Output::Text(text) => vec![json!({"text": **text})],
        Output::Calls(_) => function_calls(output),
    };
    response(envelope, parts, Some("STOP")).to_string().into()
}

/// The answer as the pieces of a stream.
pub(crate) fn events(envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
    let parts: Vec<Vec<Value>> = match output {
        Output::Text(text) => pieces(text, chunks).map(|piece| vec![json!({"text": piece})]).collect(),
        Output::Calls(_) => vec![function_calls(output)],
    };
    let last = parts.len() - 1;
    let finish = |index| (index == last).then_some("STOP");
    let responses = parts.into_iter().enumerate().map(|(index, parts)| response(envelope, parts, finish(index)));
    match envelope.framing {
        Framing::Array => array(responses, last),
        _ => responses.map(|response| format!("data: {response}\r\n\r\n").into()).collect(),
    }
}

/// An error.
pub(crate) fn error(status: StatusCode) -> Bytes {
    let name = match status.as_u16() {
        429 => "RESOURCE_EXHAUSTED",
        400..=499 => "INVALID_ARGUMENT",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status.as_u16(), "message": scripted_error(status), "status": name}}).to_string().into()
}

fn array(responses: impl Iterator<Item = Value>, last: usize) -> Vec<Bytes> {
    let element = |(index, response): (usize, Value)| {
        let start = if index == 0 { "[" } else { "" };
        let end = if index == last { "]" } else { ",\r\n" };
        Bytes::from(format!("{start}{response}{end}"))
    };
    responses.enumerate().map(element).collect()
}

fn function_calls(output: &Output) -> Vec<Value> {
    let Output::Calls(calls) = output else { return Vec::new() };
    calls.iter().map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}})).collect()
}

fn response(envelope: &Envelope<'_>, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": envelope.tokens_in,
            "cachedContentTokenCount": envelope.tokens_cached,
            "candidatesTokenCount": envelope.tokens_out,
            "totalTokenCount": envelope.tokens_in + envelope.tokens_out,
        },
        "modelVersion": envelope.model,
        "responseId": format!("response-{}", envelope.number),
    })
}
