//! Progress since the last lap ends a chain of repetitions. A new action that succeeded ends it at
//! once: the same test after another edit is work. Things that were only seen are fillers between
//! two tries, up to a few: an agent that reads around and runs the same failing test is stuck.

use model::Novelty;

use crate::window::PackedFingerprint;

/// How many new things may be seen in a lap.
const FILLERS: usize = 2;

/// What ends a chain of repetitions, in addition to a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainEnd {
    /// A new action, or more new things seen than a lap may have.
    Work,
    /// The same, or the result of a new call, other than the one with this signature.
    Discovery(u64),
    /// Anything new.
    Progress,
    /// Nothing.
    Rest,
}

fn is_same_call(one: &PackedFingerprint, other: &PackedFingerprint) -> bool {
    one.tool_signature().is_some() && one.tool_signature() == other.tool_signature()
}

/// Whether the call at `place` is not the one with the signature `known` and was not made before.
/// The results of one call may differ each time and still say nothing.
fn is_first(calls: &[&PackedFingerprint], place: usize, known: u64) -> bool {
    let is_other = calls[place].tool_signature() != Some(known);
    is_other && !calls[..place].iter().any(|call| is_same_call(call, calls[place]))
}

/// How many different results a source must have given.
const SOURCE: usize = 3;

/// Whether the call at `place` is made again and again and gives different words nearly every time:
/// a queue, a bisection.
fn is_source(calls: &[&PackedFingerprint], place: usize) -> bool {
    let shape = |call: &PackedFingerprint| call.tools().map(|step| step.result.shape);
    let same = || calls.iter().filter(|call| is_same_call(call, calls[place]));
    // A cheap test that rules out most calls.
    let count = same().count();
    if count < SOURCE {
        return false;
    }
    let mut distinct: Vec<Option<u32>> = Vec::new();
    for call in same() {
        if !distinct.contains(&shape(call)) {
            distinct.push(shape(call));
        }
    }
    distinct.len() >= SOURCE && distinct.len() * 3 > count * 2
}

/// Whether the call at `place` gives something new at least one time in three.
fn is_alive(calls: &[&PackedFingerprint], place: usize) -> bool {
    let same = || calls.iter().filter(|call| is_same_call(call, calls[place]));
    same().filter(|call| call.novelty() == Novelty::Found).count() * 3 > same().count()
}

/// Whether the call at `place` took something new from a source, and the last of `calls` does not
/// always fail.
pub(crate) fn is_supplied(calls: &[&PackedFingerprint], place: usize) -> bool {
    !calls.last().is_some_and(|current| always_fails(calls, current)) && is_source(calls, place)
}

/// Whether the call at `place` succeeded between failures of the same kind with different
/// arguments: one thing after the other is refused and then done right.
fn is_done_right(calls: &[&PackedFingerprint], place: usize, later: usize, earlier: usize) -> bool {
    let (Some(done), Some(later), Some(earlier)) = (calls[place].tools(), calls[later].tools(), calls[earlier].tools())
    else {
        return false;
    };
    let have_failed = later.is_error && earlier.is_error && later.adaptive != earlier.adaptive;
    have_failed && !done.is_error && done.kind == later.kind && done.kind == earlier.kind
}

/// Whether `call` failed, and never succeeds. A call that fails only sometimes tests each thing
/// that comes from a source, as in a bisection.
fn always_fails(calls: &[&PackedFingerprint], call: &PackedFingerprint) -> bool {
    let fails = |call: &PackedFingerprint| call.tools().is_some_and(|step| step.is_error);
    fails(call) && calls.iter().filter(|other| is_same_call(other, call)).all(|other| fails(other))
}

/// Whether there was progress between the calls at two places, in the conversation of either, so
/// that the later call is not a lap of a loop with the earlier one.
pub(crate) fn is_after_progress(
    calls: &[&PackedFingerprint],
    later: usize,
    earlier: usize,
    chain_end: ChainEnd,
) -> bool {
    if chain_end == ChainEnd::Rest {
        return false;
    }
    let first = earlier + 1;
    let conversations = [calls[later].conversation(), calls[earlier].conversation()];
    let mut found = 0;
    // The step that the later call reports was done before it asked, so it counts.
    for (place, call) in (first..).zip(&calls[first..=later]) {
        // The cheap test first: this runs for every pair of calls that count, and most report
        // nothing new.
        if !call.novelty().is_progress() || !conversations.contains(&call.conversation()) {
            continue;
        }
        match call.novelty() {
            Novelty::Changed => return true,
            // A call that gave something new in between is alive: a terminal that is read, a queue.
            Novelty::Found if place < later && is_same_call(call, calls[later]) && is_alive(calls, later) => {
                return true;
            }
            Novelty::Found if is_source(calls, place) && !always_fails(calls, calls[later]) => return true,
            Novelty::Found if is_done_right(calls, place, later, earlier) => return true,
            Novelty::Found if matches!(chain_end, ChainEnd::Discovery(call) if is_first(calls, place, call)) => {
                return true;
            }
            Novelty::Found => found += 1,
            _ => {}
        }
    }
    found > if chain_end == ChainEnd::Progress { 0 } else { FILLERS }
}
