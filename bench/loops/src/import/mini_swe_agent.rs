//! mini-swe-agent: `messages` with role and content. How a run ended stands in other files
//! (`--solved`).

use serde_json::{Value, json};

use super::{Body, Imported, list, text};

pub(super) fn read(file: &Value, name: &str) -> anyhow::Result<Vec<Imported>> {
    let id = file["instance_id"].as_str().unwrap_or(name);
    let message = |message: &Value| {
        let content = match message["content"].as_array() {
            Some(parts) => parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n").into(),
            None => message["content"].clone(),
        };
        let mut kept = json!({"role": message["role"], "content": content});
        for field in ["tool_calls", "tool_call_id"] {
            if !message[field].is_null() {
                kept[field] = message[field].clone();
            }
        }
        kept
    };
    let messages = list(file, "messages")?.iter().filter(|message| message["role"] != "exit").map(message);
    Ok(vec![Imported { id: id.to_owned(), is_solved: None, body: Body::Messages(messages.collect()) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_is_kept() {
        let file = json!({"instance_id": "sympy-1", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Fix it."}], "timestamp": 1.0},
            {"role": "assistant", "content": "```bash\nls\n```", "extra": {"cost": 0.1}},
            {"role": "exit", "content": "Submitted"}]});
        let runs = read(&file, "x").unwrap();
        assert_eq!(runs[0].id, "sympy-1");
        let expected = vec![
            json!({"role": "user", "content": "Fix it."}),
            json!({"role": "assistant", "content": "```bash\nls\n```"}),
        ];
        assert_eq!(runs[0].body, Body::Messages(expected));
    }
}
