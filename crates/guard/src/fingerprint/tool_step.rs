//! What is kept of the newest step: which tools were called and what they gave.

use std::borrow::Cow;

use model::{Asked, ResultPrint, StepKind, ToolCall, ToolStep};
use twox_hash::XxHash3_64;

use super::arguments::{canonical, chosen, without_volatile};
use super::digest::{ExactHash, fold};
use super::kind;
use super::normalise::{Numbers, words_of};
use super::result::error_text::{says_error, says_error_at_once};
use super::result::{self, gist, nothing};

/// A longer result of a look is content, in which any word may stand.
const LONGEST_MESSAGE: usize = 600;

/// How many words a report has at least.
const REPORT: usize = 8;

/// The newest step, and how many seconds its tools say that they waited.
pub(super) fn tool_step(asked: &Asked<'_>) -> Option<(ToolStep, u16)> {
    if asked.tool_calls.is_empty() {
        return None;
    }
    let signatures: Vec<Signature> = asked.tool_calls.iter().map(Signature::of).collect();
    let is_report =
        || asked.tool_results.iter().map(|result| result.split_whitespace().count()).sum::<usize>() >= REPORT;
    let kind = match kind::of_calls(&asked.tool_calls) {
        // A sub-agent that reports was asked for what it found; one that says that it is done has
        // done something.
        StepKind::Other if asked.tool_calls.iter().all(kind::is_delegation) && is_report() => StepKind::Look,
        kind => kind,
    };
    // A file that was changed may well speak of errors: only the head of the result tells whether
    // it was.
    let says = |result: &str| match kind {
        StepKind::Change => says_error_at_once(result),
        // So may a file that is read.
        StepKind::Look if result.len() > LONGEST_MESSAGE => says_error_at_once(result),
        _ => says_error(result),
    };
    let (mut result, waited) = result::of_results(asked.tool_results.iter().map(Cow::as_ref));
    let is_patch = asked.calls_are_written && asked.tool_calls.iter().all(kind::is_patch);
    let is_error = asked.tool_results.iter().any(|result| says(result) && (!is_patch || kind::is_about_patch(result)));
    let results = asked.tool_results.iter().map(Cow::as_ref);
    if is_error {
        result.gist = gist::of_error(&asked.tool_calls, results).unwrap_or(result.gist);
    } else if let Some(gist) = nothing::gist_of_nothing(&asked.tool_calls, results) {
        result = ResultPrint { gist, is_empty: true, ..result };
    }
    let step = ToolStep {
        literal: together(signatures.iter().map(|call| call.literal)),
        adaptive: together(signatures.iter().map(|call| call.adaptive)),
        result,
        kind,
        is_error,
        is_written: asked.calls_are_written,
    };
    Some((step, waited))
}

/// Hashes of the name and the arguments of a tool call.
struct Signature {
    /// Numbers masked.
    literal: u64,
    /// Numbers kept.
    adaptive: u64,
}

impl Signature {
    fn of(call: &ToolCall<'_>) -> Signature {
        let (name, arguments) = name_and_arguments(call);
        let name = XxHash3_64::oneshot(name.as_bytes());
        let (masked, has_numbers) = exact(&arguments, Numbers::Masked);
        let literal = fold(name, masked);
        let kept = without_volatile(&arguments);
        let is_same = !has_numbers && matches!(kept, Cow::Borrowed(_));
        let adaptive = if is_same { literal } else { fold(name, exact(&kept, Numbers::Kept).0) };
        // What was chosen is another call each time, although it is masked in a text.
        let adaptive = match chosen(&kept) {
            0 => adaptive,
            chosen => fold(adaptive, chosen),
        };
        Signature { literal, adaptive }
    }
}

pub(super) fn name_and_arguments<'c>(call: &'c ToolCall<'_>) -> (&'c str, Cow<'c, str>) {
    (&call.name, canonical(&call.arguments))
}

/// A hash of a text, and whether a number was masked in it.
fn exact(text: &str, numbers: Numbers) -> (u64, bool) {
    let mut hash = ExactHash::default();
    let has_masked = words_of([text], numbers, &mut hash);
    (hash.finish(), has_masked)
}

/// One hash of several whose order says nothing: parallel calls come back in any.
fn together(hashes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let count = hashes.len() as u64;
    let with = |all: u64, hash: u64| XxHash3_64::oneshot_with_seed(all, &hash.to_le_bytes());
    // Most steps have one call, which need not be put in order.
    if count < 2 {
        return hashes.fold(count, with);
    }
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.into_iter().fold(count, with)
}
