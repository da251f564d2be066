//! An action written as text: `Search[rust]`, `click('242')`, `type [164] [lamp] [1]`, `go_back`.

use std::borrow::Cow;

use model::ToolCall;

/// The names of browser and search actions. Without a label only these names make an action: a line
/// like `see [1]` is not an action.
const BRACKET_ACTIONS: [&str; 24] = [
    "click",
    "type",
    "hover",
    "press",
    "scroll",
    "goto",
    "new_tab",
    "tab_focus",
    "close_tab",
    "page_focus",
    "go_back",
    "go_forward",
    "stop",
    "select",
    "select_option",
    "fill",
    "note",
    "search",
    "lookup",
    "finish",
    "think",
    "wait",
    "drag",
    "answer",
];

/// The longest name of an action.
const MAX_NAME: usize = 64;

/// Creates a tool call from copies of both.
pub(super) fn call(name: &str, arguments: &str) -> ToolCall<'static> {
    ToolCall { name: Cow::Owned(name.to_owned()), arguments: Cow::Owned(arguments.to_owned()) }
}

/// Reads an action after a label or tag. Its first word is the name, the rest are the arguments.
pub(crate) fn announced(text: &str) -> ToolCall<'static> {
    let text = text.trim().trim_matches('`').trim();
    let (name, rest) = text.split_at(name_length(text));
    match rest.trim() {
        "" => call(name, ""),
        rest if name.is_empty() => call("", rest),
        rest => call(name, enclosed(rest).unwrap_or(rest)),
    }
}

/// Reads a whole line as an action that has no label.
pub(super) fn unannounced(line: &str) -> Option<ToolCall<'static>> {
    let line = line.trim().trim_end_matches(';');
    let (name, rest) = line.split_at(name_length(line));
    if name.is_empty() {
        return None;
    }
    if rest.starts_with('(') {
        return enclosed(rest).map(|arguments| call(name, arguments));
    }
    let is_known = BRACKET_ACTIONS.iter().any(|known| known.eq_ignore_ascii_case(name));
    (is_known && are_brackets(rest.trim())).then(|| call(name, enclosed(rest.trim()).unwrap_or(rest.trim())))
}

/// The action between two fences of one line, as in ```` ```click [12]``` ````.
pub(crate) fn inline(text: &str) -> Option<ToolCall<'static>> {
    let text = text.trim();
    let is_bare_name = text.contains('_') && name_length(text) == text.len();
    if is_bare_name { Some(call(text, "")) } else { unannounced(text) }
}

/// The length of the name at the start: letters, digits, `_` and `.`, beginning with a letter or
/// `_`.
fn name_length(text: &str) -> usize {
    let is_first = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if !is_first {
        return 0;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
    let length = text.bytes().take(MAX_NAME + 1).position(|byte| !is_part(byte)).unwrap_or(text.len());
    if length > MAX_NAME { 0 } else { length }
}

/// The text inside a pair of brackets that spans the whole input. Brackets inside quotes do not
/// count.
fn enclosed(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (place, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            // An apostrophe inside a word does not open a quotation.
            (None, b'\'' | b'"') if opens_quotation(bytes, place) => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.checked_sub(1)?,
            (None, _) => {}
        }
        if depth == 0 {
            return if place + 1 == text.len() { text.get(1..place) } else { None };
        }
    }
    None
}

fn opens_quotation(bytes: &[u8], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_some_and(|before| b"([,= ".contains(before))
}

/// Whether the text is a sequence of brackets. Typed text may hold further brackets.
fn are_brackets(text: &str) -> bool {
    text.starts_with('[') && text.ends_with(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: Option<ToolCall<'static>>, expected: Option<(&str, &str)>, text: &str) {
        let found = found.as_ref().map(|call| (&*call.name, &*call.arguments));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_announced_action_is_a_name_and_the_rest() {
        for (text, name, arguments) in [
            ("Search[Rust (language)]", "Search", "Rust (language)"),
            (" click('a51') ", "click", "'a51'"),
            ("`click [1582]`", "click", "1582"),
            ("type [164] [lamp] [1]", "type", "[164] [lamp] [1]"),
            ("Type [5]; [lamp]", "Type", "[5]; [lamp]"),
            ("Search[a], Search[b]", "Search", "[a], Search[b]"),
            ("fill('12', 'it\\'s (here')", "fill", "'12', 'it\\'s (here'"),
            ("GoBack", "GoBack", ""),
            ("web search", "web", "search"),
            ("{\"action\": 1}", "", "{\"action\": 1}"),
            ("搜索[天气]", "", "搜索[天气]"),
            ("", "", ""),
        ] {
            check(Some(announced(text)), Some((name, arguments)), text);
        }
    }

    #[test]
    fn a_line_of_its_own_is_an_action_only_as_a_whole() {
        for (line, expected) in [
            ("click('242')", Some(("click", "'242'"))),
            ("  scroll(0, 300);", Some(("scroll", "0, 300"))),
            ("page.goto(\"https://a.example/(x)\")", Some(("page.goto", "\"https://a.example/(x)\""))),
            ("noop()", Some(("noop", ""))),
            ("click [1582]", Some(("click", "1582"))),
            ("type [164] [text] [1]", Some(("type", "[164] [text] [1]"))),
            ("see [1]", None),
            ("Sources [1] [2]", None),
            ("Call click('242') to go on.", None),
            ("click('242') opens the menu", None),
            ("I used print (and it worked)", None),
            ("f(x) + g(y)", None),
            ("f(x", None),
            ("go_back", None),
            ("", None),
        ] {
            check(unannounced(line), expected, line);
        }
    }

    #[test]
    fn between_fences_of_one_line_a_name_is_enough() {
        check(inline(" go_back "), Some(("go_back", "")), "go_back");
        check(inline("scroll [down]"), Some(("scroll", "down")), "scroll [down]");
        check(inline(" inline "), None, "inline");
    }
}
