//! Fingerprints as bytes: a version, flags, then fixed-width little-endian fields without the
//! absent ones. They are written with every scored call and read by the thousand at start, so the
//! format is small and needs no parser.

use crate::{
    CallId, ConversationId, Fingerprint, Novelty, Outcome, ResponsePrint, ResultPrint, Step, StepKind, TextHash,
    Timestamp, ToolStep, Turn, WordSet,
};
use uuid::Uuid;

/// The first byte. A new layout takes a new number and keeps reading the old one.
const VERSION: u8 = 4;
/// The layout without the wording of a look. Calls that have none are written in it, so that
/// replicas of the previous version can read most calls.
const VERSION_3: u8 = 3;
/// The layout with one hash of a step's results and no novelty.
const VERSION_2: u8 = 2;
/// The layout without the second byte of flags.
const VERSION_1: u8 = 1;

const HAS_PROMPT: u8 = 1;
const PROMPT_IS_SHORT: u8 = 1 << 1;
const HAS_TOOLS: u8 = 1 << 2;
const HAS_RESPONSE: u8 = 1 << 3;
const RESPONSE_IS_SHORT: u8 = 1 << 4;

/// The position of the three bits of the step's kind.
const KIND: u32 = 5;

const IS_SAMPLE: u8 = 1;
/// Up to version 2: the agent had waited for a minute.
const WAITED: u8 = 1 << 1;
const PROMPT_IS_ERROR: u8 = 1 << 1;
const TOOLS_ARE_ERROR: u8 = 1 << 2;
const TOOLS_ARE_WRITTEN: u8 = 1 << 3;
const RESULT_IS_EMPTY: u8 = 1 << 4;
/// The position of the three bits of the novelty.
const NOVELTY: u32 = 5;

/// A flag in the byte of the outcome.
const PROMPT_IS_COMMON: u8 = 1 << 2;
const RESULT_IS_SHORT: u8 = 1 << 3;
/// The position of the four bits of the words around tool calls.
const REMARK: u32 = 4;
/// The bits of the outcome itself.
const OUTCOME: u8 = 3;

/// The size with all fields.
const MAX_SIZE: usize = 154;

/// Encodes a fingerprint.
pub fn encode(fingerprint: &Fingerprint) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAX_SIZE);
    let wording = fingerprint.tools.map(|tools| tools.wording).filter(|wording| *wording != WordSet::default());
    let version = if wording.is_some() { VERSION } else { VERSION_3 };
    bytes.extend([version, flags(fingerprint), more_flags(fingerprint), outcome_code(fingerprint)]);
    bytes.extend(fingerprint.call.0.as_bytes());
    bytes.extend(fingerprint.number.to_le_bytes());
    bytes.extend(fingerprint.time.as_millis().to_le_bytes());
    bytes.extend(fingerprint.silence.to_le_bytes());
    bytes.extend(fingerprint.conversation.0.to_le_bytes());
    bytes.extend(fingerprint.body.to_le_bytes());
    bytes.extend(fingerprint.turn.message.to_le_bytes());
    bytes.extend(fingerprint.turn.position.to_le_bytes());
    bytes.extend(fingerprint.step.depth.to_le_bytes());
    bytes.extend(fingerprint.step.newest.to_le_bytes());
    if let Some(prompt) = fingerprint.prompt {
        bytes.extend(prompt.0.to_le_bytes());
    }
    if let Some(tools) = fingerprint.tools {
        bytes.extend([tools.literal, tools.adaptive].map(u64::to_le_bytes).as_flattened());
        bytes.extend([tools.result.shape, tools.result.kept, tools.result.gist].map(u32::to_le_bytes).as_flattened());
        bytes.extend(tools.result.numbers.map(f32::to_le_bytes).as_flattened());
        bytes.extend(wording.map(|wording| wording.0.to_le_bytes()).as_slice().as_flattened());
    }
    if let Some(response) = fingerprint.response {
        bytes.extend([response.literal.0, response.adaptive.0].map(u64::to_le_bytes).as_flattened());
    }
    bytes
}

/// Decodes a fingerprint; `None` if it is of an unknown version or damaged.
pub fn decode(bytes: &[u8]) -> Option<Fingerprint> {
    let mut reader = Reader(bytes);
    let [version, flags] = reader.take()?;
    let [more_flags, outcome] = match version {
        VERSION | VERSION_3 | VERSION_2 => reader.take()?,
        VERSION_1 => [0, reader.take::<1>()?[0]],
        _ => return None,
    };
    let has = |flag| flags & flag != 0;
    let has_more = |flag| more_flags & flag != 0;
    let call = CallId(Uuid::from_bytes(reader.take()?));
    let number = reader.u64()?;
    let time = Timestamp::from_millis(i64::from_le_bytes(reader.take()?));
    let silence = match version {
        VERSION | VERSION_3 => u16::from_le_bytes(reader.take()?),
        _ => 60 * u16::from(has_more(WAITED)),
    };
    let fingerprint = Fingerprint {
        call,
        number,
        time,
        conversation: ConversationId(reader.u64()?),
        body: reader.u64()?,
        turn: Turn { message: reader.u64()?, position: reader.u32()? },
        step: Step { depth: reader.u32()?, newest: reader.u64()? },
        prompt: if has(HAS_PROMPT) { Some(TextHash(reader.u64()?)) } else { None },
        prompt_is_short: has(PROMPT_IS_SHORT),
        prompt_is_error: version >= VERSION_3 && has_more(PROMPT_IS_ERROR),
        prompt_is_common: outcome & PROMPT_IS_COMMON != 0,
        tools: if has(HAS_TOOLS) { Some(reader.tools(version, [flags, more_flags, outcome])?) } else { None },
        response: if has(HAS_RESPONSE) {
            Some(reader.response(has(RESPONSE_IS_SHORT), outcome >> REMARK)?)
        } else {
            None
        },
        outcome: outcome_of(outcome)?,
        is_sample: has_more(IS_SAMPLE),
        silence,
        novelty: Novelty::from_repr(more_flags >> NOVELTY).unwrap_or_default(),
    };
    reader.0.is_empty().then_some(fingerprint)
}

/// Encodes fingerprints, each preceded by its length.
pub fn encode_all(fingerprints: &[Fingerprint]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(fingerprints.len() * (1 + MAX_SIZE));
    for fingerprint in fingerprints {
        let encoded = encode(fingerprint);
        // No encoding is longer than 154 bytes.
        bytes.push(u8::try_from(encoded.len()).unwrap_or_default());
        bytes.extend(encoded);
    }
    bytes
}

/// Decodes the output of [`encode_all`] and skips unknown or damaged fingerprints.
pub fn decode_all(mut bytes: &[u8]) -> Vec<Fingerprint> {
    let mut fingerprints = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let Some((encoded, rest)) = rest.split_at_checked(usize::from(*length)) else { break };
        fingerprints.extend(decode(encoded));
        bytes = rest;
    }
    fingerprints
}

fn flags(fingerprint: &Fingerprint) -> u8 {
    let flag = |condition, flag| if condition { flag } else { 0 };
    flag(fingerprint.prompt.is_some(), HAS_PROMPT)
        | flag(fingerprint.prompt_is_short, PROMPT_IS_SHORT)
        | flag(fingerprint.tools.is_some(), HAS_TOOLS)
        | flag(fingerprint.response.is_some(), HAS_RESPONSE)
        | flag(fingerprint.response.is_some_and(|response| response.is_short), RESPONSE_IS_SHORT)
        | (fingerprint.tools.map(|tools| tools.kind).unwrap_or_default() as u8) << KIND
}

fn more_flags(fingerprint: &Fingerprint) -> u8 {
    let flag = |condition, flag| if condition { flag } else { 0 };
    flag(fingerprint.is_sample, IS_SAMPLE)
        | flag(fingerprint.prompt_is_error, PROMPT_IS_ERROR)
        | flag(fingerprint.tools.is_some_and(|tools| tools.result.is_empty), RESULT_IS_EMPTY)
        | (fingerprint.novelty as u8) << NOVELTY
        | flag(fingerprint.tools.is_some_and(|tools| tools.is_error), TOOLS_ARE_ERROR)
        | flag(fingerprint.tools.is_some_and(|tools| tools.is_written), TOOLS_ARE_WRITTEN)
}

/// The outcome, two flags and the words around tool calls in one byte.
fn outcome_code(fingerprint: &Fingerprint) -> u8 {
    let code = fingerprint.outcome as u8;
    let is_short = fingerprint.tools.is_some_and(|tools| tools.result.is_short);
    let remark = fingerprint.response.map_or(0, |response| response.remark & 15) << REMARK;
    let code = code | remark;
    code | if fingerprint.prompt_is_common { PROMPT_IS_COMMON } else { 0 } | if is_short { RESULT_IS_SHORT } else { 0 }
}

fn outcome_of(code: u8) -> Option<Outcome> {
    Outcome::from_repr(code & OUTCOME)
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn tools(&mut self, version: u8, [flags, more_flags, outcome]: [u8; 3]) -> Option<ToolStep> {
        Some(ToolStep {
            literal: self.u64()?,
            adaptive: self.u64()?,
            result: ResultPrint { is_short: outcome & RESULT_IS_SHORT != 0, ..self.result(version, more_flags)? },
            kind: StepKind::from_repr(flags >> KIND).unwrap_or_default(),
            is_error: more_flags & TOOLS_ARE_ERROR != 0,
            is_written: more_flags & TOOLS_ARE_WRITTEN != 0,
            wording: WordSet(if version == VERSION { self.u32()? } else { 0 }),
        })
    }

    fn result(&mut self, version: u8, more_flags: u8) -> Option<ResultPrint> {
        let (shape, kept) = (self.u32()?, self.u32()?);
        let (gist, numbers) = match version {
            VERSION | VERSION_3 => (self.u32()?, [self.f32()?, self.f32()?, self.f32()?]),
            _ => (shape, [0.0; 3]),
        };
        let is_empty = more_flags & RESULT_IS_EMPTY != 0;
        Some(ResultPrint { shape, kept, gist, numbers, is_empty, is_short: false })
    }

    fn f32(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes)
    }

    fn response(&mut self, is_short: bool, remark: u8) -> Option<ResponsePrint> {
        Some(ResponsePrint { literal: TextHash(self.u64()?), adaptive: TextHash(self.u64()?), is_short, remark })
    }
}
