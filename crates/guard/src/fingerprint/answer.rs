//! What is kept of an answer: hashes of its words and tool calls.

use std::borrow::Cow;

use model::{Answered, ResponsePrint, TextHash};

use super::arguments::{canonical, chosen, targets, without_volatile};
use super::digest::{Digest, UnorderedHash};
use super::normalise::{Numbers, words_of};
use super::tool_step::name_and_arguments;
use super::written_action::action_in;

/// The print of an answer; `None` if it has neither words nor tool calls.
pub(crate) fn of_answer(answered: &Answered) -> Option<ResponsePrint> {
    let calls: Vec<(&str, Cow<'_, str>)> = answered.tool_calls.iter().map(name_and_arguments).collect();
    let texts = || {
        let called = calls.iter().flat_map(|(name, arguments)| [*name, arguments.as_ref()]);
        std::iter::once(answered.text.as_str()).chain(called)
    };
    let (is_short, literal, has_numbers) = digest(texts(), Numbers::Masked);
    let literal = literal?;
    let action = if calls.is_empty() { action_in(&answered.text) } else { None };
    let (is_short, TextHash(adaptive)) = match &action {
        Some(action) => {
            let (is_short, hash, _) = digest([&*canonical(action)], Numbers::Kept);
            (is_short, hash?)
        }
        None if has_numbers => (is_short, digest(texts(), Numbers::Kept).1?),
        None => (is_short, literal),
    };
    // XORed with the targets of the calls: the same header written to another file is another
    // answer, however long the header is.
    let aims = calls.iter().fold(0, |aims, (_, arguments)| {
        let arguments = without_volatile(arguments);
        aims ^ targets(&arguments) ^ chosen(&arguments)
    });
    let remark = if calls.is_empty() { 0 } else { remark_hash(&answered.text) };
    Some(ResponsePrint { literal, adaptive: TextHash(adaptive ^ aims), is_short, remark })
}

/// Returns whether `texts` are short, one hash of them all, and whether a number was masked.
fn digest<'t>(texts: impl IntoIterator<Item = &'t str>, numbers: Numbers) -> (bool, Option<TextHash>, bool) {
    let mut digest = Digest::default();
    let has_masked = words_of(texts, numbers, &mut digest);
    (digest.is_short(), digest.finish(), has_masked)
}

/// Remarks of fewer words come before many steps: “Let me look at the next file.”
const LONG_WORDS: u32 = 9;

/// A hash of the words around tool calls in any order, 1 to 15; 0 if they are few.
fn remark_hash(text: &str) -> u8 {
    let mut words = UnorderedHash::default();
    words_of([text], Numbers::Masked, &mut words);
    if words.count < LONG_WORDS { 0 } else { 1 + (words.hash % 15) as u8 }
}
