//! The print of the newest step: which tools were called, and their results.

use std::borrow::Cow;

use model::{Asked, ResultPrint, StepKind, ToolCall, ToolStep, WordSet};
use twox_hash::XxHash3_64;

use super::arguments::{canonical, chosen, targets, temporary_files, without_volatile, wording};
use super::digest::{ExactHash, fold};
use super::kind;
use super::normalise::{Numbers, words_of};
use super::print_cache::{self, PrintCache};
use super::result::client_header::{has_failed, runs_silently, without_header};
use super::result::error_text::{says_error, says_error_at_once};
use super::result::nothing::says_underway;
use super::result::{self, gist, lines, nothing};

/// A longer result of a look is content, which may contain any word.
const LONGEST_MESSAGE: usize = 600;

/// The gist of a terminal whose program runs without output.
const SILENT: u32 = 0x7369_6c65;

/// A report has at least so many words.
const REPORT: usize = 8;

/// An action whose result consists of so many numbers shows a state, such as a board: other numbers
/// are another state.
const TABLE: usize = 12;

/// How many steps a thread caches. An agent that is stuck, retries or samples sends one of its last
/// steps again; all others are new.
const PLACES: usize = 16;

thread_local! {
    static STEPS: PrintCache<(ToolStep, u16), PLACES> = const { PrintCache::new() };
}

/// The newest step, and how many seconds of waiting its tools report.
pub(super) fn tool_step(asked: &Asked<'_>) -> Option<(ToolStep, u16)> {
    let Asked { tool_calls, tool_results, has_failed_results, calls_are_written, .. } = asked;
    let reported = Reported {
        tool_calls,
        tool_results,
        has_failed_results: *has_failed_results,
        calls_are_written: *calls_are_written,
    };
    if reported.tool_calls.is_empty() {
        return None;
    }
    Some(STEPS.with(|steps| steps.find_or(reported.key(), || make_step(&reported))))
}

/// The parts of a request from which its step is made.
struct Reported<'a> {
    tool_calls: &'a [ToolCall<'a>],
    tool_results: &'a [Cow<'a, str>],
    has_failed_results: bool,
    calls_are_written: bool,
}

impl Reported<'_> {
    /// A hash of all of it.
    fn key(&self) -> u64 {
        let Reported { tool_calls, tool_results, has_failed_results, calls_are_written } = self;
        let flags = usize::from(*has_failed_results) | usize::from(*calls_are_written) << 1;
        let calls = tool_calls.iter().flat_map(|call| [call.name.as_bytes(), call.arguments.as_bytes()]);
        let results = tool_results.iter().map(|result| result.as_bytes());
        print_cache::key_of(&[tool_calls.len(), tool_results.len(), flags], calls.chain(results))
    }
}

fn make_step(asked: &Reported<'_>) -> (ToolStep, u16) {
    let meant = asked.purpose();
    // Reading a terminal is waiting while its program runs without output.
    let is_silent = !asked.tool_results.is_empty() && asked.tool_results.iter().all(|result| runs_silently(result));
    let may_wait = matches!(meant, StepKind::Look | StepKind::Other);
    let kind = if is_silent && may_wait { StepKind::Wait } else { meant };
    let is_error = asked.has_failed(meant, kind);
    let arguments: Vec<Cow<'_, str>> = asked.tool_calls.iter().map(|call| canonical(&call.arguments)).collect();
    let wording = if kind == StepKind::Look && !is_error { wording_of(&arguments) } else { WordSet::default() };
    let (result, waited) = result::of_results(asked.tool_results.iter().map(Cow::as_ref));
    let mut result = asked.with_outcome(result, is_error, is_silent);
    if !is_error && !result.is_empty {
        result.gist = asked.gist(kind, wording, &arguments).unwrap_or(result.gist);
    }
    let may_move = matches!(kind, StepKind::Change | StepKind::Other) && !is_error;
    if may_move && asked.tool_results.iter().any(|result| is_table(result)) {
        result.shape = result.kept;
    }
    // A batch does one thing to each temporary file, so the file distinguishes its calls. A result
    // that is not short does so by itself.
    let names_files = !is_error && result.is_short && !result.is_empty;
    let names = asked.tool_calls.iter().map(|call| &*call.name);
    let signatures: Vec<Signature> =
        names.zip(&arguments).map(|(name, arguments)| Signature::of(name, arguments, names_files)).collect();
    let step = ToolStep {
        literal: together(signatures.iter().map(|call| call.literal)),
        adaptive: together(signatures.iter().map(|call| call.adaptive)),
        result,
        kind,
        is_error,
        is_written: asked.calls_are_written,
        wording,
    };
    (step, waited)
}

impl Reported<'_> {
    /// What its calls are for. A sub-agent that reports was asked to find something out; one that
    /// only says that it is done has done something.
    fn purpose(&self) -> StepKind {
        let is_report = || {
            let words: usize = self.tool_results.iter().map(|result| result.split_whitespace().count()).sum();
            words >= REPORT && !self.tool_results.iter().any(|result| kind::is_launch(result))
        };
        match kind::of_calls(self.tool_calls) {
            StepKind::Other if self.tool_calls.iter().all(kind::is_delegation) && is_report() => StepKind::Look,
            kind => kind,
        }
    }

    /// Whether it failed. `meant` is what its calls are for, and `kind` what it was.
    fn has_failed(&self, meant: StepKind, kind: StepKind) -> bool {
        let is_patch = self.calls_are_written && self.tool_calls.iter().all(kind::is_patch);
        let says_error =
            |result: &Cow<'_, str>| reports_error(meant, result) && (!is_patch || kind::is_about_patch(result));
        // Tools that report checks exit with a failure until all have ended.
        let is_underway = || kind == StepKind::Look && self.tool_results.iter().any(|result| says_underway(result));
        self.has_failed_results && !is_underway() || self.tool_results.iter().any(says_error)
    }

    /// The results without the headers of clients.
    fn outputs(&self) -> impl Iterator<Item = &str> + Clone {
        self.tool_results.iter().map(|result| without_header(result))
    }

    /// `result`, marked as an error, as a state, or as nothing.
    fn with_outcome(&self, result: ResultPrint, is_error: bool, is_silent: bool) -> ResultPrint {
        if is_error {
            let gist = gist::of_error(self.tool_calls, self.outputs()).unwrap_or(result.gist);
            return ResultPrint { gist, ..result };
        }
        if self.tool_calls.iter().all(kind::is_verdict) {
            return ResultPrint { is_short: true, ..result };
        }
        let nothing = nothing::gist_of_nothing(self.tool_calls, self.outputs());
        match nothing.or(is_silent.then_some(SILENT)) {
            Some(gist) => ResultPrint { gist, is_empty: true, ..result },
            None => result,
        }
    }

    /// What stands for the result of a step that worked and showed something: its words, its lines,
    /// or the target of a change. `None` if it has a gist already.
    fn gist(&self, kind: StepKind, wording: WordSet, arguments: &[Cow<'_, str>]) -> Option<u32> {
        match kind {
            StepKind::Look if wording != WordSet::default() => {
                gist::of_finding(self.tool_calls, self.outputs()).map(|words| words.0)
            }
            StepKind::Look if has_numbers(self.tool_calls) => lines::sample(self.outputs()),
            StepKind::Change => target_of(arguments),
            _ => None,
        }
    }
}

/// Whether a result says that the call failed. A changed file may contain the words of errors: only
/// the head of the result shows whether it was changed. So may a file that is read.
fn reports_error(kind: StepKind, result: &str) -> bool {
    let output = without_header(result);
    match kind {
        // The exit code counts only for a change: a search without a match and a failing test end
        // with one, too.
        StepKind::Change => has_failed(result).unwrap_or_else(|| says_error_at_once(output)),
        StepKind::Look if output.len() > LONGEST_MESSAGE => says_error_at_once(output),
        _ => says_error(output),
    }
}

/// The words of the texts in the arguments of a look.
fn wording_of(arguments: &[Cow<'_, str>]) -> WordSet {
    WordSet(arguments.iter().fold(0, |all, canonical| all | wording(canonical).0))
}

/// What a change aims at; `None` if it names nothing, or several changes are made at once.
fn target_of(arguments: &[Cow<'_, str>]) -> Option<u32> {
    let [canonical] = arguments else { return None };
    let target = targets(canonical);
    (target != 0).then_some(target as u32)
}

/// Whether `text` is a table of numbers.
fn is_table(text: &str) -> bool {
    let bytes = text.as_bytes();
    let runs = |is_part: fn(&u8) -> bool| {
        let ends = |at: &usize| is_part(&bytes[*at]) && !bytes.get(at + 1).is_some_and(is_part);
        (0..bytes.len()).filter(ends).count()
    };
    let numbers = runs(u8::is_ascii_digit);
    numbers >= TABLE && numbers >= 2 * runs(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// Whether there are numbers in the arguments, which may select a part of something.
fn has_numbers(calls: &[ToolCall<'_>]) -> bool {
    calls.iter().any(|call| call.arguments.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Hashes of the name and the arguments of a tool call.
struct Signature {
    /// Numbers masked.
    literal: u64,
    /// Numbers kept.
    adaptive: u64,
}

impl Signature {
    /// `names_files`: the names of temporary files count.
    fn of(name: &str, arguments: &str, names_files: bool) -> Signature {
        let name = XxHash3_64::oneshot(name.as_bytes());
        let (masked, has_numbers) = exact(arguments, Numbers::Masked);
        let literal = fold(name, masked);
        let kept = without_volatile(arguments);
        let is_same = !has_numbers && matches!(kept, Cow::Borrowed(_));
        let adaptive = if is_same { literal } else { fold(name, exact(&kept, Numbers::Kept).0) };
        // An id or a time as an argument makes it another call, although it is masked in texts.
        let files = if names_files { temporary_files(&kept) } else { 0 };
        let adaptive = [chosen(&kept), files].into_iter().filter(|hash| *hash != 0).fold(adaptive, fold);
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

/// One hash of several, whatever their order: parallel calls come back in any order.
fn together(hashes: impl ExactSizeIterator<Item = u64>) -> u64 {
    let count = hashes.len() as u64;
    let with = |all: u64, hash: u64| XxHash3_64::oneshot_with_seed(all, &hash.to_le_bytes());
    // Most steps have one call and need no sorting.
    if count < 2 {
        return hashes.fold(count, with);
    }
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.into_iter().fold(count, with)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn checks_that_are_pending_have_not_failed() {
        let check = |expected: bool, command: &'static str, result: &'static str| {
            let arguments = serde_json::json!({ "command": command }).to_string();
            let tool_calls = [ToolCall { name: "Bash".into(), arguments: arguments.into() }];
            let tool_results = [result.into()];
            let reported = Reported {
                tool_calls: &tool_calls,
                tool_results: &tool_results,
                has_failed_results: true,
                calls_are_written: false,
            };
            assert_eq!(make_step(&reported).0.is_error, expected, "{result}");
        };
        check(false, "gh pr checks 77", "Exit code 8\nlint\tpass\nunit\tpending");
        check(true, "gh pr checks 77", "Exit code 1\nlint\tpass\nunit\tcancelled");
        check(true, "pytest -q", "Exit code 1\n2 pending, 1 passed");
    }

    #[test]
    fn tables_consist_of_numbers() {
        assert!(is_table("{\"board\":[[2,0,4,8],[2,2,16,32],[0,0,0,2],[4,4,8,64]],\"score\":148}"));
        assert!(!is_table("id: 34, sent to mark-2134@example.com at 2026-07-24 23:39:54.830593 (id 7, 9, 11)"));
        assert!(!is_table("256 128 2 4"));
    }

    proptest! {
        /// Also with the same pieces in other places.
        #[test]
        fn a_known_step_has_the_print_that_it_would_be_given(
            pieces in prop::collection::vec("[a-c0-9 ]{0,3}", 0..4),
            steps in prop::collection::vec((0..4_usize, any::<bool>(), any::<bool>()), 1..6),
        ) {
            for (cut, has_failed_results, calls_are_written) in steps {
                let (named, given) = pieces.split_at(cut.min(pieces.len()));
                let text = |text: &String| Cow::Owned(text.clone());
                let call = |name: &String| ToolCall { name: text(name), arguments: "{}".into() };
                let tool_calls: Vec<_> = named.iter().map(call).collect();
                let tool_results: Vec<_> = given.iter().map(text).collect();
                let (calls, results) = (tool_calls.clone(), tool_results.clone());
                let asked =
                    Asked { tool_calls, tool_results, has_failed_results, calls_are_written, ..Asked::default() };
                let reported =
                    Reported { tool_calls: &calls, tool_results: &results, has_failed_results, calls_are_written };
                let expected = (!calls.is_empty()).then(|| make_step(&reported));
                for _ in 0..2 {
                    prop_assert_eq!(tool_step(&asked), expected);
                }
            }
        }
    }
}
