//! Fingerprints: what the detector keeps of a call.

use crate::{CallId, ConversationId, Timestamp};

/// A 64-bit SimHash of a text. It is stored, so the hash function never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextHash(pub u64);

impl TextHash {
    /// The number of bits in which the two differ.
    pub fn distance(self, other: TextHash) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Whether the two texts count as similar: a distance below 3.
    pub fn is_similar(self, other: TextHash) -> bool {
        // Clears the lowest set bit twice and tests for zero. This runs for every call in a window;
        // counting all bits takes three times as long.
        let differing = self.0 ^ other.0;
        let but_one = differing & differing.wrapping_sub(1);
        but_one & but_one.wrapping_sub(1) == 0
    }
}

/// The fingerprint of a call: hashes, never text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fingerprint {
    /// The call.
    pub call: CallId,
    /// Orders the agent's calls of this epoch: the number of the previous call plus one. The first
    /// call takes its arrival time as its number, so that an agent that left memory and returns is
    /// numbered above its stored calls.
    pub number: u64,
    /// When it came.
    pub time: Timestamp,
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// A hash of the request's bytes: a retry has the same.
    pub body: u64,
    /// The prompt, numbers masked; `None` if it had no text.
    pub prompt: Option<TextHash>,
    /// Whether the prompt is too short to be strong evidence.
    pub prompt_is_short: bool,
    /// Whether the prompt reports an error.
    pub prompt_is_error: bool,
    /// Whether the prompt is so short that different users are likely to write the same.
    pub prompt_is_common: bool,
    /// The turn it belongs to.
    pub turn: Turn,
    /// The progress of the work on that turn.
    pub step: Step,
    /// The tool calls of the newest step, with their results.
    pub tools: Option<ToolStep>,
    /// The response, once there is one.
    pub response: Option<ResponsePrint>,
    /// Its outcome so far.
    pub outcome: Outcome,
    /// Whether the same request was in flight when it came: one of several samples.
    pub is_sample: bool,
    /// Seconds since the last request or answer in its conversation, when it came.
    pub silence: u16,
    /// What its tool step contributed, compared with the steps before it.
    pub novelty: Novelty,
}

impl Fingerprint {
    /// A call that has not ended, and of which nothing else is known.
    pub fn new(call: CallId, number: u64, time: Timestamp) -> Fingerprint {
        Fingerprint {
            call,
            number,
            time,
            conversation: ConversationId(0),
            body: 0,
            prompt: None,
            prompt_is_short: false,
            prompt_is_error: false,
            prompt_is_common: false,
            turn: Turn { message: 0, position: 0 },
            step: Step { depth: 0, newest: 0 },
            tools: None,
            response: None,
            outcome: Outcome::Pending,
            is_sample: false,
            silence: 0,
            novelty: Novelty::Neutral,
        }
    }
}

/// A user message, identified by its content and the number of user messages before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// A hash of the user message.
    pub message: u64,
    /// The number of user messages before it.
    pub position: u32,
}

/// The progress of the work on a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The number of messages after the user's.
    pub depth: u32,
    /// A hash of the newest step.
    pub newest: u64,
}

/// The tool calls of one step and their results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolStep {
    /// The signature with every number masked (`counting = "literal"`).
    pub literal: u64,
    /// The signature with numbers kept, timestamps and ids masked (`counting = "adaptive"`).
    pub adaptive: u64,
    /// The results of the calls.
    pub result: ResultPrint,
    /// The purpose of the calls.
    pub kind: StepKind,
    /// Whether the results report an error.
    pub is_error: bool,
    /// Whether the calls were written as text (a fenced command block) and not made as tool calls.
    pub is_written: bool,
    /// The words of the texts that a look was made with: 0 if it had none, or it is no look.
    pub wording: WordSet,
}

/// Which words a short text has: a bit for each, so that two texts can be compared by the words
/// that they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WordSet(pub u32);

impl WordSet {
    /// Adds a word by its hash.
    pub fn add(&mut self, hash: u64) {
        self.0 |= 1 << (hash >> 59);
    }

    /// Whether half of the words of the shorter text are in both.
    pub fn is_reworded(self, other: WordSet) -> bool {
        let [common, one, other] = [self.0 & other.0, self.0, other.0].map(u32::count_ones);
        common > 0 && common * 2 >= one.min(other)
    }

    /// Whether three quarters of all their words are in both.
    pub fn is_alike(self, other: WordSet) -> bool {
        let [common, all] = [self.0 & other.0, self.0 | other.0].map(u32::count_ones);
        common > 0 && common * 4 >= all * 3
    }
}

/// The results of one step, hashed in several ways.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResultPrint {
    /// A hash without ids, times and numbers.
    pub shape: u32,
    /// A hash with numbers and without volatile parts: ids, clocks, durations, process ids, ports,
    /// temporary names.
    pub kept: u32,
    /// A hash without the words of the calls themselves: it identifies the kind of an error or of
    /// an empty result. For a look with a [wording](ToolStep::wording) and a short result it is the
    /// [set](WordSet) of the result's other words, and for a change a hash of what it aims at.
    pub gist: u32,
    /// The first two of those numbers, and a weighted sum of all, negative if there are sizes among
    /// them: how they move tells progress from jitter.
    pub numbers: [f32; 3],
    /// Whether the result is empty or says that nothing was found.
    pub is_empty: bool,
    /// Whether it has only a few words: a state, a label, “ok”.
    pub is_short: bool,
}

impl ResultPrint {
    /// The finding, independent of the query: tools repeat a query that found nothing.
    pub fn finding(&self) -> u32 {
        if self.is_empty { self.gist } else { self.kept }
    }

    /// Whether both say that nothing was found, and say no more than that.
    pub fn is_same_nothing(&self, other: ResultPrint) -> bool {
        self.is_empty && other.is_empty && self.gist == other.gist
    }
}

/// The purpose of a step's tool calls. It is stored, so a number never changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum StepKind {
    /// Unknown.
    #[default]
    Other = 0,
    /// Reading: read, search, list, ask for a status.
    Look = 1,
    /// Changing: edit, write, move, install, send.
    Change = 2,
    /// Running something to check it: tests, a build, a linter.
    Run = 3,
    /// Notes of the agent's own: plans, task lists, thoughts.
    Plan = 4,
    /// Waiting.
    Wait = 5,
}

/// What a tool step contributed, compared with the earlier steps of its conversation. It is stored,
/// so a number never changes its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum Novelty {
    /// No step, or one without information: a new error, a plan.
    #[default]
    Neutral = 0,
    /// The same call gave the same result again.
    Stale = 1,
    /// Another look gave a known result, or none.
    Barren = 2,
    /// The agent waited before it looked again.
    Waited = 3,
    /// A new result.
    Found = 4,
    /// A new change.
    Changed = 5,
    /// The same call gave the same result again, except for numbers that go back and forth.
    Jitter = 6,
    /// No tool was used, and the answer and the message before it have only words that were said
    /// before.
    Idle = 7,
}

impl Novelty {
    /// Whether the step is progress.
    pub fn is_progress(self) -> bool {
        matches!(self, Novelty::Found | Novelty::Changed)
    }

    /// Whether the step is a repetition.
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
    /// A hash from 1 to 15 of the words around its tool calls: too small to recover a text, enough
    /// to see that consecutive answers say the same. 0 if there are few words or no tool calls.
    pub remark: u8,
}

/// The outcome of a call. It is stored, so a number never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum Outcome {
    /// Not ended yet.
    Pending = 0,
    /// Answered.
    Answered = 1,
    /// Ended with an error, or broken off.
    Failed = 2,
    /// Refused by the proxy.
    Refused = 3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_similar_up_to_two_bits() {
        for bits in [0, 1, 1 << 63, 3, 1 << 63 | 1, 7, 1 << 63 | 1 << 20 | 1, u64::MAX] {
            for hash in [0, 0x0123_4567_89ab_cdef_u64, u64::MAX] {
                let (one, other) = (TextHash(hash), TextHash(hash ^ bits));
                assert_eq!(one.is_similar(other), one.distance(other) < 3, "{one:?} {other:?}");
            }
        }
    }
}
