//! OpenAI Responses, as the official SDKs expect it: an answer is a list of items, and a stream
//! names every step of each.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::output::Call;
use crate::output::{Envelope, Output, pieces};

/// The answer as one body.
pub(crate) fn body(envelope: &Envelope<'_>, output: &Output) -> Bytes {
    response(envelope, "completed", items(envelope, output)).to_string().into()
}

/// The answer as the events of a stream.
pub(crate) fn events(envelope: &Envelope<'_>, output: &Output, chunks: usize) -> Vec<Bytes> {
    let mut stream = Stream::default();
    let begun = json!({"response": response(envelope, "in_progress", Vec::new())});
    stream.event("response.created", begun.clone());
    stream.event("response.in_progress", begun);
    let items = items(envelope, output);
    for (index, item) in items.iter().enumerate() {
        stream.item(index, item, chunks);
    }
    stream.event("response.completed", json!({"response": response(envelope, "completed", items)}));
    stream.events
}

/// The events so far; each carries its number.
#[derive(Debug, Default)]
struct Stream {
    events: Vec<Bytes>,
}

impl Stream {
    fn event(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.events.len().into();
        self.events.push(format!("event: {name}\ndata: {data}\n\n").into());
    }

    /// One item from its beginning to its end.
    fn item(&mut self, index: usize, item: &Value, chunks: usize) {
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        for (field, empty) in [("content", json!([])), ("arguments", json!("")), ("input", json!(""))] {
            if item.get(field).is_some() {
                begun[field] = empty;
            }
        }
        self.event("response.output_item.added", json!({"output_index": index, "item": begun}));
        match item["type"] == "message" {
            true => self.text(index, item, chunks),
            false => self.input(index, item, chunks),
        }
        self.event("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    /// The text of a message, piece by piece.
    fn text(&mut self, index: usize, item: &Value, chunks: usize) {
        let part = &item["content"][0];
        let text = part["text"].as_str().unwrap_or_default();
        let at = json!({"item_id": item["id"], "output_index": index, "content_index": 0});
        let with = |key: &str, value: Value| {
            let mut data = at.clone();
            data[key] = value;
            data
        };
        let with_text = |key: &str, value: &str| {
            let mut data = with(key, value.into());
            data["logprobs"] = json!([]);
            data
        };
        self.event("response.content_part.added", with("part", output_text("")));
        for piece in pieces(text, chunks) {
            self.event("response.output_text.delta", with_text("delta", piece));
        }
        self.event("response.output_text.done", with_text("text", text));
        self.event("response.content_part.done", with("part", part.clone()));
    }

    /// The arguments of a call, piece by piece.
    fn input(&mut self, index: usize, item: &Value, chunks: usize) {
        let (event, field) = match item["type"] == "custom_tool_call" {
            true => ("custom_tool_call_input", "input"),
            false => ("function_call_arguments", "arguments"),
        };
        let input = item[field].as_str().unwrap_or_default();
        let at = json!({"item_id": item["id"], "output_index": index});
        for piece in pieces(input, chunks) {
            let mut data = at.clone();
            data["delta"] = piece.into();
            self.event(&format!("response.{event}.delta"), data);
        }
        let mut data = at;
        data[field] = input.into();
        self.event(&format!("response.{event}.done"), data);
    }
}

fn items(envelope: &Envelope<'_>, output: &Output) -> Vec<Value> {
    match output {
        Output::Text(text) => vec![json!({
            "id": format!("msg_{}", envelope.number),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [output_text(text)],
        })],
        Output::Calls(calls) => {
            calls.iter().enumerate().map(|(index, call)| tool_call(envelope, index, call)).collect()
        }
    }
}

fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

/// A custom tool is called with text, a function with JSON in a string.
fn tool_call(envelope: &Envelope<'_>, index: usize, call: &Call) -> Value {
    let (kind, id, field, input) = match &call.arguments {
        Value::String(text) => ("custom_tool_call", "ctc", "input", text.clone()),
        arguments => ("function_call", "fc", "arguments", arguments.to_string()),
    };
    let number = envelope.number;
    let mut item = json!({
        "id": format!("{id}_{number}_{index}"),
        "type": kind,
        "status": "completed",
        "call_id": format!("call_{number}_{index}"),
        "name": call.name,
    });
    item[field] = input.into();
    item
}

fn response(envelope: &Envelope<'_>, status: &str, output: Vec<Value>) -> Value {
    let usage = (status == "completed").then(|| usage(envelope));
    json!({
        "id": format!("resp_{}", envelope.number),
        "object": "response",
        "created_at": envelope.created(),
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "model": envelope.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": envelope.previous_response,
        "reasoning": {"effort": null, "summary": null},
        "store": true,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
        "metadata": {},
    })
}

fn usage(envelope: &Envelope<'_>) -> Value {
    json!({
        "input_tokens": envelope.tokens_in,
        "input_tokens_details": {"cached_tokens": envelope.tokens_cached},
        "output_tokens": envelope.tokens_out,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": envelope.tokens_in + envelope.tokens_out,
    })
}
