//! Since when an agent is stuck, and which cycle it repeats. Computed when a loop was found: it
//! explains the kill and decides nothing.

use std::cmp::Reverse;
use std::collections::HashSet;

use model::{ConversationId, Counting, Cycle, MatchedCall, Stuck};

use crate::judge::Judge;
use crate::rules;
use crate::window::PackedFingerprint;

/// Fewer calls than this are not a cycle.
const FEWEST_CALLS: usize = 3;

/// The part of `window` in which the agent is stuck. `matches` are the calls that made the score of
/// its last call.
pub(crate) fn stuck(window: &[&PackedFingerprint], matches: &[MatchedCall], counting: Counting) -> Stuck {
    let Some(current) = window.last() else { return Stuck::default() };
    let judge = Judge::new(window.to_vec(), counting);
    let considered: Vec<&PackedFingerprint> =
        judge.iter().flat_map(Judge::considered).chain([current]).copied().collect();
    // If other conversations do other work, only the calls of this conversation may form a cycle.
    let is_own = |call: &&PackedFingerprint| call.conversation() == current.conversation();
    let own: Vec<&PackedFingerprint> = considered.iter().copied().filter(is_own).collect();
    for calls in [&considered, &own] {
        let calls = since_rest(calls, counting);
        if let Some((cycle, start)) = cycle(calls, |one, other| is_same_place(one, other, counting)) {
            return from_calls(&calls[start..], Some(cycle));
        }
    }
    let first = matches.iter().find(|matched| !matched.alike.is_empty());
    let start = first.and_then(|first| window.iter().position(|call| call.call == first.call)).unwrap_or_default();
    let busy: HashSet<ConversationId> = conversations(window, matches);
    let calls: Vec<&PackedFingerprint> =
        window[start..].iter().filter(|call| busy.contains(&call.conversation())).copied().collect();
    from_calls(&calls, None)
}

/// The calls after the last rest: a call that comes back after a rest is not part of the loop
/// before it.
fn since_rest<'c, 'w>(calls: &'c [&'w PackedFingerprint], counting: Counting) -> &'c [&'w PackedFingerprint] {
    let is_rest =
        |pair: &[&PackedFingerprint]| counting == Counting::Adaptive && rules::is_after_rest(pair[1], pair[0]);
    calls.windows(2).rposition(is_rest).map_or(calls, |place| &calls[place + 1..])
}

/// The conversations of the calls that made the score.
fn conversations(window: &[&PackedFingerprint], matches: &[MatchedCall]) -> HashSet<ConversationId> {
    let alike: HashSet<_> = matches.iter().filter(|matched| !matched.alike.is_empty()).map(|it| it.call).collect();
    let found = window.iter().filter(|call| alike.contains(&call.call)).chain(window.last());
    found.map(|call| call.conversation()).collect()
}

fn from_calls(calls: &[&PackedFingerprint], cycle: Option<Cycle>) -> Stuck {
    let since = calls.first().map(|call| call.time()).unwrap_or_default();
    Stuck { since, calls: calls.iter().map(|call| call.call).collect(), cycle }
}

/// Whether two calls can be the same place in two laps: they report the same tool calls, or have
/// similar prompts and report none.
fn is_same_place(one: &PackedFingerprint, other: &PackedFingerprint, counting: Counting) -> bool {
    let signature = |call: &PackedFingerprint| match counting {
        Counting::Literal => call.tools().filter(|step| !step.is_written).map(|step| step.literal),
        Counting::Adaptive => call.tools().map(|step| step.adaptive),
    };
    match (signature(one), signature(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => {
            matches!((one.prompt(), other.prompt()), (Some(one), Some(other)) if one.is_similar(other))
        }
        _ => false,
    }
}

/// The cycle that `calls` end with, and where it begins: the longest one with at least two laps,
/// and among equally long ones the one with the shortest period.
fn cycle<T>(calls: &[T], is_same: impl Fn(&T, &T) -> bool) -> Option<(Cycle, usize)> {
    let length_of = |period: usize| {
        let places = (period..calls.len()).rev();
        period + places.take_while(|place| is_same(&calls[*place], &calls[*place - period])).count()
    };
    let goes_round = |(period, length): &(usize, usize)| *length >= 2 * period && *length >= FEWEST_CALLS;
    let periods = (1..=calls.len() / 2).map(|period| (period, length_of(period))).filter(goes_round);
    let (period, length) = periods.max_by_key(|(period, length)| (*length, Reverse(*period)))?;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Some((Cycle { period: count(period), laps: count(length / period) }, calls.len() - length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_its_period_and_its_laps() {
        let check = |calls: &str, expected: Option<(u32, u32, usize)>| {
            let letters: Vec<char> = calls.chars().collect();
            let found = cycle(&letters, |one, other| one == other);
            assert_eq!(found.map(|(cycle, start)| (cycle.period, cycle.laps, start)), expected, "{calls}");
        };
        check("", None);
        check("A", None);
        check("AA", None);
        check("AAA", Some((1, 3, 0)));
        check("AAAA", Some((1, 4, 0)));
        check("ABAB", Some((2, 2, 0)));
        check("ABCABC", Some((3, 2, 0)));
        check("ABABA", Some((2, 2, 0)));
        check("XYZABABAB", Some((2, 3, 3)));
        check("AABAABAA", Some((3, 2, 0)));
        check("ABA", None);
        check("ABCABD", None);
        check("ABCDEFGH", None);
        check("AAAAB", None);
    }
}
