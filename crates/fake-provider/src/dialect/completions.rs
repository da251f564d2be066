//! OpenAI's legacy completions: a prompt in, its continuation out. No tools: a call comes out as
//! text.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Value, json};

use super::chat_completions::usage;
use crate::output::{Envelope, Output, pieces};

/// The answer as one body.
pub(crate) fn body(envelope: &Envelope<'_>, output: &Output) -> Bytes {
    let mut body = completion(envelope, &text_of(output), Some("stop"));
    body["usage"] = usage(envelope);
    body.to_string().into()
}

/// The answer as the events of a stream.
pub(crate) fn events(envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
    let text = text_of(output);
    let mut events: Vec<Value> = pieces(&text, chunks).map(|piece| completion(envelope, piece, None)).collect();
    events.push(completion(envelope, "", Some("stop")));
    if envelope.include_usage {
        let mut last = completion(envelope, "", None);
        last["choices"] = json!([]);
        last["usage"] = usage(envelope);
        events.push(last);
    }
    let mut events: Vec<Bytes> = events.iter().map(|event| format!("data: {event}\n\n").into()).collect();
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

fn completion(envelope: &Envelope<'_>, text: &str, finish_reason: Option<&str>) -> Value {
    let choice = json!({"text": text, "index": 0, "logprobs": null, "finish_reason": finish_reason});
    json!({
        "id": format!("cmpl-{}", envelope.number),
        "object": "text_completion",
        "created": envelope.created(),
        "model": envelope.model,
        "choices": [choice],
    })
}

fn text_of(output: &Output) -> Cow<'_, str> {
    match output {
        Output::Text(text) => Cow::Borrowed(text),
        Output::Calls(calls) => calls.iter().map(|call| format!("{}({})\n", call.name, call.arguments)).collect(),
    }
}
