//! Progress, the notion from which all rules follow. An agent makes progress when it does something
//! new that succeeds, or sees something new. Doing something again with the same outcome is a
//! repetition, whatever its form; waiting is neither.

use model::{Novelty, ResultPrint, StepKind, ToolStep, Turn};

mod movement;
mod parts;
mod questions;
mod rewording;
mod standing;
mod tuning;
mod waiting;

use crate::window::PackedFingerprint;
use movement::{Series, all_series, are_drawn, counts_tries, live, movement};
pub(crate) use parts::{are_parts_of_one, is_same_part};
use questions::is_new_question;
use rewording::rewords;
pub(crate) use rewording::{gave_alike, is_reworded};
use standing::{comes_back, is_plateau};
use tuning::is_tuned;
use waiting::{POLL_SILENCE_S, is_poll, is_wait_between, since_same};

/// How long an agent pauses between two looks at live numbers: at a queue that it watches.
const WATCH_SILENCE_S: u16 = 2;

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
    let is_repeated = earlier.clone().any(|call| call.tool_signature() == Some(step.adaptive));
    if is_repeated { of_repeated_call(earlier, step, moment) } else { of_other_call(earlier, step, moment.turn) }
}

/// The steps that calls report.
fn with_steps<'e>(
    calls: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
) -> impl DoubleEndedIterator<Item = (&'e PackedFingerprint, ToolStep)> + Clone {
    calls.filter_map(|call| Some((call, call.tools()?)))
}

/// Whether a call works on the question of a step in `turn`. Different questions of the user may
/// have the same answer.
fn is_same_question(call: &PackedFingerprint, step: &ToolStep, turn: Turn) -> bool {
    step.is_written || call.turn() == turn
}

/// What a step contributed whose calls were not made before.
fn of_other_call<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    turn: Turn,
) -> Novelty {
    let steps = || with_steps(earlier.clone());
    let of_question = || steps().filter(|(call, _)| is_same_question(call, step, turn));
    let is_known = || rewords(of_question(), step) || of_question().any(|(_, other)| is_same_part(&other, step));
    match of_new_call(steps().map(|(call, other)| (is_same_question(call, step, turn), other)), step) {
        Novelty::Barren if is_new_question(of_question(), step) => Novelty::Neutral,
        Novelty::Changed if is_tuned(steps(), step) => Novelty::Neutral,
        Novelty::Found if is_known() => Novelty::Barren,
        brought => brought,
    }
}

/// What a step contributed whose calls were made before.
fn of_repeated_call<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> Novelty {
    let steps = || with_steps(earlier.clone());
    let repeated = || steps().filter(|(_, other)| other.adaptive == step.adaptive);
    let same = || repeated().map(|(_, other)| other);
    let is_view = matches!(step.kind, StepKind::Look | StepKind::Plan);
    if is_view && is_asked_anew(repeated(), step, moment.turn) {
        return Novelty::Neutral;
    }
    let is_same_result = |other: ResultPrint| other.kept == step.result.kept || other.is_same_nothing(step.result);
    if same().any(|other| is_same_result(other.result)) {
        return of_same_result(&earlier, same().map(|other| other.result), step, moment);
    }
    let is_alike = same().any(|other| other.result.shape == step.result.shape);
    match step.kind {
        // A repeated action gets another number, and is still the same.
        StepKind::Change if is_alike => Novelty::Jitter,
        // Something that failed before succeeds now.
        StepKind::Change | StepKind::Run | StepKind::Other if is_done_at_last(same(), step) => Novelty::Changed,
        // The same step again led somewhere else: the next commit of a bisection.
        StepKind::Change if !step.is_error && leads_on(same(), step) => Novelty::Changed,
        StepKind::Change => Novelty::Neutral,
        _ if rewords(steps().filter(|(call, _)| is_same_question(call, step, moment.turn)), step) => Novelty::Barren,
        _ if !is_alike && step.is_error => Novelty::Neutral,
        _ if !is_alike => Novelty::Found,
        _ => of_other_numbers(&earlier, same().map(|other| other.result), step, moment),
    }
}

/// What a step contributed whose result came before. `results` are those of the same calls.
fn of_same_result<'e>(
    earlier: &(impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone),
    results: impl Iterator<Item = ResultPrint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> Novelty {
    let stands = || is_plateau(results.clone(), step.result);
    let lives = || is_watched(earlier.clone(), step, moment) && comes_back(results.clone(), step.result);
    if !step.result.is_empty && (stands() || lives()) { Novelty::Waited } else { Novelty::Stale }
}

/// What a step contributed whose result differs from an earlier one in numbers only.
fn of_other_numbers<'e>(
    earlier: &(impl DoubleEndedIterator<Item = &'e PackedFingerprint> + Clone),
    results: impl Iterator<Item = ResultPrint> + Clone,
    step: &ToolStep,
    moment: Moment,
) -> Novelty {
    let all = all_series(results.filter(|result| result.shape == step.result.shape), step.result);
    let may_live = || is_watched(earlier.clone(), step, moment) && live(&all) || all.iter().any(Series::is_lively);
    match movement(&all) {
        _ if step.is_error && (counts_tries(&all) || are_drawn(&all)) => Novelty::Jitter,
        // Numbers that go back and forth within wide bounds may be live measurements.
        Novelty::Jitter if !step.is_error && may_live() => Novelty::Neutral,
        brought => brought,
    }
}

/// Whether an agent that looks again pauses between the looks. What is run or changed is measured,
/// and measurements jitter.
fn is_watched<'e>(
    earlier: impl DoubleEndedIterator<Item = &'e PackedFingerprint>,
    step: &ToolStep,
    moment: Moment,
) -> bool {
    matches!(step.kind, StepKind::Look | StepKind::Other)
        && since_same(earlier, step, moment.silence).is_some_and(|(_, silence)| silence >= WATCH_SILENCE_S)
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
