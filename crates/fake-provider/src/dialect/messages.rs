//! Anthropic Messages, as the official SDKs expect it.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::output::Call;
use crate::output::{Envelope, Output, pieces, scripted_error};

/// The answer as one body.
pub(crate) fn body(envelope: &Envelope<'_>, output: &Output) -> Bytes {
    let content = match output {
        Output::Text(text) => vec![json!({"type": "text", "text": **text})],
        Output::Calls(calls) => calls.iter().enumerate().map(|(index, call)| tool_use(envelope, index, call)).collect(),
    };
    let mut message = message(envelope, envelope.tokens_out);
    message["content"] = content.into();
    message["stop_reason"] = stop_reason(output).into();
    message.to_string().into()
}

/// The answer as the events of a stream.
pub(crate) fn events(envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
    let mut events = vec![event("message_start", json!({"message": message(envelope, 1)}))];
    match output {
        Output::Text(text) => {
            let deltas = pieces(text, chunks).map(|piece| json!({"type": "text_delta", "text": piece}));
            block(&mut events, 0, json!({"type": "text", "text": ""}), deltas);
        }
        Output::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let mut start = tool_use(envelope, index, call);
                start["input"] = json!({});
                let arguments = call.arguments.to_string();
                let deltas =
                    pieces(&arguments, chunks).map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                block(&mut events, index, start, deltas);
            }
        }
    }
    let delta = json!({"stop_reason": stop_reason(output), "stop_sequence": null});
    events.push(event("message_delta", json!({"delta": delta, "usage": {"output_tokens": envelope.tokens_out}})));
    events.push(event("message_stop", json!({})));
    events
}

/// An error.
pub(crate) fn error(status: StatusCode) -> Bytes {
    let kind = match status.as_u16() {
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": scripted_error(status)}, "request_id": "req_built_in"})
        .to_string()
        .into()
}

/// One content block from its start to its stop.
fn block(events: &mut Vec<Bytes>, index: usize, start: Value, deltas: impl Iterator<Item = Value>) {
    events.push(event("content_block_start", json!({"index": index, "content_block": start})));
    events.extend(deltas.map(|delta| event("content_block_delta", json!({"index": index, "delta": delta}))));
    events.push(event("content_block_stop", json!({"index": index})));
}

fn event(name: &str, mut data: Value) -> Bytes {
    data["type"] = name.into();
    format!("event: {name}\ndata: {data}\n\n").into()
}

fn message(envelope: &Envelope<'_>, tokens_out: usize) -> Value {
    json!({
        "id": format!("msg_{}", envelope.number),
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            // Without the cached tokens, unlike in other formats.
            "input_tokens": envelope.tokens_in - envelope.tokens_cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": envelope.tokens_cached,
            "output_tokens": tokens_out,
            "service_tier": "standard",
        },
    })
}

fn tool_use(envelope: &Envelope<'_>, index: usize, call: &Call) -> Value {
    let id = format!("toolu_{}_{index}", envelope.number);
    json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
}

fn stop_reason(output: &Output) -> &'static str {
    match output {
        Output::Text(_) => "end_turn",
        Output::Calls(_) => "tool_use",
    }
}
