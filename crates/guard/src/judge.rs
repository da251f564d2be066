//! Compares one call with those before it, signal by signal, and lets the rules decide what counts.

use model::{Counting, Outcome, SignalCounts, TextHash};

use crate::entry::Entry;
use crate::rules::{self, Outgrowth};

/// Compares the last call of a window with those before it.
pub(crate) struct Judge<'w> {
    /// Those that are considered, and then the current call.
    calls: Vec<&'w Entry>,
    current: &'w Entry,
    /// The place of the newest answered call among `calls`.
    newest: Option<usize>,
    pub(crate) counting: Counting,
}

/// By which signals an earlier call counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) prompt: bool,
    pub(crate) response: bool,
    pub(crate) tool_calls: bool,
}

/// What an earlier call can have in common with the current one, or its response with the newest.
#[derive(Clone, Copy)]
enum Signal {
    Prompt,
    Response,
    ToolCalls,
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
    /// Judges the last of `calls`. `None`: there is no call.
    pub(crate) fn new(mut calls: Vec<&'w Entry>, counting: Counting) -> Option<Judge<'w>> {
        let current = calls.pop()?;
        if counting == Counting::Adaptive {
            rules::leave_out_retried(&mut calls, current);
            rules::leave_out_samples(&mut calls, current);
        }
        let newest = calls.iter().rposition(|call| call.outcome() == Outcome::Answered);
        calls.push(current);
        Some(Judge { calls, current, newest, counting })
    }

    /// The call that is judged.
    pub(crate) fn current_call(&self) -> &'w Entry {
        self.current
    }

    /// The calls that the current one is compared with.
    pub(crate) fn considered(&self) -> &[&'w Entry] {
        &self.calls[..self.place()]
    }

    /// The call with the newest response, if there is one.
    pub(crate) fn newest_response(&self) -> Option<&'w Entry> {
        self.newest.map(|place| self.calls[place]).filter(|call| call.response().is_some())
    }

    /// By which signals each of those calls counts.
    pub(crate) fn marks(&self) -> Vec<Marks> {
        let mut marks = vec![Marks::default(); self.place()];
        self.each(|place, signal| match signal {
            Signal::Prompt => marks[place].prompt = true,
            Signal::Response => marks[place].response = true,
            Signal::ToolCalls => marks[place].tool_calls = true,
        });
        marks
    }

    /// How many of them count by each signal.
    pub(crate) fn counts(&self) -> SignalCounts {
        let mut counts = SignalCounts::default();
        self.each(|_, signal| match signal {
            Signal::Prompt => counts.similar_prompts += 1,
            Signal::Response => counts.similar_responses += 1,
            Signal::ToolCalls => counts.repeated_tool_calls += 1,
        });
        counts
    }

    /// Hands out the place of each call that counts, once for each signal that it counts by.
    fn each(&self, mark: impl FnMut(usize, Signal)) {
        match self.counting {
            Counting::Literal => self.literal(mark),
            Counting::Adaptive => self.adaptive(mark),
        }
    }

    /// The place of the current call, behind those that are considered.
    fn place(&self) -> usize {
        self.calls.len() - 1
    }

    /// The formula and nothing else.
    fn literal(&self, mut mark: impl FnMut(usize, Signal)) {
        let tools = |call: &Entry| call.tools().filter(|step| !step.is_written).map(|step| step.literal);
        let response = |call: &Entry| call.response().map(|response| response.literal);
        let newest = self.newest.map(|newest| (newest, response(self.calls[newest])));
        for (place, call) in self.considered().iter().enumerate() {
            if are_similar(call.prompt(), self.current.prompt()) {
                mark(place, Signal::Prompt);
            }
            if newest.is_some_and(|(newest, words)| place < newest && are_similar(response(call), words)) {
                mark(place, Signal::Response);
            }
            if tools(call).is_some() && tools(call) == tools(self.current) {
                mark(place, Signal::ToolCalls);
            }
        }
    }

    fn adaptive(&self, mut mark: impl FnMut(usize, Signal)) {
        let current = self.place();
        // Most calls are steps of work on one prompt: that is soon seen.
        let has_moved_on = |call: &Entry| rules::has_moved_on(call, self.current);
        let counts = |place, call: &Entry| !has_moved_on(call) && self.prompt_counts(place, call);
        self.trace(current, Until::Rest, counts, |place| mark(place, Signal::Prompt));
        if let Some(newest) = self.newest {
            let outgrowth = rules::outgrowth(&self.calls, newest);
            let newest_call = self.calls[newest];
            let counts = |place, call: &Entry| self.response_counts(place, call, newest_call, outgrowth);
            self.trace(newest, Until::NewWork, counts, |place| mark(place, Signal::Response));
        }
        let counts = |_, call: &Entry| self.tool_calls_count(call);
        self.trace(current, Until::NewWork, counts, |place| mark(place, Signal::ToolCalls));
    }

    /// Goes from call to call that counts, back from the one at `from`, as far as they are parts of one loop.
    // Not inlined: three of them in one function would not have enough registers.
    #[inline(never)]
    fn trace(&self, from: usize, until: Until, counts: impl Fn(usize, &Entry) -> bool, mut mark: impl FnMut(usize)) {
        let mut later = from;
        for place in (0..from).rev() {
            let call = self.calls[place];
            if !counts(place, call) {
                continue;
            }
            if rules::is_after_rest(self.calls[later], call) {
                return;
            }
            if matches!(until, Until::NewWork) && rules::is_after_new_work(&self.calls, later, place) {
                return;
            }
            mark(place);
            later = place;
        }
    }

    fn prompt_counts(&self, place: usize, call: &Entry) -> bool {
        let current = self.current;
        let newest = self.newest.map(|newest| self.calls[newest]);
        are_similar(call.prompt(), current.prompt())
            && rules::is_same_question(call, newest, current)
            && rules::prompt_has_weight(call, newest, current)
            && rules::is_asked_again(&self.calls, place, current)
    }

    /// `outgrowth` is what came of the `newest` response.
    #[inline]
    fn response_counts(&self, place: usize, call: &Entry, newest: &Entry, outgrowth: Option<Outgrowth>) -> bool {
        let (Some(one), Some(other)) = (call.response(), newest.response()) else {
            return false;
        };
        one.adaptive.is_similar(other.adaptive)
            && rules::is_comparable(call, newest)
            && rules::response_has_weight(call, newest)
            && !rules::gave_something_new(&self.calls, place, outgrowth)
    }

    fn tool_calls_count(&self, call: &Entry) -> bool {
        let current = self.current;
        let is_same_step = || rules::is_same_tool_step(call, current) && rules::is_comparable(call, current);
        (is_same_step() || rules::is_same_error(call, current)) && !call.waited() && !current.waited()
    }
}

/// Whether two texts are alike. No text, no likeness.
fn are_similar(one: Option<TextHash>, other: Option<TextHash>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.is_similar(other))
}
