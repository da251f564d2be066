//! What a tool-using agent sends, in any size.

use serde_json::{Value, json};

/// The APIs that the bench speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    OpenAi,
    Anthropic,
}

#[allow(dead_code, reason = "one of the two benches that share this file needs the body alone")]
impl Api {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "OpenAI",
            Api::Anthropic => "Anthropic",
        }
    }

    /// The provider that speaks it.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1/chat/completions",
            Api::Anthropic => "/v1/messages",
        }
    }
}

const SYSTEM: &str = "You are a careful engineer. Use the tools, then answer.";
/// Requests from this size on carry the definitions of six tools: in a small one there is no room
/// for them.
const WITH_TOOLS: usize = 16 * 1024;
const TOOLS: [&str; 6] = ["read_file", "write_file", "list_files", "search", "run_tests", "shell"];

/// A request of about `size` bytes: one user message, then tool steps until it is full. 32 KB are
/// 14 steps.
pub(crate) fn conversation(api: Api, size: usize, variant: usize, streamed: bool) -> String {
    let mut body = json!({"model": "gpt-bench", "stream": streamed, "messages": []});
    let mut messages = Vec::new();
    match api {
        Api::OpenAi => messages.push(json!({"role": "system", "content": SYSTEM})),
        Api::Anthropic => {
            body["system"] = SYSTEM.into();
            body["max_tokens"] = 1024.into();
        }
    }
    messages.push(json!({"role": "user", "content": "Find out why the import job fails and fix it."}));
    if size >= WITH_TOOLS {
        body["tools"] = TOOLS.map(|name| tool(api, name)).into();
    }
    for step in 0.. {
        body["messages"] = messages.clone().into();
        let text = body.to_string();
        if text.len() >= size {
            return text;
        }
        messages.extend(tool_step(api, step, variant, (size - text.len()).min(2_200)));
    }
    unreachable!("every step makes it longer")
}

/// The definition of a tool.
fn tool(api: Api, name: &str) -> Value {
    let description = format!("The tool {name} of this repository. It takes a path and says what came of it.");
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    match api {
        Api::OpenAi => {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
        }
        Api::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
    }
}

/// An assistant's call and its result, together about `room` bytes.
fn tool_step(api: Api, step: usize, variant: usize, room: usize) -> [Value; 2] {
    let id = format!("call_{step:06}");
    let arguments = json!({"path": format!("src/{}/{}.rs", word(step), word(variant))});
    let lines =
        (0..).map(|line| format!("fn {}_{}() {{ // {}\n", word(step + line), word(line), word(line * 7 + variant)));
    let mut result = String::new();
    for line in lines {
        if result.len() + line.len() + 220 > room {
            break;
        }
        result.push_str(&line);
    }
    match api {
        Api::OpenAi => [
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments.to_string()}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": result}),
        ],
        Api::Anthropic => [
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "read_file", "input": arguments}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}),
        ],
    }
}

/// A word for a number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "ve"];
    let mut rest = number + 16;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % 16]);
        rest /= 16;
    }
    word
}
