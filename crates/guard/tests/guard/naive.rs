//! The rules once more, as plainly as they can be said: everything is kept, and every window is worked out anew from it.

use model::{
    Action, CallId, ConversationId, Counting, Exemption, Fingerprint, KillSwitch, Outcome, Score, SignalCounts,
    Timestamp, WindowKind,
};

use crate::exempts::Exempts;

/// An agent that never forgets.
pub(crate) struct Naive {
    pub(crate) kill_switch: KillSwitch,
    pub(crate) active: bool,
    pub(crate) score: Score,
    pub(crate) exemptions: Vec<Exemption>,
    observed: bool,
    log: Vec<Fingerprint>,
    floor: u64,
    newest: u64,
    max_conversations: usize,
    /// What was in a window when it was last said what left.
    held: Vec<CallId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Pass,
    WouldHaveStopped,
    Observe { incident: bool },
    Block,
    Kill,
}

impl Naive {
    pub(crate) fn new(kill_switch: KillSwitch, max_conversations: usize) -> Naive {
        Naive {
            kill_switch,
            active: true,
            score: Score::default(),
            exemptions: Vec::new(),
            observed: false,
            log: Vec::new(),
            floor: 0,
            newest: 0,
            max_conversations,
            held: Vec::new(),
        }
    }

    pub(crate) fn next_number(&self, now: Timestamp) -> u64 {
        if self.newest == 0 { now.as_millis() as u64 } else { self.newest + 1 }
    }

    /// Takes a call; says what is expected of it and which calls have left.
    pub(crate) fn call(&mut self, print: Fingerprint) -> (Expected, Vec<CallId>) {
        self.newest = print.number;
        assert_eq!(print.is_sample, self.is_sample(print.body));
        self.held.push(print.call);
        self.log.push(Fingerprint { outcome: Outcome::Pending, ..print });
        self.score = self.score_of_newest();
        let expected = self.judge();
        if matches!(expected, Expected::Block | Expected::Kill) {
            self.log.last_mut().unwrap().outcome = Outcome::Refused;
        }
        (expected, self.take_left())
    }

    fn is_sample(&self, body: u64) -> bool {
        let held = self.in_windows();
        let in_flight = |print: &&Fingerprint| print.outcome == Outcome::Pending && print.body == body;
        let in_flight: Vec<_> = self.log.iter().filter(|print| held.contains(&print.call)).filter(in_flight).collect();
        let samples = in_flight.iter().filter(|print| print.is_sample).count();
        in_flight.len() == samples + 1 && samples < 16
    }

    /// How a call ended; whether it was still in a window.
    pub(crate) fn end(&mut self, call: CallId, ended: impl FnOnce(&mut Fingerprint)) -> bool {
        let in_window = self.in_windows().contains(&call);
        if in_window {
            self.log.iter_mut().filter(|print| print.call == call).for_each(|print| {
                print.outcome = Outcome::Pending;
            });
            ended(self.log.iter_mut().find(|print| print.call == call).unwrap());
        }
        in_window
    }

    pub(crate) fn configure(&mut self, kill_switch: KillSwitch) -> u64 {
        let (before, after) = (self.kill_switch.window_size, kill_switch.window_size);
        if before != after {
            self.floor = self.floor.max(self.newest.saturating_sub(u64::from(before.min(after))));
        }
        self.kill_switch = kill_switch;
        self.floor
    }

    pub(crate) fn activate(&mut self) {
        let (held, exemptions) = (std::mem::take(&mut self.held), std::mem::take(&mut self.exemptions));
        *self = Naive { held, exemptions, ..Naive::new(self.kill_switch, self.max_conversations) };
    }

    pub(crate) fn newest(&self) -> Option<&Fingerprint> {
        self.log.last()
    }

    /// What the store holds: calls that ended.
    pub(crate) fn stored(&self) -> (u64, Vec<Fingerprint>) {
        let ended = self.log.iter().filter(|print| print.outcome != Outcome::Pending);
        (self.floor, ended.copied().collect())
    }

    pub(crate) fn restart(&mut self) {
        self.log.retain(|print| print.outcome != Outcome::Pending);
        self.newest = self.log.last().map_or(0, |print| print.number).max(self.floor);
        self.held = self.in_windows();
        self.score = if self.agent_window().is_empty() { Score::default() } else { self.score_of_newest() };
        let observes = self.kill_switch.enabled && self.kill_switch.action == Action::Observe;
        self.observed = observes && self.score.value > self.kill_switch.threshold;
    }

    fn judge(&mut self) -> Expected {
        if self.score.value <= self.kill_switch.threshold {
            self.observed = false;
            return Expected::Pass;
        }
        match (self.kill_switch.enabled, self.kill_switch.action) {
            (false, _) => Expected::WouldHaveStopped,
            (true, Action::Block) => Expected::Block,
            (true, Action::Observe) => Expected::Observe { incident: !std::mem::replace(&mut self.observed, true) },
            (true, Action::Deactivate) => {
                self.active = false;
                Expected::Kill
            }
        }
    }

    fn take_left(&mut self) -> Vec<CallId> {
        let now = self.in_windows();
        let before = std::mem::replace(&mut self.held, now.clone());
        before.into_iter().filter(|call| !now.contains(call)).collect()
    }

    fn in_windows(&self) -> Vec<CallId> {
        let mut calls: Vec<CallId> = self.agent_window().iter().map(|print| print.call).collect();
        for (_, window) in self.conversation_windows() {
            calls.extend(window.iter().map(|print| print.call));
        }
        calls.sort();
        calls.dedup();
        calls
    }

    fn last_of(&self, calls: Vec<Fingerprint>) -> Vec<Fingerprint> {
        let out = calls.len().saturating_sub(usize::from(self.kill_switch.window_size));
        calls[out..].to_vec()
    }

    fn agent_window(&self) -> Vec<Fingerprint> {
        self.last_of(self.log.iter().filter(|print| print.number > self.floor).copied().collect())
    }

    /// The windows of the conversations that are remembered, the least recently used first.
    fn conversation_windows(&self) -> Vec<(ConversationId, Vec<Fingerprint>)> {
        let mut known: Vec<(ConversationId, Vec<Fingerprint>)> = Vec::new();
        for print in self.log.iter().filter(|print| print.number > self.floor) {
            let place = known.iter().position(|(id, _)| *id == print.conversation);
            let (_, mut calls) = place.map_or((print.conversation, Vec::new()), |place| known.remove(place));
            calls.push(*print);
            known.push((print.conversation, calls));
            let over = known.len().saturating_sub(self.max_conversations);
            known.drain(..over);
        }
        known.into_iter().map(|(id, calls)| (id, self.last_of(calls))).collect()
    }

    fn score_of_newest(&self) -> Score {
        let agent = self.agent_window();
        let conversation = self.conversation_windows().pop().unwrap().1;
        let score = |window, calls: &[Fingerprint]| {
            let now = calls.last().unwrap().time;
            let in_force = self.exemptions.iter().filter(|it| now < it.until).map(|it| it.exempt).collect();
            let signals = count(calls, &Exempts { in_force, counting: self.kill_switch.counting });
            Score { value: signals.score(), signals, window }
        };
        let (agent, conversation) = (score(WindowKind::Agent, &agent), score(WindowKind::Conversation, &conversation));
        if conversation.value > agent.value { conversation } else { agent }
    }
}

fn count(window: &[Fingerprint], exempts: &Exempts) -> SignalCounts {
    let counting = exempts.counting;
    let current = *window.last().unwrap();
    let mut calls = window[..window.len() - 1].to_vec();
    if counting == Counting::Adaptive {
        calls = considered(window);
    }
    let newest = calls.iter().rposition(|call| call.outcome == Outcome::Answered);
    let (calls, current) = (&calls, &current);
    if counting == Counting::Literal {
        return literal(&View { calls, current, newest, exempts });
    }
    let view = View { calls, current, newest, exempts };
    let all = calls.len();
    let until = newest.unwrap_or(0);
    SignalCounts {
        similar_prompts: view.laps(all, false, |index| view.prompt(index)).filter(|at| view.prompt_holds(*at)).count()
            as u32,
        similar_responses: view
            .laps(until, true, |index| view.response(index))
            .filter(|at| view.response_holds(*at))
            .count() as u32,
        repeated_tool_calls: view.laps(all, true, |index| view.tools(index)).filter(|at| view.tools_hold(*at)).count()
            as u32,
    }
}

/// The earlier calls without samples and without the retries of failed ones, up to eight of a body, the newest first.
fn considered(window: &[Fingerprint]) -> Vec<Fingerprint> {
    let current = window.last().unwrap();
    let mut kept = Vec::new();
    for index in (0..window.len() - 1).rev() {
        let call = &window[index];
        let later = &window[index + 1..];
        let retried = |index: usize| {
            let call = &window[index];
            call.outcome == Outcome::Failed && window[index + 1..].iter().any(|later| later.body == call.body)
        };
        let before = (index + 1..window.len() - 1).filter(|other| window[*other].body == call.body && retried(*other));
        let is_free = retried(index) && before.count() < 8;
        let is_sampled = current.is_sample
            && call.body == current.body
            && !call.is_sample
            && !later[..later.len() - 1]
                .iter()
                .any(|other| other.body == call.body && !other.is_sample && kept.contains(other));
        if !is_free && !call.is_sample && !is_sampled {
            kept.insert(0, *call);
        }
    }
    kept
}

fn literal(view: &View<'_>) -> SignalCounts {
    let newest = view.newest.and_then(|newest| view.calls[newest].response);
    let all = 0..view.calls.len();
    let alike_prompt = |at: &usize| alike(view.at(*at), view.current);
    let alike_response = |at: &usize| {
        let response = view.at(*at).response;
        response.is_some_and(|one| newest.is_some_and(|other| one.literal.distance(other.literal) < 3))
    };
    let same_tools = |at: &usize| {
        let tools = view.at(*at).tools;
        tools.is_some_and(|one| view.current.tools.is_some_and(|other| one.literal == other.literal))
    };
    let before = 0..view.newest.unwrap_or(0);
    SignalCounts {
        similar_prompts: all.clone().filter(alike_prompt).filter(|at| view.prompt_holds(*at)).count() as u32,
        similar_responses: before.filter(alike_response).filter(|at| view.response_holds(*at)).count() as u32,
        repeated_tool_calls: all.filter(same_tools).filter(|at| view.tools_hold(*at)).count() as u32,
    }
}

struct View<'a> {
    calls: &'a [Fingerprint],
    current: &'a Fingerprint,
    newest: Option<usize>,
    exempts: &'a Exempts,
}

impl View<'_> {
    fn at(&self, index: usize) -> &Fingerprint {
        self.calls.get(index).unwrap_or(self.current)
    }

    fn prompt_holds(&self, index: usize) -> bool {
        ![self.at(index), self.current].iter().any(|call| self.exempts.prompt(call) || self.exempts.step(call))
    }

    fn response_holds(&self, index: usize) -> bool {
        let newest = self.newest.map(|newest| self.at(newest)).filter(|newest| newest.response.is_some());
        !self.exempts.answer(self.at(index)) && !newest.is_some_and(|newest| self.exempts.answer(newest))
    }

    fn tools_hold(&self, index: usize) -> bool {
        !self.exempts.step(self.at(index)) && !self.exempts.step(self.current)
    }

    /// Which calls before `from` count, back to where too much that is new lies between two of them.
    fn laps(&self, from: usize, new_work_ends: bool, counts: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let (mut later, mut laps) = (from, Vec::new());
        for index in (0..from).rev().filter(|index| counts(*index)) {
            let new = (index + 1..later).filter(|between| {
                self.is_new(*between) && self.at(*between).conversation == self.at(later).conversation
            });
            if new_work_ends && new.count() > 2 {
                break;
            }
            later = index;
            laps.push(index);
        }
        laps.into_iter()
    }

    fn is_new(&self, index: usize) -> bool {
        let call = self.at(index);
        let mut others = (0..=self.calls.len()).filter(|other| *other != index).map(|other| self.at(other));
        if call.tools.is_some() {
            return !others.any(|other| same_step(other, call));
        }
        call.response.is_some_and(|one| {
            !others.any(|other| other.response.is_some_and(|other| one.adaptive.distance(other.adaptive) < 3))
        })
    }

    fn prompt(&self, index: usize) -> bool {
        let call = &self.calls[index];
        alike(call, self.current) && self.asked_again(index) && self.same_question(call) && self.weighs(call)
    }

    fn same_question(&self, call: &Fingerprint) -> bool {
        let same_conversation = call.conversation == self.current.conversation;
        let long = call.response.is_some_and(|response| !response.is_short);
        same_words(call, self.current) || same_conversation && long && self.answered_alike(call)
    }

    fn answered_alike(&self, call: &Fingerprint) -> bool {
        let newest = self.newest.and_then(|newest| self.calls[newest].response);
        call.response.is_some_and(|one| newest.is_some_and(|other| one.adaptive.distance(other.adaptive) < 3))
    }

    fn asked_again(&self, index: usize) -> bool {
        let call = &self.calls[index];
        if same_turn(call, self.current) {
            return call.step == self.current.step;
        }
        let before: Vec<&Fingerprint> = self.calls[..index].iter().filter(|other| same_turn(other, call)).collect();
        before.is_empty() || before.iter().any(|other| other.step == call.step)
    }

    fn weighs(&self, call: &Fingerprint) -> bool {
        let moves_on =
            self.current.turn.position > 0 && !(same_turn(call, self.current) && call.step == self.current.step);
        !self.current.prompt_is_short || !moves_on || self.answered_alike(call)
    }

    fn response(&self, index: usize) -> bool {
        let Some(newest) = self.newest else { return false };
        let (call, last) = (&self.calls[index], &self.calls[newest]);
        let short = last.response.is_some_and(|response| response.is_short);
        self.answered_alike(call)
            && (call.conversation == last.conversation || same_words(call, last))
            && (!short || same_words(call, last) || same_step(call, last))
            && !self.progressed(index, newest)
    }

    /// Whether both responses led to tool steps with different results.
    fn progressed(&self, one: usize, other: usize) -> bool {
        let after = |index: usize| {
            let call = self.calls[index];
            let mut later = self.calls[index + 1..].iter().chain([self.current]);
            let next = later.find(|next| same_turn(next, &call));
            next.filter(|next| next.step.depth > call.step.depth).and_then(|next| next.tools)
        };
        let (Some(one), Some(other)) = (after(one), after(other)) else { return false };
        one.result != other.result
    }

    fn tools(&self, index: usize) -> bool {
        let call = &self.calls[index];
        let error = |call: &Fingerprint| call.tools.filter(|tools| tools.is_error).map(|tools| tools.result);
        let same_error = error(call).is_some() && error(call) == error(self.current);
        let same_conversation = call.conversation == self.current.conversation;
        let comparable = same_conversation || same_words(call, self.current);
        comparable && same_step(call, self.current) || same_error && same_conversation
    }
}

fn alike(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.prompt.is_some_and(|one| other.prompt.is_some_and(|other| one.distance(other) < 3))
}

fn same_words(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.prompt.is_some() && other.prompt.is_some() && one.turn.message == other.turn.message
}

fn same_turn(one: &Fingerprint, other: &Fingerprint) -> bool {
    (one.conversation, one.turn) == (other.conversation, other.turn)
}

fn same_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    let known = |print: &Fingerprint| print.tools.map(|tools| (tools.adaptive, tools.result));
    known(one).is_some() && known(one) == known(other)
}
