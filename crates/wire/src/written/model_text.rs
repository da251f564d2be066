//! The actions that the model wrote into one message.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::{self, Finder};
use model::ToolCall;

use super::action::{announced, call, unannounced};
use super::labels::{Label, sections};
use super::tags;
use crate::fenced;
use crate::json::Json;

/// More actions than any step has. What follows them belongs to an answer, not to an action.
pub(super) const MAX_ACTIONS: usize = 64;

/// What the model did in one message.
#[derive(Debug, Default)]
pub(super) struct Acted<'t> {
    pub(super) calls: Vec<ToolCall<'static>>,
    /// What came of it, where the agent appends the result to the model's own message.
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
    // What begins first holds the other: a command may write tags, and the text of an element may hold a fence.
    let first = [fenced::calls(text, MAX_ACTIONS), tags::calls(text, MAX_ACTIONS)].into_iter().flatten();
    match first.min_by_key(|(start, _)| *start) {
        Some((_, calls)) => Acted { calls, observation: None },
        None if labelled.calls.is_empty() => Acted { calls: last_lines(text), observation: None },
        None => labelled,
    }
}

/// Whether a message may hold an action, told from its JSON: most hold none, and need not be read.
pub(super) fn may_act(said: Json<'_>) -> bool {
    static MARKS: LazyLock<[Finder<'static>; 4]> =
        // Some clients escape what could be taken for HTML.
        LazyLock::new(|| ["```", "Action", "ACTION", "\\u003c"].map(Finder::new));
    let raw = said.raw().as_bytes();
    memchr(b'<', raw).is_some() || MARKS.iter().any(|mark| mark.find(raw).is_some()) || may_end_with_action(said.raw())
}

/// Whether the last line may be an action: those end with a bracket.
fn may_end_with_action(raw: &str) -> bool {
    let Some(text) = raw.strip_suffix('"') else {
        // One of several parts.
        return [")\"", "]\"", ";\""].iter().any(|end| memmem::find(raw.as_bytes(), end.as_bytes()).is_some());
    };
    let text = text.trim_end_matches("\\n").trim_end();
    text.ends_with([')', ']', ';'])
}

/// The action behind the last `Action:`.
fn labelled(text: &str) -> Acted<'_> {
    let (mut action, mut observation) = (None, None);
    for section in sections(text) {
        match section.label {
            Label::Action => (action, observation) = (Some((section.body, None)), None),
            Label::ActionInput => action = action.map(|(name, _)| (name, Some(section.body))),
            Label::Observation => observation = Some(section.body),
            // What the model asks itself, or answers, is no action.
            Label::Task | Label::FinalAnswer | Label::Begin => (action, observation) = (None, None),
            Label::Thought => {}
        }
    }
    let Some((name, input)) = action.filter(|(name, _)| !name.is_empty()) else { return Acted::default() };
    Acted { calls: vec![action_with_input(name, input)], observation }
}

/// An action whose input stands on a line of its own, if it has one.
pub(super) fn action_with_input(action: &str, input: Option<&str>) -> ToolCall<'static> {
    match input {
        Some(input) => call(action.trim_matches(['`', '"']), input),
        None => announced(action),
    }
}

/// The call in a list that the client wrote into the model's message: smolagents has `Calling tools:` and the calls as
/// Python prints them. Several calls in one list are one: their ids stand before the first name.
fn listed_call(text: &str) -> Option<ToolCall<'static>> {
    let list = &text[memmem::find(text.as_bytes(), b"Calling tools:\n[")?..];
    let after = |mark: &str| memmem::find(list.as_bytes(), mark.as_bytes()).map(|place| &list[place + mark.len()..]);
    let name = after("'name': '")?.split('\'').next()?;
    Some(call(name, after("'arguments': ")?.trim_end_matches([']', '}'])))
}

/// The lines at the end that are actions, one each.
fn last_lines(text: &str) -> Vec<ToolCall<'static>> {
    let lines = text.trim_end().rsplit('\n').filter(|line| !line.trim().is_empty());
    let mut calls: Vec<_> = lines.map_while(unannounced).take(MAX_ACTIONS).collect();
    calls.reverse();
    calls
}

/// The result that a user's message is: its text, without the label in front of it and the number that grows with each step.
pub(super) fn without_label(text: &str) -> Option<&str> {
    let first = sections(text).next().filter(|section| section.label == Label::Observation)?;
    let is_first = text[..first.start].trim().is_empty();
    // To the end, not only to the next label: what an agent observes may hold labels of its own.
    is_first.then(|| text[first.body_start..].trim())
}

/// The same for a text that is owned or borrowed.
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
    fn most_messages_need_not_be_read() {
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
