//! A cache of the bodies of the calls in the windows, under one memory budget. Bodies stay as
//! received while there is room; then the oldest are compressed in the background, and over the
//! budget the oldest are dropped.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use http::HeaderValue;
use model::CallId;
use parking_lot::{Mutex, MutexGuard};

use super::cached_body::{CachedBody, CachedCall, CachedResponse};
use super::disk_copy::DiskCopy;

/// The most that is kept of one response.
pub(crate) const MAX_RESPONSE: usize = 1 << 20;

/// The cache. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct EvidenceCache {
    budget: usize,
    calls: Arc<Mutex<Calls>>,
}

/// Ordered by id and so by time.
#[derive(Default)]
struct Calls {
    /// Boxed, because the tree keeps room for as many entries again.
    by_id: BTreeMap<CallId, Box<CachedCall>>,
    stored: usize,
    raw: usize,
    is_compressing: bool,
    compressed_up_to: Option<CallId>,
    /// `None` if there is no copy on disk.
    copy: Option<DiskCopy>,
}

impl EvidenceCache {
    /// If `is_copied`, another task copies the cache to disk and asks for the difference.
    pub(crate) fn new(budget: usize, is_copied: bool) -> EvidenceCache {
        let calls = Calls { copy: is_copied.then(DiskCopy::default), ..Calls::default() };
        EvidenceCache { budget, calls: Arc::new(Mutex::new(calls)) }
    }

    /// Adds a new call, and drops those that the windows have `released`.
    pub(crate) fn put(&self, id: CallId, call: CachedCall, released: &[CallId]) {
        let mut calls = self.calls.lock();
        let released = released.iter().filter_map(|id| calls.remove(*id)).collect();
        calls.insert(id, call);
        calls.on_change(id);
        self.keep_within_budget(calls, released);
    }

    /// Adds a call from the copy on disk (`None` if it was unreadable), unless it left the windows
    /// meanwhile. A call that does not fit is removed from the copy: then it returns `false`.
    pub(super) fn put_back(&self, id: CallId, call: Option<CachedCall>) -> bool {
        let mut calls = self.calls.lock();
        if !calls.copy.as_ref().is_some_and(|copy| copy.has(id)) {
            return true;
        }
        let Some(call) = call else {
            calls.on_removal(id);
            return true;
        };
        let fits = calls.stored + call.stored() <= self.budget;
        if fits {
            calls.insert(id, call);
        } else {
            calls.on_removal(id);
        }
        fits
    }

    /// The copy on disk has these calls.
    pub(crate) fn expect(&self, ids: &[CallId]) {
        if let Some(copy) = &mut self.calls.lock().copy {
            ids.iter().for_each(|id| copy.on_restore(*id));
        }
    }

    /// The copy on disk is lost: a new one is to have everything that is cached.
    pub(crate) fn write_copy_again(&self) {
        let mut calls = self.calls.lock();
        let Calls { copy: Some(copy), by_id, .. } = &mut *calls else { return };
        copy.start_again(by_id.keys().copied());
    }

    /// Drops calls that have left the windows.
    pub(crate) fn release(&self, ids: &[CallId]) {
        let mut calls = self.calls.lock();
        let released: Vec<_> = ids.iter().filter_map(|id| calls.remove(*id)).collect();
        drop(calls);
        drop(released);
    }

    /// The calls that the copy on disk lacks, with at most about `bytes` of bodies, and those that
    /// it no longer needs.
    pub(super) fn difference(&self, bytes: usize) -> (Vec<(CallId, CachedCall)>, Vec<CallId>) {
        let mut calls = self.calls.lock();
        let Calls { copy: Some(copy), by_id, .. } = &mut *calls else { return Default::default() };
        let (mut changed, mut taken) = (Vec::new(), 0);
        while taken < bytes {
            let Some(id) = copy.take_changed() else { break };
            if let Some(call) = by_id.get(&id) {
                taken += call.length();
                changed.push((id, (**call).clone()));
            }
        }
        (changed, copy.take_gone())
    }

    /// Adds the response of a call, if it is still cached.
    pub(crate) fn answer(&self, id: CallId, body: Vec<u8>, content_type: Option<HeaderValue>, cut: bool) {
        let response = CachedResponse { body: CachedBody::response(body), content_type, cut };
        let mut calls = self.calls.lock();
        if calls.answer(id, response) {
            self.keep_within_budget(calls, Vec::new());
        }
    }

    /// The bodies of a call that is still cached.
    pub(crate) fn get(&self, id: CallId) -> Option<CachedCall> {
        self.calls.lock().by_id.get(&id).map(|call| (**call).clone())
    }

    fn keep_within_budget(&self, mut calls: MutexGuard<'_, Calls>, mut dropped: Vec<CachedCall>) {
        while calls.stored > self.budget {
            let Some((&oldest, _)) = calls.by_id.first_key_value() else { break };
            dropped.extend(calls.remove(oldest));
        }
        let begin_compressing = !calls.is_compressing && calls.raw > self.budget / 4 * 3;
        calls.is_compressing |= begin_compressing;
        // Dropped bodies are freed after the lock is released, so that no call waits for the
        // allocator.
        drop(calls);
        if begin_compressing {
            self.compress_in_background();
        }
    }

    /// Compresses the oldest until less than half of the budget is uncompressed, so that a thread
    /// is rarely started.
    fn compress_in_background(&self) {
        let cache = self.clone();
        let compress = move || while cache.compress_oldest() {};
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(compress)),
            Err(_) => compress(),
        }
    }

    /// Compresses the oldest; `false` if there is nothing left to compress.
    fn compress_oldest(&self) -> bool {
        let next = {
            let mut calls = self.calls.lock();
            let next = if calls.raw > self.budget / 2 { calls.next_raw() } else { None };
            calls.is_compressing = next.is_some();
            next
        };
        let Some((id, call)) = next else { return false };
        let compressed = CachedCall {
            request: call.request.clone().compressed(),
            response: call
                .response
                .clone()
                .map(|response| CachedResponse { body: response.body.compressed(), ..response }),
            ..call
        };
        let mut calls = self.calls.lock();
        // A call that was answered meanwhile is compressed later.
        let unchanged = calls.by_id.get(&id).is_some_and(|now| now.response.is_some() == compressed.response.is_some());
        if unchanged {
            calls.insert(id, compressed);
        }
        calls.compressed_up_to = Some(id);
        true
    }
}

impl Calls {
    fn insert(&mut self, id: CallId, call: CachedCall) {
        self.stored += call.stored();
        self.raw += call.raw();
        if let Some(before) = self.by_id.insert(id, Box::new(call)) {
            self.subtract(&before);
        }
    }

    /// `false` if the call is gone or already has a response.
    fn answer(&mut self, id: CallId, response: CachedResponse) -> bool {
        let Some(call) = self.by_id.get_mut(&id).filter(|call| call.response.is_none()) else { return false };
        self.stored += response.body.stored();
        self.raw += response.body.raw();
        call.response = Some(response);
        self.on_change(id);
        true
    }

    fn remove(&mut self, id: CallId) -> Option<CachedCall> {
        // A call may be on disk only, while a restart restores them.
        self.on_removal(id);
        let call = *self.by_id.remove(&id)?;
        self.subtract(&call);
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

    fn subtract(&mut self, call: &CachedCall) {
        self.stored -= call.stored();
        self.raw -= call.raw();
    }

    /// The oldest uncompressed call after the one compressed last, or else the oldest of all.
    fn next_raw(&self) -> Option<(CallId, CachedCall)> {
        let after = self.compressed_up_to.map_or(Unbounded, Excluded);
        let mut candidates = self.by_id.range((after, Unbounded)).chain(&self.by_id);
        candidates.find(|(_, call)| call.raw() > 0).map(|(id, call)| (*id, (**call).clone()))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Timestamp;
    use wire::Dialect;

    use super::*;
    use crate::evidence::cached_body::ENTRY;

    const BODY: usize = 1000;

    fn call(fill: u8) -> CachedCall {
        CachedCall::new(Timestamp::default(), Dialect::ChatCompletions, &Bytes::from(vec![fill; BODY]))
    }

    fn request(cache: &EvidenceCache, id: CallId) -> Option<Vec<u8>> {
        cache.get(id).and_then(|call| call.request.read())
    }

    #[test]
    fn over_the_budget_the_oldest_are_dropped() {
        let cache = EvidenceCache::new(10 * ENTRY, false);
        let ids: Vec<CallId> = (0..40).map(|_| CallId::new()).collect();
        for id in &ids {
            cache.put(*id, call(7), &[]);
        }
        let calls = cache.calls.lock();
        assert!(calls.stored <= cache.budget);
        assert!(!calls.by_id.contains_key(&ids[0]) && calls.by_id.contains_key(&ids[39]));
    }

    #[test]
    fn beyond_three_quarters_of_the_budget_the_oldest_are_compressed() {
        let cache = EvidenceCache::new(40 * BODY, false);
        let ids: Vec<CallId> = (0..36).map(|_| CallId::new()).collect();
        for (fill, id) in (0..).zip(&ids) {
            cache.put(*id, call(fill), &[]);
        }
        assert!(matches!(cache.get(ids[0]).map(|call| call.request), Some(CachedBody::Compressed(_, BODY))));
        assert!(matches!(cache.get(ids[35]).map(|call| call.request), Some(CachedBody::Raw(..))));
        for (fill, id) in (0..).zip(&ids) {
            assert_eq!(request(&cache, *id), Some(vec![fill; BODY]));
        }
    }

    #[test]
    fn calls_that_left_the_windows_are_dropped() {
        let cache = EvidenceCache::new(1 << 20, false);
        let (first, second) = (CallId::new(), CallId::new());
        cache.put(first, call(1), &[]);
        cache.answer(first, vec![2; BODY], None, false);
        assert_eq!(cache.calls.lock().stored, ENTRY + 2 * BODY);
        cache.put(second, call(3), &[first]);
        assert!(cache.get(first).is_none());
        let sizes = |calls: &Calls| (calls.stored, calls.raw);
        assert_eq!(sizes(&cache.calls.lock()), (ENTRY + BODY, BODY));
        cache.answer(first, vec![2; BODY], None, false);
        assert!(cache.get(first).is_none(), "a late response does not bring its call back");
    }
}
