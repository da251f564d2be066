//! The bodies of the calls in the windows, held in memory under one budget for all. They are kept as they came while
//! there is room; then the oldest are compressed in the background, and over the budget the oldest are dropped.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use http::HeaderValue;
use model::CallId;
use parking_lot::{Mutex, MutexGuard};

use crate::disk_copy::DiskCopy;
use crate::held::{Held, HeldCall, HeldResponse};

/// The most that is kept of one response.
pub(crate) const MAX_RESPONSE: usize = 1 << 20;

/// Where the bodies are. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Shelf {
    budget: usize,
    calls: Arc<Mutex<Calls>>,
}

/// Ordered by id, which is by time.
#[derive(Default)]
struct Calls {
    by_id: BTreeMap<CallId, HeldCall>,
    stored: usize,
    raw: usize,
    packing: bool,
    packed_up_to: Option<CallId>,
    /// `None`: there is no copy on disk.
    copy: Option<DiskCopy>,
}

impl Shelf {
    /// With `is_copied`, somebody writes a copy to disk and asks how it differs.
    pub(crate) fn new(budget: usize, is_copied: bool) -> Shelf {
        let calls = Calls { copy: is_copied.then(DiskCopy::default), ..Calls::default() };
        Shelf { budget, calls: Arc::new(Mutex::new(calls)) }
    }

    /// Takes a new call, and lets go of those that have left the windows.
    pub(crate) fn put(&self, id: CallId, call: HeldCall, left: &[CallId]) {
        let mut calls = self.calls.lock();
        let left = left.iter().filter_map(|id| calls.remove(*id)).collect();
        calls.insert(id, call);
        calls.on_change(id);
        self.keep_within_budget(calls, left);
    }

    /// Takes a call back from the copy on disk, if it fits; `None` if it could not be read. Otherwise it leaves the copy.
    pub(crate) fn put_back(&self, id: CallId, call: Option<HeldCall>) {
        let mut calls = self.calls.lock();
        if let Some(copy) = &mut calls.copy {
            copy.on_restore(id);
        }
        match call.filter(|call| calls.stored + call.stored() <= self.budget) {
            Some(call) => calls.insert(id, call),
            None => calls.on_removal(id),
        }
    }

    /// Lets go of calls that have left the windows.
    pub(crate) fn release(&self, left: &[CallId]) {
        let mut calls = self.calls.lock();
        let released: Vec<_> = left.iter().filter_map(|id| calls.remove(*id)).collect();
        drop(calls);
        drop(released);
    }

    /// The calls that the copy on disk lacks, with about `bytes` of bodies at most, and those that it no longer needs.
    pub(crate) fn difference(&self, bytes: usize) -> (Vec<(CallId, HeldCall)>, Vec<CallId>) {
        let mut calls = self.calls.lock();
        let Calls { copy: Some(copy), by_id, .. } = &mut *calls else { return Default::default() };
        let (mut changed, mut taken) = (Vec::new(), 0);
        while taken < bytes {
            let Some(id) = copy.take_changed() else { break };
            if let Some(call) = by_id.get(&id) {
                taken += call.length();
                changed.push((id, call.clone()));
            }
        }
        (changed, copy.take_gone())
    }

    /// Adds the answer to a call, if the call is still here.
    pub(crate) fn answer(&self, id: CallId, body: Vec<u8>, content_type: Option<HeaderValue>, cut: bool) {
        let response = HeldResponse { body: Held::response(body), content_type, cut };
        let mut calls = self.calls.lock();
        if calls.answer(id, response) {
            self.keep_within_budget(calls, Vec::new());
        }
    }

    /// The bodies of a call, if they are still here.
    pub(crate) fn get(&self, id: CallId) -> Option<HeldCall> {
        self.calls.lock().by_id.get(&id).cloned()
    }

    fn keep_within_budget(&self, mut calls: MutexGuard<'_, Calls>, mut dropped: Vec<HeldCall>) {
        while calls.stored > self.budget {
            let Some((&oldest, _)) = calls.by_id.first_key_value() else { break };
            dropped.extend(calls.remove(oldest));
        }
        let begin_packing = !calls.packing && calls.raw > self.budget / 4 * 3;
        calls.packing |= begin_packing;
        // What was dropped is freed after the lock: nobody has to wait for the allocator.
        drop(calls);
        if begin_packing {
            self.pack_in_background();
        }
    }

    /// Compresses the oldest, one after another, until less than half of the budget is raw: a begun round is worth its
    /// thread.
    fn pack_in_background(&self) {
        let shelf = self.clone();
        let pack = move || while shelf.pack_oldest() {};
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(pack)),
            Err(_) => pack(),
        }
    }

    /// Whether there was one to compress.
    fn pack_oldest(&self) -> bool {
        let next = {
            let mut calls = self.calls.lock();
            let next = if calls.raw > self.budget / 2 { calls.next_raw() } else { None };
            calls.packing = next.is_some();
            next
        };
        let Some((id, call)) = next else { return false };
        let packed = HeldCall {
            request: call.request.clone().packed(),
            response: call.response.clone().map(|response| HeldResponse { body: response.body.packed(), ..response }),
            ..call
        };
        let mut calls = self.calls.lock();
        // Gone, or answered meanwhile: then its turn comes again.
        let unchanged = calls.by_id.get(&id).is_some_and(|now| now.response.is_some() == packed.response.is_some());
        if unchanged {
            calls.insert(id, packed);
        }
        calls.packed_up_to = Some(id);
        true
    }
}

impl Calls {
    fn insert(&mut self, id: CallId, call: HeldCall) {
        self.stored += call.stored();
        self.raw += call.raw();
        if let Some(before) = self.by_id.insert(id, call) {
            self.take_off(&before);
        }
    }

    /// `false`: the call is gone, or had its answer.
    fn answer(&mut self, id: CallId, response: HeldResponse) -> bool {
        let Some(call) = self.by_id.get_mut(&id).filter(|call| call.response.is_none()) else { return false };
        self.stored += response.body.stored();
        self.raw += response.body.raw();
        call.response = Some(response);
        self.on_change(id);
        true
    }

    fn remove(&mut self, id: CallId) -> Option<HeldCall> {
        let call = self.by_id.remove(&id)?;
        self.take_off(&call);
        self.on_removal(id);
        Some(call)
    }

    fn on_change(&mut self, id: CallId) {
        if let Some(copy) = &mut self.copy {
            copy.on_change(id);
        }
    }

    fn on_removal(&mut self, id: CallId) {
        if let Some(copy) = &mut self.copy {
            copy.on_removal(id);
        }
    }

    fn take_off(&mut self, call: &HeldCall) {
        self.stored -= call.stored();
        self.raw -= call.raw();
    }

    /// The oldest raw call after the last one that was compressed, else the oldest of all.
    fn next_raw(&self) -> Option<(CallId, HeldCall)> {
        let after = self.packed_up_to.map_or(Unbounded, Excluded);
        let mut candidates = self.by_id.range((after, Unbounded)).chain(&self.by_id);
        candidates.find(|(_, call)| call.raw() > 0).map(|(id, call)| (*id, call.clone()))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Timestamp;
    use wire::Dialect;

    use super::*;
    use crate::held::ENTRY;

    const BODY: usize = 1000;

    fn call(fill: u8) -> HeldCall {
        HeldCall::new(Timestamp::default(), Dialect::ChatCompletions, &Bytes::from(vec![fill; BODY]))
    }

    fn request(shelf: &Shelf, id: CallId) -> Option<Vec<u8>> {
        shelf.get(id).and_then(|call| call.request.read())
    }

    #[test]
    fn over_the_budget_the_oldest_are_dropped() {
        let shelf = Shelf::new(10 * ENTRY, false);
        let ids: Vec<CallId> = (0..40).map(|_| CallId::new()).collect();
        for id in &ids {
            shelf.put(*id, call(7), &[]);
        }
        let calls = shelf.calls.lock();
        assert!(calls.stored <= shelf.budget);
        assert!(!calls.by_id.contains_key(&ids[0]) && calls.by_id.contains_key(&ids[39]));
    }

    #[test]
    fn beyond_three_quarters_of_the_budget_the_oldest_are_compressed() {
        let shelf = Shelf::new(40 * BODY, false);
        let ids: Vec<CallId> = (0..36).map(|_| CallId::new()).collect();
        for (fill, id) in (0..).zip(&ids) {
            shelf.put(*id, call(fill), &[]);
        }
        assert!(matches!(shelf.get(ids[0]).map(|call| call.request), Some(Held::Packed(_, BODY))));
        assert!(matches!(shelf.get(ids[35]).map(|call| call.request), Some(Held::Raw(..))));
        for (fill, id) in (0..).zip(&ids) {
            assert_eq!(request(&shelf, *id), Some(vec![fill; BODY]));
        }
    }

    #[test]
    fn what_left_the_windows_is_let_go() {
        let shelf = Shelf::new(1 << 20, false);
        let (first, second) = (CallId::new(), CallId::new());
        shelf.put(first, call(1), &[]);
        shelf.answer(first, vec![2; BODY], None, false);
        assert_eq!(shelf.calls.lock().stored, ENTRY + 2 * BODY);
        shelf.put(second, call(3), &[first]);
        assert!(shelf.get(first).is_none());
        let sizes = |calls: &Calls| (calls.stored, calls.raw);
        assert_eq!(sizes(&shelf.calls.lock()), (ENTRY + BODY, BODY));
        shelf.answer(first, vec![2; BODY], None, false);
        assert!(shelf.get(first).is_none(), "an answer that comes too late brings nothing back");
    }
}
