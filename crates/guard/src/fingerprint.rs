//! Makes fingerprints: what is kept of a request, and of the answer to it.

use std::borrow::Cow;

use model::{Answered, Asked, ConversationId, ResponsePrint, Step, TextHash, ToolCall, ToolStep, Turn};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::canonical::canonical;
use crate::normalise::{Numbers, words_of};
use crate::simhash::mix;
use crate::words::{Digest, ExactHash};

/// The part of a fingerprint that the request alone decides, made before the agent is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestPrint {
    pub(crate) conversation: ConversationId,
    pub(crate) body: u64,
    pub(crate) prompt: Option<TextHash>,
    pub(crate) prompt_is_short: bool,
    pub(crate) turn: Turn,
    pub(crate) step: Step,
    pub(crate) tools: Option<ToolStep>,
}

/// What is kept of a request.
pub(crate) fn of_request(conversation: &str, body: &[u8], asked: &Asked<'_>) -> RequestPrint {
    let mut digest = Digest::default();
    words_of(asked.prompt.iter().map(Cow::as_ref), Numbers::Masked, &mut digest);
    let prompt_is_short = asked.attachments.is_empty() && digest.is_short();
    let (message, text) = digest.finish();
    let attachments = attachments_hash(&asked.attachments);
    let tools = tool_step(asked);
    RequestPrint {
        conversation: ConversationId(xxh3_64(conversation.as_bytes())),
        body: xxh3_64(body),
        prompt: with_attachments(text, attachments),
        prompt_is_short,
        turn: Turn { message: mix(message, attachments, 0), position: asked.turn_position },
        step: Step { depth: asked.depth, newest: newest_step(tools, asked.newest_message) },
        tools,
    }
}

/// 0 if there are none.
fn attachments_hash(attachments: &[&str]) -> u64 {
    attachments.iter().fold(0, |hash, attachment| mix(hash, 1, xxh3_64(attachment.as_bytes())))
}

/// Turning the bits over by a hash keeps the distances of texts with the same attachments, and takes those with others
/// far away. Attachments without words are a prompt too.
fn with_attachments(text: Option<TextHash>, attachments: u64) -> Option<TextHash> {
    match text {
        Some(TextHash(text)) => Some(TextHash(text ^ attachments)),
        None => (attachments != 0).then_some(TextHash(attachments)),
    }
}

/// A tool step is known by what was called and what came of it, since clients rewrite the messages that carry it.
fn newest_step(tools: Option<ToolStep>, newest_message: &str) -> u64 {
    match tools {
        Some(step) => mix(1, step.adaptive, step.result),
        None => xxh3_64(newest_message.as_bytes()),
    }
}

fn tool_step(asked: &Asked<'_>) -> Option<ToolStep> {
    if asked.tool_calls.is_empty() {
        return None;
    }
    let calls: Vec<(&str, Cow<'_, str>)> = asked.tool_calls.iter().map(name_and_arguments).collect();
    let signature = |numbers| {
        together(calls.iter().map(|(name, arguments)| mix(0, xxh3_64(name.as_bytes()), exact(arguments, numbers))))
    };
    Some(ToolStep {
        literal: signature(Numbers::Masked),
        adaptive: signature(Numbers::Kept),
        result: together(asked.tool_results.iter().map(|result| exact(result, Numbers::Masked))),
    })
}

fn name_and_arguments<'c>(call: &'c ToolCall<'_>) -> (&'c str, Cow<'c, str>) {
    (&call.name, canonical(&call.arguments))
}

fn exact(text: &str, numbers: Numbers) -> u64 {
    let mut hash = ExactHash::default();
    words_of([text], numbers, &mut hash);
    hash.finish()
}

/// One hash of several whose order says nothing: parallel calls come back in any.
fn together(hashes: impl Iterator<Item = u64>) -> u64 {
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.iter().fold(hashes.len() as u64, |all, hash| xxh3_64_with_seed(&hash.to_le_bytes(), all))
}

/// What is kept of an answer; none if nothing was said and nothing called.
pub(crate) fn of_answer(answered: &Answered) -> Option<ResponsePrint> {
    let calls: Vec<(&str, Cow<'_, str>)> = answered.tool_calls.iter().map(name_and_arguments).collect();
    let digest = |numbers| {
        let called = calls.iter().flat_map(|(name, arguments)| [*name, arguments.as_ref()]);
        let mut digest = Digest::default();
        words_of(std::iter::once(answered.text.as_str()).chain(called), numbers, &mut digest);
        digest
    };
    let literal = digest(Numbers::Masked);
    let is_short = literal.is_short();
    Some(ResponsePrint { literal: literal.finish().1?, adaptive: digest(Numbers::Kept).finish().1?, is_short })
}
