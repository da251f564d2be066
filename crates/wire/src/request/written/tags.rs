//! Tool calls that open models write as tags: `<tool_call>{…}</tool_call>`,
//! `<function=name>…</function>`, `<invoke name="…">…</invoke>`, `<action>…</action>`, and one
//! element per tool as in `<read_file>…</read_file>`.

use memchr::memmem;
use model::ToolCall;

use super::action::{announced, call};
use crate::json::{Cursor, Json};
use crate::tool_call::read_named;

/// An element of the text.
struct Element<'t> {
    name: &'t str,
    /// The text after the name inside the opening tag.
    attributes: &'t str,
    inside: &'t str,
    start: usize,
    end: usize,
}

/// The start of the first tool call, and at most `limit` calls. A tag counts only at the start of a
/// line.
pub(super) fn calls(text: &str, limit: usize) -> Option<(usize, Vec<ToolCall<'static>>)> {
    let (mut found, mut first, mut at) = (Vec::new(), None, 0);
    while found.len() < limit {
        let Some(element) = next_element(text, at) else { break };
        at = element.end;
        if let Some(read) = call_of(&element) {
            first.get_or_insert(element.start);
            found.push(read);
        }
    }
    first.map(|first| (first, found))
}

/// The next element from `at` on whose tag starts a line and may be a tool call.
fn next_element(text: &str, at: usize) -> Option<Element<'_>> {
    let mut at = at;
    loop {
        let start = at + memchr::memchr(b'<', text.as_bytes().get(at..)?)?;
        at = start + 1;
        let before = text[..start].trim_end_matches([' ', '\t']);
        // A tag may also directly follow another element.
        if !(before.is_empty() || before.ends_with(['\n', '>'])) {
            continue;
        }
        if let Some(element) = element_at(text, start) {
            return Some(element);
        }
    }
}

/// The element at `start`, if its name may be a tool call's. An unclosed element reaches to the
/// end, because many agents stop the model right before the closing tag.
fn element_at(text: &str, start: usize) -> Option<Element<'_>> {
    let tag = &text[start + 1..];
    let length = tag.bytes().take(64).position(|byte| !(byte.is_ascii_lowercase() || byte == b'_'))?;
    let name = &tag[..length];
    if !is_call_name(name) {
        return None;
    }
    let head_end = tag.bytes().take(256).position(|byte| byte == b'>' || byte == b'\n')?;
    let attributes = tag[length..].get(..head_end - length)?;
    let body_start = start + 1 + head_end + 1;
    let rest = &text[body_start.min(text.len())..];
    let closing = ["</", name, ">"].concat();
    let (inside, end) = match memmem::find(rest.as_bytes(), closing.as_bytes()) {
        Some(length) => (&rest[..length], body_start + length + closing.len()),
        None => (rest, text.len()),
    };
    Some(Element { name, attributes, inside: inside.trim(), start, end })
}

/// Whether an element of this name is a tool call. Names of two words are tools (`read_file`,
/// `execute_bash`); single words are markup and thoughts, apart from these.
fn is_call_name(name: &str) -> bool {
    match name {
        "tool_code" | "tool_result" | "tool_response" | "function_results" | "final_answer" | "system_reminder" => {
            false
        }
        "function" | "invoke" | "action" | "code" | "command" => true,
        _ => name.contains('_') && !name.starts_with('_') && !name.ends_with('_'),
    }
}

fn call_of(element: &Element<'_>) -> Option<ToolCall<'static>> {
    match element.name {
        name if is_wrapper(name) => wrapped(element.inside),
        "function" => Some(call(element.attributes.strip_prefix('=')?.trim(), element.inside)),
        "invoke" => Some(call(attribute(element.attributes, "name")?, element.inside)),
        "action" => Some(match attribute(element.attributes, "name") {
            Some(name) => call(name, element.inside),
            None => announced(element.inside),
        }),
        name if element.attributes.trim().is_empty() => Some(call(name, element.inside)),
        _ => None,
    }
}

/// Whether elements of this name contain the call instead of being named after the tool.
fn is_wrapper(name: &str) -> bool {
    matches!(name, "tool_call" | "function_call" | "tool_calls" | "function_calls" | "tool_use")
}

/// Reads the text between the tags of a call: JSON with a name and arguments, or an element.
fn wrapped(inside: &str) -> Option<ToolCall<'static>> {
    if inside.starts_with('{') && Json::parse(inside).is_ok() {
        let read = read_named(&mut Cursor::new(inside)).ok()?;
        return Some(call(&read.name, &read.arguments));
    }
    let inner = element_at(inside, inside.find('<')?)?;
    if is_wrapper(inner.name) { None } else { call_of(&inner) }
}

/// The value of `name="…"`.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = attributes.split_once(name)?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let calls = calls(text, 8).map(|(_, calls)| calls).unwrap_or_default();
        let found: Vec<(&str, &str)> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tags_are_calls() {
        check(
            "I look.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \".\"}}\n</tool_call>",
            &[("ls", "{\"path\": \".\"}")],
        );
        check(
            "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
            &[("bash", "<parameter=command>\nls\n</parameter>")],
        );
        check("<function=get>{\"a\": 1}</function><function=put>{}", &[("get", "{\"a\": 1}"), ("put", "{}")]);
        check(
            "<function_calls>\n<invoke name=\"run\">\n<parameter name=\"c\">x</parameter>\n</invoke>\n</function_calls>",
            &[("run", "<parameter name=\"c\">x</parameter>")],
        );
        check("<think>so</think>\n<action>\nclick('a51')\n</action>", &[("click", "'a51'")]);
        check("<execute_bash>\nls -la\n</execute_bash>", &[("execute_bash", "ls -la")]);
        check("<read_file>\n<path>a.rs</path>\n</read_file>", &[("read_file", "<path>a.rs</path>")]);
        check("<action>scroll [down]", &[("scroll", "down")]);
    }

    #[test]
    fn other_tags_are_no_calls() {
        check("<p>Hello</p>\n<think>maybe</think>\n<answer>7</answer>", &[]);
        check("Write <tool_call>{}</tool_call> to call a tool.", &[]);
        check("a < b and <", &[]);
        check("<tool_call></tool_call>\n<tool_call>{", &[]);
        check("<function>x</function><invoke>y</invoke><a_b c=\"1\">z</a_b>", &[]);
    }

    #[test]
    fn many_open_tags_take_linear_time() {
        let text = "<tool_call>\n".repeat(50_000);
        assert!(calls(&text, 64).is_none());
        let text = "<a_b>".repeat(50_000);
        assert!(calls(&text, 64).is_some());
    }
}
