//! One stream of an HTTP/2 connection: a request and its answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, COOKIE, HOST, HeaderValue};
use http::{HeaderMap, Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

type StreamFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

tokio::task_local! {
    /// The progress of the stream that is polled.
    static PROGRESS: Arc<Progress>;
}

/// Streams that hyper has started and the connection does not run yet. Clones share them.
#[derive(Clone, Default)]
pub(super) struct NewStreams(Arc<Mutex<Vec<StreamFuture>>>);

impl NewStreams {
    pub(super) fn take(&self) -> Vec<StreamFuture> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for NewStreams {
    fn execute(&self, future: F) {
        self.0.lock().push(Box::pin(future));
    }
}

/// Counts of the streams of one connection. Clones share them.
#[derive(Clone)]
pub(super) struct Streams(pub(super) Arc<Counts>);

pub(super) struct Counts {
    /// The permit for one request, which the connection itself has.
    own_permit: Arc<Semaphore>,
    /// Permits for further requests, shared with all connections.
    permits: Arc<Semaphore>,
    pub(super) answered: AtomicU64,
    /// Requests that ended before they were answered.
    pub(super) cancelled: AtomicU64,
    /// Streams whose next bytes wait for the client to read.
    pub(super) waiting_for_client: AtomicUsize,
}

impl Streams {
    pub(super) fn new(permits: Arc<Semaphore>) -> Streams {
        Streams(Arc::new(Counts {
            own_permit: Arc::new(Semaphore::new(1)),
            permits,
            answered: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            waiting_for_client: AtomicUsize::new(0),
        }))
    }

    /// A permit for a request, once available: as many requests run as there may be connections.
    async fn acquire_permit(&self) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            own = Arc::clone(&self.0.own_permit).acquire_owned() => own.ok(),
            shared = Arc::clone(&self.0.permits).acquire_owned() => shared.ok(),
        }
    }
}

/// The progress of a stream's answer.
struct Progress {
    streams: Streams,
    is_answered: AtomicBool,
    /// Whether bytes are handed over and wait for the client to read them.
    is_waiting: AtomicBool,
    /// Counts how often bytes were requested.
    steps: AtomicU32,
}

impl Progress {
    fn new(streams: Streams) -> Progress {
        let (is_answered, is_waiting) = (AtomicBool::new(false), AtomicBool::new(false));
        Progress { streams, is_answered, is_waiting, steps: AtomicU32::new(0) }
    }

    fn set_waiting(&self, waits: bool) {
        let waiting = &self.streams.0.waiting_for_client;
        match (self.is_waiting.swap(waits, Relaxed), waits) {
            (false, true) => drop(waiting.fetch_add(1, Relaxed)),
            (true, false) => drop(waiting.fetch_sub(1, Relaxed)),
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.set_waiting(false);
        let counts = &self.streams.0;
        let counter = if *self.is_answered.get_mut() { &counts.answered } else { &counts.cancelled };
        counter.fetch_add(1, Relaxed);
    }
}

/// A running stream. It ends, and is reset, when its client reads nothing for too long.
pub(super) struct StreamTask {
    future: StreamFuture,
    progress: Arc<Progress>,
    limit: Duration,
    /// The wait for the client: the step at which it began, and its deadline.
    stalled: Option<(u32, Pin<Box<Sleep>>)>,
}

impl StreamTask {
    /// A stream whose client may read nothing for `limit`.
    pub(super) fn new(future: StreamFuture, streams: Streams, limit: Duration) -> StreamTask {
        StreamTask { future, progress: Arc::new(Progress::new(streams)), limit, stalled: None }
    }
}

impl Future for StreamTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let progress = Arc::clone(&self.progress);
        if PROGRESS.sync_scope(Arc::clone(&progress), || self.future.as_mut().poll(cx)).is_ready() {
            return Poll::Ready(());
        }
        if !progress.is_waiting.load(Relaxed) {
            self.stalled = None;
            return Poll::Pending;
        }
        let (step, limit) = (progress.steps.load(Relaxed), self.limit);
        if self.stalled.as_ref().is_none_or(|(begun, _)| *begun != step) {
            self.stalled = Some((step, Box::pin(sleep(limit))));
        }
        let Some((_, timer)) = &mut self.stalled else { return Poll::Pending };
        timer.as_mut().poll(cx)
    }
}

/// Answers the request of a stream.
pub(super) fn answer_stream<A, F, B>(
    answer: &A,
    mut request: Request<Incoming>,
    streams: Streams,
) -> impl Future<Output = Result<Response<StreamBody<B>>, Infallible>> + Send + use<A, F, B>
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send,
{
    let authority = request.uri().authority().map(|authority| authority.as_str().to_owned());
    make_like_http1(request.headers_mut(), authority.as_deref());
    // Started before the first poll, as over HTTP/1: a call whose client is gone is recorded.
    let answered = Box::pin(answer(request));
    async move {
        let permit = streams.acquire_permit().await;
        let mut response = answered.await;
        // HTTP/2 has no such header: the connection announces its end itself.
        response.headers_mut().remove(CONNECTION);
        let progress = PROGRESS.try_with(Arc::clone).ok();
        if let Some(progress) = &progress {
            progress.is_answered.store(true, Relaxed);
        }
        Ok(response.map(|body| StreamBody { body: Box::pin(body), progress, _permit: permit }))
    }
}

/// Converts headers to their HTTP/1 form: the name of the host, and all cookies in one header (RFC
/// 9113, 8.2.3 and 8.3.1).
fn make_like_http1(headers: &mut HeaderMap, authority: Option<&str>) {
    if !headers.contains_key(HOST)
        && let Some(Ok(host)) = authority.map(HeaderValue::from_str)
    {
        headers.insert(HOST, host);
    }
    let mut cookies = headers.get_all(COOKIE).iter();
    if cookies.next().is_some() && cookies.next().is_some() {
        let all: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_bytes(&all.join(&b"; "[..])) {
            headers.insert(COOKIE, joined);
        }
    }
}

/// The body of an answer. It records whether the client reads it.
pub(super) struct StreamBody<B> {
    body: Pin<Box<B>>,
    progress: Option<Arc<Progress>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl<B: Body<Data = Bytes>> Body for StreamBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = self.body.as_mut().poll_frame(cx);
        if let Some(progress) = &self.progress {
            progress.steps.fetch_add(1, Relaxed);
            // hyper asks for the next bytes when the client has room after the previous ones.
            progress.set_waiting(matches!(polled, Poll::Ready(Some(Ok(_)))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
