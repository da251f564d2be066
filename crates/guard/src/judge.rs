//! Compares one call with earlier calls, signal by signal, and lets the rules decide what counts.

use model::{Counting, Novelty, Outcome, SignalCounts, TextHash};

use crate::rules::{self, ChainEnd, ReportedStep, Standstill, Streaks};
use crate::window::PackedFingerprint;

/// Compares the last call of a window with the earlier ones.
pub(crate) struct Judge<'w> {
    /// The considered calls, oldest first, and the current call at the end.
    calls: Vec<&'w PackedFingerprint>,
    current: &'w PackedFingerprint,
    /// The place of the newest answered call among `calls`.
    newest_answered: Option<usize>,
    pub(crate) counting: Counting,
}

/// By which signals an earlier call counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) prompt: bool,
    pub(crate) response: bool,
    pub(crate) tool_calls: bool,
}

impl Marks {
    /// How many calls count by each signal.
    pub(crate) fn count(marks: &[Marks]) -> SignalCounts {
        let mut counts = SignalCounts::default();
        for marks in marks {
            counts.similar_prompts += u32::from(marks.prompt);
            counts.similar_responses += u32::from(marks.response);
            counts.repeated_tool_calls += u32::from(marks.tool_calls);
        }
        counts
    }
}

/// What an earlier call can have in common with the current one, or its response with the newest.
#[derive(Clone, Copy)]
enum Signal {
    Prompt,
    Response,
    ToolCalls,
}

impl<'w> Judge<'w> {
    /// Judges the last of `calls`; `None` if there is no call.
    pub(crate) fn new(mut calls: Vec<&'w PackedFingerprint>, counting: Counting) -> Option<Judge<'w>> {
        let current = calls.pop()?;
        if counting == Counting::Adaptive {
            rules::leave_out_retried(&mut calls, current);
            rules::leave_out_samples(&mut calls, current);
        }
        let newest_answered = calls.iter().rposition(|call| call.outcome() == Outcome::Answered);
        calls.push(current);
        Some(Judge { calls, current, newest_answered, counting })
    }

    /// The call that is judged.
    pub(crate) fn current_call(&self) -> &'w PackedFingerprint {
        self.current
    }

    /// The calls that the current one is compared with.
    pub(crate) fn considered(&self) -> &[&'w PackedFingerprint] {
        &self.calls[..self.current_place()]
    }

    /// The call with the newest response; `None` if there is no such call.
    pub(crate) fn newest_response(&self) -> Option<&'w PackedFingerprint> {
        self.newest_answered.map(|place| self.calls[place]).filter(|call| call.response().is_some())
    }

    /// By which signals each considered call counts.
    pub(crate) fn marks(&self) -> Vec<Marks> {
        self.marks_with(&self.streaks())
    }

    fn marks_with(&self, streaks: &Streaks) -> Vec<Marks> {
        let mut marks = vec![Marks::default(); self.current_place()];
        self.for_each_mark(|place, signal| match signal {
            Signal::Prompt => marks[place].prompt = true,
            Signal::Response => marks[place].response = true,
            Signal::ToolCalls => marks[place].tool_calls = true,
        });
        if let Some(standstill) = &streaks.standstill {
            standstill.counted(standstill.steps()).for_each(|place| marks[place].tool_calls = true);
            standstill.counted(self.similar_answers(standstill)).for_each(|place| marks[place].response = true);
        }
        if self.is_complaint() {
            let complaints: Vec<usize> = (0..marks.len()).rev().filter(|place| marks[*place].prompt).collect();
            rules::in_vain(&self.calls, &complaints).for_each(|place| marks[place].response = true);
        }
        streaks.narration.iter().for_each(|place| marks[*place].response = true);
        for place in &streaks.idle_talk {
            (marks[*place].prompt, marks[*place].response) = (true, true);
        }
        if let Some(talk) = &streaks.small_talk {
            talk.questions().iter().for_each(|place| marks[*place].prompt = true);
            talk.answers().iter().for_each(|place| marks[*place].response = true);
        }
        marks
    }

    /// How many considered calls count by each signal.
    pub(crate) fn counts(&self) -> SignalCounts {
        let streaks = self.streaks();
        if self.is_complaint() || !streaks.is_empty() {
            return Marks::count(&self.marks_with(&streaks));
        }
        let mut counts = SignalCounts::default();
        self.for_each_mark(|_, signal| match signal {
            Signal::Prompt => counts.similar_prompts += 1,
            Signal::Response => counts.similar_responses += 1,
            Signal::ToolCalls => counts.repeated_tool_calls += 1,
        });
        counts
    }

    /// What several calls in a row say together.
    fn streaks(&self) -> Streaks {
        if self.is_adaptive() { Streaks::of(&self.calls) } else { Streaks::default() }
    }

    fn is_adaptive(&self) -> bool {
        self.counting == Counting::Adaptive
    }

    /// Whether the current call reports a failure to the agent: the same complaint again shows that
    /// the work in between did not help.
    fn is_complaint(&self) -> bool {
        let is_result = self.current.tools().is_some_and(|step| step.is_written);
        self.is_adaptive() && self.current.prompt_is_error() && !is_result
    }

    /// The places of the calls whose answers led to the steps of `standstill` and are like earlier
    /// answers. In a long standstill every answer counts, whatever its words.
    fn similar_answers(&self, standstill: &Standstill) -> impl Iterator<Item = usize> {
        let is_long = standstill.is_long();
        let before = |step: &usize| {
            (0..*step).rev().find(|place| self.calls[*place].conversation() == self.calls[*step].conversation())
        };
        standstill
            .all_steps()
            .filter_map(move |step| before(&step))
            .filter(move |place| is_long || self.answers_like_before(*place))
    }

    fn answers_like_before(&self, place: usize) -> bool {
        let Some(answer) = self.calls[place].response() else { return false };
        let is_like = |earlier: &&PackedFingerprint| {
            let same_conversation = earlier.conversation() == self.calls[place].conversation();
            same_conversation && earlier.response().is_some_and(|other| other.adaptive.is_similar(answer.adaptive))
        };
        self.calls[..place].iter().any(is_like)
    }

    /// Calls `mark` with the place of each call that counts, once for each signal by which it
    /// counts.
    fn for_each_mark(&self, mark: impl FnMut(usize, Signal)) {
        match self.counting {
            Counting::Literal => self.mark_literally(mark),
            Counting::Adaptive => self.mark_adaptively(mark),
        }
    }

    /// The place of the current call, which is behind all considered calls.
    fn current_place(&self) -> usize {
        self.calls.len() - 1
    }

    /// Marks by the literal formula alone.
    fn mark_literally(&self, mut mark: impl FnMut(usize, Signal)) {
        let tools = |call: &PackedFingerprint| call.tools().filter(|step| !step.is_written).map(|step| step.literal);
        let response = |call: &PackedFingerprint| call.response().map(|response| response.literal);
        let newest = self.newest_answered.map(|newest| (newest, response(self.calls[newest])));
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

    /// Marks by the rules.
    fn mark_adaptively(&self, mut mark: impl FnMut(usize, Signal)) {
        let current = self.current_place();
        // Most calls are steps of work on one prompt; this cheap test comes first.
        let has_moved_on = |call: &PackedFingerprint| rules::has_moved_on(call, self.current);
        let is_complaint = self.is_complaint();
        // The same template of a complaint may apply to several documents.
        let is_elsewhere = |call: &PackedFingerprint| {
            is_complaint && self.current.turn().position > 0 && call.conversation() != self.current.conversation()
        };
        let counts = |place, call: &PackedFingerprint| {
            !has_moved_on(call) && !is_elsewhere(call) && self.prompt_counts(place, call)
        };
        if is_complaint || !self.current.novelty().is_progress() {
            let chain_end = if is_complaint { ChainEnd::Rest } else { ChainEnd::Progress };
            self.mark_chain(current, chain_end, counts, |place| mark(place, Signal::Prompt));
        }
        if let Some(newest) = self.newest_answered {
            let reported_step = rules::reported_step(&self.calls, newest);
            let newest_call = self.calls[newest];
            let repeated = rules::repeated(&self.calls, reported_step);
            let counts = |place, call: &PackedFingerprint| {
                self.response_counts(place, call, newest_call, reported_step)
                    || (rules::is_comparable(call, newest_call) && rules::came_to_same(&self.calls, place, repeated))
            };
            let chain_end = rules::chain_end(reported_step.map(|reported_step| reported_step.step()));
            self.mark_chain(newest, chain_end, counts, |place| mark(place, Signal::Response));
        }
        if self.current.novelty().is_repetition() {
            let is_barren = self.current.novelty() == Novelty::Barren;
            let chain_end = if is_barren { ChainEnd::Progress } else { rules::chain_end(self.current.tools()) };
            let counts = |_, call: &PackedFingerprint| self.tool_calls_count(call);
            self.mark_chain(current, chain_end, counts, |place| mark(place, Signal::ToolCalls));
        }
    }

    /// Marks the calls that count, backwards from the one at `from`, as far as they belong to one
    /// loop.
    // Not inlined: three copies in one function would not have enough registers.
    #[inline(never)]
    fn mark_chain(
        &self,
        from: usize,
        chain_end: ChainEnd,
        counts: impl Fn(usize, &PackedFingerprint) -> bool,
        mut mark: impl FnMut(usize),
    ) {
        let mut later = from;
        for place in (0..from).rev() {
            let call = self.calls[place];
            if !counts(place, call) {
                continue;
            }
            if rules::is_after_rest(self.calls[later], call) {
                return;
            }
            if rules::may_be_scheduled(self.calls[later], call) && self.is_scheduled(later, &counts) {
                return;
            }
            if rules::is_after_progress(&self.calls, later, place, chain_end) {
                return;
            }
            mark(place);
            later = place;
        }
    }

    /// Whether the calls that count, back from the one at `from`, come at regular intervals.
    #[inline(never)]
    fn is_scheduled(&self, from: usize, counts: &impl Fn(usize, &PackedFingerprint) -> bool) -> bool {
        let earlier = (0..from).rev().filter(|place| counts(*place, self.calls[*place]));
        rules::is_schedule([from].into_iter().chain(earlier).map(|place| self.calls[place]))
    }

    fn prompt_counts(&self, place: usize, call: &PackedFingerprint) -> bool {
        let current = self.current;
        let newest = self.newest_answered.map(|newest| self.calls[newest]);
        are_similar(call.prompt(), current.prompt())
            && rules::is_same_question(call, newest, current)
            && rules::prompt_has_weight(call, newest, current)
            && rules::is_asked_again(&self.calls, place, current)
            && !rules::are_visitors(&self.calls, call, current)
    }

    /// `reported_step` is the outcome of the `newest` response.
    #[inline]
    fn response_counts(
        &self,
        place: usize,
        call: &PackedFingerprint,
        newest: &PackedFingerprint,
        reported_step: Option<ReportedStep<'_>>,
    ) -> bool {
        let (Some(one), Some(other)) = (call.response(), newest.response()) else {
            return false;
        };
        one.adaptive.is_similar(other.adaptive)
            && rules::is_comparable(call, newest)
            && rules::response_has_weight(call, newest, self.current)
            && !rules::gave_something_new(&self.calls, place, reported_step)
            && !rules::are_visitors(&self.calls, call, newest)
    }

    fn tool_calls_count(&self, call: &PackedFingerprint) -> bool {
        rules::is_same_outcome(call, self.current) && call.novelty() != Novelty::Waited
    }
}

/// Whether two texts are alike; a missing text is like no other.
fn are_similar(one: Option<TextHash>, other: Option<TextHash>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.is_similar(other))
}
