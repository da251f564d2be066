//! Ollama's chat and generate, as its own clients expect them: one JSON object, or one per line
//! with the figures in the last.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::output::Call;
use crate::output::{Envelope, Output, pieces, scripted_error};

/// `/api/chat`: the text is in a message.
pub(crate) const CHAT: Endpoint = Endpoint { wrap: |text| ("message", json!({"role": "assistant", "content": text})) };

/// `/api/generate`: the text is a field.
pub(crate) const GENERATE: Endpoint = Endpoint { wrap: |text| ("response", text.into()) };

/// One of the two endpoints, which differ in the place of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    wrap: fn(&str) -> (&'static str, Value),
}

impl Endpoint {
    /// The answer as one body.
    pub(crate) fn body(self, envelope: &Envelope<'_>, output: &Output) -> Bytes {
        let mut body = self.piece(envelope, output, text_of(output));
        finish(&mut body, envelope);
        body.to_string().into()
    }

    /// The answer as the lines of a stream.
    pub(crate) fn events(self, envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
        let mut lines: Vec<Value> = match output {
            Output::Text(text) => pieces(text, chunks).map(|piece| self.piece(envelope, output, piece)).collect(),
            Output::Calls(_) => vec![self.piece(envelope, output, "")],
        };
        let mut last = self.piece(envelope, &Output::Text("".into()), "");
        finish(&mut last, envelope);
        lines.push(last);
        lines.iter().map(|line| format!("{line}\n").into()).collect()
    }

    fn piece(self, envelope: &Envelope<'_>, output: &Output, text: &str) -> Value {
        let (field, mut value) = (self.wrap)(text);
        if let (Output::Calls(calls), true) = (output, value.is_object()) {
            let call = |call: &Call| json!({"function": {"name": call.name, "arguments": call.arguments}});
            value["tool_calls"] = calls.iter().map(call).collect();
        }
        let mut piece = json!({"model": envelope.model, "created_at": envelope.at.to_string(), "done": false});
        piece[field] = value;
        piece
    }
}

/// An error.
pub(crate) fn error(status: StatusCode) -> Bytes {
    json!({"error": scripted_error(status)}).to_string().into()
}

fn text_of(output: &Output) -> &str {
    match output {
        Output::Text(text) => text,
        Output::Calls(_) => "",
    }
}

/// Times are in nanoseconds.
fn finish(last: &mut Value, envelope: &Envelope<'_>) {
    let figures = [
        ("total_duration", 3_000_000),
        ("load_duration", 1_000_000),
        ("prompt_eval_count", envelope.tokens_in),
        ("prompt_eval_duration", 1_000_000),
        ("eval_count", envelope.tokens_out),
        ("eval_duration", 1_000_000),
    ];
    last["done"] = true.into();
    last["done_reason"] = "stop".into();
    for (name, figure) in figures {
        last[name] = figure.into();
    }
}
