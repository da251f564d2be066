//! The same long sentence before every step, while each step only looks at something else: the
//! agent announces what it will do and never does it. Where a step does something, the sentence is
//! a report.

use model::{Novelty, StepKind, ToolStep};

use crate::window::PackedFingerprint;

/// How many steps may begin with the same words, as those of batches do.
const FREE_STEPS: usize = 6;

/// How many other announcements there may be among so many equal ones.
fn fillers(equal: usize) -> usize {
    2 + equal / 2
}

/// The places of the calls whose answers said what the newest answer in the conversation of the
/// last of `calls` said, with nothing done since, newest first, without the free ones.
pub(crate) fn narration(calls: &[&PackedFingerprint]) -> Vec<usize> {
    let mut places = Vec::new();
    let Some((current, earlier)) = calls.split_last().filter(|(current, _)| !has_done(current)) else {
        return places;
    };
    let own = earlier.iter().enumerate().rev().filter(|(_, call)| call.conversation() == current.conversation());
    let (mut remark, mut others) = (None, 0);
    for (place, call) in own {
        let Some(response) = call.response() else { continue };
        if *remark.get_or_insert(response.remark) == response.remark {
            places.push(place);
        } else {
            others += 1;
        }
        if remark == Some(0) || others > fillers(places.len()) {
            break;
        }
        if has_done(call) {
            break;
        }
    }
    if remark == Some(0) { Vec::new() } else { places.into_iter().skip(FREE_STEPS).collect() }
}

/// Whether the step that a call reports did something, as far as is known.
fn has_done(call: &PackedFingerprint) -> bool {
    let may_do = |step: ToolStep| {
        matches!(step.kind, StepKind::Other | StepKind::Run | StepKind::Change) && !step.result.is_empty
    };
    call.novelty() == Novelty::Changed || (call.novelty() == Novelty::Found && call.tools().is_some_and(may_do))
}
