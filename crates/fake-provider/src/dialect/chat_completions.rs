//! OpenAI Chat Completions, as the official SDKs expect it.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::output::Call;
use crate::output::{Envelope, Output, pieces, quoted, scripted_error};

/// The answer as one body.
pub(crate) fn body(envelope: &Envelope<'_>, output: &Output) -> Bytes {
    let message = match output {
        Output::Text(text) => json!({"role": "assistant", "content": **text, "refusal": null, "annotations": []}),
        Output::Calls(calls) => {
            let calls: Vec<Value> =
                calls.iter().enumerate().map(|(index, call)| tool_call(envelope, index, call)).collect();
            json!({"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls})
        }
    };
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(output)});
    let body = json!({
        "id": format!("chatcmpl-{}", envelope.number),
        "object": "chat.completion",
        "created": envelope.created(),
        "model": envelope.model,
        "choices": [choice],
        "usage": usage(envelope),
        "service_tier": "default",
        "system_fingerprint": "fp_built_in",
    });
    body.to_string().into()
}

/// The answer as the events of a stream.
pub(crate) fn events(envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
    let start = format!(
        r#"data: {{"id":"chatcmpl-{}","object":"chat.completion.chunk","created":{},"model":{},"system_fingerprint":"fp_built_in""#,
        envelope.number,
        envelope.created(),
        quoted(envelope.model)
    );
    let usage_field = if envelope.include_usage { r#","usage":null"# } else { "" };
    let event = |delta: &str, finish: &str| {
        let choice = format!(r#"{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}"#);
        Bytes::from(format!("{start},\"choices\":[{choice}]{usage_field}}}\n\n"))
    };
    let mut events = vec![event(r#"{"role":"assistant","content":"","refusal":null}"#, "null")];
    match output {
        Output::Text(text) => {
            let delta = |piece: &str| event(&format!(r#"{{"content":{}}}"#, quoted(piece)), "null");
            events.extend(pieces(text, chunks).map(delta));
        }
        Output::Calls(calls) => {
            let deltas = calls.iter().enumerate().flat_map(|(index, call)| tool_deltas(envelope, index, call, chunks));
            events.extend(deltas.map(|delta| event(&delta, "null")));
        }
    }
    events.push(event("{}", &quoted(finish_reason(output))));
    if envelope.include_usage {
        events.push(Bytes::from(format!("{start},\"choices\":[],\"usage\":{}}}\n\n", usage(envelope))));
    }
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

/// An error.
pub(crate) fn error(status: StatusCode) -> Bytes {
    let (kind, code) = match status.as_u16() {
        429 => ("requests", json!("rate_limit_exceeded")),
        400..=499 => ("invalid_request_error", Value::Null),
        _ => ("server_error", Value::Null),
    };
    json!({"error": {"message": scripted_error(status), "type": kind, "param": null, "code": code}}).to_string().into()
}

/// One call's deltas: first its name, then its arguments piece by piece.
fn tool_deltas(envelope: &Envelope<'_>, index: usize, call: &Call, chunks: usize) -> Vec<String> {
    let mut first = tool_call(envelope, index, call);
    first["index"] = json!(index);
    first["function"]["arguments"] = json!("");
    let arguments = call.arguments.to_string();
    let more = pieces(&arguments, chunks).map(|piece| json!({"index": index, "function": {"arguments": piece}}));
    let deltas = std::iter::once(first).chain(more);
    deltas.map(|delta| json!({"tool_calls": [delta]}).to_string()).collect()
}

fn tool_call(envelope: &Envelope<'_>, index: usize, call: &Call) -> Value {
    let id = format!("call_{}_{index}", envelope.number);
    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
    json!({"id": id, "type": "function", "function": function})
}

fn finish_reason(output: &Output) -> &'static str {
    match output {
        Output::Text(_) => "stop",
        Output::Calls(_) => "tool_calls",
    }
}

/// Tokens, as both completion formats report them.
pub(crate) fn usage(envelope: &Envelope<'_>) -> Value {
    json!({
        "prompt_tokens": envelope.tokens_in,
        "completion_tokens": envelope.tokens_out,
        "total_tokens": envelope.tokens_in + envelope.tokens_out,
        "prompt_tokens_details": {"cached_tokens": envelope.tokens_cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    })
}
