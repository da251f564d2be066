//! Talk without new words: two agents that thank each other in ever different sentences, excuses,
//! plans that are announced again. A person who asks and a model that answers use new words.

use model::{ConversationId, Novelty};

use crate::rules::asks::rest::may_be_scheduled;
use crate::window::PackedFingerprint;

/// How many exchanges may say nothing new: people are polite.
const FREE_EXCHANGES: usize = 4;

/// How many exchanges with something new there may be among so many without.
fn fillers(idle: usize) -> usize {
    2 + idle / 3
}

/// The other side of a talk between two agents that share one name: the conversation whose newest
/// answer is the prompt of the current call.
fn partner(calls: &[&PackedFingerprint], current: &PackedFingerprint) -> Option<ConversationId> {
    let said = current.prompt()?;
    let passes_on = |call: &&&PackedFingerprint| call.response().is_some_and(|answer| answer.literal.is_similar(said));
    let others = calls.iter().rev().filter(|call| call.conversation() != current.conversation());
    others.take(1).find(passes_on).map(|call| call.conversation())
}

/// The places of the calls whose exchanges said nothing new, in the conversation of the last of
/// `calls` and in that of its partner, newest first, without the free ones. Progress by a tool ends
/// the talk, and so does a rest.
pub(crate) fn idle_talk(calls: &[&PackedFingerprint]) -> Vec<usize> {
    let Some(current) = calls.last().filter(|call| call.novelty() == Novelty::Idle) else {
        return Vec::new();
    };
    let (mut places, mut new, mut later) = (Vec::new(), 0, *current);
    let partner = partner(calls, current);
    let is_own = |call: &PackedFingerprint| {
        call.conversation() == current.conversation() || Some(call.conversation()) == partner
    };
    let own = calls.iter().enumerate().rev().skip(1).filter(|(_, call)| is_own(call));
    for (place, call) in own {
        if call.novelty().is_progress() || may_be_scheduled(later, call) {
            break;
        }
        if later.novelty() == Novelty::Idle {
            places.push(place);
        } else {
            new += 1;
            if new > fillers(places.len()) {
                break;
            }
        }
        later = call;
    }
    places.into_iter().skip(FREE_EXCHANGES).collect()
}
