//! The actions that the model wrote into one message.

use std::borrow::Cow;

use memchr::memchr3;
use model::ToolCall;

use super::action::{announced, call, unannounced};
use super::labels::{Label, sections};
use super::tags;
use crate::fenced;

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
    // Every form has one of these.
    if memchr3(b'`', b'<', b':', text.as_bytes()).is_none() && !may_be_line(text) {
        return Acted::default();
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

/// Whether the last line may be an action: those end with a bracket.
fn may_be_line(text: &str) -> bool {
    text.trim_end().ends_with([')', ']', ';'])
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
