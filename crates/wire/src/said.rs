//! What a model says and calls, gathered piece by piece up to a limit.

use std::borrow::Cow;

use model::{Answered, ToolCall};

/// More calls than any answer has. They are kept in a list that a stream decides the length of.
const MAX_CALLS: usize = 1024;

/// Text and tool calls so far.
#[derive(Debug, Default)]
pub(crate) struct Said {
    text: String,
    calls: Vec<PartialCall>,
}

/// A tool call as far as it has come.
#[derive(Debug, Default)]
struct PartialCall {
    index: u64,
    name: String,
    arguments: String,
    /// The arguments to fall back on if none arrive piece by piece.
    initial_arguments: String,
}

/// How many more bytes may be kept.
#[derive(Debug)]
pub(crate) struct Room(pub(crate) usize);

impl Room {
    /// Appends as much of `piece` as there is room for; once something was cut there is none, or the text had holes.
    fn append(&mut self, text: &mut String, piece: &str) {
        let kept = &piece[..piece.floor_char_boundary(self.0)];
        self.0 = if kept.len() == piece.len() { self.0 - kept.len() } else { 0 };
        text.push_str(kept);
    }
}

impl Said {
    /// The model said `piece`.
    pub(crate) fn say(&mut self, piece: &str, room: &mut Room) {
        room.append(&mut self.text, piece);
    }

    /// The model called `call`, as a whole.
    pub(crate) fn call(&mut self, call: &ToolCall<'_>, room: &mut Room) {
        let index = self.calls.last().map_or(0, |last| last.index.saturating_add(1));
        self.call_piece(index, call, room);
    }

    /// A piece of the call with this `index`: what is in `piece` is appended.
    pub(crate) fn call_piece(&mut self, index: u64, piece: &ToolCall<'_>, room: &mut Room) {
        if let Some(call) = self.partial_call(index) {
            room.append(&mut call.name, &piece.name);
            room.append(&mut call.arguments, &piece.arguments);
        }
    }

    /// A call begins whose arguments will follow in pieces, or are `initial` if none do.
    pub(crate) fn begin_call(&mut self, index: u64, name: &str, initial: &str, room: &mut Room) {
        if let Some(call) = self.partial_call(index) {
            room.append(&mut call.name, name);
            room.append(&mut call.initial_arguments, initial);
        }
    }

    /// The index of the newest call, for pieces that do not say theirs.
    pub(crate) fn newest_index(&self) -> Option<u64> {
        self.calls.last().map(|call| call.index)
    }

    /// How many calls there are.
    pub(crate) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Whether nothing was said and nothing called.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// Everything, in order.
    pub(crate) fn finish(mut self) -> Answered {
        self.calls.sort_by_key(|call| call.index);
        Answered { text: self.text, tool_calls: self.calls.into_iter().map(PartialCall::finish).collect() }
    }

    /// The call with this index. `None`: there are too many.
    fn partial_call(&mut self, index: u64) -> Option<&mut PartialCall> {
        // From the end: pieces belong to the newest call, nearly always.
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
