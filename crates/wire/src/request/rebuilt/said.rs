//! What the model said, and how a later prompt shows it.

use std::borrow::Cow;
use std::collections::HashSet;

use model::{Answered, ToolCall, is_thought};

use super::lines::words;
use super::tokens::fold;
use crate::request::written::for_each_value;
use crate::request::written::{action_besides_thoughts, actions_of, announced_action, inline_action, of_tool_call};

/// A longer answer is read up to here.
const LONGEST_ANSWER: usize = 16 << 10;
/// A command has at most so many words.
const LONGEST_COMMAND: usize = 16;
/// Names of blocks and fields that hold a call.
const WRAPPERS: [&str; 8] = ["", "tool", "json", "action", "command", "call", "tool_call", "function"];
/// Fewer words may stand anywhere.
const FEWEST_WORDS: usize = 3;

/// What the model said.
#[derive(Debug)]
pub(super) struct Said {
    words: HashSet<u64>,
    /// Words that follow each other.
    pairs: HashSet<u64>,
    /// Its actions, and the words of those. If they cannot be read, the whole answer is one.
    pub(super) actions: Vec<ToolCall<'static>>,
    pub(super) is_read: bool,
    action_words: HashSet<u64>,
    action_pairs: Vec<u64>,
}

impl Said {
    pub(super) fn of(answered: &Answered) -> Said {
        let text = text_of(answered);
        let text = &text[..text.floor_char_boundary(LONGEST_ANSWER)];
        let mut actions = if answered.tool_calls.is_empty() {
            actions_of(text)
        } else {
            answered.tool_calls.iter().flat_map(of_tool_call).collect()
        };
        if actions.iter().any(|action| !is_thought(&action.name)) {
            actions.retain(|action| !is_thought(&action.name));
        }
        if let [action] = &mut actions[..]
            && let Some(inner) = inner_action(action)
        {
            *action = inner;
        }
        if actions.is_empty() {
            actions.extend(action_besides_thoughts(text).or_else(|| short_command(text)));
        }
        let is_read = !actions.is_empty();
        if !is_read {
            actions.push(ToolCall { name: Cow::Borrowed("answer"), arguments: Cow::Owned(text.to_owned()) });
        }
        let action_words: Vec<u64> = actions.iter().flat_map(words_of_action).collect();
        let words = words_of(text);
        let pairs = pairs_of(&words).collect();
        let action_pairs = pairs_of(&action_words).collect();
        let action_words = action_words.into_iter().collect();
        Said { words: words.into_iter().collect(), pairs, actions, is_read, action_words, action_pairs }
    }

    /// How many hashes it keeps.
    pub(super) fn size(&self) -> usize {
        self.words.len() + self.pairs.len() + self.action_words.len() + self.action_pairs.len()
    }

    /// Whether it holds most of these words.
    pub(super) fn holds(&self, words: &[u64]) -> bool {
        let found = words.iter().filter(|word| self.words.contains(word)).count();
        found * 10 >= words.len() * 7
    }

    /// Whether a line with these words repeats it, or at least its action.
    pub(super) fn is_echoed_by(&self, line: &[u64]) -> bool {
        let has_action = || {
            let pairs: HashSet<u64> = pairs_of(line).collect();
            self.is_read && !self.action_pairs.is_empty() && self.action_pairs.iter().all(|pair| pairs.contains(pair))
        };
        line.len() > 1 && (line.len() * 10 >= self.words.len() * 7 && self.holds(line) || has_action())
    }

    /// Whether two words follow each other in it.
    pub(super) fn has_pair(&self, one: u64, next: u64) -> bool {
        self.pairs.contains(&fold(one, next))
    }

    /// Whether its action names this word.
    pub(super) fn acts_on(&self, word: u64) -> bool {
        self.is_read && self.action_words.contains(&word)
    }

    /// How much of it stands among the words of a prompt, and whether that is an echo. A page may
    /// hold half of the words of a thought by chance.
    pub(super) fn echo_in(&self, prompt: &HashSet<u64>) -> (f64, bool) {
        let is_named = self.is_read && self.action_words.len() >= FEWEST_WORDS;
        let (marks, enough) = if is_named { (&self.action_words, 0.5) } else { (&self.words, 0.7) };
        let found = marks.iter().filter(|word| prompt.contains(word)).count();
        let echo = found as f64 / marks.len().max(1) as f64;
        (echo, marks.len() >= FEWEST_WORDS && echo >= enough)
    }
}

/// The action that another one consists of: `command` with `open("page")`, a block with
/// `{"name": "open"}`.
fn inner_action(action: &ToolCall<'_>) -> Option<ToolCall<'static>> {
    if action.arguments.starts_with('{') {
        let is_wrapper = WRAPPERS.iter().any(|name| action.name.eq_ignore_ascii_case(name));
        return action_besides_thoughts(&action.arguments).filter(|_| is_wrapper);
    }
    inline_action(&action.arguments).filter(|_| matches!(&*action.name, "" | "command" | "action"))
}

/// A short answer of one line is a command.
fn short_command(text: &str) -> Option<ToolCall<'static>> {
    let text = text.trim();
    let is_short = text.split_whitespace().count() <= LONGEST_COMMAND && !text.contains('\n');
    is_short.then(|| announced_action(text)).filter(|action| !action.name.is_empty())
}

/// The words of a call, without the names of its fields, which a history may leave out.
fn words_of_action(action: &ToolCall<'_>) -> Vec<u64> {
    let mut all = words_of(&action.name);
    for_each_value(&action.arguments, &mut |value| words(value, |word| all.push(word)));
    all
}

fn pairs_of(words: &[u64]) -> impl Iterator<Item = u64> {
    words.array_windows().map(|[one, next]| fold(*one, *next))
}

/// The words of an answer, also those of its tool calls.
fn text_of(answered: &Answered) -> Cow<'_, str> {
    if answered.tool_calls.is_empty() {
        return Cow::Borrowed(&answered.text);
    }
    let called = answered.tool_calls.iter().flat_map(|call| ["\n", &call.name, " ", &call.arguments]);
    Cow::Owned(std::iter::once(answered.text.as_str()).chain(called).collect())
}

pub(super) fn words_of(text: &str) -> Vec<u64> {
    let mut all = Vec::new();
    words(text, |word| all.push(word));
    all
}
