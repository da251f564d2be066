//! Progress, the notion from which all rules follow. An agent makes progress when it does something
//! new that succeeds, or sees something new. Doing something again with the same outcome is a
//! repetition, whatever its form; waiting is neither.

use model::{Novelty, ResultPrint, StepKind, ToolStep, Turn};

mod movement;
mod parts;
mod questions;
mod rewording;
mod tuning;

use crate::window::PackedFingerprint;
use movement::{Series, all_series, are_drawn, counts_tries, live, movement};
pub(crate) use parts::{are_parts_of_one, is_same_part};
use questions::is_new_question;
use rewording::rewords;
pub(crate) use rewording::{gave_alike, is_reworded};
use tuning::is_tuned;

/// How long an agent must have been silent between two looks for them to be polls: an agent in a
/// loop looks again at once.
const POLL_SILENCE_S: u16 = 20;
/// The same for two reads of a terminal whose program runs without output.
const TERMINAL_SILENCE_S: u16 = 5;
/// The same for running or doing something again: tests and builds take a while by themselves.
const RUN_SILENCE_S: u16 = 60;
/// The same for two looks at live numbers: an agent that watches a queue pauses in between.
const WATCH_SILENCE_S: u16 = 2;

/// A conversation that is started over after such a rest runs on a schedule.
const REST_S: u16 = 4 * 60;
/// An agent that polls may look again after a part of the pause, if it pauses as long on average
/// of so many looks.
const PACE: u16 = 2;
const PACED_LOOKS: usize = 4;

/// When and where a step came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) turn: Turn,
    /// How many messages there are after the one that began the turn.
    pub(crate) depth: u32,
    /// After how many seconds it came.
    pub(crate) silence: u16,
}

/// What `step` contributed. `earlier` are the earlier calls of its conversation, oldest first.
pub(crate) fn novelty<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> Novelty {
    let brought = against_earlier(earlier.clone(), step, moment);
    let silence = moment.silence;
    // Waiting excuses a step without progress; something new is progress however long it took.
    let is_empty_poll = brought == Novelty::Barren && step.result.is_empty && silence >= POLL_SILENCE_S;
    if is_empty_poll
        || !brought.is_progress() && (is_poll(earlier.clone(), step, moment) || is_wait_between(earlier, step))
    {
        return Novelty::Waited;
    }
    brought
}

/// What `step` contributed, whether or not the agent waited for it.
fn against_earlier<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> Novelty {
    let turn = moment.turn;
    let steps = || earlier.clone().filter_map(|call| Some((call, call.tools()?)));
    let is_same_call = |other: &ToolStep| other.adaptive == step.adaptive;
    // Different questions of the user may have the same answer.
    let is_same_question = |call: &PackedFingerprint| step.is_written || call.turn() == turn;
    let has_rewordings = || rewords(steps().filter(|(call, _)| is_same_question(call)), step);
    if !earlier.clone().any(|call| call.tool_signature() == Some(step.adaptive)) {
        let brought = of_new_call(steps().map(|(call, other)| (is_same_question(call), other)), step);
        if brought == Novelty::Barren && is_new_question(steps().filter(|(call, _)| is_same_question(call)), step) {
            return Novelty::Neutral;
        }
        if brought == Novelty::Changed && is_tuned(steps(), step) {
            return Novelty::Neutral;
        }
        let is_known =
            || has_rewordings() || steps().any(|(call, other)| is_same_question(call) && is_same_part(&other, step));
        return if brought == Novelty::Found && is_known() { Novelty::Barren } else { brought };
    }
    let same = || steps().map(|(_, other)| other).filter(|other| is_same_call(other));
    if matches!(step.kind, StepKind::Look | StepKind::Plan)
        && is_asked_anew(steps().filter(|(_, other)| is_same_call(other)), step, turn)
    {
        return Novelty::Neutral;
    }
    // What is run or changed is measured, and measurements jitter.
    let is_watched = || {
        matches!(step.kind, StepKind::Look | StepKind::Other)
            && since_same(earlier.clone(), step, moment.silence).is_some_and(|(_, silence)| silence >= WATCH_SILENCE_S)
    };
    let is_same_result = |other: ResultPrint| other.kept == step.result.kept || other.is_same_nothing(step.result);
    if same().any(|other| is_same_result(other.result)) {
        let results = || same().map(|other| other.result);
        return match step.kind {
            _ if step.result.is_empty => Novelty::Stale,
            _ if is_plateau(results(), step.result) => Novelty::Waited,
            _ if is_watched() && comes_back(results(), step.result) => Novelty::Waited,
            _ => Novelty::Stale,
        };
    }
    let alike = same().filter(|other| other.result.shape == step.result.shape).map(|other| other.result);
    let is_alike = alike.clone().next().is_some();
    match step.kind {
        // A repeated action gets another number, and is still the same.
        StepKind::Change if is_alike => return Novelty::Jitter,
        // Something that failed before succeeds now.
        StepKind::Change | StepKind::Run | StepKind::Other if is_done_at_last(same(), step) => return Novelty::Changed,
        // The same step again led somewhere else: the next commit of a bisection.
        StepKind::Change if !step.is_error && leads_on(same(), step) => return Novelty::Changed,
        StepKind::Change => return Novelty::Neutral,
        _ if has_rewordings() => return Novelty::Barren,
        _ if !is_alike && step.is_error => return Novelty::Neutral,
        _ if !is_alike => return Novelty::Found,
        _ => {}
    }
    let all = all_series(alike, step.result);
    match movement(&all) {
        _ if step.is_error && (counts_tries(&all) || are_drawn(&all)) => Novelty::Jitter,
        // Numbers that go back and forth within wide bounds may be live measurements.
        Novelty::Jitter if !step.is_error && (is_watched() && live(&all) || all.iter().any(Series::is_lively)) => {
            Novelty::Neutral
        }
        brought => brought,
    }
}

/// Whether `step` succeeds, and failed every time before.
fn is_done_at_last(mut same: impl Iterator<Item = ToolStep>, step: &ToolStep) -> bool {
    !step.is_error && !says_nothing(step) && same.all(|other| other.is_error)
}

/// Whether every result of the same call, the one of `step` included, has different words.
fn leads_on(same: impl Iterator<Item = ToolStep>, step: &ToolStep) -> bool {
    let mut shapes = vec![step.result.shape];
    same.map(|other| other.result.shape).all(|shape| {
        let is_new = !shapes.contains(&shape);
        shapes.push(shape);
        is_new
    })
}

/// Whether the user asked for something else before each of the same looks, and got it: a customer
/// comes back to an order, notes are read at the beginning of every turn. In the first turn no one
/// has asked again: the conversation was compacted, and its work begins anew.
fn is_asked_anew<'e>(
    mut same: impl Iterator<Item = (&'e PackedFingerprint, ToolStep)>,
    step: &ToolStep,
    turn: Turn,
) -> bool {
    let is_plain = !step.is_written && !step.is_error && turn.position > 0;
    is_plain && same.all(|(call, other)| !other.is_error && call.turn().message != turn.message)
}

/// For each time that a number moved, up to `MOST_MOVES`, it may stand still for so many looks.
const STANDS_FOR: usize = 2;
const MOST_MOVES: usize = 4;

/// Whether a number that has moved before stands still for now: a job advances at its own pace.
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

/// How many values a number must have had before it can return to one of them, and how many looks
/// in a row may show the same one.
const FEWEST_VALUES: usize = 3;
const MOST_EQUAL: usize = 3;

/// Whether a live number briefly has a value that it had some looks ago.
fn comes_back(earlier: impl Iterator<Item = ResultPrint> + Clone, newest: ResultPrint) -> bool {
    let alike = || earlier.clone().filter(|result| result.shape == newest.shape);
    let mut values: Vec<u32> = alike().map(|result| result.kept).collect();
    if values.iter().rev().take_while(|value| **value == newest.kept).count() >= MOST_EQUAL {
        return false;
    }
    values.sort_unstable();
    values.dedup();
    values.len() >= FEWEST_VALUES && live(&all_series(alike(), newest))
}

/// What a step with new calls contributed.
fn of_new_call(mut steps: impl Iterator<Item = (bool, ToolStep)>, step: &ToolStep) -> Novelty {
    if step.is_error {
        let is_same = |other: &ResultPrint| other.gist == step.result.gist || other.shape == step.result.shape;
        let errors = steps.filter(|(_, other)| other.is_error).map(|(_, other)| other.result);
        let known: Vec<ResultPrint> = errors.filter(is_same).collect();
        let alike = known.iter().copied().filter(|other| other.shape == step.result.shape);
        let gets_smaller = || all_series(alike, step.result).iter().any(Series::falls);
        return if known.is_empty() || gets_smaller() { Novelty::Neutral } else { Novelty::Stale };
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

/// Whether the result says in words that nothing was found. A program without output may have done
/// something.
fn says_nothing(step: &ToolStep) -> bool {
    step.result.is_empty && step.result.gist != step.result.shape
}

fn is_same_nothing(one: &ToolStep, other: &ToolStep) -> bool {
    says_nothing(one) && one.kind == other.kind && one.result.gist == other.result.gist
}

/// Whether another look, or another note, gave what is already known. Short results do not count:
/// two things may be in the same state.
pub(crate) fn is_same_finding(one: &ToolStep, other: &ToolStep) -> bool {
    let says_something = one.kind == StepKind::Plan || one.result.is_empty || !one.result.is_short;
    one.kind == other.kind && says_something && one.result.finding() == other.result.finding()
}

/// Whether the agent waited before it made the same call again: silence counts in this call and in
/// those since the last one like it (`sleep 60`, then a look). It does not count before the same
/// look of a turn that was started over.
fn is_poll<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> bool {
    let enough = match step.kind {
        // A failed call is retried after a shorter wait: a mirror or a network comes back.
        _ if step.is_error => POLL_SILENCE_S,
        StepKind::Wait if says_nothing(step) => TERMINAL_SILENCE_S,
        StepKind::Look | StepKind::Wait | StepKind::Other => POLL_SILENCE_S,
        _ => RUN_SILENCE_S,
    };
    let Some((call, silence)) = since_same(earlier.clone(), step, moment.silence) else { return false };
    let starts_over = || {
        let is_back = call.turn() == moment.turn && call.step().depth >= moment.depth;
        is_back && !step.is_written && !step.is_error && silence < REST_S
    };
    let is_paused = silence >= enough || silence >= enough / PACE && keeps_pace(earlier.clone(), step, silence, enough);
    is_paused && !starts_over() && !(step.is_error && is_given_up(earlier, step))
}

/// Whether an agent that looks again after `silence` paused for `enough` seconds on average before
/// the last looks.
fn keeps_pace<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>,
    step: &ToolStep,
    silence: u16,
    enough: u16,
) -> bool {
    let same = earlier.rev().filter(|call| call.tool_signature() == Some(step.adaptive)).take(PACED_LOOKS);
    let (mut looks, mut paused) = (1, u32::from(silence));
    for call in same {
        // A single long pause is no pace.
        paused += u32::from(call.silence().min(PACE * enough));
        looks += 1;
    }
    looks > 2 && paused >= looks * u32::from(enough)
}

/// The last call with the same step, and the longest silence since.
fn since_same<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>,
    step: &ToolStep,
    silence: u16,
) -> Option<(&'e PackedFingerprint, u16)> {
    let mut longest = silence;
    for call in earlier.rev() {
        if call.tool_signature() == Some(step.adaptive) {
            return Some((call, longest));
        }
        longest = longest.max(call.silence());
    }
    None
}

/// How often a failure may be retried after a wait, and how often at regular intervals.
const FREE_TRIES: usize = 5;
const FREE_REGULAR_TRIES: usize = 16;

/// Whether the same call failed in the same way so often since the last progress that waiting no
/// longer excuses it.
fn is_given_up<'e>(earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>, step: &ToolStep) -> bool {
    let is_same =
        |other: ToolStep| other.is_error && other.adaptive == step.adaptive && other.result.shape == step.result.shape;
    let (mut tries, mut later, mut least, mut most) = (0, None, i64::MAX, 0);
    let since_progress = earlier.rev().take_while(|call| !call.novelty().is_progress());
    for call in since_progress.filter(|call| call.tools().is_some_and(is_same)) {
        let time = call.time().as_millis();
        if let Some(gap) = later.replace(time).map(|later: i64| later.saturating_sub(time)) {
            (least, most) = (least.min(gap), most.max(gap));
        }
        tries += 1;
    }
    let is_regular = most - least.min(most) <= most / 3;
    tries >= if is_regular { FREE_REGULAR_TRIES } else { FREE_TRIES }
}

/// Whether something new was seen since the same wait: an agent that waits between looks at
/// something that changes is not stuck. The same holds for notes, which agents read again by
/// design.
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
