//! Actions that are written as a JSON object: `{"thought": "…", "action": "click", "index": 5}`, a
//! list of actions, or keystrokes for a terminal.

use std::borrow::Cow;

use model::{ToolCall, is_thought};

use super::action::{announced, call, unannounced};
use crate::json::Json;

/// Fields that make an object an action, the most specific first.
const ACTS: [&str; 9] =
    ["action", "actions", "next_action", "action_type", "action_name", "tool", "tool_name", "commands", "keystrokes"];

/// Deeper objects are read as text.
const MOST_LEVELS: usize = 4;

/// Fields that name what an action object does.
const NAMES: [&str; 6] = ["type", "name", "action", "action_type", "function", "tool"];

/// At most `limit` actions of a message. `None` if it holds no object with an action.
pub(super) fn calls(text: &str, limit: usize) -> Option<Vec<ToolCall<'static>>> {
    let object = object_in(text)?;
    let mut acts: Option<(usize, Json<'_>)> = None;
    let mut others = Vec::new();
    object.fields(|key, value| {
        let place = ACTS.iter().position(|name| name.eq_ignore_ascii_case(key));
        match place {
            Some(place) if acts.is_none_or(|(best, _)| place < best) => acts = Some((place, value)),
            None if !is_thought(key) => others.push(field(key, value)),
            _ => {}
        }
    });
    let (_, action) = acts.filter(|(_, value)| !matches!(value.raw(), "null" | "[]" | "{}" | "\"\""))?;
    let calls = actions_in(action, &others.join(","), limit);
    (!calls.is_empty()).then_some(calls)
}

/// What an object does whose fields have any names, without its thoughts.
pub(super) fn besides_thoughts(text: &str) -> Option<ToolCall<'static>> {
    let object = object_in(text)?;
    let only = only_field(object);
    let acts = only.is_some() || without_thoughts(object) != "{}";
    acts.then(|| only.filter(|value| value.raw().starts_with('{')).map_or_else(|| action_in(object), action_in))
}

/// The value of the only field that is no thought.
fn only_field(object: Json<'_>) -> Option<Json<'_>> {
    let (mut only, mut count) = (None, 0);
    object.fields(|key, value| {
        if !is_thought(key) {
            (only, count) = (Some(value), count + 1);
        }
    });
    only.filter(|_| count == 1)
}

/// Visits the texts and numbers in an object and in the objects in it, or else the whole text. The
/// name of a field with an object may be that of an action.
pub(super) fn for_each_value(text: &str, visit: &mut impl FnMut(&str)) {
    match Json::parse(text).ok().filter(|_| text.starts_with('{')) {
        Some(object) => for_each_field(object, visit, MOST_LEVELS),
        None => visit(text),
    }
}

fn for_each_field(object: Json<'_>, visit: &mut impl FnMut(&str), levels: usize) {
    object.fields(|key, value| match value.raw().as_bytes().first() {
        Some(b'{') if levels > 0 => {
            visit(key);
            for_each_field(value, visit, levels - 1);
        }
        _ => visit(&value.text().unwrap_or_else(|| value.raw().into())),
    });
}

/// The action that a text consists of.
pub(super) fn single(text: &str) -> Option<ToolCall<'static>> {
    let mut calls = if text.starts_with('{') { calls(text, 2)? } else { return None };
    if calls.len() == 1 { calls.pop() } else { None }
}

/// The actions in the arguments of a tool call, which may hold thoughts beside them.
pub(super) fn of_tool_call(called: &ToolCall<'_>, limit: usize) -> Vec<ToolCall<'static>> {
    if let Some(actions) = calls(&called.arguments, limit) {
        return actions;
    }
    let Some(arguments) = Json::parse(&called.arguments).ok().filter(|read| read.raw().starts_with('{')) else {
        return vec![call(&called.name, &called.arguments)];
    };
    let nested = only_field(arguments).filter(|value| value.raw().starts_with('{')).map(action_in);
    vec![match nested {
        Some(action) => call(&format!("{}_{}", called.name, action.name), &action.arguments),
        None => call(&called.name, &without_thoughts(arguments)),
    }]
}

fn without_thoughts(object: Json<'_>) -> String {
    let mut fields = Vec::new();
    object.fields(|key, value| {
        if !is_thought(key) {
            fields.push(field(key, value));
        }
    });
    format!("{{{}}}", fields.join(","))
}

/// The object that a message consists of, ends with, or holds in a fenced block.
fn object_in(text: &str) -> Option<Json<'_>> {
    let text = text.rsplit("</think>").next().unwrap_or(text).trim();
    let fenced = || {
        let opened = text.split_once("```")?.1;
        let body = opened.split_once('\n')?.1;
        Some(body.split("```").next().unwrap_or(body).trim())
    };
    let last = || text.find("\n{").map(|place| text[place..].trim());
    let is_object = |text: &&str| text.starts_with('{') && text.ends_with('}');
    let candidate = Some(text).filter(is_object).or_else(|| fenced().filter(is_object));
    Json::parse(candidate.or_else(|| last().filter(is_object))?).ok()
}

/// The actions in the value of an action field. `others` are the other fields of its object.
fn actions_in(value: Json<'_>, others: &str, limit: usize) -> Vec<ToolCall<'static>> {
    if let Some(text) = value.text() {
        // A whole call needs no other fields.
        return vec![unannounced(&text).unwrap_or_else(|| with_fields(announced(&text), others))];
    }
    if value.raw().starts_with('{') {
        return vec![action_in(value)];
    }
    let mut calls = Vec::new();
    value.items(|item| {
        if calls.len() < limit {
            calls.push(item.text().map_or_else(|| action_in(item), |command| call("", &command)));
        }
    });
    calls
}

/// An action that is an object: `{"type": "click", "index": 5}`, `{"click": {"index": 5}}`,
/// `{"keystrokes": "ls\n"}`.
fn action_in(object: Json<'_>) -> ToolCall<'static> {
    if let Some(keys) = object.field("keystrokes").and_then(Json::text) {
        return call("", &keys);
    }
    let (mut name, mut first) = (None, None);
    object.fields(|key, value| {
        first.get_or_insert_with(|| key.to_owned());
        if name.is_none() && NAMES.contains(&key) {
            name = value.text().map(Cow::into_owned);
        }
    });
    call(&name.or(first).unwrap_or_default(), &without_thoughts(object))
}

/// `called` with further fields among its arguments.
fn with_fields(called: ToolCall<'static>, others: &str) -> ToolCall<'static> {
    if others.is_empty() {
        return called;
    }
    let arguments = if called.arguments.is_empty() { String::new() } else { format!("{} ", called.arguments) };
    call(&called.name, &format!("{arguments}{{{others}}}"))
}

fn field(key: &str, value: Json<'_>) -> String {
    format!("\"{key}\":{}", value.raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let calls = calls(text, 8).unwrap_or_default();
        let found: Vec<(&str, &str)> = calls.iter().map(|call| (&*call.name, &*call.arguments)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_action_is_read_without_the_thoughts_around_it() {
        check(r#"{"thought": "so", "action": "click", "index": 5}"#, &[("click", r#"{"index":5}"#)]);
        check(r#"{"reasoning": "so", "action": "click('34')"}"#, &[("click", "'34'")]);
        check(r#"{"content": "so", "action": "click('34')"}"#, &[("click", "'34'")]);
        check(
            "I look.\n```json\n{\"action\": {\"type\": \"scroll\", \"why\": 1}}\n```",
            &[("scroll", r#"{"type":"scroll"}"#)],
        );
        check(
            r#"{"current_state": {"memory": "x"}, "action": [{"click_element_by_index": {"index": 14}}]}"#,
            &[("click_element_by_index", r#"{"click_element_by_index":{"index": 14}}"#)],
        );
        check(
            r#"{"analysis": "a", "plan": "b", "commands": [{"keystrokes": "ls\n", "duration": 1}]}"#,
            &[("", "ls\n")],
        );
        check("Next.\n{\"tool\": \"search\", \"query\": \"x\"}", &[("search", r#"{"query":"x"}"#)]);
    }

    #[test]
    fn a_tool_call_is_read_without_the_thoughts_in_it() {
        for (arguments, name, rest) in [
            (r#"{"reason": "so", "do": {"open": {"page": 4}}}"#, "act_open", r#"{"open":{"page": 4}}"#),
            (r#"{"reason": "so", "page": 4, "line": 7}"#, "act", r#"{"page":4,"line":7}"#),
            (r#"{"memory": "x", "action": [{"open": {"page": 4}}]}"#, "open", r#"{"open":{"page": 4}}"#),
            ("page 4", "act", "page 4"),
        ] {
            let called = ToolCall { name: "act".into(), arguments: arguments.into() };
            let read = of_tool_call(&called, 8);
            assert_eq!((&*read[0].name, &*read[0].arguments), (name, rest), "{arguments}");
        }
    }

    #[test]
    fn other_objects_are_no_actions() {
        for text in ["", "{}", r#"{"label": "positive"}"#, r#"{"action": null}"#, r#"{"action": "x""#, "no {x} here"] {
            assert_eq!(calls(text, 8), None, "{text}");
        }
    }
}
