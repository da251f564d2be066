//! The one notion that all rules follow from: progress. An agent gets further when it does
//! something new that succeeds, or sees something new. What it does again with the same outcome,
//! whatever it looks like, is a repetition; waiting is neither.

use model::{Novelty, ResultPrint, StepKind, ToolStep, Turn};

use crate::window::PackedFingerprint;

/// How long an agent must have been silent between two looks for them to be polls: who loops looks
/// again at once.
const POLL_SILENCE_S: u16 = 20;
/// How long before it runs or does the same again: tests and builds take a while by themselves.
const RUN_SILENCE_S: u16 = 60;

/// What `step` brought. `earlier` are the calls of its conversation before it, oldest first; it
/// came after `silence` seconds.
pub(crate) fn novelty<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    turn: Turn,
    silence: u16,
) -> Novelty {
    let brought = against_earlier(earlier.clone(), step, turn);
    // Waiting excuses what brought nothing; what is new is new however long it took.
    let is_empty_poll = brought == Novelty::Barren && step.result.is_empty && silence >= POLL_SILENCE_S;
    if is_empty_poll
        || !brought.is_progress() && (is_poll(earlier.clone(), step, silence) || is_wait_between(earlier, step))
    {
        return Novelty::Waited;
    }
    brought
}

/// What `step` brought, whether or not the agent waited for it.
fn against_earlier<'e>(
    earlier: impl Iterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    turn: Turn,
) -> Novelty {
    let steps = || earlier.clone().filter_map(|call| Some((call, call.tools()?)));
    let is_same_call = |other: &ToolStep| other.adaptive == step.adaptive;
    if !steps().any(|(_, other)| is_same_call(&other)) {
        // Another question of the user may well have the same answer.
        let is_same_question = |call: &PackedFingerprint| step.is_written || call.turn() == turn;
        return of_new_call(steps().map(|(call, other)| (is_same_question(call), other)), step);
    }
    let same = || steps().map(|(_, other)| other).filter(|other| is_same_call(other));
    if matches!(step.kind, StepKind::Look | StepKind::Plan)
        && is_asked_anew(steps().filter(|(_, other)| is_same_call(other)), step, turn)
    {
        return Novelty::Neutral;
    }
    if same().any(|other| other.result.kept == step.result.kept) {
        return if is_plateau(same().map(|other| other.result), step.result) {
            Novelty::Waited
        } else {
            Novelty::Stale
        };
    }
    let alike = same().filter(|other| other.result.shape == step.result.shape).map(|other| other.result);
    let is_alike = alike.clone().next().is_some();
    match step.kind {
        // What is done again gets another number, and is still the same.
        StepKind::Change if is_alike => return Novelty::Jitter,
        // What failed before and succeeds now is done.
        StepKind::Change if !step.is_error && same().all(|other| other.is_error) => return Novelty::Changed,
        StepKind::Change => return Novelty::Neutral,
        _ if !is_alike && step.is_error => return Novelty::Neutral,
        _ if !is_alike => return Novelty::Found,
        _ => {}
    }
    movement(alike, step.result)
}

/// Whether the user asked for something else before each of the same looks, and got it: a customer
/// comes back to an order, notes are read at the beginning of every turn.
fn is_asked_anew<'e>(
    mut same: impl Iterator<Item = (&'e PackedFingerprint, ToolStep)>,
    step: &ToolStep,
    turn: Turn,
) -> bool {
    let is_plain = !step.is_written && !step.is_error;
    is_plain && same.all(|(call, other)| !other.is_error && call.turn().message != turn.message)
}

/// How many looks a number may stand still for each time that it moved, up to a few times.
const STANDS_FOR: usize = 2;
const MOST_MOVES: usize = 4;

/// Whether a number that has moved so far stands still: a job goes on at its own pace.
fn is_plateau(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> bool {
    let alike = || earlier.clone().filter(|result| result.shape == newest.shape);
    let (mut moves, mut stands, mut before) = (0, 0, None);
    for result in alike().chain([newest]) {
        let has_moved = before.is_some_and(|before| before != result.kept);
        (moves, stands) = if has_moved { (moves + 1, 0) } else { (moves, stands + 1) };
        before = Some(result.kept);
    }
    let has_direction = moves >= 2 && all_series(alike(), newest).iter().any(Series::moves);
    has_direction && stands <= STANDS_FOR * moves.min(MOST_MOVES)
}

/// What a step brought whose calls were not made before.
fn of_new_call(mut steps: impl Iterator<Item = (bool, ToolStep)>, step: &ToolStep) -> Novelty {
    if step.is_error {
        let is_same = |other: ResultPrint| other.gist == step.result.gist || other.shape == step.result.shape;
        let is_known = steps.any(|(_, other)| other.is_error && is_same(other.result));
        return if is_known { Novelty::Stale } else { Novelty::Neutral };
    }
    match step.kind {
        StepKind::Change => Novelty::Changed,
        StepKind::Run | StepKind::Other
            if says_nothing(step) && steps.any(|(_, other)| is_same_nothing(&other, step)) =>
        {
            Novelty::Barren
        }
        StepKind::Run | StepKind::Other => Novelty::Found,
        StepKind::Wait => Novelty::Neutral,
        StepKind::Look | StepKind::Plan => {
            let is_known =
                |(is_same_question, other): (bool, ToolStep)| is_same_question && is_same_finding(&other, step);
            match (step.kind, steps.any(is_known)) {
                (_, true) => Novelty::Barren,
                (StepKind::Plan, false) => Novelty::Neutral,
                _ => Novelty::Found,
            }
        }
    }
}

/// Whether the result says in words that nothing was found. A program without any output may well
/// have done something.
fn says_nothing(step: &ToolStep) -> bool {
    step.result.is_empty && step.result.gist != step.result.shape
}

fn is_same_nothing(one: &ToolStep, other: &ToolStep) -> bool {
    says_nothing(one) && one.kind == other.kind && one.result.gist == other.result.gist
}

/// Whether another look, or another note, gave what is known already. Two things may well be in the
/// same state.
pub(crate) fn is_same_finding(one: &ToolStep, other: &ToolStep) -> bool {
    let says_something = one.kind == StepKind::Plan || one.result.is_empty || !one.result.is_short;
    one.kind == other.kind && says_something && one.result.finding() == other.result.finding()
}

/// Whether the agent waited before it made the same call again: silence counts wherever it was
/// spent, in this call or in one before it (`sleep 60`, then a look).
fn is_poll<'e>(earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>, step: &ToolStep, silence: u16) -> bool {
    let enough = match step.kind {
        StepKind::Look | StepKind::Wait | StepKind::Other => POLL_SILENCE_S,
        _ => RUN_SILENCE_S,
    };
    let mut longest = silence;
    for call in earlier.rev() {
        if call.tools().is_some_and(|other| other.adaptive == step.adaptive) {
            return longest >= enough;
        }
        longest = longest.max(call.silence());
    }
    false
}

/// Whether something new was seen since the same wait before: who waits between looks at what moves
/// is not stuck. So it is with notes, which agents read again and again by design.
fn is_wait_between<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
) -> bool {
    if !matches!(step.kind, StepKind::Wait | StepKind::Plan) {
        return false;
    }
    let is_same_call = |other: ToolStep| other.adaptive == step.adaptive;
    let has_same_call = earlier.clone().any(|call| call.tools().is_some_and(is_same_call));
    let is_same = |other: ToolStep| if has_same_call { is_same_call(other) } else { other.kind == step.kind };
    let mut has_progress = false;
    for call in earlier.rev() {
        if call.tools().is_some_and(is_same) {
            return has_progress;
        }
        has_progress |= call.novelty().is_progress();
    }
    false
}

/// How the numbers move from result to result, oldest first, up to `newest`: those that go one way
/// for a while, or go far, are new; those that go back and forth within narrow bounds jitter. Until
/// that shows, they say nothing.
fn movement(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> Novelty {
    let all = all_series(earlier, newest);
    if all.iter().any(Series::moves) {
        Novelty::Found
    } else if all.iter().any(Series::may_move) {
        Novelty::Neutral
    } else {
        Novelty::Jitter
    }
}

fn all_series(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> [Series; 3] {
    std::array::from_fn(|place| {
        let mut series = Series::default();
        earlier.clone().chain([newest]).for_each(|result| series.add(result.numbers[place]));
        series
    })
}

/// One number from result to result.
#[derive(Clone, Copy, Debug, Default)]
struct Series {
    last: Option<f32>,
    rises: Option<bool>,
    changes: u32,
    turns: u32,
    least: f32,
    most: f32,
}

impl Series {
    fn add(&mut self, value: f32) {
        let Some(last) = self.last.replace(value) else {
            (self.least, self.most) = (value, value);
            return;
        };
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        if value == last {
            return;
        }
        let rises = value > last;
        self.turns += u32::from(self.rises.replace(rises).is_some_and(|before| before != rises));
        self.changes += 1;
    }

    fn moves(&self) -> bool {
        // As often back as forth is no direction; two steps one way may be chance.
        let has_direction = self.changes > 2 && self.turns * 2 < self.changes - 1;
        let goes_far = self.most - self.least > self.most.abs().max(self.least.abs()) / 2.0;
        self.changes > 0 && (has_direction || goes_far)
    }

    /// Whether it is too early to tell.
    fn may_move(&self) -> bool {
        (1..=2).contains(&self.changes) && self.turns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_go_one_way_or_far_move() {
        let check = |numbers: &[f32], expected: bool| {
            let mut series = Series::default();
            numbers.iter().for_each(|number| series.add(*number));
            assert_eq!(series.moves(), expected, "{numbers:?}");
        };
        check(&[12.0, 11.0], false);
        check(&[12.0, 11.0, 9.0, 8.0], true);
        check(&[1.0, 1.0, 1.0, 3.0], true);
        check(&[40.0, 38.0, 39.0, 35.0, 33.0, 31.0, 30.0], true);
        check(&[12.0, 870.0, 33.0, 5.0], true);
        check(&[4.1, 4.2, 4.1, 4.2], false);
        check(&[512.0, 530.0, 518.0, 525.0, 511.0], false);
        check(&[7.0, 7.0, 7.0], false);
    }
}
