//! OpenAI Responses: requests and answers.

use model::{Asked, Continues, Usage};
use serde_json::{Value, json};
use wire::{Answer, Dialect, read_request};

use crate::answers::{answered, body, stream};
use crate::requests::calls;
use crate::streams::RESPONSES_STREAM;

fn asked(body: &Value, look: impl FnOnce(&Asked<'_>)) {
    let body = body.to_string();
    look(&read_request(Dialect::Responses, body.as_bytes()).expect(&body));
}

fn items(items: Value, look: impl FnOnce(&Asked<'_>)) {
    asked(&json!({ "model": "gpt-5", "instructions": "Be brief.", "input": items }), look);
}

#[test]
fn responses_input_string_is_the_prompt() {
    asked(&json!({ "model": "gpt-5", "stream": true, "input": "Fix the \"build\"" }), |asked| {
        assert_eq!(asked.prompt, ["Fix the \"build\""]);
        assert_eq!(asked.opening(), ["Fix the \"build\""]);
        assert_eq!((asked.turn_position, asked.depth, asked.streamed), (0, 0, true));
        assert_eq!(asked.model.as_deref(), Some("gpt-5"));
    });
}

#[test]
fn messages_need_no_type() {
    let list = json!([
        { "role": "developer", "content": "You are an agent." },
        { "role": "user", "content": "First" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Yes" }] },
        { "type": "message", "role": "user", "content": [
            { "type": "input_text", "text": "Second" },
            { "type": "input_image", "image_url": "data:image/png;base64,AAAA" },
        ] },
    ]);
    items(list, |asked| {
        assert_eq!(asked.prompt, ["Second"]);
        assert_eq!(asked.attachments, ["\"data:image/png;base64,AAAA\""]);
        assert_eq!(asked.opening(), ["First"]);
        assert_eq!((asked.turn_position, asked.depth), (1, 0));
    });
}

#[test]
fn the_newest_step_has_all_its_parallel_calls() {
    let list = json!([
        { "role": "user", "content": "Fix it" },
        { "type": "function_call", "call_id": "a", "name": "old", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "a", "output": "old" },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "function_call", "id": "fc_2", "call_id": "b", "name": "run", "arguments": "{\"n\": 1}" },
        { "type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "free text" },
        { "type": "local_shell_call", "call_id": "d", "action": { "type": "exec", "command": ["ls"] }, "status": "completed" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search", "query": "rust" } },
        { "type": "local_shell_call_output", "call_id": "d", "output": "{\"code\":0}" },
        { "type": "function_call_output", "call_id": "b", "output": [{ "type": "input_text", "text": "x" }, { "type": "input_text", "text": "y" }] },
        { "type": "custom_tool_call_output", "call_id": "c", "output": "patched" },
    ]);
    items(list, |asked| {
        assert_eq!(asked.prompt, ["Fix it"]);
        assert_eq!((asked.turn_position, asked.depth), (0, 10));
        let expected = [
            ("run", "{\"n\": 1}"),
            ("patch", "free text"),
            ("local_shell_call", r#"{"command":["ls"],"type":"exec"}"#),
            ("web_search_call", r#"{"query":"rust","type":"search"}"#),
        ];
        assert_eq!(calls(asked), expected);
        assert_eq!(asked.tool_results, ["x\ny", "patched", "{\"code\":0}"]);
    });
}

#[test]
fn a_screenshot_is_a_word_of_its_own() {
    let seen = |data: &str| {
        let shot = json!({ "type": "computer_screenshot", "image_url": format!("data:image/png;base64,{data}") });
        let list = json!([
            { "role": "user", "content": "Look" },
            { "type": "computer_call", "call_id": "a", "action": { "type": "screenshot" } },
            { "type": "computer_call_output", "call_id": "a", "output": shot },
        ]);
        let mut result = String::new();
        items(list, |asked| {
            assert_eq!(calls(asked), [("computer_call", r#"{"type":"screenshot"}"#)]);
            result = asked.tool_results.concat();
        });
        assert!(result.bytes().all(|byte| byte.is_ascii_lowercase()), "{result}");
        result
    };
    assert_eq!(seen("AAAA"), seen("AAAA"));
    assert_ne!(seen("AAAA"), seen("AAAB"));
}

#[test]
fn previous_response_id_names_what_is_continued() {
    let list = json!([{ "type": "function_call_output", "call_id": "a", "output": "done" }]);
    asked(&json!({ "input": list, "previous_response_id": "resp_7" }), |asked| {
        assert_eq!(asked.continues, Some(Continues::Answer("resp_7".into())));
        assert!(asked.is_kept && asked.prompt.is_empty() && asked.tool_calls.is_empty());
        assert_eq!(asked.tool_results, ["done"]);
    });
    for conversation in [json!("conv_1"), json!({ "id": "conv_1" })] {
        asked(&json!({ "input": "hi", "conversation": conversation }), |asked| {
            assert_eq!(asked.continues, Some(Continues::Conversation("conv_1".into())));
            assert_eq!(asked.session.as_deref(), Some("conv_1"));
        });
    }
    asked(&json!({ "input": "hi", "store": false }), |asked| assert!(!asked.is_kept));
    asked(&json!({ "input": "hi", "store": null }), |asked| assert!(asked.is_kept && asked.continues.is_none()));
}

#[test]
fn a_template_with_its_variables_is_a_prompt() {
    let template = json!({ "id": "pmpt_1", "variables": { "city": "Graz" } });
    asked(&json!({ "model": "gpt-5", "prompt": template }), |asked| {
        assert!(asked.prompt.is_empty());
        assert_eq!(asked.attachments, [template.to_string()]);
    });
}

fn expected_usage() -> Usage {
    Usage {
        input: Some(100),
        output: Some(20),
        cached: Some(60),
        cache_write: Some(10),
        reasoning: Some(5),
        ..Usage::default()
    }
}

#[test]
fn responses_stream_of_items_is_read() {
    let expected = Answer {
        answered: answered("I lóok.", &[("read", "{\"a\":1}"), ("patch", "raw")]),
        usage: expected_usage(),
        model: Some("gpt-5".to_owned()),
        id: Some("resp_1".to_owned()),
        call_items: vec![("fc_1".to_owned(), 0), ("ct_1".to_owned(), 1)],
        complete: true,
        ..Answer::default()
    };
    assert_eq!(stream(Dialect::Responses, RESPONSES_STREAM), expected);
}

#[test]
fn responses_body_of_items_is_read() {
    let answer = body(
        Dialect::Responses,
        &json!({
            "id": "resp_1", "object": "response", "status": "completed", "error": null, "model": "gpt-5",
            "output": [
                { "type": "reasoning", "summary": [] },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I " }, { "type": "refusal", "refusal": "will not." }] },
                { "type": "mcp_call", "name": "lookup", "server_label": "s", "arguments": "{}", "output": "found" },
                { "type": "code_interpreter_call", "code": "1 + 1", "outputs": null },
            ],
            "usage": {
                "input_tokens": 100, "input_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 10 },
                "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 5 }, "total_tokens": 120,
            },
        }),
    );
    let calls = [("lookup", "{}"), ("code_interpreter_call", "\"1 + 1\"")];
    assert_eq!(answer.answered, answered("I will not.", &calls));
    assert_eq!((answer.usage, answer.id.as_deref(), answer.complete), (expected_usage(), Some("resp_1"), true));
}

#[test]
fn responses_stream_may_have_only_its_last_event() {
    let answer = stream(
        Dialect::Responses,
        "data: {\"type\":\"response.incomplete\",\"response\":{\"id\":\"r\",\"status\":\"incomplete\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Half\"}]}]}}\n\n",
    );
    assert_eq!((answer.answered, answer.complete), (answered("Half", &[]), true));
}

#[test]
fn failed_responses_stream_has_its_error() {
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"It broke\"},\"output\":[]}}\n\n";
    let flat =
        "data: {\"type\":\"error\",\"code\":\"x\",\"message\":\"It broke\",\"param\":null,\"sequence_number\":1}\n\n";
    let nested =
        "data: {\"type\":\"error\",\"sequence_number\":1,\"error\":{\"type\":\"x\",\"message\":\"It broke\"}}\n\n";
    for events in [failed, flat, nested] {
        let answer = stream(Dialect::Responses, events);
        assert_eq!((answer.error.as_deref(), answer.complete), (Some("It broke"), false), "{events}");
    }
}
