//! The print of a prompt: hashes of its words and attachments.

use std::borrow::Cow;

use model::{Asked, TextHash};
use twox_hash::XxHash3_64;

mod cache;
mod stamp;

use super::digest::{Digest, ExactHash, fold};
use super::normalise::{Numbers, words_of};
use super::result::error_text::says_error_at_once;

/// The print of a prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PromptPrint {
    pub(super) similar: Option<TextHash>,
    pub(super) exact: u64,
    pub(super) is_short: bool,
    pub(super) is_error: bool,
    pub(super) is_common: bool,
}

/// The print of the prompt of `asked`. An agent sends the same prompt with every step of its work
/// on it.
pub(crate) fn of_prompt(asked: &Asked<'_>) -> PromptPrint {
    cache::find_or(asked, make_print)
}

fn make_print(asked: &Asked<'_>) -> PromptPrint {
    let mut prompt = (ExactHash::default(), Digest::default());
    words_of(asked.prompt.iter().map(Cow::as_ref), Numbers::Masked, &mut prompt);
    let (exact, digest) = &mut prompt;
    // Nothing can fail before the first prompt: if that one names errors, they are the task.
    let is_error = asked.turn_position > 0 && asked.prompt.first().is_some_and(|text| says_error_at_once(text));
    if is_error {
        // Other numbers, such as fewer failures, make it another error.
        *exact = ExactHash::default();
        words_of(asked.prompt.iter().map(Cow::as_ref), Numbers::Kept, exact);
    }
    let attachments = attachments_hash(&asked.attachments);
    PromptPrint {
        is_short: asked.attachments.is_empty() && if is_error { digest.is_short() } else { digest.is_brief() },
        is_common: asked.attachments.is_empty()
            && digest.is_common()
            && !stamp::is_stamped(&asked.prompt, digest.is_brief()),
        is_error,
        similar: with_attachments(digest.finish(), attachments),
        exact: match &asked.turn_message {
            Some(message) => hash_of_turn(message),
            None => fold(exact.finish(), attachments),
        },
    }
}

/// The hash of a turn that another text than the prompt identifies.
fn hash_of_turn(message: &[Cow<'_, str>]) -> u64 {
    let mut hash = ExactHash::default();
    words_of(message.iter().map(Cow::as_ref), Numbers::Masked, &mut hash);
    // As for a prompt without attachments.
    fold(hash.finish(), attachments_hash(&[]))
}

/// 0 if there are none.
fn attachments_hash(attachments: &[&str]) -> u64 {
    attachments.iter().fold(0, |hash, attachment| fold(hash, XxHash3_64::oneshot(attachment.as_bytes())))
}

/// XOR with a hash keeps the distance of texts with the same attachments, and moves texts with
/// other attachments far away. Attachments without words are a prompt too.
fn with_attachments(text: Option<TextHash>, attachments: u64) -> Option<TextHash> {
    match text {
        Some(TextHash(text)) => Some(TextHash(text ^ attachments)),
        None => (attachments != 0).then_some(TextHash(attachments)),
    }
}
