//! A step that comes back after other, new work is a look back and no lap of a loop: agents read the same file again while
//! they explore others. A lap has little that is new in it: nothing, or a filler between two tries.

use super::new_result::is_same_tool_step;
use crate::entry::Entry;

/// How many new steps a lap may hold.
const FILLERS: usize = 2;

/// Whether more than a filler lies between the calls at two places, in the conversation of the later one.
pub(crate) fn is_after_new_work(calls: &[&Entry], later: usize, earlier: usize) -> bool {
    later - earlier > FILLERS + 1 && is_work_between(calls, later, earlier)
}

// Not inlined: it is seldom asked, and would take the registers of what is asked of every call.
#[inline(never)]
fn is_work_between(calls: &[&Entry], later: usize, earlier: usize) -> bool {
    let conversation = calls[later].conversation();
    let is_work = |place: &usize| calls[*place].conversation() == conversation && is_new(calls, *place);
    ((earlier + 1)..later).filter(is_work).nth(FILLERS).is_some()
}

/// Whether the call at `place` reports a step, or else got an answer, that no other of `calls` did.
fn is_new(calls: &[&Entry], place: usize) -> bool {
    let call = calls[place];
    let mut others = calls[..place].iter().chain(&calls[place + 1..]);
    match (call.tools(), call.response()) {
        (Some(_), _) => !others.any(|other| is_same_tool_step(call, other)),
        (None, Some(response)) => {
            let alike = |other: &Entry| other.response().is_some_and(|it| it.adaptive.is_similar(response.adaptive));
            !others.any(|other| alike(other))
        }
        (None, None) => false,
    }
}
