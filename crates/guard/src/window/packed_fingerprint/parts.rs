//! The parts of a packed fingerprint, for packing closed windows.

use model::CallId;

use super::{FLAG_BITS, PackedFingerprint, WINDOWS};

/// How many 64-bit words a fingerprint has besides its numbers.
pub(in crate::window) const WORDS: usize = 12;

/// The places of the words that may follow from others.
pub(in crate::window) enum Place {}

impl Place {
    pub(in crate::window) const TOOLS_ADAPTIVE: usize = 1;
    /// The result without numbers in the lower half, with them in the upper half.
    pub(in crate::window) const RESULT: usize = 2;
    /// The gist of the result in the lower half, its first number in the upper half.
    pub(in crate::window) const GIST: usize = 3;
    pub(in crate::window) const STEP_NEWEST: usize = 5;
    pub(in crate::window) const RESPONSE_ADAPTIVE: usize = 7;
}

/// The parts of a packed fingerprint.
#[derive(Clone, Copy, Debug)]
pub(in crate::window) struct Parts {
    pub(in crate::window) call: CallId,
    pub(in crate::window) number: u64,
    /// Without the count of windows.
    pub(in crate::window) flags: u64,
    pub(in crate::window) time: i64,
    pub(in crate::window) conversation: u64,
    pub(in crate::window) turn_position: u32,
    pub(in crate::window) step_depth: u32,
    pub(in crate::window) silence: u16,
    pub(in crate::window) words: [u64; WORDS],
}

impl Parts {
    /// How many bits the flags have.
    pub(in crate::window) const FLAG_BITS: u32 = FLAG_BITS + 5;
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn split(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl PackedFingerprint {
    pub(in crate::window) fn parts(&self) -> Parts {
        let flags = self.number_and_flags & ((1 << FLAG_BITS) - 1) & !WINDOWS;
        let [shape, kept, gist] = self.result;
        let [first, second, all] = self.numbers.map(f32::to_bits);
        let [tools_literal, tools_adaptive] = self.tools;
        let [response_literal, response_adaptive] = self.response;
        Parts {
            call: self.call,
            number: self.number(),
            flags: flags | u64::from(self.more_flags) << FLAG_BITS,
            time: self.time,
            conversation: self.conversation,
            turn_position: self.turn_position,
            step_depth: self.step_depth,
            silence: self.silence,
            words: [
                tools_literal,
                tools_adaptive,
                join(shape, kept),
                join(gist, first),
                join(second, all),
                self.step_newest,
                response_literal,
                response_adaptive,
                self.body,
                self.prompt,
                self.turn_message,
                u64::from(self.wording),
            ],
        }
    }
}

impl From<Parts> for PackedFingerprint {
    fn from(parts: Parts) -> PackedFingerprint {
        let [tools_literal, tools_adaptive, result, gist, numbers, rest @ ..] = parts.words;
        let [step_newest, response_literal, response_adaptive, body, prompt, turn_message, wording] = rest;
        let ((shape, kept), (gist, first), (second, all)) = (split(result), split(gist), split(numbers));
        PackedFingerprint {
            call: parts.call,
            number_and_flags: parts.number << FLAG_BITS | parts.flags & ((1 << FLAG_BITS) - 1),
            time: parts.time,
            conversation: parts.conversation,
            body,
            prompt,
            turn_message,
            turn_position: parts.turn_position,
            step_depth: parts.step_depth,
            step_newest,
            tools: [tools_literal, tools_adaptive],
            result: [shape, kept, gist],
            numbers: [first, second, all].map(f32::from_bits),
            wording: wording as u32,
            silence: parts.silence,
            more_flags: (parts.flags >> FLAG_BITS) as u8,
            response: [response_literal, response_adaptive],
        }
    }
}
