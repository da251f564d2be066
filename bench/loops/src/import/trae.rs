//! TRAE agent: `llm_interactions`, each with the messages that were new in `input_messages` and
//! with the `response`.

use serde_json::{Value, json};

use super::{Body, Imported, chat_call, list, text};

pub(super) fn read(file: &Value, name: &str) -> anyhow::Result<Vec<Imported>> {
    let mut history: Vec<Value> = Vec::new();
    let mut calls = Vec::new();
    for interaction in list(file, "llm_interactions")? {
        let input: Vec<Value> = list(interaction, "input_messages")?.iter().map(message).collect();
        // Some versions record the whole history each time: it begins with the system prompt again.
        if input.first().is_some_and(|first| first["role"] == "system") {
            history.clear();
        }
        history.extend(input);
        let answer = response(&interaction["response"]);
        let request = json!({"model": interaction["model"], "messages": history});
        let time = utc(text(interaction, "timestamp"));
        calls.push(json!({"request": request, "response": answer, "format": "openai", "timestamp": time}));
        history.push(answer);
    }
    let is_solved = file["success"].as_bool();
    Ok(vec![Imported { id: format!("trae/{name}"), is_solved, body: Body::Calls(calls) }])
}

fn message(message: &Value) -> Value {
    let result = &message["tool_result"];
    if result.is_null() {
        return json!({"role": message["role"], "content": message["content"]});
    }
    let parts = [text(result, "result"), text(result, "error")];
    let content = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    json!({"role": "tool", "tool_call_id": result["call_id"], "content": content})
}

fn response(response: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": response["content"]});
    let calls = response["tool_calls"].as_array().into_iter().flatten();
    let calls: Vec<Value> =
        calls.map(|call| chat_call(text(call, "call_id"), text(call, "name"), &call["arguments"])).collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

/// Times are written without a zone.
fn utc(time: &str) -> String {
    if time.ends_with('Z') || time.contains('+') { time.to_owned() } else { format!("{time}Z") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_grows_by_what_is_new() {
        let call = json!({"call_id": "c", "name": "bash", "arguments": {"command": "ls"}});
        let interaction = |input: Value, response: Value| json!({"timestamp": "2025-06-12T22:05:47.000000", "model": "m", "input_messages": input, "response": response});
        let file = json!({"success": true, "llm_interactions": [
            interaction(json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]), json!({"content": "", "tool_calls": [call]})),
            interaction(json!([{"role": "user", "content": null, "tool_result": {"call_id": "c", "success": false, "result": null, "error": "no"}}]), json!({"content": "Done", "tool_calls": null}))]});
        let Body::Calls(calls) = read(&file, "a").unwrap().remove(0).body else { panic!("calls") };
        assert_eq!(calls[0]["response"]["tool_calls"][0]["function"]["arguments"], r#"{"command":"ls"}"#);
        let messages = calls[1]["request"]["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 4);
        assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "c", "content": "no"}));
        assert_eq!(calls[1]["timestamp"], "2025-06-12T22:05:47.000000Z");
    }
}
