//! The requests that the provider received: counts that tests wait for, and the last request.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Received.
    pub requests: u64,
    /// Answered up to the end or the scripted fault.
    pub finished: u64,
    /// Cancelled by the caller.
    pub cancelled: u64,
}

/// A request as received.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// Its method.
    pub method: Method,
    /// Its path and query.
    pub uri: Uri,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl SeenRequest {
    pub(crate) fn new(head: &http::request::Parts, body: &Bytes) -> SeenRequest {
        SeenRequest {
            method: head.method.clone(),
            uri: head.uri.clone(),
            headers: head.headers.clone(),
            body: body.clone(),
        }
    }
}

/// The requests so far.
#[derive(Debug, Default)]
pub struct Seen {
    counts: watch::Sender<Counts>,
    last: Mutex<Option<SeenRequest>>,
}

impl Seen {
    /// The current counts.
    pub fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    /// Waits until `wanted` accepts the counts.
    pub async fn wait_for(&self, mut wanted: impl FnMut(Counts) -> bool) -> Counts {
        let mut counts = self.counts.subscribe();
        match counts.wait_for(|counts| wanted(*counts)).await {
            Ok(counts) => *counts,
            // Unreachable while `self` holds the sender; these would be the last counts.
            Err(_) => self.counts(),
        }
    }

    /// The last request.
    pub fn last(&self) -> Option<SeenRequest> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a request and returns its number, from 1.
    pub(crate) fn request(&self, request: SeenRequest) -> u64 {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        let mut number = 0;
        self.counts.send_modify(|counts| {
            counts.requests += 1;
            number = counts.requests;
        });
        number
    }
}

/// A request in progress. Dropping it unfinished counts as a cancellation.
#[derive(Debug)]
pub(crate) struct Unfinished {
    seen: Arc<Seen>,
    finished: bool,
}

impl Unfinished {
    pub(crate) fn new(seen: Arc<Seen>) -> Unfinished {
        Unfinished { seen, finished: false }
    }

    pub(crate) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.seen.counts.send_modify(|counts| match self.finished {
            true => counts.finished += 1,
            false => counts.cancelled += 1,
        });
    }
}
