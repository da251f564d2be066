//! Gemini `generateContent`.

use serde_json::{Map, Value, json};

use super::{Answer, Linked, Opening, Outcome};

pub(super) fn head(opening: &Opening<'_>) -> (Map<String, Value>, Vec<Value>) {
    let mut head = Map::new();
    if !opening.system.is_empty() {
        head.insert("systemInstruction".to_owned(), json!({"parts": [{"text": opening.system}]}));
    }
    if !opening.tools.is_empty() {
        let tool = |name: &&str| json!({"name": name, "description": format!("The tool {name}.")});
        let tools: Vec<Value> = opening.tools.iter().map(tool).collect();
        head.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
    }
    if let Some(session) = &opening.session {
        head.insert("session_id".to_owned(), json!(session));
    }
    // Written even where it is empty, so that the head is never an empty object.
    head.insert("generationConfig".to_owned(), json!({"temperature": 1.0}));
    (head, Vec::new())
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

pub(super) fn model(answer: &Answer) -> Value {
    let text = (!answer.text.is_empty()).then(|| json!({"text": answer.text}));
    let parts: Vec<Value> = text.into_iter().chain(answer.calls.iter().map(call)).collect();
    json!({"role": "model", "parts": parts})
}

fn call(linked: &Linked) -> Value {
    json!({"functionCall": {"name": linked.tool.name, "args": linked.tool.input}})
}

pub(super) fn outcomes(outcomes: &[Outcome], text: Option<&str>) -> Value {
    let part = |outcome: &Outcome| {
        let key = if outcome.is_error { "error" } else { "output" };
        json!({"functionResponse": {"name": outcome.tool, "response": {key: outcome.text}}})
    };
    let parts: Vec<Value> = outcomes.iter().map(part).chain(text.map(|text| json!({ "text": text }))).collect();
    json!({"role": "user", "parts": parts})
}

pub(super) fn body(answer: &Answer, serial: u64) -> Value {
    json!({
        "candidates": [{"content": model(answer), "finishReason": "STOP", "index": 0}],
        "responseId": format!("{serial:016x}"),
    })
}
