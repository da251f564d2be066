//! Actions written as fenced blocks in the model's text.

use std::borrow::Cow;

use memchr::memmem;
use model::ToolCall;

use super::inline_action;

/// The start of the first fenced block, and at most `limit` blocks as tool calls: the language is
/// the name, the text the arguments. `None` if there is no block.
pub(crate) fn calls(text: &str, limit: usize) -> Option<(usize, Vec<ToolCall<'static>>)> {
    let first = memmem::find(text.as_bytes(), b"```")?;
    let blocks: Vec<_> = blocks(text).take(limit).collect();
    // If all fences are inside lines, the last pair holds the action.
    let calls = if blocks.is_empty() { inline(text).into_iter().collect() } else { blocks };
    (!calls.is_empty()).then_some((first, calls))
}

/// The blocks of a text. A fence is a line that begins with three backticks; an unclosed block
/// reaches to the end.
fn blocks(text: &str) -> impl Iterator<Item = ToolCall<'static>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let opened = after_fence(rest)?;
        let (language, body) = opened.split_once('\n').unwrap_or((opened, ""));
        if let Some((action, _)) = language.split_once("```") {
            rest = body;
            return Some(inline_action(action).unwrap_or_else(|| call("", action)));
        }
        let end = fence(body).unwrap_or(body.len());
        rest = after_fence(&body[end..]).unwrap_or_default();
        Some(call(language.split_whitespace().next().unwrap_or_default(), &body[..end]))
    })
}

/// The action between the last two fences, if nothing follows them. WebArena's agents end with "…
/// the next action I will perform is ```` ```click [12]``` ````".
fn inline(text: &str) -> Option<ToolCall<'static>> {
    let (before, after) = text.rsplit_once("```")?;
    let (_, action) = before.rsplit_once("```")?;
    let is_last = after.trim_matches(['.', ' ', '\n', '\r', '`']).is_empty();
    inline_action(action).filter(|_| is_last)
}

fn call(name: &str, arguments: &str) -> ToolCall<'static> {
    ToolCall { name: Cow::Owned(name.to_owned()), arguments: Cow::Owned(arguments.trim().to_owned()) }
}

/// The start of the next fence.
fn fence(text: &str) -> Option<usize> {
    if text.starts_with("```") {
        return Some(0);
    }
    text.find("\n```").map(|line_end| line_end + 1)
}

/// The text after the next fence.
fn after_fence(text: &str) -> Option<&str> {
    text.get(fence(text)? + 3..)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 64;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let calls = calls(text, LIMIT).map(|(_, calls)| calls).unwrap_or_default();
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
    fn fences_on_one_line_hold_an_action() {
        check("In summary, the next action I will perform is ```click [12]```", &[("click", "12")]);
        check("Now ```go_back```.\n", &[("go_back", "")]);
        check("```type [4] [lamp] [1]```", &[("type", "[4] [lamp] [1]")]);
        check("```ls -la```\n", &[("", "ls -la")]);
    }

    #[test]
    fn text_without_blocks_has_no_calls() {
        check("Use `ls` or ``` inline ```.", &[]);
        check("Use ```click [12]``` to open the menu.", &[]);
        check("", &[]);
    }

    #[test]
    fn fenced_blocks_are_limited() {
        assert_eq!(calls(&"```a\nb\n```\n".repeat(1_000), LIMIT).map(|(_, calls)| calls.len()), Some(LIMIT));
    }
}
