//! Words that go in circles: two agents that thank each other, apologies, announcements without
//! action. No single sentence comes back often, but nothing new is said.

use crate::window::PackedFingerprint;

use super::same_words::are_same_words;
use super::visitors::has_visitors;

/// How many new answers there may be among exchanges that repeat earlier ones.
fn fillers(repetitions: usize) -> usize {
    2 + repetitions / 3
}

/// The exchanges in the conversation of the last of `calls` that say nothing new, newest first. An
/// exchange says nothing new if its question was asked before and its answer was given before.
pub(crate) struct SmallTalk {
    places: Vec<usize>,
    questions: usize,
    answers: usize,
}

/// The small talk that ends with the last of `calls`; `None` if there is none, or only one sentence
/// comes back.
pub(crate) fn small_talk(calls: &[&PackedFingerprint]) -> Option<SmallTalk> {
    let (current, earlier) = calls.split_last()?;
    let is_talk = |call: &&PackedFingerprint| call.conversation() == current.conversation() && call.tools().is_none();
    let is_question_again = |call: &PackedFingerprint, before: &[&PackedFingerprint]| {
        before.iter().any(|other| is_talk(other) && are_same_words(other, call))
    };
    if !is_talk(current) || current.turn().position == 0 || !is_question_again(current, earlier) {
        return None;
    }
    if has_visitors(calls, current) {
        return None;
    }
    let (mut places, mut new) = (Vec::new(), 0);
    for (place, call) in
        earlier.iter().enumerate().rev().filter(|(_, call)| call.conversation() == current.conversation())
    {
        if call.novelty().is_progress() {
            break;
        }
        let Some(answer) = call.response().filter(|_| is_talk(call)) else { continue };
        let is_answer_again = || earlier[..place].iter().any(|other| is_talk(other) && is_like(other, answer.adaptive));
        if is_question_again(call, &earlier[..place]) && is_answer_again() {
            places.push(place);
        } else {
            new += 1;
            if new > fillers(places.len()) {
                break;
            }
        }
    }
    let questions = distinct(&places, |one, other| are_same_words(earlier[one], earlier[other]));
    let answers = distinct(&places, |one, other| {
        earlier[other].response().is_some_and(|answer| is_like(earlier[one], answer.adaptive))
    });
    (answers > 1).then_some(SmallTalk { places, questions, answers })
}

fn is_like(call: &PackedFingerprint, answer: model::TextHash) -> bool {
    call.response().is_some_and(|other| other.adaptive.is_similar(answer))
}

fn distinct(places: &[usize], is_same: impl Fn(usize, usize) -> bool) -> usize {
    let is_first = |(index, place): &(usize, &usize)| !places[..*index].iter().any(|other| is_same(*other, **place));
    places.iter().enumerate().filter(is_first).count()
}

impl SmallTalk {
    /// The places whose questions count: all but those of one round.
    pub(crate) fn questions(&self) -> &[usize] {
        &self.places[..(self.places.len() + 1).saturating_sub(self.questions)]
    }

    /// The places whose answers count: all but those of one round.
    pub(crate) fn answers(&self) -> &[usize] {
        &self.places[..(self.places.len() + 1).saturating_sub(self.answers)]
    }
}
