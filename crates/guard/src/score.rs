//! The score: how much the newest call of a window looks like the calls before it.

use std::cell::OnceCell;

use model::{CallId, Counting, Fingerprint, Matched, Outcome, SignalCounts, ToolStep};

use crate::rules;

/// What the last call of `window` has in common with those before it.
pub(crate) fn signals(window: &[Fingerprint], counting: Counting) -> SignalCounts {
    let Some(judge) = Judge::new(window, counting) else {
        return SignalCounts::default();
    };
    let mut counts = SignalCounts::default();
    for place in judge.places() {
        counts.similar_prompts += u32::from(judge.prompt_counts(place));
        counts.similar_responses += u32::from(judge.response_counts(place));
        counts.repeated_tool_calls += u32::from(judge.tool_calls_count(place));
    }
    counts
}

/// The calls that made the score of the last call of `window`, and why; that call comes last.
pub(crate) fn matches(window: &[Fingerprint], counting: Counting) -> Vec<(CallId, Vec<Matched>)> {
    let Some(judge) = Judge::new(window, counting) else {
        return Vec::new();
    };
    let mut matches: Vec<(CallId, Vec<Matched>)> = Vec::new();
    let mut places = judge.places().peekable();
    for call in judge.all {
        // Calls that a rule leaves out are evidence only if they failed.
        let place = places.next_if(|place| judge.calls[*place].call == call.call);
        let matched = judge.why(call, place);
        if !matched.is_empty() {
            matches.push((call.call, matched));
        }
    }
    matches.push((judge.current.call, vec![Matched::Trigger]));
    matches
}

/// Whether two calls were asked alike. No prompt, no likeness.
pub(crate) fn are_prompts_similar(one: &Fingerprint, other: &Fingerprint) -> bool {
    matches!((one.prompt, other.prompt), (Some(one), Some(other)) if one.is_similar(other))
}

/// Compares one call with those before it.
struct Judge<'w> {
    all: &'w [Fingerprint],
    /// Those of them that are considered, and then the current call.
    calls: Vec<&'w Fingerprint>,
    current: &'w Fingerprint,
    /// The place of the newest answered call among `calls`.
    newest: Option<usize>,
    // Worked out when they are first needed, which they seldom are.
    asks: OnceCell<Vec<bool>>,
    steps_after: OnceCell<Vec<Option<ToolStep>>>,
    counting: Counting,
}

impl<'w> Judge<'w> {
    fn new(window: &'w [Fingerprint], counting: Counting) -> Option<Judge<'w>> {
        let (current, all) = window.split_last()?;
        let mut calls: Vec<&Fingerprint> = match counting {
            Counting::Literal => all.iter().collect(),
            Counting::Adaptive => rules::without_retried(all, current),
        };
        let newest = calls.iter().rposition(|call| call.outcome == Outcome::Answered);
        calls.push(current);
        let (asks, steps_after) = (OnceCell::new(), OnceCell::new());
        Some(Judge { all, calls, current, newest, asks, steps_after, counting })
    }

    /// The places of the calls that the current one is compared with.
    fn places(&self) -> std::ops::Range<usize> {
        0..self.calls.len() - 1
    }

    fn prompt_counts(&self, place: usize) -> bool {
        let call = self.calls[place];
        if !are_prompts_similar(call, self.current) {
            return false;
        }
        match self.counting {
            Counting::Literal => true,
            Counting::Adaptive => {
                rules::is_asked_again(call, self.current, || self.is_ask(place))
                    && rules::prompt_has_weight(call, self.newest.map(|newest| self.calls[newest]), self.current)
            }
        }
    }

    fn is_ask(&self, place: usize) -> bool {
        self.asks.get_or_init(|| rules::asks(&self.calls))[place]
    }

    fn step_after(&self, place: usize) -> Option<ToolStep> {
        self.steps_after.get_or_init(|| rules::steps_after(&self.calls))[place]
    }

    fn response_counts(&self, place: usize) -> bool {
        let Some(newest) = self.newest.filter(|newest| place < *newest) else {
            return false;
        };
        let (call, newest_call) = (self.calls[place], self.calls[newest]);
        let (Some(one), Some(other)) = (call.response, newest_call.response) else {
            return false;
        };
        match self.counting {
            Counting::Literal => one.literal.is_similar(other.literal),
            Counting::Adaptive => {
                one.adaptive.is_similar(other.adaptive)
                    && rules::response_has_weight(call, newest_call)
                    && !rules::gave_something_new(self.step_after(place), self.step_after(newest))
            }
        }
    }

    fn tool_calls_count(&self, place: usize) -> bool {
        let (Some(one), Some(other)) = (self.calls[place].tools, self.current.tools) else {
            return false;
        };
        match self.counting {
            Counting::Literal => one.literal == other.literal,
            Counting::Adaptive => rules::is_same_tool_step(self.calls[place], self.current),
        }
    }

    fn why(&self, call: &Fingerprint, place: Option<usize>) -> Vec<Matched> {
        let counts = |rule: fn(&Self, usize) -> bool| place.is_some_and(|place| rule(self, place));
        let is_newest = place.is_some() && place == self.newest && call.response.is_some();
        let reasons = [
            (Matched::Prompt, counts(Self::prompt_counts)),
            (Matched::Response, is_newest || counts(Self::response_counts)),
            (Matched::ToolCall, counts(Self::tool_calls_count)),
            (Matched::Failed, call.outcome == Outcome::Failed),
        ];
        reasons.into_iter().filter(|(_, holds)| *holds).map(|(matched, _)| matched).collect()
    }
}
