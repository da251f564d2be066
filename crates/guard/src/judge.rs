//! Compares one call with those before it, signal by signal, and lets the rules decide what counts.

use model::{Counting, Outcome};

use crate::entry::Entry;
use crate::rules::{self, Outgrowth};

/// Compares the last call of a window with those before it.
pub(crate) struct Judge<'w> {
    /// Those that are considered, and then the current call.
    calls: Vec<&'w Entry>,
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
        Some(Judge { calls, newest, counting })
    }

    /// The call that is judged.
    pub(crate) fn current_call(&self) -> &'w Entry {
        self.calls[self.current()]
    }

    /// The calls that the current one is compared with.
    pub(crate) fn considered(&self) -> &[&'w Entry] {
        &self.calls[..self.current()]
    }

    /// The call with the newest response, if there is one.
    pub(crate) fn newest_response(&self) -> Option<&'w Entry> {
        self.newest.map(|place| self.calls[place]).filter(|call| call.response().is_some())
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
        let (call, current) = (self.calls[place], self.current_call());
        let newest = self.newest.filter(|newest| place < *newest).and_then(|newest| self.calls[newest].response());
        let tools = |call: &Entry| call.tools().filter(|step| !step.is_written).map(|step| step.literal);
        Marks {
            prompt: are_prompts_similar(call, current),
            response: matches!((call.response(), newest), (Some(one), Some(other)) if one.literal.is_similar(other.literal)),
            tool_calls: tools(call).is_some() && tools(call) == tools(current),
        }
    }

    fn adaptive(&self) -> Vec<Marks> {
        let mut marks = vec![Marks::default(); self.current()];
        let current = self.current();
        let counts = |place, call: &Entry| self.prompt_counts(place, call);
        self.trace(current, Until::Rest, counts, |place| marks[place].prompt = true);
        if let Some(newest) = self.newest {
            let outgrowth = rules::outgrowth(&self.calls, newest);
            let counts = |place, call: &Entry| self.response_counts(place, call, self.calls[newest], outgrowth);
            self.trace(newest, Until::NewWork, counts, |place| marks[place].response = true);
        }
        let counts = |_, call: &Entry| self.tool_calls_count(call);
        self.trace(current, Until::NewWork, counts, |place| marks[place].tool_calls = true);
        marks
    }

    /// Goes from call to call that counts, back from the one at `from`, as far as they are parts of one loop.
    fn trace(&self, from: usize, until: Until, counts: impl Fn(usize, &Entry) -> bool, mut mark: impl FnMut(usize)) {
        let mut later = from;
        let earlier = self.calls[..from].iter().enumerate().rev();
        for (place, call) in earlier.filter(|(place, call)| counts(*place, call)) {
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
        let current = self.current_call();
        let newest = self.newest.map(|newest| self.calls[newest]);
        are_prompts_similar(call, current)
            && rules::is_same_question(call, newest, current)
            && rules::prompt_has_weight(call, newest, current)
            && rules::is_asked_again(&self.calls, place, current)
    }

    /// `outgrowth` is what came of the `newest` response.
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
        let current = self.current_call();
        let is_same_step = || rules::is_same_tool_step(call, current) && rules::is_comparable(call, current);
        (is_same_step() || rules::is_same_error(call, current)) && !call.waited() && !current.waited()
    }
}

/// Whether two calls were asked alike. No prompt, no likeness.
fn are_prompts_similar(one: &Entry, other: &Entry) -> bool {
    matches!((one.prompt(), other.prompt()), (Some(one), Some(other)) if one.is_similar(other))
}
