//! Anthropic Messages.

use serde_json::{Map, Value, json};

use super::{Answer, Linked, Opening, Outcome};

pub(super) fn head(opening: &Opening<'_>) -> (Map<String, Value>, Vec<Value>) {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(opening.model));
    head.insert("max_tokens".to_owned(), json!(8192));
    head.insert("stream".to_owned(), json!(true));
    let system = json!([{"type": "text", "text": opening.system, "cache_control": {"type": "ephemeral"}}]);
    if !opening.system.is_empty() {
        head.insert("system".to_owned(), system);
    }
    if !opening.tools.is_empty() {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
        let tool =
            |name: &&str| json!({"name": name, "description": format!("The tool {name}."), "input_schema": schema});
        head.insert("tools".to_owned(), opening.tools.iter().map(tool).collect());
    }
    if let Some(session) = &opening.session {
        let user = json!({"device_id": "d41d8cd98f00b204", "account_uuid": "", "session_id": session}).to_string();
        head.insert("metadata".to_owned(), json!({ "user_id": user }));
    }
    (head, Vec::new())
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn content(answer: &Answer) -> Value {
    let text = (!answer.text.is_empty()).then(|| json!({"type": "text", "text": answer.text}));
    text.into_iter().chain(answer.calls.iter().map(call)).collect()
}

fn call(linked: &Linked) -> Value {
    json!({"type": "tool_use", "id": linked.id, "name": linked.tool.name, "input": linked.tool.input})
}

pub(super) fn assistant(answer: &Answer) -> Value {
    json!({"role": "assistant", "content": content(answer)})
}

pub(super) fn outcomes(outcomes: &[Outcome], text: Option<&str>) -> Value {
    let mut blocks: Vec<Value> = outcomes.iter().map(outcome).collect();
    blocks.extend(text.map(|text| json!({"type": "text", "text": text})));
    json!({"role": "user", "content": blocks})
}

fn outcome(outcome: &Outcome) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": outcome.id, "content": outcome.text});
    if outcome.is_error {
        block["is_error"] = json!(true);
    }
    block
}

pub(super) fn body(answer: &Answer, serial: u64) -> Value {
    let reason = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    json!({
        "id": format!("msg_{serial:016x}"),
        "type": "message",
        "role": "assistant",
        "content": content(answer),
        "stop_reason": reason,
    })
}
