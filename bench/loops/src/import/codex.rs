//! Codex: a rollout file has one entry per line; those of type `response_item` are the items of the
//! conversation.

use serde_json::{Value, json};

use super::{Body, Imported, text};

pub(super) fn read(file: &str, name: &str) -> anyhow::Result<Vec<Imported>> {
    let mut id = name.to_owned();
    let mut history: Vec<Value> = Vec::new();
    let mut answer: Vec<Value> = Vec::new();
    let (mut calls, mut time) = (Vec::new(), String::new());
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let entry: Value = serde_json::from_str(line)?;
        match text(&entry, "type") {
            "session_meta" => text(&entry["payload"], "id").clone_into(&mut id),
            "response_item" if is_by_model(&entry["payload"]) => {
                text(&entry, "timestamp").clone_into(&mut time);
                answer.push(entry["payload"].clone());
            }
            "response_item" => {
                calls.extend(close(&id, &mut history, &mut answer, &time));
                history.push(entry["payload"].clone());
            }
            _ => {}
        }
    }
    calls.extend(close(&id, &mut history, &mut answer, &time));
    Ok(vec![Imported { id: format!("codex/{id}"), is_solved: None, body: Body::Calls(calls) }])
}

fn is_by_model(item: &Value) -> bool {
    match text(item, "type") {
        "message" => text(item, "role") == "assistant",
        kind => kind == "reasoning" || kind.ends_with("_call"),
    }
}

/// The items of an answer are whole when something of another kind follows: they were a call.
fn close(id: &str, history: &mut Vec<Value>, answer: &mut Vec<Value>, time: &str) -> Option<Value> {
    if answer.is_empty() {
        return None;
    }
    let request = json!({"prompt_cache_key": id, "store": false, "input": history});
    let response = json!({"object": "response", "status": "completed", "output": answer});
    history.append(answer);
    Some(json!({"request": request, "response": response, "format": "openai", "timestamp": time}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_of_one_answer_are_one_call() {
        let item = |payload: Value| {
            json!({"timestamp": "2026-06-26T22:08:43.208Z", "type": "response_item", "payload": payload}).to_string()
        };
        let file = [
            json!({"type": "session_meta", "payload": {"id": "s"}}).to_string(),
            item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix."}]})),
            item(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}),
            ),
            item(json!({"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"})),
            item(json!({"type": "function_call_output", "call_id": "c", "output": "ok"})),
            item(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}),
            ),
        ];
        let runs = read(&file.join("\n"), "x").unwrap();
        assert_eq!(runs[0].id, "codex/s");
        let Body::Calls(calls) = &runs[0].body else { panic!("calls") };
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0]["response"]["output"].as_array().unwrap().len(), 2);
        assert_eq!(calls[1]["request"]["input"].as_array().unwrap().len(), 4);
    }
}
