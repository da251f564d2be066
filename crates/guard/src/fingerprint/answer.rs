//! What is kept of an answer: hashes of its words and tool calls.

use std::borrow::Cow;

use model::{Answered, ResponsePrint, TextHash};

use super::arguments::{chosen, targets, without_volatile};
use super::digest::Digest;
use super::normalise::{Numbers, words_of};
use super::tool_step::name_and_arguments;

/// What is kept of an answer; none if nothing was said and nothing called.
pub(crate) fn of_answer(answered: &Answered) -> Option<ResponsePrint> {
    let calls: Vec<(&str, Cow<'_, str>)> = answered.tool_calls.iter().map(name_and_arguments).collect();
    let said = |numbers| {
        let called = calls.iter().flat_map(|(name, arguments)| [*name, arguments.as_ref()]);
        let mut digest = Digest::default();
        let has_masked = words_of(std::iter::once(answered.text.as_str()).chain(called), numbers, &mut digest);
        (digest.is_short(), digest.finish(), has_masked)
    };
    let (is_short, literal, has_numbers) = said(Numbers::Masked);
    let literal = literal?;
    let TextHash(adaptive) = if has_numbers { said(Numbers::Kept).1? } else { literal };
    // Turned over by what the calls aim at: the same header written to another file is another
    // answer, however long the header is.
    let aims = calls.iter().fold(0, |aims, (_, arguments)| {
        let arguments = without_volatile(arguments);
        aims ^ targets(&arguments) ^ chosen(&arguments)
    });
    Some(ResponsePrint { literal, adaptive: TextHash(adaptive ^ aims), is_short })
}
