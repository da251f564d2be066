//! Actions in one message of the model.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::{self, Finder};
use model::ToolCall;

use super::action::{announced, call, unannounced};
use super::labels::{Label, sections};
use super::tags;
use super::{fenced_blocks, json_action};
use crate::json::Json;

/// More actions than any step has. A text with more is an answer.
pub(super) const MAX_ACTIONS: usize = 64;

/// The actions of one message.
#[derive(Debug, Default)]
pub(super) struct Acted<'t> {
    pub(super) calls: Vec<ToolCall<'static>>,
    /// The result, if the agent appended it to the model's message.
    pub(super) observation: Option<&'t str>,
}

/// Reads the actions of a message.
pub(super) fn read(text: &str) -> Acted<'_> {
    if let Some(call) = listed_call(text) {
        return Acted { calls: vec![call], observation: None };
    }
    let labelled = labelled(text);
    if labelled.observation.is_some() {
        return labelled;
    }
    if let Some(calls) = json_action::calls(text, MAX_ACTIONS) {
        return Acted { calls, observation: None };
    }
    // The one that begins first contains the other: a command may write tags, and an element may
    // hold a fence.
    let first = [fenced_blocks::calls(text, MAX_ACTIONS), tags::calls(text, MAX_ACTIONS)].into_iter().flatten();
    match first.min_by_key(|(start, _)| *start) {
        Some((_, calls)) => Acted { calls, observation: None },
        None if labelled.calls.is_empty() => Acted { calls: last_lines(text), observation: None },
        None => labelled,
    }
}

/// Whether a message may hold an action, judged by its raw JSON. Most hold none and need not be
/// decoded.
pub(super) fn may_act(said: Json<'_>) -> bool {
    static MARKS: LazyLock<[Finder<'static>; 6]> =
        // Some clients escape the characters of HTML. An object begins with a name in quotes.
        LazyLock::new(|| ["```", "Action", "ACTION", "\\u003c", "{\\\"", "{\\n"].map(Finder::new));
    let raw = said.raw().as_bytes();
    memchr(b'<', raw).is_some() || MARKS.iter().any(|mark| mark.find(raw).is_some()) || may_end_with_action(said.raw())
}

/// Whether the last line may be an action, which ends with a bracket.
fn may_end_with_action(raw: &str) -> bool {
    let Some(text) = raw.strip_suffix('"') else {
        // One of several parts.
        return [")\"", "]\"", ";\""].iter().any(|end| memmem::find(raw.as_bytes(), end.as_bytes()).is_some());
    };
    let text = text.trim_end_matches("\\n").trim_end();
    text.ends_with([')', ']', ';'])
}

/// The action after the last `Action:`.
fn labelled(text: &str) -> Acted<'_> {
    let (mut action, mut observation) = (None, None);
    for section in sections(text) {
        match section.label {
            Label::Action => (action, observation) = (Some((section.body, None)), None),
            Label::ActionInput => action = action.map(|(name, _)| (name, Some(section.body))),
            Label::Observation => observation = Some(section.body),
            // A question or an answer of the model is no action.
            Label::Task | Label::FinalAnswer | Label::Begin => (action, observation) = (None, None),
            Label::Thought => {}
        }
    }
    let Some((name, input)) = action.filter(|(name, _)| !name.is_empty()) else { return Acted::default() };
    Acted { calls: vec![action_with_input(name, input)], observation }
}

/// An action, with its input from a separate line if there is one.
pub(super) fn action_with_input(action: &str, input: Option<&str>) -> ToolCall<'static> {
    match input {
        Some(input) => call(action.trim_matches(['`', '"']), input),
        None => json_action::single(action).unwrap_or_else(|| announced(action)),
    }
}

/// The calls that a client appended to the model's message: smolagents writes `Calling tools:` and
/// a Python list. Several calls in one list are read as one.
fn listed_call(text: &str) -> Option<ToolCall<'static>> {
    let list = &text[memmem::find(text.as_bytes(), b"Calling tools:\n[")?..];
    let after = |mark: &str| memmem::find(list.as_bytes(), mark.as_bytes()).map(|place| &list[place + mark.len()..]);
    let name = after("'name': '")?.split('\'').next()?;
    Some(call(name, after("'arguments': ")?.trim_end_matches([']', '}'])))
}

/// The actions in the last lines, one per line.
fn last_lines(text: &str) -> Vec<ToolCall<'static>> {
    let lines = text.trim_end().rsplit('\n').filter(|line| !line.trim().is_empty());
    let mut calls: Vec<_> = lines.map_while(unannounced).take(MAX_ACTIONS).collect();
    calls.reverse();
    calls
}

/// The result in a user's message, without its label and step number.
pub(super) fn without_label(text: &str) -> Option<&str> {
    let first = sections(text).next().filter(|section| section.label == Label::Observation)?;
    let is_first = text[..first.start].trim().is_empty();
    // To the end of the text: an observation may contain labels.
    is_first.then(|| text[first.body_start..].trim())
}

/// The result in a user's message; the whole message if it has no label.
pub(super) fn result_of<'a>(text: &Cow<'a, str>) -> Cow<'a, str> {
    match without_label(text) {
        Some(result) => Cow::Owned(result.to_owned()),
        None => text.clone(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    fn check(json: &str, expected: bool) {
        assert_eq!(may_act(Json::parse(json).unwrap()), expected, "{json}");
    }

    #[test]
    fn messages_without_actions_are_not_decoded() {
        for acts in [
            r#""Action: look""#,
            r#""```bash\nls\n```""#,
            r#""so\nclick('2')\n""#,
            r#""\u003caction>x""#,
            r#"[{"type":"text","text":"type [2] [x]"}]"#,
        ] {
            check(acts, true);
        }
        for other in [r#""It is done: 7 files.""#, r#""""#, "null", r#"[{"type":"text","text":"Hello (you)."}]"#] {
            check(other, false);
        }
    }
}
