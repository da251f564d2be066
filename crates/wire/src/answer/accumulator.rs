//! Collects an answer's text and tool calls piece by piece, up to a limit of bytes.

use std::borrow::Cow;

use model::{Answered, ToolCall};

/// More calls than any answer has. Without a limit a stream could grow the list at will.
const MAX_CALLS: usize = 1024;

/// Text and tool calls so far.
#[derive(Debug, Default)]
pub(crate) struct Accumulator {
    text: String,
    calls: Vec<PartialCall>,
}

/// A tool call whose arguments may still be incomplete.
#[derive(Debug, Default)]
struct PartialCall {
    index: u64,
    name: String,
    arguments: String,
    /// Used if no arguments arrive piece by piece.
    initial_arguments: String,
}

/// The number of bytes that may still be kept.
#[derive(Debug)]
pub(crate) struct ByteBudget(pub(crate) usize);

impl ByteBudget {
    /// Appends as much of `piece` as the budget allows. A cut sets the budget to zero: text after a
    /// gap would be wrong.
    fn append(&mut self, text: &mut String, piece: &str) {
        let kept = &piece[..piece.floor_char_boundary(self.0)];
        self.0 = if kept.len() == piece.len() { self.0 - kept.len() } else { 0 };
        text.push_str(kept);
    }
}

impl Accumulator {
    /// Appends to the text.
    pub(crate) fn push_text(&mut self, piece: &str, budget: &mut ByteBudget) {
        budget.append(&mut self.text, piece);
    }

    /// Adds a whole tool call.
    pub(crate) fn push_call(&mut self, call: &ToolCall<'_>, budget: &mut ByteBudget) {
        let index = self.calls.last().map_or(0, |last| last.index.saturating_add(1));
        self.append_call(index, call, budget);
    }

    /// Appends `piece` to the call with this `index`.
    pub(crate) fn append_call(&mut self, index: u64, piece: &ToolCall<'_>, budget: &mut ByteBudget) {
        if let Some(call) = self.partial_call(index) {
            budget.append(&mut call.name, &piece.name);
            budget.append(&mut call.arguments, &piece.arguments);
        }
    }

    /// Begins a call. Its arguments follow in pieces; `initial` is used if none do.
    pub(crate) fn begin_call(&mut self, index: u64, name: &str, initial: &str, budget: &mut ByteBudget) {
        if let Some(call) = self.partial_call(index) {
            budget.append(&mut call.name, name);
            budget.append(&mut call.initial_arguments, initial);
        }
    }

    /// The index of the newest call, for pieces without an index.
    pub(crate) fn newest_index(&self) -> Option<u64> {
        self.calls.last().map(|call| call.index)
    }

    /// The number of calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Whether there is neither text nor a call.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// The text and all calls, ordered by index.
    pub(crate) fn finish(mut self) -> Answered {
        self.calls.sort_by_key(|call| call.index);
        Answered { text: self.text, tool_calls: self.calls.into_iter().map(PartialCall::finish).collect() }
    }

    /// The call with this index. `None` once `MAX_CALLS` is reached.
    fn partial_call(&mut self, index: u64) -> Option<&mut PartialCall> {
        // Searched from the end: a piece nearly always belongs to the newest call.
        let known = self.calls.iter().rposition(|call| call.index == index);
        if known.is_none() && self.calls.len() < MAX_CALLS {
            self.calls.push(PartialCall { index, ..PartialCall::default() });
            return self.calls.last_mut();
        }
        self.calls.get_mut(known?)
    }
}

impl PartialCall {
    fn finish(self) -> ToolCall<'static> {
        let arguments = if self.arguments.is_empty() { self.initial_arguments } else { self.arguments };
        ToolCall { name: Cow::Owned(self.name), arguments: Cow::Owned(arguments) }
    }
}
