//! The rules once more, as plainly as they can be said: everything is kept, and every window is
//! worked out anew from it.

use model::{
    Action, CallId, ConversationId, Counting, Exemption, Fingerprint, KillSwitch, Novelty, Outcome, Score,
    SignalCounts, StepKind, Timestamp, ToolStep, WindowKind,
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
        assert_eq!(print.is_sample, self.is_sample(&print));
        assert_eq!(print.novelty, self.novelty(&print));
        self.held.push(print.call);
        self.log.push(Fingerprint { outcome: Outcome::Pending, ..print });
        self.score = self.score_of_newest();
        let expected = self.judge();
        if matches!(expected, Expected::Block | Expected::Kill) {
            self.log.last_mut().unwrap().outcome = Outcome::Refused;
        }
        (expected, self.take_left())
    }

    fn is_sample(&self, asked: &Fingerprint) -> bool {
        let held = self.in_windows();
        let in_flight = |print: &&Fingerprint| print.outcome == Outcome::Pending && same_ask(print, asked);
        let in_flight: Vec<_> = self.log.iter().filter(|print| held.contains(&print.call)).filter(in_flight).collect();
        let samples = in_flight.iter().filter(|print| print.is_sample).count();
        in_flight.len() == samples + 1 && samples < 16 && !self.is_later_round(asked)
    }

    /// Whether the round that `asked` would be a sample of began after a pause, and the same had
    /// been answered before.
    fn is_later_round(&self, asked: &Fingerprint) -> bool {
        let same: Vec<Fingerprint> = self.agent_window().into_iter().filter(|call| same_ask(call, asked)).collect();
        let first = same.iter().rposition(|call| !call.is_sample);
        first.is_some_and(|first| {
            let is_answered = same[..first].iter().any(|call| call.outcome == Outcome::Answered);
            is_answered && same[first].silence >= 2
        })
    }

    /// What the step of a call brought, compared with the calls that it can be compared with.
    fn novelty(&self, print: &Fingerprint) -> Novelty {
        let Some(step) = print.tools.filter(|_| !print.is_sample) else {
            // Whether its words are new is told from its body.
            return match print.novelty {
                Novelty::Idle if !print.is_sample => Novelty::Idle,
                _ if !print.is_sample && self.is_beside_work(print) => Novelty::Changed,
                _ => Novelty::Neutral,
            };
        };
        let earlier = self.comparable(print);
        let asks: Vec<Fingerprint> = earlier.iter().filter(|call| !call.is_sample).copied().collect();
        if earlier.iter().any(|call| call.outcome == Outcome::Failed && call.body == print.body) {
            return Novelty::Neutral;
        }
        let steps: Vec<(Fingerprint, ToolStep)> = asks.iter().filter_map(|call| Some((*call, call.tools?))).collect();
        let repeated = |(_, other): &&(Fingerprint, ToolStep)| other.adaptive == step.adaptive;
        let same: Vec<ToolStep> = steps.iter().filter(repeated).map(|(_, other)| *other).collect();
        let of_question: Vec<(Fingerprint, ToolStep)> =
            steps.iter().filter(|(call, _)| call.turn == print.turn).copied().collect();
        if same.is_empty() {
            let brought = new_call(&steps, &step, print);
            let is_seen = || of_question.iter().any(|(_, other)| same_part(other, &step));
            let is_barren = brought == Novelty::Found && (rewords(&of_question, &step) || is_seen());
            let is_answer = brought == Novelty::Barren && is_new_question(&of_question, &step);
            return match brought {
                _ if is_answer || brought == Novelty::Changed && is_tuned(&steps, &step) => Novelty::Neutral,
                _ if is_barren => Novelty::Barren,
                brought => brought,
            };
        }
        let is_other_question =
            |(call, other): &(Fingerprint, ToolStep)| !other.is_error && call.turn.message != print.turn.message;
        let is_look = step.kind == StepKind::Look && !step.is_error && print.turn.position > 0;
        if is_look && steps.iter().filter(repeated).all(is_other_question) {
            return Novelty::Neutral;
        }
        let of_shape: Vec<ToolStep> =
            same.iter().filter(|other| other.result.shape == step.result.shape).copied().chain([step]).collect();
        let is_same =
            |other: &ToolStep| other.result.kept == step.result.kept || other.result.is_same_nothing(step.result);
        let last = asks.iter().rposition(|call| call.tools.is_some_and(|other| other.adaptive == step.adaptive));
        let since = last.map_or(&asks[..], |last| &asks[last + 1..]);
        let is_watched = may_live(&step) && since.iter().chain([print]).any(|call| call.silence >= 2);
        if same.iter().any(is_same) {
            return match step.result.is_empty {
                false if stands_still(&of_shape) => Novelty::Waited,
                false if is_watched && comes_back(&of_shape) => Novelty::Waited,
                _ => Novelty::Stale,
            };
        }
        let alike: Vec<f32> = of_shape[..of_shape.len() - 1].iter().map(|other| other.result.numbers[0]).collect();
        let is_done = !says_nothing(&step) && same.iter().all(|other| other.is_error);
        match (step.kind, alike.is_empty(), step.is_error) {
            (StepKind::Change, false, _) => Novelty::Jitter,
            (StepKind::Change | StepKind::Run | StepKind::Other, _, false) if is_done => Novelty::Changed,
            (StepKind::Change, true, is_error) => {
                let mut shapes: Vec<u32> = same.iter().map(|other| other.result.shape).collect();
                let count = shapes.len();
                shapes.sort_unstable();
                shapes.dedup();
                if !is_error && shapes.len() == count { Novelty::Changed } else { Novelty::Neutral }
            }
            _ if rewords(&of_question, &step) => Novelty::Barren,
            (_, true, true) => Novelty::Neutral,
            (_, true, false) => Novelty::Found,
            // All results of the test have one number at most.
            _ => of_numbers(&[alike, vec![step.result.numbers[0]]].concat(), step.is_error, is_watched),
        }
    }

    /// Whether a conversation begins anew with a few words after others got further.
    fn is_beside_work(&self, print: &Fingerprint) -> bool {
        let window = self.agent_window();
        let last = window.iter().rposition(|call| call.conversation == print.conversation);
        let since = last.map_or(&window[..], |last| &window[last + 1..]);
        let gets_on = since.iter().any(|call| call.novelty.is_progress() && call.tools.is_some());
        (print.turn.position, print.step.depth) == (0, 0) && print.prompt_is_short && gets_on
    }

    fn comparable(&self, print: &Fingerprint) -> Vec<Fingerprint> {
        let agent = self.agent_window();
        let first = agent.first().map_or(u64::MAX, |call| call.number);
        let windows = self.conversation_windows();
        let own = windows.into_iter().find(|(id, _)| *id == print.conversation).map(|(_, calls)| calls);
        let is_alike = |call: &Fingerprint| {
            call.conversation == print.conversation
                || (!print.prompt_is_common && call.turn.message == print.turn.message)
        };
        let older = own.into_iter().flatten().filter(|call| call.number < first);
        older.chain(agent.into_iter().filter(is_alike)).collect()
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

    /// As many asks as the window holds, and the samples of them: samples take no room.
    fn last_of(&self, calls: Vec<Fingerprint>) -> Vec<Fingerprint> {
        let mut kept: Vec<Fingerprint> = Vec::new();
        for call in calls {
            let asks = |kept: &[Fingerprint]| kept.iter().filter(|call| !call.is_sample).count();
            while !call.is_sample && asks(&kept) >= usize::from(self.kill_switch.window_size) {
                kept.remove(0);
            }
            kept.push(call);
        }
        kept
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
            let excess = calls.len().saturating_sub(usize::from(self.kill_switch.window_size));
            let is_literal = self.kill_switch.counting == Counting::Literal;
            let calls = if is_literal { &calls[excess..] } else { calls };
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
    let marks: Vec<[bool; 3]> = view.marks();
    let count = |signal: usize, holds: &dyn Fn(usize) -> bool| {
        (0..calls.len()).filter(|at| marks[*at][signal] && holds(*at)).count() as u32
    };
    SignalCounts {
        similar_prompts: count(0, &|at| view.prompt_holds(at)),
        similar_responses: count(1, &|at| view.response_holds(at)),
        repeated_tool_calls: count(2, &|at| view.tools_hold(at)),
    }
}

/// What a step brought whose calls were not made before.
fn new_call(steps: &[(Fingerprint, ToolStep)], step: &ToolStep, print: &Fingerprint) -> Novelty {
    let is_same = |other: &ToolStep| other.result.gist == step.result.gist || other.result.shape == step.result.shape;
    let known: Vec<ToolStep> = steps.iter().map(|(_, other)| *other).filter(|it| it.is_error && is_same(it)).collect();
    let alike = known.iter().filter(|other| other.result.shape == step.result.shape).chain([step]);
    let numbers: Vec<f32> = alike.map(|other| other.result.numbers[0]).collect();
    let changes: Vec<f32> = numbers.windows(2).map(|pair| pair[1] - pair[0]).filter(|change| *change != 0.0).collect();
    let falls_far = changes.iter().sum::<f32>() < changes.len() as f32 * -4.0;
    let gets_smaller = changes.len() >= 2 && changes.iter().all(|change| *change < 0.0) && falls_far;
    let fails_alike = !known.is_empty() && !gets_smaller;
    let finds_alike = steps.iter().any(|(call, other)| call.turn == print.turn && same_finding(other, step));
    let misses_alike = says_nothing(step)
        && steps
            .iter()
            .any(|(_, other)| says_nothing(other) && other.kind == step.kind && other.result.gist == step.result.gist);
    match (step.is_error, step.kind) {
        (true, _) if fails_alike => Novelty::Stale,
        (true, _) => Novelty::Neutral,
        (_, StepKind::Change) => Novelty::Changed,
        (_, StepKind::Look) if finds_alike => Novelty::Barren,
        (_, StepKind::Run | StepKind::Other) if misses_alike => Novelty::Barren,
        _ => Novelty::Found,
    }
}

/// Whether the result says in words that nothing was found.
fn says_nothing(step: &ToolStep) -> bool {
    step.result.is_empty && step.result.gist != step.result.shape
}

/// Whether both found the same, and it says something: two things may be in the same state.
fn same_finding(one: &ToolStep, other: &ToolStep) -> bool {
    let says_something = one.result.is_empty || !one.result.is_short;
    one.kind == other.kind && says_something && one.result.finding() == other.result.finding()
}

/// Whether two looks that are made with words gave the same, but for those words.
fn gave_alike(one: &ToolStep, other: &ToolStep) -> bool {
    let has_words = |step: &ToolStep| step.wording.0 != 0 && !step.is_error && !step.result.is_empty;
    let is_same_text = one.result.shape == other.result.shape && !one.result.is_short;
    let [common, all] = [one.result.gist & other.result.gist, one.result.gist | other.result.gist];
    let is_alike = common != 0 && common.count_ones() * 4 >= all.count_ones() * 3;
    has_words(one) && has_words(other) && (is_same_text || is_alike)
}

/// Whether that is so and half of the words are the same.
fn reworded(one: &ToolStep, other: &ToolStep) -> bool {
    let [one_words, other_words] = [one.wording.0, other.wording.0];
    let common = (one_words & other_words).count_ones();
    let is_reworded = common > 0 && common * 2 >= one_words.count_ones().min(other_words.count_ones());
    one.kind == other.kind && is_reworded && gave_alike(one, other)
}

/// Whether a step gives once more what other looks in other words gave.
fn rewords(steps: &[(Fingerprint, ToolStep)], step: &ToolStep) -> bool {
    let is_rewording = |(call, other): &&(Fingerprint, ToolStep)| {
        let is_known = call.novelty == Novelty::Barren && gave_alike(other, step);
        other.adaptive != step.adaptive && (reworded(other, step) || is_known)
    };
    let enough = if step.result.is_short { 2 } else { 1 };
    let is_known = steps.iter().filter(is_rewording).count() >= enough;
    step.kind == StepKind::Look && step.wording.0 != 0 && is_known && !is_next_item(steps, step)
}

/// Whether the last three looks in other words and this one have the same words in common, at most
/// two words of their own, and this one gave other numbers.
fn is_next_item(steps: &[(Fingerprint, ToolStep)], step: &ToolStep) -> bool {
    let alike = steps.iter().rev().map(|(_, other)| other).filter(|other| reworded(other, step));
    let alike: Vec<&ToolStep> = alike.filter(|other| other.wording != step.wording).take(3).collect();
    let common = |other: &&ToolStep| other.wording.0 & step.wording.0;
    let own = |words: u32, other: &&ToolStep| (words ^ common(other)).count_ones();
    let is_item = |other: &&ToolStep| own(step.wording.0, other) < 3 && own(other.wording.0, other) < 3;
    let is_template = alike.windows(2).all(|pair| common(&pair[0]) == common(&pair[1]));
    let is_other = |other: &&ToolStep| is_item(other) && other.result.numbers != step.result.numbers;
    alike.len() > 1 && is_template && alike.iter().all(is_other)
}

/// Whether two looks differ in numbers only, and showed lines.
fn parts_of_one(one: &ToolStep, other: &ToolStep) -> bool {
    let has_lines = |step: &ToolStep| {
        let result = step.result;
        let is_look = step.kind == StepKind::Look && step.wording.0 == 0 && !step.is_error;
        is_look && !result.is_empty && result.gist != result.shape
    };
    one.literal == other.literal && one.adaptive != other.adaptive && has_lines(one) && has_lines(other)
}

/// Whether they showed mostly the same: three of four lines that stand for all.
fn same_part(one: &ToolStep, other: &ToolStep) -> bool {
    let [one_lines, other_lines] = [one.result.gist, other.result.gist].map(u32::to_le_bytes);
    parts_of_one(one, other) && (0..4).filter(|at| one_lines[*at] == other_lines[*at]).count() > 2
}

/// What the numbers of the same call say, the newest last: those of a failure may count the tries,
/// others may be those of something that lives.
fn of_numbers(numbers: &[f32], is_error: bool, is_watched: bool) -> Novelty {
    let changes: Vec<f32> = numbers.windows(2).map(|pair| pair[1] - pair[0]).filter(|change| *change != 0.0).collect();
    let most = numbers.iter().copied().fold(f32::MIN, f32::max);
    let least = numbers.iter().copied().fold(f32::MAX, f32::min);
    let is_lively = (1..=6).contains(&changes.len()) && most - least > most / 5.0;
    let counts_tries = changes.len() >= 2 && changes.iter().all(|change| (0.0..=4.0).contains(change));
    let turns = changes.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    let is_drawn = changes.len() >= 4 && turns * 2 >= changes.len() - 1;
    match movement(numbers) {
        _ if is_error && (counts_tries || is_drawn) => Novelty::Jitter,
        Novelty::Jitter if !is_error && is_lively => Novelty::Neutral,
        Novelty::Jitter if !is_error && is_watched && lives(numbers) => Novelty::Neutral,
        brought => brought,
    }
}

/// Whether the same was changed before, but for a number in its text, and the same failed since.
fn is_tuned(steps: &[(Fingerprint, ToolStep)], step: &ToolStep) -> bool {
    let is_same = |(_, other): &(Fingerprint, ToolStep)| {
        let result = other.result;
        let is_silent = result.is_empty && step.result.is_empty;
        let aims_at_same = is_silent || result.gist == step.result.gist && result.gist != result.shape;
        !other.is_error && other.kind == step.kind && other.literal == step.literal && aims_at_same
    };
    let fails_again = |(call, other): &(Fingerprint, ToolStep)| other.is_error && call.novelty == Novelty::Stale;
    steps.iter().rposition(is_same).is_some_and(|last| steps[last..].iter().any(fails_again))
}

/// Whether the numbers of a step may be those of something that lives.
fn may_live(step: &ToolStep) -> bool {
    matches!(step.kind, StepKind::Look | StepKind::Other)
}

/// Whether a number moves within wide bounds, or drifts within narrow ones, or may do so.
fn lives(numbers: &[f32]) -> bool {
    let changes: Vec<f32> = numbers.windows(2).map(|pair| pair[1] - pair[0]).filter(|change| *change != 0.0).collect();
    let most = numbers.iter().copied().fold(f32::MIN, f32::max);
    let least = numbers.iter().copied().fold(f32::MAX, f32::min);
    let path: f32 = changes.iter().map(|change| change.abs()).sum();
    let drifts = changes.len() < 10 || path / (changes.len() as f32) < (most - least) * 0.36;
    !changes.is_empty() && (drifts || most - least > most / 5.0)
}

/// Whether the last of these results was there before, though not in the three before it, and they
/// have a number that lives.
fn comes_back(steps: &[ToolStep]) -> bool {
    let [earlier @ .., newest] = steps else { return false };
    let mut values: Vec<u32> = earlier.iter().map(|step| step.result.kept).collect();
    if values.len() >= 3 && values[values.len() - 3..].iter().all(|value| *value == newest.result.kept) {
        return false;
    }
    values.sort_unstable();
    values.dedup();
    values.len() >= 3 && lives(&steps.iter().map(|step| step.result.numbers[0]).collect::<Vec<_>>())
}

/// Whether a look that finds nothing asks what none has asked before, and at most four have found
/// nothing since the first one did.
fn is_new_question(steps: &[(Fingerprint, ToolStep)], step: &ToolStep) -> bool {
    let last = steps.iter().rposition(|(call, _)| call.novelty.is_progress()).unwrap_or(0);
    let in_vain: Vec<&ToolStep> =
        steps[last..].iter().map(|(_, other)| other).filter(|other| same_finding(other, step)).collect();
    let is_same = |other: &&ToolStep| {
        let [one_words, other_words] = [other.wording.0, step.wording.0];
        let common = (one_words & other_words).count_ones();
        let rewords = common > 0 && common * 2 >= one_words.count_ones().min(other_words.count_ones());
        other.literal == step.literal || rewords
    };
    step.result.is_empty && in_vain.len() <= 4 && !in_vain.iter().any(is_same)
}

/// Whether the number of these results, the newest last, has moved and stands still for now.
fn stands_still(steps: &[ToolStep]) -> bool {
    let kept: Vec<u32> = steps.iter().map(|step| step.result.kept).collect();
    let moves = kept.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let stands = kept.iter().rev().take_while(|one| *one == kept.last().unwrap()).count();
    let stands = if stands == kept.len() { stands } else { stands - 1 };
    let numbers: Vec<f32> = steps.iter().map(|step| step.result.numbers[0]).collect();
    moves >= 2 && movement(&numbers) == Novelty::Found && stands <= 2 * moves.min(4)
}

fn movement(numbers: &[f32]) -> Novelty {
    let changes: Vec<f32> = numbers.windows(2).map(|pair| pair[1] - pair[0]).filter(|change| *change != 0.0).collect();
    let turns = changes.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    let most = numbers.iter().copied().fold(f32::MIN, f32::max);
    let least = numbers.iter().copied().fold(f32::MAX, f32::min);
    let goes_far = !changes.is_empty() && most - least > most / 2.0;
    let (gain, path) = (changes.iter().sum::<f32>(), changes.iter().map(|change| change.abs()).sum::<f32>());
    let gets_on = changes.len() >= 6 && gain.abs() > path * 0.6;
    if goes_far || gets_on || (changes.len() > 2 && turns * 2 < changes.len() - 1) {
        Novelty::Found
    } else if !changes.is_empty() && (changes.len() < 3 || changes.len() == 3 && turns < 2) {
        Novelty::Neutral
    } else {
        Novelty::Jitter
    }
}

/// The earlier calls without samples and without the retries of failed ones, up to eight of a body,
/// the newest first.
fn considered(window: &[Fingerprint]) -> Vec<Fingerprint> {
    let current = window.last().unwrap();
    let (mut kept, mut has_sampled) = (Vec::new(), false);
    for index in (0..window.len() - 1).rev() {
        let call = &window[index];
        let retried = |index: usize| {
            let call = &window[index];
            call.outcome == Outcome::Failed && window[index + 1..].iter().any(|later| later.body == call.body)
        };
        let before = (index + 1..window.len() - 1).filter(|other| window[*other].body == call.body && retried(*other));
        let is_free = retried(index) && before.count() < 8;
        // Only the newest of those that it may be a sample of.
        let may_be_sampled = current.is_sample && same_ask(call, current) && !call.is_sample && !is_free;
        let is_sampled = may_be_sampled && !std::mem::replace(&mut has_sampled, may_be_sampled);
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

    /// By which signals each earlier call counts.
    fn marks(&self) -> Vec<[bool; 3]> {
        let all = self.calls.len();
        let mut marks = vec![[false; 3]; all];
        let is_complaint = self.current.prompt_is_error;
        if is_complaint || !self.current.novelty.is_progress() {
            let most = if is_complaint { usize::MAX } else { 0 };
            self.laps(all, (most, None), |index| self.prompt(index)).into_iter().for_each(|at| marks[at][0] = true);
        }
        if let Some(newest) = self.newest {
            let counts = |index: usize| self.response(index) || self.came_to_same(index);
            let reminds = self.reported(newest).and_then(|call| reminds(&call));
            self.laps(newest, (2, reminds), counts).into_iter().for_each(|at| marks[at][1] = true);
        }
        if self.current.novelty.is_repetition() {
            let is_barren = self.current.novelty == Novelty::Barren;
            let end = (if is_barren { 0 } else { 2 }, reminds(self.current));
            self.laps(all, end, |index| self.tools(index)).into_iter().for_each(|at| marks[at][2] = true);
        }
        self.standstill(&mut marks);
        if is_complaint {
            self.in_vain(&mut marks);
        }
        self.narration(&mut marks);
        self.idle_talk(&mut marks);
        self.small_talk(&mut marks);
        marks
    }

    /// Exchanges of the conversation that said nothing new count, less four.
    fn idle_talk(&self, marks: &mut [[bool; 3]]) {
        if self.current.novelty != Novelty::Idle {
            return;
        }
        let is_other = |call: &&Fingerprint| call.conversation != self.current.conversation;
        let passed_on = |call: &&Fingerprint| {
            call.response.zip(self.current.prompt).is_some_and(|(one, other)| one.literal.distance(other) < 3)
        };
        let partner = self.calls.iter().rev().find(is_other).filter(passed_on).map(|call| call.conversation);
        let own = |at: &usize| {
            let conversation = self.calls[*at].conversation;
            conversation == self.current.conversation || Some(conversation) == partner
        };
        let (mut places, mut new, mut later) = (Vec::new(), 0, self.current);
        for at in (0..self.calls.len()).rev().filter(own) {
            let is_idle = later.novelty == Novelty::Idle;
            new += usize::from(!is_idle);
            if self.calls[at].novelty.is_progress() || (!is_idle && new > 2 + places.len() / 3) {
                break;
            }
            if is_idle {
                places.push(at);
            }
            later = &self.calls[at];
        }
        places.into_iter().skip(4).for_each(|at| (marks[at][0], marks[at][1]) = (true, true));
    }

    /// Answers that announce the same, with nothing done since, count, less six.
    fn narration(&self, marks: &mut [[bool; 3]]) {
        let has_done = |call: &Fingerprint| {
            let looks = call.tools.is_some_and(|step| step.kind == StepKind::Look || step.result.is_empty);
            call.novelty == Novelty::Changed || call.novelty == Novelty::Found && !looks
        };
        let own = |at: &usize| self.calls[*at].conversation == self.current.conversation;
        let answered: Vec<usize> =
            (0..self.calls.len()).rev().filter(own).filter(|at| self.calls[*at].response.is_some()).collect();
        let remark = |at: usize| self.calls[at].response.map_or(0, |response| response.remark);
        let Some(newest) = answered.first().filter(|at| remark(**at) > 0 && !has_done(self.current)) else { return };
        let (mut row, mut others) = (Vec::new(), 0);
        for at in &answered {
            if remark(*at) == remark(*newest) {
                row.push(*at);
            } else {
                others += 1;
            }
            if others > 2 + row.len() / 2 || has_done(&self.calls[*at]) {
                break;
            }
        }
        row.into_iter().skip(6).for_each(|at| marks[at][1] = true);
    }

    /// Answers that were met with the same complaint, with nothing done in between, count, less
    /// four.
    fn in_vain(&self, marks: &mut [[bool; 3]]) {
        let complaints: Vec<usize> = (0..marks.len()).filter(|at| marks[*at][0]).chain([marks.len()]).collect();
        let is_in_vain = |pair: &&[usize]| {
            let works =
                |at: usize| self.at(at).conversation == self.at(pair[0]).conversation && self.at(at).tools.is_some();
            self.at(pair[0]).response.is_some() && !(pair[0] + 1..=pair[1]).any(works)
        };
        let places: Vec<usize> = complaints.windows(2).filter(is_in_vain).map(|pair| pair[0]).collect();
        places.iter().rev().skip(4).for_each(|at| marks[*at][1] = true);
    }

    /// Whether the response at a place came to the same as the newest one, if that came of five
    /// calls alike, or of six. Where other calls did, nothing new may have been seen since.
    fn came_to_same(&self, index: usize) -> bool {
        let Some(newest) = self.newest else { return false };
        let (Some(last), Some(earlier)) = (self.reported(newest), self.reported(index)) else { return false };
        let is_same = |call: &Fingerprint| self.same_outcome(call, &last);
        let signature = |call: &Fingerprint| call.tools.map(|step| step.adaptive);
        let calls = self.all().filter(|call| signature(call) == signature(&last) && is_same(call)).count();
        let is_own = |call: &&Fingerprint| call.conversation == last.conversation;
        let own: Vec<&Fingerprint> = self.all().filter(is_own).collect();
        let in_a_row = own.iter().rev().take_while(|call| !call.novelty.is_progress());
        let tries = in_a_row.filter(|call| is_same(call)).count();
        let repeats = last.novelty.is_repetition() && (calls >= 5 || tries >= 6);
        let progress = self.all().skip(index + 1).filter(is_own).any(|call| call.novelty.is_progress());
        let same_call = earlier.tools.unwrap().adaptive == last.tools.unwrap().adaptive;
        let like = comparable(&self.calls[index], &self.calls[newest]) && (same_call || !progress);
        repeats && like && earlier.novelty != Novelty::Waited && is_same(&earlier)
    }

    fn all(&self) -> impl Iterator<Item = &Fingerprint> {
        self.calls.iter().chain([self.current])
    }

    /// Which calls before `from` count, back to where more than `most` that is new lies between two
    /// of them. What is done ends it at once, unless nothing does, and so does a first look at
    /// something else if the laps only look at what is known.
    fn laps(&self, from: usize, (most, reminds): (usize, Option<u64>), counts: impl Fn(usize) -> bool) -> Vec<usize> {
        let (mut later, mut laps) = (from, Vec::new());
        for index in (0..from).rev().filter(|index| counts(*index)) {
            let ends = [self.at(later).conversation, self.at(index).conversation];
            let between: Vec<usize> =
                (index + 1..=later).filter(|at| ends.contains(&self.at(*at).conversation)).collect();
            let found = |at: &&usize| self.at(**at).novelty == Novelty::Found;
            let is_alive = between.iter().filter(found).any(|at| *at < later && self.gives_new(*at, later));
            let is_source = !self.always_fails(later) && between.iter().filter(found).any(|at| self.is_source(*at));
            let is_right = between.iter().filter(found).any(|at| self.is_done_right(*at, index, later));
            let is_discovery =
                |at: &usize| self.is_first(*at) && self.at(*at).tools.unwrap().adaptive != reminds.unwrap();
            let is_first = reminds.is_some() && between.iter().filter(found).any(is_discovery);
            let is_done =
                is_first || is_source || is_right || between.iter().any(|at| self.at(*at).novelty == Novelty::Changed);
            if most < usize::MAX && (is_done || is_alive || between.iter().filter(found).count() > most) {
                break;
            }
            later = index;
            laps.push(index);
        }
        laps
    }

    /// Whether the call at a place had not been made before.
    fn is_first(&self, place: usize) -> bool {
        let signature = |at: usize| self.at(at).tools.map(|step| step.adaptive);
        !(0..place).any(|at| signature(at) == signature(place))
    }

    /// Whether the call at a place did what two others had failed at with something else.
    fn is_done_right(&self, at: usize, earlier: usize, later: usize) -> bool {
        let steps = [self.at(earlier).tools, self.at(later).tools, self.at(at).tools];
        let [Some(one), Some(other), Some(done)] = steps else { return false };
        let have_failed = one.is_error && other.is_error && one.adaptive != other.adaptive;
        have_failed && !done.is_error && done.kind == one.kind && done.kind == other.kind
    }

    /// Whether the call at a place failed, as it does every time.
    fn always_fails(&self, place: usize) -> bool {
        let signature = |at: usize| self.at(at).tools.map(|step| step.adaptive);
        let fails = |at: usize| self.at(at).tools.is_some_and(|step| step.is_error);
        fails(place) && (0..=self.calls.len()).filter(|at| signature(*at) == signature(place)).all(fails)
    }

    /// Whether the same call gave other words nearly each time.
    fn is_source(&self, place: usize) -> bool {
        let signature = |at: usize| self.at(at).tools.map(|step| step.adaptive);
        let same: Vec<usize> = (0..=self.calls.len()).filter(|at| signature(*at) == signature(place)).collect();
        let mut shapes: Vec<u32> = same.iter().map(|at| self.at(*at).tools.unwrap().result.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        shapes.len() >= 3 && shapes.len() * 3 > same.len() * 2
    }

    /// Whether the calls at both places are the same, and give something new one time in three.
    fn gives_new(&self, one: usize, other: usize) -> bool {
        let signature = |at: usize| self.at(at).tools.map(|step| step.adaptive);
        let all = 0..=self.calls.len();
        let same: Vec<usize> = all.filter(|at| signature(*at) == signature(other)).collect();
        let found = same.iter().filter(|at| self.at(**at).novelty == Novelty::Found).count();
        signature(one).is_some() && signature(one) == signature(other) && found * 3 > same.len()
    }

    /// All repetitions since anything got further count, less one lap: those of the conversation,
    /// or those of all conversations if they are more.
    fn standstill(&self, marks: &mut [[bool; 3]]) {
        let own = |call: &Fingerprint| call.conversation == self.current.conversation;
        let more = if is_try(self.current) { 2 } else { 0 };
        let of_own = self.standing(own, |steps| more + steps / 3);
        let of_all = self.standing(|_| true, |_| 0);
        let excess = |(steps, kinds, _): &(Vec<usize>, usize, usize)| steps.len() - kinds;
        let (steps, kinds, found) = if excess(&of_own) >= excess(&of_all) { of_own } else { of_all };
        if steps.is_empty() {
            return;
        }
        let mark = |places: Vec<usize>, signal: usize, marks: &mut [[bool; 3]]| {
            let count = (places.len() + 2).saturating_sub(kinds);
            places.into_iter().take(count).for_each(|at| marks[at][signal] = true);
        };
        mark(steps[1..].to_vec(), 2, marks);
        let asked = |step: usize| (0..step).rev().find(|at| self.at(*at).conversation == self.at(step).conversation);
        let is_long = found == 0 && steps.len() >= kinds + 2;
        let answers = steps.iter().filter_map(|step| asked(*step)).filter(|at| is_long || self.answered_before(*at));
        mark(answers.collect(), 1, marks);
    }

    /// The repetitions since something got further, the newest first, and how many different ones
    /// they are, and how many new things were between. None if all are different, or all the same.
    fn standing(
        &self,
        is_part: impl Fn(&Fingerprint) -> bool,
        free: impl Fn(usize) -> usize,
    ) -> (Vec<usize>, usize, usize) {
        let (mut steps, mut found, mut found_between) = (Vec::new(), 0, 0);
        if !self.current.novelty.is_repetition() {
            return (steps, 0, 0);
        }
        for at in (0..=self.calls.len()).rev().filter(|at| is_part(self.at(*at))) {
            let call = self.at(at);
            found += usize::from(call.novelty == Novelty::Found);
            let is_source =
                !self.always_fails(self.calls.len()) && call.novelty == Novelty::Found && self.is_source(at);
            if call.novelty == Novelty::Changed || is_source || found > free(steps.len()) {
                break;
            }
            let looked = |step: ToolStep| step.kind == StepKind::Look && !step.is_error && step.result.is_empty;
            let is_in_vain = call.tools.is_some_and(looked);
            let is_try = is_try(self.current);
            if call.novelty.is_repetition() || (call.novelty == Novelty::Neutral && is_try && is_in_vain) {
                steps.push(at);
                found_between = found;
            }
        }
        let mut kinds: Vec<(u64, u64)> =
            steps.iter().map(|at| (self.at(*at).conversation.0, key(self.at(*at)))).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.len() < 2 || steps.len() <= kinds.len() {
            (Vec::new(), 0, 0)
        } else {
            (steps, kinds.len(), found_between)
        }
    }

    fn answered_before(&self, at: usize) -> bool {
        let call = self.at(at);
        self.calls[..at].iter().any(|other| other.conversation == call.conversation && like(other, call))
    }

    /// Questions and answers of the conversation that were all there before count, less one round.
    fn small_talk(&self, marks: &mut [[bool; 3]]) {
        let own = |call: &Fingerprint| call.conversation == self.current.conversation;
        let talk = |call: &Fingerprint| own(call) && call.tools.is_none();
        let asked = |call: &Fingerprint, until: usize| {
            self.calls[..until].iter().any(|other| talk(other) && same_words(other, call))
        };
        if !talk(self.current) || self.current.turn.position == 0 || !asked(self.current, self.calls.len()) {
            return;
        }
        if self.has_visitors(self.current) {
            return;
        }
        let (mut places, mut new) = (Vec::new(), 0);
        for at in (0..self.calls.len()).rev().filter(|at| own(&self.calls[*at])) {
            let call = &self.calls[at];
            if call.novelty.is_progress() {
                break;
            }
            if call.tools.is_some() || call.response.is_none() {
                continue;
            }
            if asked(call, at) && self.calls[..at].iter().any(|other| talk(other) && like(other, call)) {
                places.push(at);
                continue;
            }
            new += 1;
            if new > 2 + places.len() / 3 {
                break;
            }
        }
        let distinct = |same: &dyn Fn(&Fingerprint, &Fingerprint) -> bool| {
            let is_first = |index: usize| {
                !places[..index].iter().any(|other| same(&self.calls[*other], &self.calls[places[index]]))
            };
            (0..places.len()).filter(|index| is_first(*index)).count()
        };
        let (questions, answers) = (distinct(&same_words), distinct(&like));
        if answers < 2 {
            return;
        }
        places.iter().take((places.len() + 1).saturating_sub(questions)).for_each(|at| marks[*at][0] = true);
        places.iter().take((places.len() + 1).saturating_sub(answers)).for_each(|at| marks[*at][1] = true);
    }

    fn prompt(&self, index: usize) -> bool {
        let call = &self.calls[index];
        let is_elsewhere = self.current.prompt_is_error
            && self.current.turn.position > 0
            && call.conversation != self.current.conversation;
        let is_alike = alike(call, self.current) && !is_elsewhere;
        let is_asked = is_alike && self.asked_again(index) && self.same_question(call) && self.weighs(call);
        is_asked && !self.visitors(call, self.current)
    }

    /// Whether both were said by people who began with the same words and went on with others.
    fn visitors(&self, one: &Fingerprint, other: &Fingerprint) -> bool {
        let talk = |call: &Fingerprint| call.conversation == other.conversation && call.tools.is_none();
        talk(one) && talk(other) && other.prompt_is_short && self.has_visitors(other)
    }

    fn has_visitors(&self, one: &Fingerprint) -> bool {
        let talk: Vec<&Fingerprint> =
            self.all().filter(|call| call.conversation == one.conversation && call.tools.is_none()).collect();
        let starts = talk.iter().filter(|call| (call.turn.position, call.step.depth) == (0, 0)).count();
        let replies: Vec<&Fingerprint> = talk.into_iter().filter(|call| call.turn.position > 0).collect();
        let same = |one: &Fingerprint, other: &Fingerprint| {
            let pending = one.response.is_none() || other.response.is_none();
            same_words(one, other) && (one.step.newest == other.step.newest || pending || like(one, other))
        };
        let is_other = |at: &usize| {
            let here = replies[..*at].iter().filter(|call| call.turn.position == replies[*at].turn.position);
            let here: Vec<&&Fingerprint> = here.collect();
            !here.is_empty() && !here.iter().any(|call| same(call, replies[*at]))
        };
        starts >= 3 && (0..replies.len()).any(|at| is_other(&at))
    }

    fn same_question(&self, call: &Fingerprint) -> bool {
        let same_conversation = call.conversation == self.current.conversation;
        let long = call.response.is_some_and(|response| !response.is_short);
        let same = same_words(call, self.current);
        let other_users = !same_conversation && self.current.prompt_is_common;
        same && !other_users || !same && same_conversation && long && self.answered_alike(call)
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
        let failed = call.outcome == Outcome::Failed || call.outcome == Outcome::Answered && call.response.is_none();
        !self.current.prompt_is_short || !moves_on || failed || self.answered_alike(call)
    }

    fn response(&self, index: usize) -> bool {
        let Some(newest) = self.newest else { return false };
        let (call, last) = (&self.calls[index], &self.calls[newest]);
        let short = last.response.is_some_and(|response| response.is_short);
        self.answered_alike(call)
            && comparable(call, last)
            && !self.is_greeting(last)
            && (!short || same_words(call, last) || same_step(call, last))
            && !self.visitors(call, last)
            && !self.progressed(index, newest)
    }

    fn is_greeting(&self, last: &Fingerprint) -> bool {
        let goes_on = self.current.turn.position > 0 && !same_words(last, self.current);
        last.turn.position == 0 && last.prompt_is_short && goes_on
    }

    /// The step that a response led to, and what it brought.
    fn after(&self, index: usize) -> Option<(ToolStep, Novelty)> {
        self.reported(index).and_then(|next| Some((next.tools?, next.novelty)))
    }

    /// The call that reports the step that a response led to.
    fn reported(&self, index: usize) -> Option<Fingerprint> {
        let call = self.calls[index];
        let mut later = self.calls[index + 1..].iter().chain([self.current]);
        let next = later.find(|next| same_turn(next, &call));
        next.filter(|next| next.step.depth > call.step.depth && next.tools.is_some()).copied()
    }

    /// Whether both responses led to tool steps with different results.
    fn progressed(&self, one: usize, other: usize) -> bool {
        let Some((newest, novelty)) = self.after(other) else { return false };
        let is_new = |brought: Novelty| brought.is_progress() || brought == Novelty::Waited;
        let differs =
            |earlier: (ToolStep, Novelty)| !same_result(earlier, (newest, novelty)) || earlier.1 == Novelty::Waited;
        is_new(novelty) || self.after(one).is_some_and(differs)
    }

    fn tools(&self, index: usize) -> bool {
        let call = &self.calls[index];
        self.same_outcome(call, self.current) && call.novelty != Novelty::Waited
    }

    /// Whether both calls report that the same came of what was tried.
    fn same_outcome(&self, call: &Fingerprint, last: &Fingerprint) -> bool {
        let (Some(one), Some(other)) = (call.tools, last.tools) else { return false };
        let same_conversation = call.conversation == last.conversation;
        let same_result = one.result.gist == other.result.gist || one.result.shape == other.result.shape;
        let same_error = one.is_error && other.is_error && same_result;
        let is_rewording = reworded(&one, &other) || call.novelty == Novelty::Barren && gave_alike(&one, &other);
        let is_part = same_part(&one, &other) || call.novelty == Novelty::Barren && parts_of_one(&one, &other);
        let is_same = same_finding(&one, &other) || is_rewording || is_part;
        let same_nothing = last.novelty == Novelty::Barren && call.novelty != Novelty::Neutral && is_same;
        comparable(call, last) && same_step(call, last) || same_conversation && (same_error || same_nothing)
    }
}

/// Whether a call reports a try: no look, whatever that showed.
fn is_try(call: &Fingerprint) -> bool {
    let is_look = call.tools.is_some_and(|step| step.kind == StepKind::Look && !step.is_error);
    call.novelty != Novelty::Barren && !is_look
}

/// The signature of a look that showed something.
fn reminds(call: &Fingerprint) -> Option<u64> {
    let is_look = |step: &ToolStep| step.kind == StepKind::Look && !step.is_error && !step.result.is_empty;
    call.tools.filter(is_look).map(|step| step.adaptive)
}

/// What tells steps apart that bring nothing.
fn key(call: &Fingerprint) -> u64 {
    let step = call.tools.unwrap();
    match (call.novelty, step.is_error) {
        (Novelty::Barren | Novelty::Neutral, _) => u64::from(step.result.finding()),
        (_, true) => u64::from(step.result.gist),
        _ => step.adaptive,
    }
}

fn comparable(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.conversation == other.conversation || (same_words(one, other) && !other.prompt_is_common)
}

fn like(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.response.is_some_and(|one| other.response.is_some_and(|other| one.adaptive.distance(other.adaptive) < 3))
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

/// Whether both ask the same at the same point of a conversation.
fn same_ask(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.body == other.body || (same_turn(one, other) && one.step == other.step)
}

fn same_step(one: &Fingerprint, other: &Fingerprint) -> bool {
    let (Some(first), Some(second)) = (one.tools, other.tools) else { return false };
    first.adaptive == second.adaptive && same_result((first, one.novelty), (second, other.novelty))
}

fn same_result(one: (ToolStep, Novelty), other: (ToolStep, Novelty)) -> bool {
    let jitters = [one.1, other.1].contains(&Novelty::Jitter);
    one.0.result.kept == other.0.result.kept
        || one.0.result.is_same_nothing(other.0.result)
        || jitters && one.0.result.shape == other.0.result.shape
}
