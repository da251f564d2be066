//! The body of a request: read completely if it carries a conversation, passed through if it does
//! not, discarded if the call is refused.

pub(crate) mod body_budget;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use self::body_budget::{BodyBudget, BodyShare};
use crate::ProxyConfig;
use crate::error::Stop;
use crate::idle_timeout::IdleTimeout;

/// The largest buffer that is allocated on the strength of a length header alone.
const TRUSTED_LENGTH: usize = 1 << 20;
/// The lowest rate of a body in bytes a second, besides one allowed silence: otherwise a few slow
/// bodies would hold the body budget for ever.
const SLOWEST: u32 = 64 << 10;
/// How long the rest of a refused body is read.
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Why a body is incomplete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokenUpload {
    #[error("the proxy takes request bodies of at most {0} bytes, and this one has more")]
    TooLarge(usize),
    #[error("the client stopped sending its request body")]
    Silent,
    #[error("the request body came too slowly: less than {} KiB a second", SLOWEST >> 10)]
    TooSlow,
    #[error("the request body broke off")]
    BrokeOff(#[source] hyper::Error),
}

impl From<&BrokenUpload> for Stop {
    fn from(broken: &BrokenUpload) -> Stop {
        let status = match broken {
            BrokenUpload::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BrokenUpload::Silent | BrokenUpload::TooSlow => StatusCode::REQUEST_TIMEOUT,
            BrokenUpload::BrokeOff(_) => StatusCode::BAD_REQUEST,
        };
        Stop::Client(status, broken.to_string())
    }
}

impl From<BrokenUpload> for Stop {
    fn from(broken: BrokenUpload) -> Stop {
        Stop::from(&broken)
    }
}

/// A body as it comes in, with limits on its size and on its pauses.
pub(crate) struct Upload {
    incoming: Incoming,
    received: usize,
    limit: usize,
    idle: IdleTimeout,
    progress: Option<Arc<Progress>>,
    /// Its share of the body budget while it is in flight.
    share: BodyShare,
}

impl Upload {
    pub(crate) fn new(incoming: Incoming, config: &ProxyConfig) -> Upload {
        let limit = config.max_request_body;
        let idle = IdleTimeout::new(config.idle_timeout);
        Upload { incoming, received: 0, limit, idle, progress: None, share: BodyShare::default() }
    }

    /// Fails if the announced length is too large.
    pub(crate) fn check_length(&self) -> Result<(), BrokenUpload> {
        match self.incoming.size_hint().lower() > self.limit as u64 {
            true => Err(BrokenUpload::TooLarge(self.limit)),
            false => Ok(()),
        }
    }

    /// Reads and discards the rest. Closing the connection while the client is still sending would
    /// reset it, and the client would see a broken connection instead of the refusal.
    pub(crate) fn discard(mut self) {
        if self.incoming.is_end_stream() {
            return;
        }
        self.received = 0;
        // Discarded bytes take no memory.
        self.share = BodyShare::default();
        let reading = async move { while let Ok(Some(_)) = self.data().await {} };
        tokio::spawn(tokio::time::timeout(DISCARD_TIME, reading));
    }

    /// Reads it into one buffer of its size; a body that came in one piece is that piece. Waits
    /// while `budget` is used up.
    pub(crate) async fn collect(&mut self, budget: &BodyBudget) -> Result<Bytes, BrokenUpload> {
        let Some(first) = self.data().await? else { return Ok(Bytes::new()) };
        if self.incoming.is_end_stream() {
            return Ok(first);
        }
        let mut deadline = Instant::now() + self.idle.limit();
        let announced = usize::try_from(self.incoming.size_hint().lower()).unwrap_or(usize::MAX);
        let length = self.incoming.size_hint().exact().map(|_| first.len().saturating_add(announced));
        let mut whole = Vec::with_capacity(first.len().saturating_add(announced).min(TRUSTED_LENGTH));
        append(&mut whole, &first, length);
        drop(first);
        while let Some(data) = self.data_by(deadline + time_for(whole.len())).await? {
            append(&mut whole, &data, length);
            drop(data);
            let asked = Instant::now();
            self.share.grow(budget, whole.len()).await;
            // Waiting for the budget is not the sender's fault.
            deadline += asked.elapsed();
            self.idle.note_activity();
        }
        if whole.capacity() - whole.len() > whole.len() / 8 {
            whole.shrink_to_fit();
        }
        Ok(whole.into())
    }

    /// Counts the `decoded` bytes of the body against the budget too, as long as it is in flight.
    pub(crate) async fn count_decoded(&mut self, budget: &BodyBudget, decoded: usize) {
        self.share.grow(budget, self.received.saturating_add(decoded)).await;
    }

    /// The next data, if it comes before `deadline`.
    async fn data_by(&mut self, deadline: Instant) -> Result<Option<Bytes>, BrokenUpload> {
        timeout_at(deadline, self.data()).await.unwrap_or(Err(BrokenUpload::TooSlow))
    }

    /// The next data, skipping trailers.
    async fn data(&mut self) -> Result<Option<Bytes>, BrokenUpload> {
        loop {
            match poll_fn(|cx| self.poll(cx)).await.transpose()?.map(Frame::into_data) {
                Some(Ok(data)) => return Ok(Some(data)),
                Some(Err(_trailers)) => {}
                None => return Ok(None),
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenUpload>>> {
        let frame = match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                return self.idle.poll_expired(cx).map(|()| Some(Err(BrokenUpload::Silent)));
            }
        };
        self.idle.note_activity();
        if let Some(progress) = &self.progress {
            progress.note();
        }
        if let Some(Ok(frame)) = &frame {
            self.received = self.received.saturating_add(frame.data_ref().map_or(0, Bytes::len));
            if self.received > self.limit {
                return Poll::Ready(Some(Err(BrokenUpload::TooLarge(self.limit))));
            }
        }
        Poll::Ready(frame.map(|frame| frame.map_err(BrokenUpload::BrokeOff)))
    }
}

/// Appends `data` to a body of this `length`, if it is known. The body may be kept for long as
/// evidence, so its buffer never grows beyond the length.
fn append(whole: &mut Vec<u8>, data: &[u8], length: Option<usize>) {
    let needed = whole.len() + data.len();
    if needed > whole.capacity() {
        let doubled = whole.capacity().saturating_mul(2);
        let grown = length.map_or(doubled, |length| doubled.min(length)).max(needed);
        whole.reserve_exact(grown - whole.len());
    }
    whole.extend_from_slice(data);
}

/// How long a body of this `length` may take to arrive.
fn time_for(length: usize) -> Duration {
    Duration::from_secs(length as u64) / SLOWEST
}

/// When bytes of a passed-through body last moved: no answer can be expected before all are sent.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    millis: AtomicU64,
}

impl Progress {
    fn note(&self) {
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.store(millis, Ordering::Relaxed);
    }

    /// When bytes last moved.
    pub(crate) fn last(&self) -> Instant {
        self.started + Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }
}

/// The body of a request to a provider.
pub(crate) enum Outgoing {
    /// Read before it is sent.
    Whole(Bytes),
    /// Sent as it comes.
    Passing(Box<Upload>),
}

impl Outgoing {
    /// Sends `upload` as it comes.
    pub(crate) fn passing(mut upload: Upload) -> Outgoing {
        if upload.incoming.is_end_stream() {
            return Outgoing::Whole(Bytes::new());
        }
        upload.progress = Some(Arc::new(Progress { started: Instant::now(), millis: AtomicU64::new(0) }));
        Outgoing::Passing(Box::new(upload))
    }

    /// The progress of a body that is sent as it comes.
    pub(crate) fn progress(&self) -> Option<Arc<Progress>> {
        match self {
            Outgoing::Whole(_) => None,
            Outgoing::Passing(upload) => upload.progress.clone(),
        }
    }
}

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = BrokenUpload;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenUpload>>> {
        match &mut *self {
            Outgoing::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Outgoing::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Outgoing::Passing(upload) => upload.poll(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Outgoing::Whole(bytes) => bytes.is_empty(),
            Outgoing::Passing(upload) => upload.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Outgoing::Passing(upload) => upload.incoming.size_hint(),
        }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outgoing")
    }
}

#[cfg(test)]
mod tests;
