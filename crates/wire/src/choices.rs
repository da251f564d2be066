//! The alternatives of one answer (OpenAI's choices, Gemini's candidates), gathered side by side.

use model::Answered;

use crate::said::{Room, Said};

/// More alternatives than any client asks for.
pub(crate) const MAX_CHOICES: usize = 128;

/// All alternatives of an answer, under one limit.
#[derive(Debug)]
pub(crate) struct Choices {
    all: Vec<Choice>,
    room: Room,
}

#[derive(Debug, Default)]
struct Choice {
    index: u64,
    said: Said,
    finished: bool,
}

impl Choices {
    pub(crate) fn new(limit: usize) -> Choices {
        Choices { all: Vec::new(), room: Room(limit) }
    }

    /// What the one with this `index` has said. `None`: there are too many.
    pub(crate) fn at(&mut self, index: u64) -> Option<(&mut Said, &mut Room)> {
        let known = self.all.iter().position(|choice| choice.index == index);
        if known.is_none() && self.all.len() < MAX_CHOICES {
            self.all.push(Choice { index, ..Choice::default() });
            return self.all.last_mut().map(|choice| (&mut choice.said, &mut self.room));
        }
        Some((&mut self.all.get_mut(known?)?.said, &mut self.room))
    }

    /// The one with this `index` came to its end.
    pub(crate) fn finish_one(&mut self, index: u64) {
        if let Some(choice) = self.all.iter_mut().find(|choice| choice.index == index) {
            choice.finished = true;
        }
    }

    /// Whether none has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether all that have begun came to their end.
    pub(crate) fn are_finished(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|choice| choice.finished)
    }

    /// All of them together, in order; none if none has begun.
    pub(crate) fn answered(mut self) -> Option<Answered> {
        self.all.sort_by_key(|choice| choice.index);
        self.all.into_iter().map(|choice| choice.said.finish()).reduce(|mut all, next| {
            all.text.push_str(&next.text);
            all.tool_calls.extend(next.tool_calls);
            all
        })
    }
}
