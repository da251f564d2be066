//! OpenAI Chat Completions.

use serde_json::{Map, Value, json};

use super::{Answer, Linked, Opening, Outcome};

pub(super) fn head(opening: &Opening<'_>) -> (Map<String, Value>, Vec<Value>) {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(opening.model));
    head.insert("stream".to_owned(), json!(true));
    head.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !opening.tools.is_empty() {
        let tools: Vec<Value> = opening.tools.iter().map(|name| tool(name)).collect();
        head.insert("tools".to_owned(), json!(tools));
    }
    if let Some(session) = &opening.session {
        head.insert("metadata".to_owned(), json!({ "session_id": session }));
    }
    let system = json!({"role": "system", "content": opening.system});
    (head, if opening.system.is_empty() { Vec::new() } else { vec![system] })
}

fn tool(name: &str) -> Value {
    let parameters = json!({"type": "object", "properties": {}, "additionalProperties": true});
    json!({"type": "function", "function": {"name": name, "description": format!("The tool {name}."), "parameters": parameters}})
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub(super) fn assistant(answer: &Answer) -> Value {
    let content = if answer.text.is_empty() { Value::Null } else { json!(answer.text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !answer.calls.is_empty() {
        message["tool_calls"] = answer.calls.iter().map(call).collect();
    } else if answer.text.is_empty() {
        message["content"] = json!("");
    }
    message
}

fn call(linked: &Linked) -> Value {
    let arguments = linked.tool.input.to_string();
    json!({"id": linked.id, "type": "function", "function": {"name": linked.tool.name, "arguments": arguments}})
}

pub(super) fn outcomes(outcomes: &[Outcome], text: Option<&str>) -> Vec<Value> {
    let result = |outcome: &Outcome| json!({"role": "tool", "tool_call_id": outcome.id, "content": outcome.text});
    outcomes.iter().map(result).chain(text.map(user)).collect()
}

pub(super) fn body(answer: &Answer, serial: u64) -> Value {
    let reason = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "id": format!("chatcmpl-{serial:016x}"),
        "object": "chat.completion",
        "choices": [{"index": 0, "message": assistant(answer), "finish_reason": reason}],
    })
}
