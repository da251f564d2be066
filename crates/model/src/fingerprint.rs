//! What the detector keeps of a call.

use crate::{CallId, ConversationId, Timestamp};

/// A 64-bit SimHash of a text. Stored: the function that makes it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextHash(pub u64);

impl TextHash {
    /// In how many bits the two differ.
    pub fn distance(self, other: TextHash) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Whether the two texts count as alike: a distance below 3.
    pub fn is_similar(self, other: TextHash) -> bool {
        // Two bits taken away leave none. Asked of every call in a window: counting them all takes
        // three times as long.
        let differing = self.0 ^ other.0;
        let but_one = differing & differing.wrapping_sub(1);
        but_one & but_one.wrapping_sub(1) == 0
    }
}

/// What the detector keeps of a call: hashes, never text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fingerprint {
    /// The call.
    pub call: CallId,
    /// Orders the agent's calls of this epoch: one more than that of the call before. The first has
    /// the time it came, so that an agent that left memory and comes back is numbered above what is
    /// stored of it.
    pub number: u64,
    /// When it came.
    pub time: Timestamp,
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// A hash of the request's bytes: a retry has the same.
    pub body: u64,
    /// The prompt, numbers masked; none if there was no text.
    pub prompt: Option<TextHash>,
    /// Whether the prompt is too short to be strong evidence.
    pub prompt_is_short: bool,
    /// Whether the prompt says that something went wrong.
    pub prompt_is_error: bool,
    /// Whether the prompt is so short that different users may well say the same.
    pub prompt_is_common: bool,
    /// The turn it is part of.
    pub turn: Turn,
    /// How far the work on that turn has come.
    pub step: Step,
    /// The tool calls of the newest step, with their results.
    pub tools: Option<ToolStep>,
    /// What was answered.
    pub response: Option<ResponsePrint>,
    /// How it ended, so far.
    pub outcome: Outcome,
    /// Whether the same request was in flight when it came: one of several samples of one ask.
    pub is_sample: bool,
    /// For how many seconds nothing had been asked or answered in its conversation when it came.
    pub silence: u16,
    /// What its tool step brought, compared with the steps before it.
    pub novelty: Novelty,
}

/// One user message, recognised by itself and by how many user messages stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// A hash of the user message.
    pub message: u64,
    /// How many stand before it.
    pub position: u32,
}

/// How far the work on a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// How many messages follow the user's.
    pub depth: u32,
    /// A hash of the newest step.
    pub newest: u64,
}

/// The tool calls of one step and what they gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolStep {
    /// The signature with every number masked (`counting = "literal"`).
    pub literal: u64,
    /// The signature with numbers kept, timestamps and ids masked (`counting = "adaptive"`).
    pub adaptive: u64,
    /// What the calls gave.
    pub result: ResultPrint,
    /// What the calls are for.
    pub kind: StepKind,
    /// Whether the results say that something went wrong.
    pub is_error: bool,
    /// Whether the calls were written as text (a fenced command block) and not made as tool calls.
    pub is_written: bool,
}

/// The results of one step, in several lights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResultPrint {
    /// A hash without ids, times and numbers.
    pub shape: u32,
    /// A hash with numbers, without what is volatile: ids, clocks, durations, process ids, ports,
    /// temporary names.
    pub kept: u32,
    /// A hash without what the calls themselves said: what kind of error it is, if it is one, or
    /// which nothing.
    pub gist: u32,
    /// The first two of those numbers, and all of them weighed together: how they move tells
    /// progress from jitter.
    pub numbers: [f32; 3],
    /// Whether nothing was given, or the result says that nothing was found.
    pub is_empty: bool,
    /// Whether it has a few words only: a state, a label, “ok”.
    pub is_short: bool,
}

impl ResultPrint {
    /// What was found, whatever it was looked for with: tools repeat a query that found nothing.
    pub fn finding(&self) -> u32 {
        if self.is_empty { self.gist } else { self.kept }
    }
}

/// What the tool calls of a step are for. Stored: a number never changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum StepKind {
    /// They may do anything.
    #[default]
    Other = 0,
    /// They look at something: read, search, list, ask for a status.
    Look = 1,
    /// They change something: edit, write, move, install, send.
    Change = 2,
    /// They run something to see how it goes: tests, a build, a linter.
    Run = 3,
    /// They keep notes of the agent's own: plans, task lists, thoughts.
    Plan = 4,
    /// They let time pass.
    Wait = 5,
}

/// What a tool step brought, compared with the earlier steps of its conversation. Stored: a number
/// never changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum Novelty {
    /// There is no step, or it says nothing: a new error, a plan.
    #[default]
    Neutral = 0,
    /// The same call gave the same again.
    Stale = 1,
    /// Another look gave what was known already, or nothing.
    Barren = 2,
    /// The agent waited before it looked again.
    Waited = 3,
    /// Something new was seen.
    Found = 4,
    /// Something new was done.
    Changed = 5,
    /// The same call gave the same again, but for numbers that go back and forth.
    Jitter = 6,
}

impl Novelty {
    /// Whether the agent got further.
    pub fn is_progress(self) -> bool {
        matches!(self, Novelty::Found | Novelty::Changed)
    }

    /// Whether the step brought nothing.
    pub fn is_repetition(self) -> bool {
        matches!(self, Novelty::Stale | Novelty::Barren | Novelty::Jitter)
    }
}

/// The hashes of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponsePrint {
    /// With every number masked (`counting = "literal"`).
    pub literal: TextHash,
    /// With numbers kept, timestamps and ids masked (`counting = "adaptive"`).
    pub adaptive: TextHash,
    /// Whether it is too short to be strong evidence.
    pub is_short: bool,
}

/// How a call ended. Stored: a number never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum Outcome {
    /// Not yet.
    Pending = 0,
    /// With an answer.
    Answered = 1,
    /// With an error, or without an end.
    Failed = 2,
    /// It was refused by us.
    Refused = 3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_alike_up_to_two_bits() {
        for bits in [0, 1, 1 << 63, 3, 1 << 63 | 1, 7, 1 << 63 | 1 << 20 | 1, u64::MAX] {
            for hash in [0, 0x0123_4567_89ab_cdef_u64, u64::MAX] {
                let (one, other) = (TextHash(hash), TextHash(hash ^ bits));
                assert_eq!(one.is_similar(other), one.distance(other) < 3, "{one:?} {other:?}");
            }
        }
    }
}
