//! The windows of one agent: one over all its calls, one for each of its conversations. A call that
//! is in two of them is kept once, so that an answer reaches both and its body is released when it
//! has left both.

use std::collections::HashSet;

use model::{CallId, ConversationId, Fingerprint, Outcome, SavedAgent, Timestamp};

mod bytes;
mod calls;
mod compact;
mod in_flight;
mod lookup;
mod packed_fingerprint;
mod slab;
mod stored;
#[cfg(test)]
mod tests;

pub(crate) use packed_fingerprint::PackedFingerprint;
pub(crate) use stored::StoredWindows;

use crate::decision::Decision;
use calls::Calls;
use in_flight::InFlight;
use slab::{Key, Slab};

/// The last number that windows may begin with: the year 2109 in milliseconds. Half of the numbers
/// that an entry can hold remain.
const LAST_FIRST_NUMBER: u64 = 1 << 42;

/// Windows with at most so many calls are closed after each call: that takes less than a
/// microsecond, and most agents never make more.
const SMALL: usize = 2;

/// The windows of one agent.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    slab: Slab,
    all: Calls,
    /// Least recently used first.
    conversations: Vec<Conversation>,
    /// The calls that have not ended.
    in_flight: InFlight,
    /// How many of the calls in the windows failed.
    failed: usize,
    newest: u64,
    floor: u64,
    /// Calls that have left all windows, until they are reported.
    released: Vec<CallId>,
    /// How far the agent's shared log was applied. Dropped together with the calls: empty windows
    /// start at the beginning of the log.
    pub(crate) followed: FollowedLog,
}

/// How far an agent's shared log was applied.
#[derive(Debug, Default)]
pub(crate) struct FollowedLog {
    /// The position of the newest record; 0 if none was applied.
    pub(crate) seen: u64,
    /// Calls in the windows that the log does not hold: they came while it was out of reach.
    pub(crate) unshared: Vec<CallId>,
    /// Calls of this replica that were judged before their verdict was requested.
    pub(crate) decided: Vec<(CallId, Decision)>,
}

#[derive(Debug)]
struct Conversation {
    id: ConversationId,
    calls: Calls,
    /// When something was last asked or answered in it.
    last_active: Timestamp,
}

/// How much the windows hold at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) window_size: usize,
    pub(crate) max_conversations: usize,
}

impl Windows {
    /// Windows without any call numbered up to `floor`.
    pub(crate) fn above(floor: u64) -> Windows {
        Windows { floor, newest: floor, ..Windows::default() }
    }

    /// The number of a call that comes now. The first call gets the time, not 1: an agent that was
    /// evicted and comes back must continue above its stored numbers, or a restart would take its
    /// old calls for its newest.
    pub(crate) fn next_number(&self, now: Timestamp) -> u64 {
        match self.newest {
            0 => u64::try_from(now.as_millis()).unwrap_or_default().clamp(1, LAST_FIRST_NUMBER),
            newest => newest + 1,
        }
    }

    /// Calls numbered up to this one are out of the windows for good.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// Adds a call that is newer than all others; the oldest calls leave.
    pub(crate) fn push(&mut self, print: &Fingerprint, bounds: Bounds) {
        if print.number <= self.floor {
            return;
        }
        self.newest = self.newest.max(print.number);

        // The oldest leave first, so that a full window never needs an extra key.
        let mut all = std::mem::take(&mut self.all);
        self.make_room(&mut all, print, bounds.window_size);
        let mut conversation = self.take_conversation(print.conversation, bounds.max_conversations);
        conversation.last_active = conversation.last_active.max(print.time);
        let reach = self.newest.saturating_sub(SavedAgent::RECALL);
        self.release_until(&mut conversation.calls, reach);
        self.make_room(&mut conversation.calls, print, bounds.window_size);
        let key = self.slab.insert(PackedFingerprint::from(print));
        let entry = self.slab.get_mut(key);
        entry.enter_window();
        entry.enter_window();
        self.note_outcome(key);
        all.push(key, print.is_sample);
        self.all = all;
        conversation.calls.push(key, print.is_sample);
        self.conversations.reserve_exact(1);
        self.conversations.push(conversation);
    }

    /// Whether they hold one or two calls, none of them in flight.
    pub(crate) fn is_small(&self) -> bool {
        self.slab.used() <= SMALL && self.in_flight.is_empty()
    }

    /// Keeps track of an added call that is in flight or has failed.
    fn note_outcome(&mut self, key: Key) {
        let entry = self.slab.get(key);
        match entry.outcome() {
            Outcome::Pending => self.in_flight.add(key, entry),
            Outcome::Failed => self.failed += 1,
            Outcome::Answered | Outcome::Refused => {}
        }
    }

    /// Ends `call`, if it is in flight and still in a window: `end` changes its fingerprint.
    pub(crate) fn end(&mut self, call: CallId, end: impl FnOnce(&mut Fingerprint)) -> Option<Fingerprint> {
        let key = self.in_flight.find(call)?;
        let entry = self.slab.get_mut(key);
        let mut print = Fingerprint::from(&*entry);
        end(&mut print);
        entry.update(&print);
        if print.outcome != Outcome::Pending {
            self.in_flight.remove(key);
        }
        self.failed += usize::from(print.outcome == Outcome::Failed);
        Some(print)
    }

    /// How many asks and how many samples for which `is_same` holds are in flight.
    pub(crate) fn in_flight(&self, is_same: impl Fn(&PackedFingerprint) -> bool) -> (usize, usize) {
        self.in_flight.count(|key| is_same(self.slab.get(key)))
    }

    /// Records activity in a conversation.
    pub(crate) fn on_activity(&mut self, conversation: ConversationId, now: Timestamp) {
        if let Some(known) = self.conversations.iter_mut().rev().find(|it| it.id == conversation) {
            known.last_active = known.last_active.max(now);
        }
    }

    /// The floor after a change of the window size. A restart must rebuild the same windows as in
    /// memory, so no window reaches further back than the smaller of both sizes did.
    pub(crate) fn floor_after(&self, before: u16, after: u16) -> u64 {
        if before == after {
            return self.floor;
        }
        self.floor.max(self.newest.saturating_sub(u64::from(before.min(after))))
    }

    /// Removes the calls numbered up to `floor` from all windows for good, and those beyond
    /// `window_size`.
    pub(crate) fn resize(&mut self, floor: u64, window_size: usize) {
        self.floor = self.floor.max(floor);
        // An agent that was evicted meanwhile continues above its stored numbers.
        self.newest = self.newest.max(self.floor);
        let mut all = std::mem::take(&mut self.all);
        self.trim(&mut all, window_size);
        self.all = all;
        let mut conversations = std::mem::take(&mut self.conversations);
        conversations.iter_mut().for_each(|conversation| self.trim(&mut conversation.calls, window_size));
        conversations.retain(|conversation| !conversation.calls.keys().is_empty());
        self.conversations = conversations;
    }

    fn trim(&mut self, window: &mut Calls, window_size: usize) {
        self.release_until(window, self.floor);
        while window.asks().len() > window_size {
            self.release_oldest(window);
        }
    }

    /// Empties the windows and restarts their numbering.
    pub(crate) fn clear(&mut self) {
        let mut released = std::mem::take(&mut self.released);
        released.extend(self.slab.in_windows().map(|entry| entry.call));
        *self = Windows { released, ..Windows::default() };
    }

    /// Releases all calls and keeps the numbering.
    pub(crate) fn drop_windows(&mut self) {
        let (newest, floor) = (self.newest, self.floor);
        self.clear();
        (self.newest, self.floor) = (newest, floor);
    }

    /// Releases all calls, to be filled again from a shared log.
    pub(crate) fn begin_log(&mut self) {
        let (followed, floor) = (std::mem::take(&mut self.followed), self.floor);
        self.clear();
        (self.newest, self.floor, self.followed) = (floor, floor, followed);
    }

    /// The calls in any window, in the order of their numbers.
    pub(crate) fn held_calls(&self) -> Vec<Fingerprint> {
        let mut calls: Vec<Fingerprint> = self.slab.in_windows().map(Fingerprint::from).collect();
        calls.sort_unstable_by_key(|call| call.number);
        calls
    }

    /// The number of the newest call.
    pub(crate) fn newest_number(&self) -> u64 {
        self.newest
    }

    /// Adds calls to those that have left all windows.
    pub(crate) fn add_released(&mut self, calls: Vec<CallId>) {
        self.released.extend(calls);
    }

    /// Keeps calls that came back into a window from being reported as released.
    pub(crate) fn forget_returned(&mut self) {
        let held: HashSet<CallId> = self.in_windows().collect();
        self.released.retain(|call| !held.contains(call));
    }

    /// The ids of the calls in any window.
    pub(crate) fn in_windows(&self) -> impl Iterator<Item = CallId> {
        self.slab.in_windows().map(|entry| entry.call)
    }

    /// Takes the calls that have left all windows since the last time.
    pub(crate) fn take_released(&mut self) -> Vec<CallId> {
        std::mem::take(&mut self.released)
    }

    /// Makes room for `print` in `window`. A sample needs no room: a round of samples would fill
    /// the window.
    fn make_room(&mut self, window: &mut Calls, print: &Fingerprint, window_size: usize) {
        while !print.is_sample && window.asks().len() >= window_size.max(1) {
            self.release_oldest(window);
        }
        window.reserve();
    }

    fn release_until(&mut self, window: &mut Calls, number: u64) {
        while window.keys().front().is_some_and(|key| self.slab.get(*key).number() <= number) {
            self.release_oldest(window);
        }
    }

    fn release_oldest(&mut self, window: &mut Calls) {
        let Some(key) = window.pop_oldest(&self.slab) else {
            return;
        };
        let entry = self.slab.get_mut(key);
        if entry.leave_window() {
            self.released.push(entry.call);
            self.failed -= usize::from(entry.outcome() == Outcome::Failed);
            self.slab.release(key);
            self.in_flight.remove(key);
        }
    }

    /// Removes a conversation from the list, to be added again as the most recently used one. An
    /// unknown one is created, for which others make room.
    fn take_conversation(&mut self, id: ConversationId, max_conversations: usize) -> Conversation {
        if let Some(place) = self.conversations.iter().position(|conversation| conversation.id == id) {
            return self.conversations.remove(place);
        }
        while self.conversations.len() >= max_conversations.max(1) {
            let mut forgotten = self.conversations.remove(0);
            self.release_until(&mut forgotten.calls, u64::MAX);
        }
        Conversation { id, calls: Calls::default(), last_active: Timestamp::from_millis(0) }
    }
}
