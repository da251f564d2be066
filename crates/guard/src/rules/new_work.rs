//! A step that comes back after other, new work is a look back and no lap of a loop: agents read the same file again while
//! they explore others. A lap has little that is new in it: nothing, or a filler between two tries.

use model::Fingerprint;

/// How many new steps a lap may hold.
const FILLERS: usize = 2;

/// Which of `calls` report a step, or else got an answer, that no other of them did.
pub(crate) fn new_work(calls: &[&Fingerprint]) -> Vec<bool> {
    let is_new = |place: usize| {
        let mut others = calls.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, call)| *call);
        let call = calls[place];
        match (call.tools, call.response) {
            (Some(step), _) => {
                let same = |other: &Fingerprint| {
                    other.tools.is_some_and(|tools| tools.adaptive == step.adaptive && tools.result == step.result)
                };
                !others.any(same)
            }
            (None, Some(response)) => {
                let alike = |other: &Fingerprint| {
                    other.response.is_some_and(|other| other.adaptive.is_similar(response.adaptive))
                };
                !others.any(alike)
            }
            (None, None) => false,
        }
    };
    (0..calls.len()).map(is_new).collect()
}

/// Whether more than a filler lies between the calls at two places, in the conversation of the later one.
pub(crate) fn is_after_new_work(calls: &[&Fingerprint], new_work: &[bool], later: usize, earlier: usize) -> bool {
    let conversation = calls[later].conversation;
    let between = (earlier + 1)..later;
    between.filter(|place| new_work[*place] && calls[*place].conversation == conversation).count() > FILLERS
}
