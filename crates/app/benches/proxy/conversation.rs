//! What a tool-using agent sends, in any size.

/// A Chat Completions request of about `size` bytes: one user message, then tool steps until it is full.
pub(crate) fn conversation(size: usize, variant: usize, streamed: bool) -> String {
    let mut messages = vec![
        serde_json::json!({"role": "system", "content": "You are a careful engineer. Use the tools, then answer."}),
        serde_json::json!({"role": "user", "content": "Find out why the import job fails and fix it."}),
    ];
    let mut step = 0;
    loop {
        let body = serde_json::json!({"model": "gpt-bench", "stream": streamed, "messages": messages}).to_string();
        if body.len() >= size {
            return body;
        }
        let room = (size - body.len()).min(2_400);
        messages.extend(tool_step(step, variant, room));
        step += 1;
    }
}

/// An assistant's call and its result, together about `room` bytes.
fn tool_step(step: usize, variant: usize, room: usize) -> [serde_json::Value; 2] {
    let id = format!("call_{step:06}");
    let arguments = serde_json::json!({"path": format!("src/{}/{}.rs", word(step), word(variant))}).to_string();
    let lines =
        (0..).map(|line| format!("fn {}_{}() {{ // {}\n", word(step + line), word(line), word(line * 7 + variant)));
    let mut result = String::new();
    for line in lines {
        if result.len() + line.len() + 220 > room {
            break;
        }
        result.push_str(&line);
    }
    [
        serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}}]}),
        serde_json::json!({"role": "tool", "tool_call_id": id, "content": result}),
    ]
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
