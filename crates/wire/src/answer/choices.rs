//! The alternatives of one answer: OpenAI's choices, Gemini's candidates.

use model::Answered;

use super::accumulator::{Accumulator, ByteBudget};

/// More alternatives than any client asks for.
pub(crate) const MAX_CHOICES: usize = 128;

/// All alternatives of an answer, with one byte budget.
#[derive(Debug)]
pub(crate) struct Choices {
    all: Vec<Choice>,
    budget: ByteBudget,
}

#[derive(Debug, Default)]
struct Choice {
    index: u64,
    accumulator: Accumulator,
    finished: bool,
}

impl Choices {
    pub(crate) fn new(limit: usize) -> Choices {
        Choices { all: Vec::new(), budget: ByteBudget(limit) }
    }

    /// The alternative with this `index`, created if new. `None` once `MAX_CHOICES` is reached.
    pub(crate) fn at(&mut self, index: u64) -> Option<(&mut Accumulator, &mut ByteBudget)> {
        let known = self.all.iter().position(|choice| choice.index == index);
        if known.is_none() && self.all.len() < MAX_CHOICES {
            self.all.push(Choice { index, ..Choice::default() });
            return self.all.last_mut().map(|choice| (&mut choice.accumulator, &mut self.budget));
        }
        Some((&mut self.all.get_mut(known?)?.accumulator, &mut self.budget))
    }

    /// Marks the alternative with this `index` as finished.
    pub(crate) fn finish_one(&mut self, index: u64) {
        if let Some(choice) = self.all.iter_mut().find(|choice| choice.index == index) {
            choice.finished = true;
        }
    }

    /// Whether no alternative has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether at least one alternative has begun and all are finished.
    pub(crate) fn are_finished(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|choice| choice.finished)
    }

    /// All alternatives joined in order of their index. `None` if none has begun.
    pub(crate) fn answered(mut self) -> Option<Answered> {
        self.all.sort_by_key(|choice| choice.index);
        self.all.into_iter().map(|choice| choice.accumulator.finish()).reduce(|mut all, next| {
            all.text.push_str(&next.text);
            all.tool_calls.extend(next.tool_calls);
            all
        })
    }
}
