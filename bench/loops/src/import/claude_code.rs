//! Claude Code: a session file has one entry per line. An answer is split into an entry per block;
//! they share the id of their message. Side chains (sub-agents) are left to files of their own.

use serde_json::{Value, json};

use super::{Body, Imported, text};

pub(super) fn read(file: &str, name: &str) -> anyhow::Result<Vec<Imported>> {
    let mut session = Session::default();
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let entry: Value = serde_json::from_str(line)?;
        if entry["isSidechain"] != true && entry["message"].is_object() {
            session.take(&entry);
        }
    }
    session.close();
    let id = format!("claude-code/{}", session.id.as_deref().unwrap_or(name));
    Ok(vec![Imported { id, is_solved: None, body: Body::Calls(session.calls) }])
}

#[derive(Default)]
struct Session {
    id: Option<String>,
    messages: Vec<Value>,
    calls: Vec<Value>,
    /// The answer whose blocks are being gathered: its id, its time, its blocks.
    answer: Option<(String, String, Vec<Value>)>,
}

impl Session {
    fn take(&mut self, entry: &Value) {
        let message = &entry["message"];
        self.id = self.id.take().or_else(|| entry["sessionId"].as_str().map(str::to_owned));
        if text(entry, "type") != "assistant" {
            self.close();
            self.messages.push(json!({"role": "user", "content": message["content"]}));
            return;
        }
        let id = text(message, "id").to_owned();
        if self.answer.as_ref().is_none_or(|(open, ..)| *open != id) {
            self.close();
            self.answer = Some((id, text(entry, "timestamp").to_owned(), Vec::new()));
        }
        if let Some((.., blocks)) = &mut self.answer {
            blocks.extend(message["content"].as_array().into_iter().flatten().cloned());
        }
    }

    /// An answer is whole: it was a call.
    fn close(&mut self) {
        let Some((_, time, blocks)) = self.answer.take() else { return };
        let metadata = json!({"session_id": self.id});
        let request = json!({"metadata": metadata, "messages": self.messages});
        let response = json!({"type": "message", "role": "assistant", "content": blocks});
        let call = json!({"request": request, "response": response, "format": "anthropic", "timestamp": time});
        self.calls.push(call);
        self.messages.push(json!({"role": "assistant", "content": blocks}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_one_answer_are_one_call() {
        let entry = |kind: &str, message: Value| {
            json!({"type": kind, "sessionId": "s", "timestamp": "2026-02-06T06:43:07.006Z", "message": message})
                .to_string()
        };
        let block = |block: Value| json!({"id": "m1", "role": "assistant", "content": [block]});
        let file = [
            json!({"type": "summary", "summary": "Geese"}).to_string(),
            entry("user", json!({"role": "user", "content": "hello"})),
            entry("assistant", block(json!({"type": "text", "text": "I look."}))),
            entry("assistant", block(json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}}))),
            entry(
                "user",
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a"}]}),
            ),
            entry(
                "assistant",
                json!({"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}),
            ),
        ];
        let runs = read(&file.join("\n"), "x").unwrap();
        assert_eq!(runs[0].id, "claude-code/s");
        let Body::Calls(calls) = &runs[0].body else { panic!("calls") };
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0]["response"]["content"].as_array().unwrap().len(), 2);
        assert_eq!(calls[1]["request"]["messages"].as_array().unwrap().len(), 3);
    }
}
