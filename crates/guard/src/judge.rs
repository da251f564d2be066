//! Compares one call with those before it, signal by signal, and lets the rules decide what counts.

use std::cell::OnceCell;

use model::{CallId, Counting, Fingerprint, Outcome};

use crate::rules::{self, Outgrowth};

/// Compares the last call of a window with those before it.
pub(crate) struct Judge<'w> {
    /// Those that are considered, and then the current call.
    calls: Vec<&'w Fingerprint>,
    /// The place of the newest answered call among `calls`.
    newest: Option<usize>,
    // Worked out when they are first needed, which they seldom are.
    asks: OnceCell<Vec<bool>>,
    outgrowths: OnceCell<Vec<Option<Outgrowth>>>,
    new_work: OnceCell<Vec<bool>>,
    counting: Counting,
}

/// By which signals an earlier call counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) prompt: bool,
    pub(crate) response: bool,
    pub(crate) tool_calls: bool,
}

/// What ends the way back from call to call that counts.
#[derive(Clone, Copy)]
enum Until {
    /// A rest between two of them.
    Rest,
    /// A rest, or new work between two of them.
    NewWork,
}

impl<'w> Judge<'w> {
    /// `None`: there is no call.
    pub(crate) fn new(window: &'w [Fingerprint], counting: Counting) -> Option<Judge<'w>> {
        let (current, all) = window.split_last()?;
        let mut calls: Vec<&Fingerprint> = match counting {
            Counting::Literal => all.iter().collect(),
            Counting::Adaptive => rules::without_retried(all, current),
        };
        if counting == Counting::Adaptive {
            rules::without_samples(&mut calls, current);
        }
        let newest = calls.iter().rposition(|call| call.outcome == Outcome::Answered);
        calls.push(current);
        let (asks, outgrowths, new_work) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Some(Judge { calls, newest, asks, outgrowths, new_work, counting })
    }

    /// The calls that the current one is compared with.
    pub(crate) fn considered(&self) -> impl Iterator<Item = &'w Fingerprint> {
        self.calls[..self.current()].iter().copied()
    }

    /// The call with the newest response, if there is one.
    pub(crate) fn newest_response(&self) -> Option<CallId> {
        self.newest.map(|place| self.calls[place]).filter(|call| call.response.is_some()).map(|call| call.call)
    }

    /// By which signals each of those calls counts.
    pub(crate) fn marks(&self) -> Vec<Marks> {
        match self.counting {
            Counting::Literal => (0..self.current()).map(|place| self.literal(place)).collect(),
            Counting::Adaptive => self.adaptive(),
        }
    }

    fn current(&self) -> usize {
        self.calls.len() - 1
    }

    /// The formula and nothing else.
    fn literal(&self, place: usize) -> Marks {
        let (call, current) = (self.calls[place], self.calls[self.current()]);
        let newest = self.newest.filter(|newest| place < *newest).and_then(|newest| self.calls[newest].response);
        let tools = |call: &Fingerprint| call.tools.filter(|step| !step.is_written).map(|step| step.literal);
        Marks {
            prompt: are_prompts_similar(call, current),
            response: matches!((call.response, newest), (Some(one), Some(other)) if one.literal.is_similar(other.literal)),
            tool_calls: tools(call).is_some() && tools(call) == tools(current),
        }
    }

    fn adaptive(&self) -> Vec<Marks> {
        let mut marks = vec![Marks::default(); self.current()];
        let current = self.current();
        self.trace(current, Until::Rest, |place| self.prompt_counts(place), |place| marks[place].prompt = true);
        if let Some(newest) = self.newest {
            let counts = |place| self.response_counts(place, newest);
            self.trace(newest, Until::NewWork, counts, |place| marks[place].response = true);
        }
        let counts = |place| self.tool_calls_count(place);
        self.trace(current, Until::NewWork, counts, |place| marks[place].tool_calls = true);
        marks
    }

    /// Goes from call to call that counts, back from the one at `from`, as far as they are parts of one loop.
    fn trace(&self, from: usize, until: Until, counts: impl Fn(usize) -> bool, mut mark: impl FnMut(usize)) {
        let mut later = from;
        for place in (0..from).rev().filter(|place| counts(*place)) {
            if rules::is_after_rest(self.calls[later], self.calls[place]) {
                return;
            }
            if matches!(until, Until::NewWork) && rules::is_after_new_work(&self.calls, self.new_work(), later, place) {
                return;
            }
            mark(place);
            later = place;
        }
    }

    fn prompt_counts(&self, place: usize) -> bool {
        let (call, current) = (self.calls[place], self.calls[self.current()]);
        let newest = self.newest.map(|newest| self.calls[newest]);
        are_prompts_similar(call, current)
            && rules::is_same_question(call, newest, current)
            && rules::prompt_has_weight(call, newest, current)
            && rules::is_asked_again(call, current, || self.is_ask(place))
    }

    fn response_counts(&self, place: usize, newest: usize) -> bool {
        let (call, newest_call) = (self.calls[place], self.calls[newest]);
        let (Some(one), Some(other)) = (call.response, newest_call.response) else {
            return false;
        };
        one.adaptive.is_similar(other.adaptive)
            && rules::is_comparable(call, newest_call)
            && rules::response_has_weight(call, newest_call)
            && !rules::gave_something_new(self.outgrowth(place), self.outgrowth(newest))
    }

    fn tool_calls_count(&self, place: usize) -> bool {
        let (call, current) = (self.calls[place], self.calls[self.current()]);
        let is_same_step = || rules::is_same_tool_step(call, current) && rules::is_comparable(call, current);
        (is_same_step() || rules::is_same_error(call, current)) && !call.waited && !current.waited
    }

    fn is_ask(&self, place: usize) -> bool {
        self.asks.get_or_init(|| rules::asks(&self.calls))[place]
    }

    fn outgrowth(&self, place: usize) -> Option<Outgrowth> {
        self.outgrowths.get_or_init(|| rules::outgrowths(&self.calls))[place]
    }

    fn new_work(&self) -> &[bool] {
        self.new_work.get_or_init(|| rules::new_work(&self.calls))
    }
}

/// Whether two calls were asked alike. No prompt, no likeness.
fn are_prompts_similar(one: &Fingerprint, other: &Fingerprint) -> bool {
    matches!((one.prompt, other.prompt), (Some(one), Some(other)) if one.is_similar(other))
}
