//! The difference between the cache and its copy on disk. The proxy does not write the copy:
//! another task asks for the difference, writes it, and restores the calls that are still in the
//! windows at the next start.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use http::HeaderValue;
use model::{CallId, KeptBody, KeptCall, KeptCalls, KeptResponse};
use wire::Dialect;

use super::cache::EvidenceCache;
use super::cached_body::{CachedBody, CachedCall, CachedResponse};

/// The most calls to delete at a time, so that a transaction stays short.
const MAX_GONE: usize = 4096;

/// The content of the copy, and its difference to the cache.
#[derive(Default)]
pub(crate) struct DiskCopy {
    written: HashSet<CallId>,
    changed: BTreeSet<CallId>,
    gone: Vec<CallId>,
}

impl DiskCopy {
    /// Records that the call is new, or was answered.
    pub(crate) fn on_change(&mut self, call: CallId) {
        self.changed.insert(call);
    }

    /// Records that the call left the cache.
    pub(crate) fn on_removal(&mut self, call: CallId) {
        self.changed.remove(&call);
        if self.written.remove(&call) {
            self.gone.push(call);
        }
    }

    /// Whether the copy has the call, or is about to have it.
    pub(crate) fn has(&self, call: CallId) -> bool {
        self.written.contains(&call)
    }

    /// Records that the copy of the last server has the call.
    pub(crate) fn on_restore(&mut self, call: CallId) {
        self.written.insert(call);
    }

    /// Records that the copy is lost: a new one lacks all of `cached`.
    pub(crate) fn start_again(&mut self, cached: impl Iterator<Item = CallId>) {
        *self = DiskCopy { changed: cached.collect(), ..DiskCopy::default() };
    }

    /// The oldest call that the copy lacks; it counts as written from now on.
    pub(crate) fn take_changed(&mut self) -> Option<CallId> {
        let call = self.changed.pop_first()?;
        self.written.insert(call);
        Some(call)
    }

    /// Calls that the copy no longer needs, as many as one transaction may delete.
    pub(crate) fn take_gone(&mut self) -> Vec<CallId> {
        self.gone.split_off(self.gone.len().saturating_sub(MAX_GONE))
    }
}

impl EvidenceCache {
    /// The difference to the copy on disk, compressed, with at most about `bytes` of bodies.
    /// Compression is slow: call it on a thread that may block.
    pub(crate) fn take_difference(&self, bytes: usize) -> KeptCalls {
        let (changed, gone) = self.difference(bytes);
        KeptCalls { changed: changed.into_iter().map(|(id, call)| kept_call(id, call)).collect(), gone }
    }

    /// Restores `calls`, newest first, of those that it expects. `false` if one does not fit: then
    /// it is removed from the copy.
    pub(crate) fn restore(&self, calls: Vec<KeptCall>) -> bool {
        let mut all_fit = true;
        for call in calls {
            all_fit &= self.put_back(call.call, cached(call));
        }
        all_fit
    }
}

fn kept_call(call: CallId, held: CachedCall) -> KeptCall {
    KeptCall {
        call,
        time: held.time,
        dialect: held.dialect.as_str().to_owned(),
        request: kept_body(held.request),
        response: held.response.map(|response| KeptResponse {
            body: kept_body(response.body),
            content_type: response.content_type.and_then(|value| value.to_str().ok().map(str::to_owned)),
            cut: response.cut,
        }),
    }
}

fn kept_body(held: CachedBody) -> KeptBody {
    match held.compressed() {
        CachedBody::Compressed(bytes, length) => KeptBody { bytes: bytes.to_vec(), unpacked_length: Some(length) },
        CachedBody::Raw(bytes, _) | CachedBody::Incompressible(bytes) => {
            KeptBody { bytes: bytes.to_vec(), unpacked_length: None }
        }
    }
}

/// `None` if another version wrote the copy in an unknown dialect.
fn cached(call: KeptCall) -> Option<CachedCall> {
    let response = call.response.map(|response| CachedResponse {
        body: cached_body(response.body),
        content_type: response.content_type.and_then(|value| HeaderValue::from_str(&value).ok()),
        cut: response.cut,
    });
    let dialect = Dialect::parse(&call.dialect)?;
    Some(CachedCall { time: call.time, dialect, request: cached_body(call.request), response })
}

fn cached_body(body: KeptBody) -> CachedBody {
    // In a buffer of exactly its length, which is what the budget counts.
    let bytes = Bytes::from(body.bytes.into_boxed_slice());
    match body.unpacked_length {
        Some(length) => CachedBody::Compressed(bytes, length),
        None => CachedBody::Incompressible(bytes),
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    const BODY: usize = 1000;

    fn call(fill: u8) -> CachedCall {
        CachedCall::new(Timestamp::from_millis(7), Dialect::Messages, &Bytes::from(vec![fill; BODY]))
    }

    fn ids(difference: &KeptCalls) -> Vec<CallId> {
        difference.changed.iter().map(|kept| kept.call).collect()
    }

    #[test]
    fn copy_that_is_lost_is_written_again() {
        let cache = EvidenceCache::new(1 << 20, true);
        let [gone, kept] = [CallId::new(), CallId::new()];
        cache.put(gone, call(1), &[]);
        cache.put(kept, call(2), &[]);
        assert_eq!(ids(&cache.take_difference(1 << 20)), [gone, kept]);
        cache.release(&[gone]);
        cache.write_copy_again();
        let difference = cache.take_difference(1 << 20);
        assert_eq!((ids(&difference), difference.gone), (vec![kept], Vec::new()));
    }

    #[test]
    fn difference_holds_new_answered_and_released_calls_once() {
        let cache = EvidenceCache::new(1 << 20, true);
        let (first, second) = (CallId::new(), CallId::new());
        cache.put(first, call(1), &[]);
        cache.put(second, call(2), &[]);
        assert_eq!(ids(&cache.take_difference(1 << 20)), [first, second]);
        assert!(cache.take_difference(1 << 20).is_empty());
        cache.answer(first, vec![3; BODY], None, true);
        let answered = cache.take_difference(1 << 20);
        assert_eq!(ids(&answered), [first]);
        assert!(answered.changed[0].response.as_ref().is_some_and(|response| response.cut));
        cache.put(CallId::new(), call(4), &[first]);
        assert_eq!(cache.take_difference(1 << 20).gone, [first]);
    }

    #[test]
    fn calls_that_leave_before_they_are_written_are_never_written() {
        let cache = EvidenceCache::new(1 << 20, true);
        let (first, second) = (CallId::new(), CallId::new());
        cache.put(first, call(1), &[]);
        cache.put(second, call(2), &[first]);
        let difference = cache.take_difference(1 << 20);
        assert_eq!((ids(&difference), difference.gone), (vec![second], Vec::new()));
    }

    #[test]
    fn difference_is_taken_in_parts() {
        let cache = EvidenceCache::new(1 << 20, true);
        (0..10).for_each(|fill| cache.put(CallId::new(), call(fill), &[]));
        assert_eq!(cache.take_difference(3 * BODY).changed.len(), 3);
        assert_eq!(cache.take_difference(1 << 20).changed.len(), 7);
    }

    #[test]
    fn without_a_copy_on_disk_there_is_no_difference() {
        let cache = EvidenceCache::new(1 << 20, false);
        cache.put(CallId::new(), call(1), &[]);
        assert!(cache.take_difference(1 << 20).is_empty());
    }

    #[test]
    fn restored_bodies_are_unchanged_and_within_the_budget() {
        let before = EvidenceCache::new(1 << 20, true);
        let calls: Vec<CallId> = (0..3).map(|_| CallId::new()).collect();
        for (fill, id) in (0..).zip(&calls) {
            before.put(*id, call(fill), &[]);
        }
        before.answer(calls[2], vec![9; 20], Some(HeaderValue::from_static("text/event-stream")), false);
        let mut kept = before.take_difference(1 << 20).changed;
        kept.reverse();

        let mut newest_first = calls.clone();
        newest_first.reverse();
        let after = EvidenceCache::new(1 << 20, true);
        after.expect(&newest_first);
        assert!(after.restore(kept.clone()));
        assert!(after.take_difference(1 << 20).is_empty(), "restored calls are in the copy already");
        let newest = after.get(calls[2]).expect("it was restored");
        assert_eq!(newest.request.read(), Some(vec![2; BODY]));
        let response = newest.response.expect("it was answered");
        assert_eq!(response.body.read(), Some(vec![9; 20]));
        assert_eq!(response.content_type, Some(HeaderValue::from_static("text/event-stream")));

        let small = EvidenceCache::new(crate::evidence::cached_body::ENTRY * 2, true);
        small.expect(&newest_first);
        assert!(!small.restore(kept));
        assert!(small.get(calls[2]).is_some() && small.get(calls[0]).is_none(), "the newest are kept");
        assert_eq!(small.take_difference(1 << 20).gone, [calls[1], calls[0]], "the others leave the disk");
    }

    #[test]
    fn calls_that_leave_the_windows_before_they_are_restored_leave_the_disk() {
        let before = EvidenceCache::new(1 << 20, true);
        let (left, stays) = (CallId::new(), CallId::new());
        before.put(left, call(1), &[]);
        before.put(stays, call(2), &[]);
        let kept = before.take_difference(1 << 20).changed;

        let after = EvidenceCache::new(1 << 20, true);
        after.expect(&[stays, left]);
        after.release(&[left]);
        assert!(after.restore(kept));
        assert!(after.get(left).is_none() && after.get(stays).is_some());
        assert_eq!(after.take_difference(1 << 20).gone, [left]);
    }

    #[test]
    fn deletions_are_taken_in_parts() {
        let cache = EvidenceCache::new(1 << 20, true);
        let calls: Vec<CallId> = (0..MAX_GONE + 1).map(|_| CallId::new()).collect();
        cache.expect(&calls);
        cache.release(&calls);
        assert_eq!(cache.take_difference(1 << 20).gone.len(), MAX_GONE);
        assert_eq!(cache.take_difference(1 << 20).gone.len(), 1);
        assert!(cache.take_difference(1 << 20).is_empty());
    }
}
