//! The commands of agents that write their actions as text: the fenced blocks of what the model said.

use std::borrow::Cow;

use model::ToolCall;

use crate::content::Content;
use crate::json::Json;

/// More blocks than any step has. What follows them belongs to an answer, not to an action.
const MAX_BLOCKS: usize = 64;

/// The fenced blocks of a message's `content` as tool calls: the block's language is the name, its text the arguments.
pub(crate) fn calls(content: Json<'_>) -> Vec<ToolCall<'static>> {
    // Most messages hold none: look before anything is copied.
    if !content.raw().contains("```") {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for text in Content::read(content).texts {
        calls.extend(blocks(&text).take(MAX_BLOCKS.saturating_sub(calls.len())));
    }
    calls
}

/// The blocks of one text. A fence is a line that begins with three backticks; one without an end reaches to the end.
fn blocks(text: &str) -> impl Iterator<Item = ToolCall<'static>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let opened = after_fence(rest)?;
        let (language, body) = opened.split_once('\n').unwrap_or((opened, ""));
        let end = fence(body).unwrap_or(body.len());
        rest = after_fence(&body[end..]).unwrap_or_default();
        let name = language.split_whitespace().next().unwrap_or_default();
        Some(ToolCall { name: Cow::Owned(name.to_owned()), arguments: Cow::Owned(body[..end].trim().to_owned()) })
    })
}

/// Where the next fence begins.
fn fence(text: &str) -> Option<usize> {
    if text.starts_with("```") {
        return Some(0);
    }
    text.find("\n```").map(|line_end| line_end + 1)
}

/// What follows the next fence.
fn after_fence(text: &str) -> Option<&str> {
    text.get(fence(text)? + 3..)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let json = serde_json::to_string(text).unwrap();
        let calls = calls(Json::parse(&json).unwrap());
        let found: Vec<(&str, &str)> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn fenced_blocks_are_calls() {
        check("I look around.\n\n```bash\nls -la\n```", &[("bash", "ls -la")]);
        check("```\nls\n```\nand\n```sh title=x\npwd\ncd ..\n```\n", &[("", "ls"), ("sh", "pwd\ncd ..")]);
        check("```python\nprint(1)", &[("python", "print(1)")]);
        check("```", &[("", "")]);
    }

    #[test]
    fn other_text_is_none() {
        check("Use `ls` or ``` inline ```.", &[]);
        check("", &[]);
    }

    #[test]
    fn a_thousand_fences_are_cut() {
        let json = serde_json::to_string(&"```a\nb\n```\n".repeat(1_000)).unwrap();
        assert_eq!(calls(Json::parse(&json).unwrap()).len(), MAX_BLOCKS);
    }
}
