//! Reading requests.

use model::Asked;
use serde_json::{Value, json};
use wire::{Dialect, read_request};

/// Reads `body` and hands what it asks to `look`.
pub(crate) fn read(dialect: Dialect, body: &Value, look: impl FnOnce(&Asked<'_>)) {
    let body = body.to_string();
    look(&read_request(dialect, body.as_bytes()).expect(&body));
}

pub(crate) fn chat(messages: Value, look: impl FnOnce(&Asked<'_>)) {
    read(Dialect::ChatCompletions, &json!({ "model": "gpt", "messages": messages }), look);
}

pub(crate) fn anthropic(messages: Value, look: impl FnOnce(&Asked<'_>)) {
    read(Dialect::Messages, &json!({ "model": "claude", "messages": messages }), look);
}

pub(crate) fn calls<'a>(asked: &'a Asked<'_>) -> Vec<(&'a str, &'a str)> {
    asked.tool_calls.iter().map(|call| (&*call.name, &*call.arguments)).collect()
}

#[test]
fn chat_user_message_is_the_prompt() {
    let body = json!({
        "model": "gpt-5", "stream": true, "tools": [{ "type": "function", "function": { "name": "never read" } }],
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "First question" },
            { "role": "assistant", "content": "First answer" },
            { "role": "user", "content": "Second \"question\"\n" },
        ],
    });
    read(Dialect::ChatCompletions, &body, |asked| {
        assert_eq!(asked.prompt, ["Second \"question\"\n"]);
        assert_eq!(asked.opening(), ["First question"]);
        assert_eq!((asked.turn_position, asked.depth), (1, 0));
        assert_eq!(asked.model.as_deref(), Some("gpt-5"));
        assert!(asked.streamed);
        assert_eq!(asked.newest_message, body["messages"][3].to_string());
        assert!(asked.tool_calls.is_empty() && asked.tool_results.is_empty());
    });
}

#[test]
fn texts_of_parts_count_like_a_string() {
    let parts = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "" }, { "text": "two" }, "three"]);
    chat(json!([{ "role": "user", "content": parts }]), |asked| {
        assert_eq!(asked.prompt, ["one", "two", "three"]);
        assert!(asked.attachments.is_empty());
    });
}

#[test]
fn attachments_belong_to_the_prompt() {
    let image = json!({ "url": "data:image/png;base64,AAAA" });
    let parts = json!([{ "type": "text", "text": "What is it?" }, { "type": "image_url", "image_url": image }]);
    chat(json!([{ "role": "user", "content": parts }]), |asked| {
        assert_eq!(asked.prompt, ["What is it?"]);
        assert_eq!(asked.attachments, [image.to_string()]);
    });
}

#[test]
fn an_attachment_alone_is_a_prompt() {
    let source = json!({ "type": "base64", "data": "AAAA" });
    let messages = json!([
        { "role": "user", "content": "earlier" },
        { "role": "assistant", "content": "yes" },
        { "role": "user", "content": [{ "type": "document", "source": source }] },
    ]);
    anthropic(messages, |asked| {
        assert!(asked.prompt.is_empty());
        assert_eq!(asked.attachments, [source.to_string()]);
        assert_eq!((asked.turn_position, asked.depth), (1, 0));
    });
}

#[test]
fn a_cache_marker_changes_nothing() {
    let image = json!({ "type": "base64", "data": "AAAA" });
    let marked = json!({ "role": "user", "content": [
        { "type": "text", "text": "look", "cache_control": { "type": "ephemeral" } },
        { "type": "image", "cache_control": { "type": "ephemeral" }, "source": image },
    ] });
    let plain = json!({ "role": "user", "content": [
        { "type": "text", "text": "look" },
        { "type": "image", "source": image },
    ] });
    anthropic(json!([marked]), |marked| {
        anthropic(json!([plain]), |plain| {
            assert_eq!((&marked.prompt, &marked.attachments), (&plain.prompt, &plain.attachments));
            assert_eq!(plain.attachments, [image.to_string()]);
        });
    });
}

#[test]
fn newest_step_of_a_chat_is_read() {
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "run", "arguments": arguments } });
    let messages = json!([
        { "role": "developer", "content": "You are an agent." },
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "content": null, "tool_calls": [call("a", "{\"n\":1}")] },
        { "role": "tool", "tool_call_id": "a", "content": "old" },
        { "role": "assistant", "content": "", "tool_calls": [
            call("b", "{\"cmd\":\"ls\"}"), call("c", "{\"n\":3}"),
            { "id": "d", "type": "custom", "custom": { "name": "patch", "input": "free text" } },
        ] },
        { "role": "tool", "tool_call_id": "d", "content": [{ "type": "text", "text": "x" }, { "type": "text", "text": "y" }] },
        { "role": "tool", "tool_call_id": "c", "content": "result c" },
        { "role": "tool", "tool_call_id": "b", "content": "a\nb" },
    ]);
    chat(messages, |asked| {
        assert_eq!(asked.prompt, ["Fix it"]);
        assert_eq!((asked.turn_position, asked.depth), (0, 6));
        assert_eq!(calls(asked), [("run", "{\"cmd\":\"ls\"}"), ("run", "{\"n\":3}"), ("patch", "free text")]);
        assert_eq!(asked.tool_results, ["a\nb", "result c", "x\ny"]);
    });
}

#[test]
fn legacy_function_calls_are_a_step() {
    let messages = json!([
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "content": null, "function_call": { "name": "run", "arguments": "{}" } },
        { "role": "function", "name": "run", "content": "done" },
    ]);
    chat(messages, |asked| {
        assert_eq!(calls(asked), [("run", "{}")]);
        assert_eq!(asked.tool_results, ["done"]);
    });
}

#[test]
fn calls_without_results_are_no_step() {
    let call = json!([{ "id": "a", "type": "function", "function": { "name": "run", "arguments": "{}" } }]);
    let answered = json!([
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "tool_calls": call },
        { "role": "tool", "tool_call_id": "a", "content": "done" },
        { "role": "assistant", "content": "It works." },
        { "role": "user", "content": "Thanks" },
    ]);
    chat(answered, |asked| {
        assert_eq!((asked.turn_position, asked.depth), (1, 0));
        assert!(asked.tool_calls.is_empty() && asked.tool_results.is_empty());
    });
    let pending = json!([{ "role": "user", "content": "Fix it" }, { "role": "assistant", "tool_calls": call }]);
    chat(pending, |asked| assert!(asked.tool_calls.is_empty()));
}

#[test]
fn a_message_that_carries_tool_results_is_no_prompt() {
    let image = json!({ "type": "base64", "data": "AAAA" });
    let messages = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Fix it" }] },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm" },
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "t1", "name": "read", "input": { "path": "a b" } },
            { "type": "tool_use", "id": "t2", "name": "shot", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t2", "content": [{ "type": "text", "text": "seen" }, { "type": "image", "source": image }] },
            { "type": "tool_result", "tool_use_id": "t1", "content": "fn main() {}", "cache_control": { "type": "ephemeral" } },
            { "type": "text", "text": "<system-reminder>Changes every time</system-reminder>" },
        ] },
    ]);
    anthropic(messages, |asked| {
        assert_eq!(asked.prompt, ["Fix it"]);
        assert_eq!((asked.turn_position, asked.depth), (0, 2));
        assert_eq!(calls(asked), [("read", r#"{"path":"a b"}"#), ("shot", "{}")]);
        assert_eq!(asked.tool_results[0], "fn main() {}");
        let word = asked.tool_results[1].strip_prefix("seen\n").unwrap();
        assert!(!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
    });
}

#[test]
fn anthropic_messages_are_read_on_the_path_of_chats() {
    let messages = json!([
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "read", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "text" }] },
    ]);
    chat(messages, |asked| {
        assert_eq!(asked.prompt, ["Fix it"]);
        assert_eq!(calls(asked), [("read", "{}")]);
    });
}

#[test]
fn no_user_message_is_no_prompt() {
    let messages = json!([{ "role": "system", "content": "x" }, { "role": "user", "content": "" }, 7, null]);
    chat(messages, |asked| {
        assert!(asked.prompt.is_empty() && asked.opening().is_empty());
        assert_eq!((asked.turn_position, asked.depth, asked.newest_message), (0, 4, "null"));
    });
}

#[test]
fn session_id_in_the_body_is_read() {
    let check = |mut body: Value, expected: Option<&str>| {
        body["messages"] = json!([{ "role": "user", "content": "hi" }]);
        read(Dialect::Messages, &body, |asked| assert_eq!(asked.session.as_deref(), expected, "{body}"));
    };
    check(json!({}), None);
    check(json!({ "metadata": { "session_id": "m" }, "litellm_session_id": "l" }), Some("m"));
    check(json!({ "metadata": null, "litellm_session_id": "l", "prompt_cache_key": "p" }), Some("l"));
    check(json!({ "metadata": { "user_id": "{\"device_id\":\"d\",\"session_id\":\"s-1\"}" } }), Some("s-1"));
    check(json!({ "metadata": { "user_id": "user_ab_account_cd_session_11-22" } }), Some("11-22"));
    check(json!({ "metadata": { "user_id": "somebody" } }), None);
    check(json!({ "metadata": { "user_id": "\"somebody\"" }, "user": "x", "safety_identifier": "y" }), None);
    check(json!({ "conversation": "conv_1", "prompt_cache_key": "p" }), Some("conv_1"));
    check(json!({ "conversation": { "id": "conv_2" } }), Some("conv_2"));
    check(json!({ "prompt_cache_key": "p" }), Some("p"));
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    let body = r#"{"messages":[{"role":"user","content":"no"}],"model":"a","messages":[{"role":"assistant","content":[{"type":"tool_result"}],"content":"yes","role":"user"}],"model":"b"}"#;
    let asked = read_request(Dialect::ChatCompletions, body.as_bytes()).unwrap();
    assert_eq!(asked.prompt, ["yes"]);
    assert_eq!(asked.model.as_deref(), Some("b"));
    assert_eq!(asked.turn_position, 0);
}

#[test]
fn unreadable_requests_say_why() {
    let check = |body: &[u8], why| {
        for dialect in Dialect::ALL {
            assert_eq!(
                read_request(dialect, body).map_err(|unread| unread.to_string()),
                Err(String::from(why)),
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    };
    check(b"", "not valid JSON");
    check(b"{\"messages\":[", "not valid JSON");
    check(b"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]} trailing", "not valid JSON");
    check(b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", "not UTF-8");
    check(b"[]", "not an object");
    check(b"{}", "no messages");
    check(b"{\"messages\":[]}", "no messages");
    check(b"{\"messages\":\"hi\"}", "no messages");
    let deep = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}],\"x\":{}}}",
        "[".repeat(2_000) + &"]".repeat(2_000)
    );
    check(deep.as_bytes(), "nested too deeply");
}

#[test]
fn a_hostile_step_takes_linear_time() {
    let many = 5_000;
    let calls: Vec<Value> =
        (0..many).map(|id| json!({ "type": "tool_use", "id": id.to_string(), "name": "n", "input": {} })).collect();
    let results: Vec<Value> = (0..many)
        .rev()
        .map(|id| json!({ "type": "tool_result", "tool_use_id": id.to_string(), "content": id.to_string() }))
        .collect();
    let messages = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": calls },
        { "role": "user", "content": results },
    ]);
    anthropic(messages, |asked| {
        assert_eq!(asked.tool_results.len(), many);
        assert_eq!(asked.tool_results[7], "7");
    });
}

#[test]
fn result_that_is_marked_as_an_error_is_a_failed_one() {
    let step = |mark: Value| {
        json!([
            { "role": "user", "content": "Fix it" },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "read", "input": {} }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t1", "content": "nein", "is_error": mark },
            ] },
        ])
    };
    anthropic(step(json!(true)), |asked| assert!(asked.has_failed_results));
    anthropic(step(json!(false)), |asked| assert!(!asked.has_failed_results));
}
