//! AgentDojo: one run per file. Tool calls are `{function, args, id}`; a failed call has its reason
//! in `error`.

use serde_json::{Value, json};

use super::{Body, Imported, chat_call, list, text};

pub(super) fn read(file: &Value) -> anyhow::Result<Vec<Imported>> {
    let part = |field: &str| if file[field].is_null() { "none".to_owned() } else { text(file, field).to_owned() };
    let parts = ["pipeline_name", "suite_name", "user_task_id", "attack_type", "injection_task_id"].map(part);
    Ok(vec![Imported {
        id: format!("agentdojo/{}", parts.join("/")),
        is_solved: file["utility"].as_bool(),
        body: Body::Messages(list(file, "messages")?.iter().map(message).collect()),
    }])
}

fn message(message: &Value) -> Value {
    let role = text(message, "role");
    let content = content(&message["content"]);
    match role {
        "assistant" => {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls: Vec<Value> =
                calls.map(|call| chat_call(text(call, "id"), text(call, "function"), &call["args"])).collect();
            let mut message = json!({"role": "assistant", "content": content});
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            message
        }
        "tool" => {
            let content = if message["error"].is_null() { content } else { message["error"].clone() };
            json!({"role": "tool", "tool_call_id": message["tool_call_id"], "content": content})
        }
        _ => json!({"role": role, "content": content}),
    }
}

/// Newer runs have content in parts, with the text in `content`.
fn content(content: &Value) -> Value {
    match content.as_array() {
        Some(parts) => parts.iter().map(|part| text(part, "content")).collect::<Vec<_>>().join("\n").into(),
        None => content.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_errors_become_chat_messages() {
        let call = json!({"function": "delete_file", "args": {"file_id": "13"}, "id": "a"});
        let file = json!({"suite_name": "workspace", "pipeline_name": "m", "user_task_id": "user_task_1",
            "injection_task_id": null, "attack_type": null, "utility": true, "messages": [
                {"role": "user", "content": [{"type": "text", "content": "Delete it."}]},
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "content": "", "tool_call_id": "a", "tool_call": call, "error": "KeyError: 13"}]});
        let runs = read(&file).unwrap();
        assert_eq!(runs[0].id, "agentdojo/m/workspace/user_task_1/none/none");
        let Body::Messages(messages) = &runs[0].body else { panic!("a transcript") };
        assert_eq!(messages[0]["content"], "Delete it.");
        assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], r#"{"file_id":"13"}"#);
        assert_eq!(messages[2]["content"], "KeyError: 13");
    }
}
