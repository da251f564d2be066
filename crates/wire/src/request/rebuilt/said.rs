//! What the model said, and how a later prompt shows it.

use std::borrow::Cow;
use std::collections::HashSet;

use model::{Answered, ToolCall, is_thought};

use super::lines::words;
use crate::request::written::{actions_of, inline_action};

/// A longer answer is read up to here.
const LONGEST_ANSWER: usize = 16 << 10;
/// Fewer words may stand anywhere.
pub(super) const FEWEST_WORDS: usize = 3;

/// What the model said.
#[derive(Debug)]
pub(super) struct Said {
    words: HashSet<u64>,
    /// Its actions, and the words of those. If they cannot be read, the whole answer is one.
    pub(super) actions: Vec<ToolCall<'static>>,
    pub(super) is_read: bool,
    action_words: HashSet<u64>,
}

impl Said {
    pub(super) fn of(answered: &Answered) -> Said {
        let text = &answered.text[..answered.text.floor_char_boundary(LONGEST_ANSWER)];
        let mut actions = actions_of(text);
        if actions.iter().any(|action| !is_thought(&action.name)) {
            actions.retain(|action| !is_thought(&action.name));
        }
        if let [action] = &mut actions[..]
            && action.name.is_empty()
            && let Some(read) = inline_action(&action.arguments)
        {
            *action = read;
        }
        let is_read = !actions.is_empty();
        if !is_read {
            actions.push(ToolCall { name: Cow::Borrowed("answer"), arguments: Cow::Owned(text.to_owned()) });
        }
        let texts = actions.iter().flat_map(|action| [&action.name, &action.arguments]);
        let action_words = texts.flat_map(|text| words_of(text)).collect();
        Said { words: words_of(text).into_iter().collect(), actions, is_read, action_words }
    }

    /// Whether a text with these words repeats it.
    pub(super) fn is_repeated_by(&self, text: &[u64]) -> bool {
        let found = text.iter().filter(|word| self.words.contains(word)).count();
        found * 10 >= text.len() * 7
    }

    /// The words by which it is recognised in a prompt.
    pub(super) fn marks(&self) -> &HashSet<u64> {
        if self.action_words.len() >= FEWEST_WORDS { &self.action_words } else { &self.words }
    }
}

pub(super) fn words_of(text: &str) -> Vec<u64> {
    let mut all = Vec::new();
    words(text, |word| all.push(word));
    all
}
