//! An answer that is met with the very same complaint was in vain, whatever its words: a harness
//! says that the patch is empty, the agent says that it is done, again and again. Work in between
//! makes it another try.

use crate::window::PackedFingerprint;

/// How many answers in vain are ordinary tries.
const FREE_TRIES: usize = 4;

/// Those of `complaints`, the places of calls with the complaint of the last of `calls`, newest
/// first, whose answers led to nothing but the next complaint, without the free ones.
pub(crate) fn in_vain<'c>(
    calls: &'c [&PackedFingerprint],
    complaints: &'c [usize],
) -> impl Iterator<Item = usize> + 'c {
    let laters = std::iter::once(calls.len() - 1).chain(complaints.iter().copied());
    let pairs = complaints.iter().copied().zip(laters);
    pairs.filter(|(place, later)| is_in_vain(calls, *place, *later)).map(|(place, _)| place).skip(FREE_TRIES)
}

fn is_in_vain(calls: &[&PackedFingerprint], place: usize, later: usize) -> bool {
    let conversation = calls[place].conversation();
    let does_work = |call: &&&PackedFingerprint| call.conversation() == conversation && call.tools().is_some();
    calls[place].response().is_some() && !calls[place + 1..=later].iter().any(|call| does_work(&call))
}
