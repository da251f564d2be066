//! A fingerprint as it is kept in memory: 144 bytes instead of 208, because there are twenty and
//! more for each of a hundred thousand agents. Rules read the packed form, so no window is unpacked
//! to be scored.

use model::{
    CallId, ConversationId, Fingerprint, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind, TextHash,
    Timestamp, ToolStep, Turn, WordSet,
};

mod parts;
#[cfg(test)]
pub(super) mod tests;

pub(super) use parts::{Parts, Place, WORDS};

/// A packed fingerprint. Absent parts are zero and their flag is not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedFingerprint {
    pub(crate) call: CallId,
    /// The number in the upper 43 bits, the flags below.
    number_and_flags: u64,
    time: i64,
    conversation: u64,
    pub(crate) body: u64,
    prompt: u64,
    turn_message: u64,
    turn_position: u32,
    step_depth: u32,
    step_newest: u64,
    tools: [u64; 2],
    /// The result without numbers, with them, and its gist.
    result: [u32; 3],
    numbers: [f32; 3],
    wording: u32,
    silence: u16,
    more_flags: u8,
    response: [u64; 2],
}

const RESULT_IS_SHORT: u8 = 1;
/// Where the four bits of the words around tool calls begin.
const REMARK: u32 = 1;

const FLAG_BITS: u32 = 21;
const HAS_PROMPT: u64 = 1;
const SHORT_PROMPT: u64 = 1 << 1;
const HAS_TOOLS: u64 = 1 << 2;
const HAS_RESPONSE: u64 = 1 << 3;
const SHORT_RESPONSE: u64 = 1 << 4;
const OUTCOME: u32 = 5;
const WINDOW: u64 = 1 << 7;
const WINDOWS: u64 = 3 << 7;
const IS_SAMPLE: u64 = 1 << 9;
const RESULT_IS_EMPTY: u64 = 1 << 10;
const TOOLS_ARE_ERROR: u64 = 1 << 11;
const TOOLS_ARE_WRITTEN: u64 = 1 << 12;
const KIND: u32 = 13;
const NOVELTY: u32 = 16;
const PROMPT_IS_ERROR: u64 = 1 << 19;
const PROMPT_IS_COMMON: u64 = 1 << 20;

impl PackedFingerprint {
    /// The number of the call.
    pub(crate) fn number(&self) -> u64 {
        self.number_and_flags >> FLAG_BITS
    }

    /// Records that it is in one more window, of two at most.
    pub(crate) fn enter_window(&mut self) {
        self.number_and_flags += WINDOW;
    }

    /// Records that it has left a window; `true` if that was the last one.
    pub(crate) fn leave_window(&mut self) -> bool {
        self.number_and_flags -= WINDOW;
        !self.has(WINDOWS)
    }

    /// Replaces everything but the number of windows that it is in.
    pub(crate) fn update(&mut self, print: &Fingerprint) {
        let windows = self.number_and_flags & WINDOWS;
        *self = PackedFingerprint::from(print);
        self.number_and_flags |= windows;
    }

    /// Whether it is in any window.
    pub(crate) fn is_in_window(&self) -> bool {
        self.has(WINDOWS)
    }

    fn has(&self, flag: u64) -> bool {
        self.number_and_flags & flag != 0
    }

    /// The three bits from `place` on.
    fn bits(&self, place: u32) -> u8 {
        (self.number_and_flags >> place & 7) as u8
    }
}

/// The fields of [`Fingerprint`], read from the packed form.
impl PackedFingerprint {
    pub(crate) fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.time)
    }

    pub(crate) fn conversation(&self) -> ConversationId {
        ConversationId(self.conversation)
    }

    pub(crate) fn prompt(&self) -> Option<TextHash> {
        self.has(HAS_PROMPT).then_some(TextHash(self.prompt))
    }

    pub(crate) fn prompt_is_short(&self) -> bool {
        self.has(SHORT_PROMPT)
    }

    pub(crate) fn prompt_is_error(&self) -> bool {
        self.has(PROMPT_IS_ERROR)
    }

    pub(crate) fn prompt_is_common(&self) -> bool {
        self.has(PROMPT_IS_COMMON)
    }

    pub(crate) fn turn(&self) -> Turn {
        Turn { message: self.turn_message, position: self.turn_position }
    }

    pub(crate) fn step(&self) -> Step {
        Step { depth: self.step_depth, newest: self.step_newest }
    }

    pub(crate) fn tools(&self) -> Option<ToolStep> {
        let [literal, adaptive] = self.tools;
        let (is_error, is_written) = (self.has(TOOLS_ARE_ERROR), self.has(TOOLS_ARE_WRITTEN));
        let kind = StepKind::from_repr(self.bits(KIND)).unwrap_or_default();
        let [shape, kept, gist] = self.result;
        let is_short = self.more_flags & RESULT_IS_SHORT != 0;
        let is_empty = self.has(RESULT_IS_EMPTY);
        let result = ResultPrint { shape, kept, gist, numbers: self.numbers, is_empty, is_short };
        let wording = WordSet(self.wording);
        self.has(HAS_TOOLS).then_some(ToolStep { literal, adaptive, result, kind, is_error, is_written, wording })
    }

    /// The hash that identifies its tool calls.
    pub(crate) fn tool_signature(&self) -> Option<u64> {
        self.has(HAS_TOOLS).then_some(self.tools[1])
    }

    pub(crate) fn response(&self) -> Option<ResponsePrint> {
        let [literal, adaptive] = self.response;
        let (literal, adaptive) = (TextHash(literal), TextHash(adaptive));
        let is_short = self.has(SHORT_RESPONSE);
        let remark = self.more_flags >> REMARK;
        self.has(HAS_RESPONSE).then_some(ResponsePrint { literal, adaptive, is_short, remark })
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::from_repr(self.bits(OUTCOME) & 3).unwrap_or(Outcome::Pending)
    }

    pub(crate) fn is_sample(&self) -> bool {
        self.has(IS_SAMPLE)
    }

    pub(crate) fn silence(&self) -> u16 {
        self.silence
    }

    pub(crate) fn novelty(&self) -> Novelty {
        Novelty::from_repr(self.bits(NOVELTY)).unwrap_or_default()
    }
}

impl From<&Fingerprint> for PackedFingerprint {
    fn from(print: &Fingerprint) -> PackedFingerprint {
        let tools = print.tools.map(|tools| [tools.literal, tools.adaptive]);
        let result = print.tools.map(|tools| tools.result).unwrap_or_default();
        let remark = print.response.map_or(0, |response| response.remark);
        let response = print.response.map(|response| [response.literal.0, response.adaptive.0]);
        let flag = |flag: u64, set: bool| if set { flag } else { 0 };
        let flags = flag(HAS_PROMPT, print.prompt.is_some())
            | flag(SHORT_PROMPT, print.prompt_is_short)
            | flag(PROMPT_IS_ERROR, print.prompt_is_error)
            | flag(PROMPT_IS_COMMON, print.prompt_is_common)
            | flag(HAS_TOOLS, tools.is_some())
            | flag(HAS_RESPONSE, response.is_some())
            | flag(SHORT_RESPONSE, print.response.is_some_and(|response| response.is_short))
            | flag(IS_SAMPLE, print.is_sample)
            | flag(RESULT_IS_EMPTY, result.is_empty)
            | flag(TOOLS_ARE_ERROR, print.tools.is_some_and(|tools| tools.is_error))
            | flag(TOOLS_ARE_WRITTEN, print.tools.is_some_and(|tools| tools.is_written))
            | (print.tools.map(|tools| tools.kind).unwrap_or_default() as u64) << KIND
            | (print.novelty as u64) << NOVELTY
            | (print.outcome as u64) << OUTCOME;
        PackedFingerprint {
            call: print.call,
            number_and_flags: print.number << FLAG_BITS | flags,
            time: print.time.as_millis(),
            conversation: print.conversation.0,
            body: print.body,
            prompt: print.prompt.map_or(0, |prompt| prompt.0),
            turn_message: print.turn.message,
            turn_position: print.turn.position,
            step_depth: print.step.depth,
            step_newest: print.step.newest,
            tools: tools.unwrap_or_default(),
            result: [result.shape, result.kept, result.gist],
            numbers: result.numbers,
            wording: print.tools.map_or(0, |tools| tools.wording.0),
            silence: print.silence,
            more_flags: if result.is_short { RESULT_IS_SHORT } else { 0 } | (remark & 15) << REMARK,
            response: response.unwrap_or_default(),
        }
    }
}

impl From<&PackedFingerprint> for Fingerprint {
    fn from(entry: &PackedFingerprint) -> Fingerprint {
        Fingerprint {
            call: entry.call,
            number: entry.number(),
            time: entry.time(),
            conversation: entry.conversation(),
            body: entry.body,
            prompt: entry.prompt(),
            prompt_is_short: entry.prompt_is_short(),
            prompt_is_error: entry.prompt_is_error(),
            prompt_is_common: entry.prompt_is_common(),
            turn: entry.turn(),
            step: entry.step(),
            tools: entry.tools(),
            response: entry.response(),
            outcome: entry.outcome(),
            is_sample: entry.is_sample(),
            silence: entry.silence(),
            novelty: entry.novelty(),
        }
    }
}
