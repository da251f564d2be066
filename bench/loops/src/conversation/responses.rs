//! OpenAI Responses, as Codex uses it: the whole history as items, nothing stored.

use serde_json::{Map, Value, json};

use super::{Answer, Linked, Opening, Outcome};

pub(super) fn head(opening: &Opening<'_>) -> (Map<String, Value>, Vec<Value>) {
    let mut head = Map::new();
    head.insert("model".to_owned(), json!(opening.model));
    head.insert("instructions".to_owned(), json!(opening.system));
    head.insert("stream".to_owned(), json!(true));
    head.insert("store".to_owned(), json!(false));
    if !opening.tools.is_empty() {
        let parameters = json!({"type": "object", "properties": {}, "additionalProperties": true});
        let tool = |name: &&str| json!({"type": "function", "name": name, "parameters": parameters});
        head.insert("tools".to_owned(), opening.tools.iter().map(tool).collect());
    }
    if let Some(session) = &opening.session {
        head.insert("prompt_cache_key".to_owned(), json!(session));
    }
    (head, Vec::new())
}

pub(super) fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

/// The items of an answer, which are also what the client sends back.
pub(super) fn output(answer: &Answer) -> Vec<Value> {
    let content = json!([{"type": "output_text", "text": answer.text}]);
    let message = json!({"type": "message", "role": "assistant", "content": content});
    (!answer.text.is_empty()).then_some(message).into_iter().chain(answer.calls.iter().map(call)).collect()
}

/// A custom tool: its input is text, not JSON.
const CUSTOM_TOOL: &str = "apply_patch";

fn call(linked: &Linked) -> Value {
    let Linked { id, tool } = linked;
    if let (true, Some(input)) = (tool.name == CUSTOM_TOOL, tool.input["input"].as_str()) {
        return json!({"type": "custom_tool_call", "call_id": id, "name": tool.name, "input": input});
    }
    json!({"type": "function_call", "call_id": id, "name": tool.name, "arguments": tool.input.to_string()})
}

pub(super) fn outcomes(outcomes: &[Outcome], text: Option<&str>) -> Vec<Value> {
    let result = |outcome: &Outcome| {
        let kind = if outcome.tool == CUSTOM_TOOL { "custom_tool_call_output" } else { "function_call_output" };
        json!({"type": kind, "call_id": outcome.id, "output": outcome.text})
    };
    outcomes.iter().map(result).chain(text.map(user)).collect()
}

pub(super) fn body(answer: &Answer, serial: u64) -> Value {
    json!({
        "id": format!("resp_{serial:016x}"),
        "object": "response",
        "status": "completed",
        "output": output(answer),
    })
}
