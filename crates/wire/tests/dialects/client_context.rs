//! Text that clients add to the user's words.

use http::HeaderMap;
use serde_json::{Value, json};
use wire::{Dialect, conversation_of, read_request};

/// What Claude Code sends as the user's message.
fn claude_code(words: &str) -> Value {
    json!({ "role": "user", "content": [
        { "type": "text", "text": "<system-reminder>\nCodebase and user instructions are shown below.\n</system-reminder>" },
        { "type": "text", "text": "<system-reminder>\n# gitStatus\nM src/main.rs\n</system-reminder>\n" },
        { "type": "text", "text": words, "cache_control": { "type": "ephemeral" } },
    ] })
}

#[test]
fn the_prompt_of_claude_code_is_what_the_user_wrote() {
    let body = json!({ "messages": [claude_code("Say hello")] }).to_string();
    let asked = read_request(Dialect::Messages, body.as_bytes()).unwrap();
    assert_eq!(asked.prompt, ["Say hello"]);
    let body = json!({ "messages": [claude_code("Say hello"), { "role": "assistant", "content": "Hello." }, { "role": "user", "content": "Again" }] });
    let body = body.to_string();
    let asked = read_request(Dialect::Messages, body.as_bytes()).unwrap();
    assert_eq!((&*asked.prompt, asked.opening()), (&["Again".into()][..], &["Say hello".into()][..]));
}

/// A conversation of Qwen Code, started on this day among these files.
fn qwen_code(day: &str, files: &str, words: &[&str]) -> String {
    let setup =
        format!("This is the Qwen Code. We are setting up the context for our chat.\nToday's date is {day}.\n{files}");
    let mut messages = vec![
        json!({ "role": "system", "content": "You are Qwen Code." }),
        json!({ "role": "user", "content": setup }),
        json!({ "role": "assistant", "content": "Got it. Thanks for the context!" }),
    ];
    for (number, words) in words.iter().enumerate() {
        if number > 0 {
            messages.push(json!({ "role": "assistant", "content": "Done." }));
        }
        messages.push(json!({ "role": "user", "content": words }));
    }
    json!({ "model": "m", "messages": messages }).to_string()
}

#[test]
fn a_conversation_of_qwen_code_survives_a_resume() {
    let of = |body: &str| {
        let asked = read_request(Dialect::ChatCompletions, body.as_bytes()).unwrap();
        (conversation_of(&HeaderMap::new(), &asked), asked.turn_position, asked.prompt.concat())
    };
    let (begun, position, prompt) = of(&qwen_code("Monday", "a.rs", &["Fix the build"]));
    assert_eq!((position, prompt.as_str()), (0, "Fix the build"));
    let (resumed, position, prompt) = of(&qwen_code("Tuesday", "a.rs b.rs", &["Fix the build", "Now the tests"]));
    assert_eq!((resumed, position, prompt.as_str()), (begun.clone(), 1, "Now the tests"));
    let (other, ..) = of(&qwen_code("Monday", "a.rs", &["Write a poem"]));
    assert_ne!(other, begun);
    let with_session = r#"{"metadata":{"sessionId":"s-1","promptId":"p"},"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(of(with_session).0, "s-1");
}

/// The messages of newer versions of Qwen Code, which send their own text as reminders.
#[test]
fn reminders_of_qwen_code_do_not_name_the_conversation() {
    let message = |reminders: &[&str], words: &str| {
        let reminder =
            |text: &&str| json!({ "type": "text", "text": format!("<system-reminder>\n{text}\n</system-reminder>") });
        let parts: Vec<Value> =
            reminders.iter().map(reminder).chain([json!({ "type": "text", "text": words })]).collect();
        json!({ "role": "user", "content": parts })
    };
    let of = |messages: Value| {
        let body = json!({ "messages": messages }).to_string();
        let asked = read_request(Dialect::ChatCompletions, body.as_bytes()).unwrap();
        (conversation_of(&HeaderMap::new(), &asked), asked.prompt.concat())
    };
    let setup = |files| format!("This is the Qwen Code. We are setting up the context for our chat.\n{files}");
    let (begun, prompt) = of(json!([message(&[&setup("a.txt"), "The current date is today."], "Say hello")]));
    assert_eq!(prompt, "Say hello");
    let answer = json!({ "role": "assistant", "content": "Hello." });
    let resumed = json!([message(&[&setup("a.txt b.txt")], "Say hello"), answer, message(&["The date."], "And again")]);
    assert_eq!(of(resumed), (begun, "And again".to_owned()));
}
