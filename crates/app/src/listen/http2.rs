//! HTTP/2 on one connection. All streams run in the task of the connection, so that closing the
//! connection ends them too. Each stream has the limits of an HTTP/1 connection, and the connection
//! ends after being idle for as long as an HTTP/1 connection may be.

mod stream;

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};

use self::stream::{NewStreams, StreamTask, Streams, answer_stream};
use super::connection::{Serving, note_end};
use super::connection_state::ConnectionState;
use super::timeouts::Timeouts;

/// Requests that a client may have open on one connection.
const MAX_STREAMS: u32 = 100;
/// Bytes of request bodies that a connection accepts before they are read.
const WINDOW: u32 = 512 << 10;
/// Bytes of one answer that wait for the client.
const SEND_BUFFER: usize = 64 << 10;
/// A client that cancels more requests than this, beyond as many as were answered, loses its
/// connection: each costs it a few bytes and the server a call.
const MAX_CANCELLED: u64 = 100;
/// How long a client may take to acknowledge the end of an idle connection.
const GOAWAY_TIMEOUT: Duration = Duration::from_secs(2);

/// What HTTP/2 needs besides `Serving`.
pub(super) struct Http2 {
    pub(super) max_header_size: usize,
    /// Permits for connections. Every request after the first of its connection takes one too.
    pub(super) permits: Arc<Semaphore>,
}

/// Serves the connection to its end.
pub(super) async fn serve<S, A, F, B>(stream: S, serving: Serving<A>, own: Http2, gone: impl Future<Output = io::Error>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request<Incoming>, IpAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let Serving { timeouts, answer, state, peer, client, mut stopping, permit: _permit, .. } = serving;
    let streams = Streams::new(own.permits);
    let answer = move |request| answer(request, peer);
    let new = NewStreams::default();
    let service = {
        let streams = streams.clone();
        service_fn(move |mut request: Request<Incoming>| {
            if let Some(client) = &client {
                request.extensions_mut().insert(client.clone());
            }
            answer_stream(&answer, request, streams.clone())
        })
    };
    let server = builder(new.clone(), own.max_header_size);
    let mut connection = pin!(server.serve_connection(TokioIo::new(stream), service));
    let mut open = OpenStreams { new, running: FuturesUnordered::new(), streams, write_timeout: timeouts.write };
    let mut idle = Idle::new(timeouts);
    let mut gone = pin!(gone);
    let mut is_stopping = stopping.borrow_and_update().is_some();
    if is_stopping {
        idle.send_goaway();
        connection.as_mut().graceful_shutdown();
    }
    loop {
        tokio::select! {
            biased;
            step = poll_fn(|cx| open.poll_step(connection.as_mut(), &mut idle, &state, cx)) => match step {
                Step::Ended(ended) => return note_end(ended),
                Step::Refused => return tracing::debug!("the client cancels too many requests"),
                Step::Idle(IdleEnd::Announce) => connection.as_mut().graceful_shutdown(),
                Step::Idle(IdleEnd::Close) => return,
            },
            Ok(()) = stopping.changed(), if !is_stopping => {
                is_stopping = true;
                idle.send_goaway();
                connection.as_mut().graceful_shutdown();
            }
            error = gone.as_mut() => return tracing::debug!(%error, "the client is gone"),
        }
    }
}

fn builder(executor: NewStreams, max_header_size: usize) -> http2::Builder<NewStreams> {
    let mut builder = http2::Builder::new(executor);
    builder
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(max_header_size).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(SEND_BUFFER);
    builder
}

/// An event on a connection.
enum Step {
    Ended(hyper::Result<()>),
    Refused,
    Idle(IdleEnd),
}

/// The requests of a connection.
enum Requests {
    Open,
    /// None is open; this many have ended.
    None {
        ended: u64,
    },
    TooManyCancelled,
}

/// The running streams.
struct OpenStreams {
    new: NewStreams,
    running: FuturesUnordered<StreamTask>,
    streams: Streams,
    write_timeout: Duration,
}

impl OpenStreams {
    /// Runs the connection and its streams until there is something to do.
    fn poll_step(
        &mut self,
        connection: Pin<&mut impl Future<Output = hyper::Result<()>>>,
        idle: &mut Idle,
        state: &ConnectionState,
        cx: &mut Context<'_>,
    ) -> Poll<Step> {
        if let Poll::Ready(ended) = connection.poll(cx) {
            return Poll::Ready(Step::Ended(ended));
        }
        match self.poll(cx, state) {
            Requests::TooManyCancelled => Poll::Ready(Step::Refused),
            Requests::Open => idle.reset(),
            Requests::None { ended } => idle.poll(cx, ended).map(Step::Idle),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>, state: &ConnectionState) -> Requests {
        loop {
            let (limit, streams) = (self.write_timeout, &self.streams);
            let new = self.new.take().into_iter();
            self.running.extend(new.map(|future| StreamTask::new(future, streams.clone(), limit)));
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        let counts = &self.streams.0;
        let open = self.running.len();
        // A connection whose requests all wait for the client may be closed for another one.
        state.set_waits_to_read(counts.waiting_for_client.load(Relaxed) >= open);
        let (answered, cancelled) = (counts.answered.load(Relaxed), counts.cancelled.load(Relaxed));
        if cancelled > MAX_CANCELLED + answered {
            return Requests::TooManyCancelled;
        }
        match open {
            0 => Requests::None { ended: answered + cancelled },
            _ => Requests::Open,
        }
    }
}

/// The next step for a connection that was idle for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdleEnd {
    /// Tell the client that the connection ends.
    Announce,
    /// Close it.
    Close,
}

/// The time without requests.
struct Idle {
    timeouts: Timeouts,
    is_goaway_sent: bool,
    /// How many requests had ended when the timer was set.
    ended: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Idle {
    fn new(timeouts: Timeouts) -> Idle {
        Idle { timeouts, is_goaway_sent: false, ended: 0, timer: None }
    }

    /// A request is open.
    fn reset(&mut self) -> Poll<Step> {
        self.timer = None;
        Poll::Pending
    }

    /// The client is told that the connection ends.
    fn send_goaway(&mut self) {
        self.is_goaway_sent = true;
        if let Some(timer) = &mut self.timer {
            timer.as_mut().reset(Instant::now() + GOAWAY_TIMEOUT);
        }
    }

    /// No request is open. Bytes outside of requests, such as pings, do not extend the wait.
    fn poll(&mut self, cx: &mut Context<'_>, ended: u64) -> Poll<IdleEnd> {
        let limit = match (self.is_goaway_sent, ended) {
            (true, _) => GOAWAY_TIMEOUT,
            (false, 0) => self.timeouts.head,
            (false, _) => self.timeouts.keep_alive,
        };
        // A request may begin and end between two polls.
        if std::mem::replace(&mut self.ended, ended) != ended {
            self.timer = None;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if self.is_goaway_sent || ended == 0 {
            return Poll::Ready(IdleEnd::Close);
        }
        self.send_goaway();
        Poll::Ready(IdleEnd::Announce)
    }
}
