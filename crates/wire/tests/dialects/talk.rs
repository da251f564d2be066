//! Which messages count as talk: those since a tool was last used.

use serde_json::{Value, json};

use crate::requests::{anthropic, chat};

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

/// `count` exchanges and a last message of the user.
fn exchanges(count: usize) -> Vec<Value> {
    let pair = |number: usize| [said("user", &format!("ask {number}")), said("assistant", &format!("say {number}"))];
    (0..count).flat_map(pair).chain([said("user", "last")]).collect()
}

#[test]
fn newest_messages_without_tools_are_talk() {
    chat(json!(exchanges(3)), |asked| {
        assert_eq!(asked.talk, ["ask 0", "say 0", "ask 1", "say 1", "ask 2", "say 2", "last"]);
    });
    chat(json!(exchanges(30)), |asked| {
        assert_eq!((asked.talk.len(), &*asked.talk[0], &*asked.talk[17]), (18, "say 21", "last"));
    });
    chat(json!(exchanges(2)), |asked| assert!(asked.talk.is_empty()));
}

#[test]
fn a_tool_ends_the_talk() {
    let call =
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "look", "input": {} }] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "it" }] });
    let mut messages = exchanges(4);
    messages.extend([call.clone(), result.clone()]);
    anthropic(json!(messages), |asked| assert!(asked.talk.is_empty()));
    messages.push(said("assistant", "found it"));
    messages.extend(exchanges(3));
    anthropic(json!(messages), |asked| assert_eq!((asked.talk.len(), &*asked.talk[0]), (8, "found it")));
}

#[test]
fn pictures_and_long_texts_are_no_talk() {
    let mut messages = exchanges(4);
    messages.pop();
    let picture = json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } });
    let with_picture = json!({ "role": "user", "content": [{ "type": "text", "text": "ask 1" }, picture] });
    let all = |last: Value| json!([&messages[..], &[last]].concat());
    anthropic(all(with_picture), |asked| assert!(asked.talk.is_empty()));
    anthropic(all(said("user", &"word ".repeat(1_000))), |asked| assert!(asked.talk.is_empty()));
    anthropic(all(said("user", "ask 1")), |asked| assert_eq!(asked.talk.len(), 9));
}
