//! The timeouts of a connection: a request's head must arrive in time once it has begun, bytes of
//! an answer must be read in time, and a connection may be idle between two calls. When the server
//! stops, it may be idle only long enough for a request on its way to arrive. hyper's own header
//! timeout would arm a timer for every request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::client_stream::HasUnread;
use super::connection_state::ConnectionState;

/// How late the runtime may announce bytes that have arrived. With thousands of busy connections
/// some announcements come later than the timers.
const UNANNOUNCED: Duration = Duration::from_secs(1);

/// How long a connection waits for its client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    /// For the head of a request.
    pub(super) head: Duration,
    /// For bytes of an answer to be read.
    pub(super) write: Duration,
    /// For the next request.
    pub(super) keep_alive: Duration,
}

/// The stream of a client, with timeouts.
#[derive(Debug)]
pub(super) struct TimedStream<S> {
    stream: S,
    state: ConnectionState,
    /// The number of requests at the last read.
    requests: u32,
    /// Whether bytes of the next head have arrived.
    head_began: bool,
    head: Wait,
    write: Wait,
    keep_alive: KeepAlive,
    stop_grace: Wait,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, timeouts: Timeouts, state: ConnectionState) -> TimedStream<S> {
        TimedStream {
            stream,
            state,
            requests: 0,
            head_began: false,
            head: Wait::new(timeouts.head),
            write: Wait::new(timeouts.write),
            keep_alive: KeepAlive::new(timeouts.keep_alive),
            stop_grace: Wait::new(Duration::ZERO),
        }
    }

    fn limit_write<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.state.set_waits_to_write(written.is_pending());
        if written.is_ready() {
            self.write.end();
            return written;
        }
        self.write.poll(cx, "the client stopped reading").map(Err)
    }

    /// Restarts the timeouts with each request.
    fn restart_with_new_request(&mut self) {
        let requests = self.state.requests();
        if std::mem::replace(&mut self.requests, requests) != requests {
            self.head_began = false;
            self.head.end();
            self.keep_alive.end();
            self.stop_grace.end();
        }
    }
}

impl<S: HasUnread> TimedStream<S> {
    /// Waits for a head. Ready with an error if it took too long, and with `Ok` to end an idle
    /// connection.
    fn poll_wait_for_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // On a new connection the time for the head begins at once; later with the first byte.
        let is_new = self.requests == 0;
        if self.head_began || is_new {
            let late = self.head.poll(cx, "the request's head did not come in time");
            if let Poll::Ready(error) = late {
                if !self.stream.has_unread() {
                    return Poll::Ready(Err(error));
                }
                // The runtime is late, not the client: it has not announced these bytes yet.
                self.head.extend(cx, UNANNOUNCED);
            }
        }
        if self.head_began {
            return Poll::Pending;
        }
        if !is_new && self.keep_alive.poll(cx).is_ready() && !self.stream.has_unread() {
            return Poll::Ready(Ok(()));
        }
        let Some(grace) = self.state.stop_grace() else { return Poll::Pending };
        self.stop_grace.limit = grace;
        if self.stop_grace.poll(cx, "").is_pending() {
            return Poll::Pending;
        }
        if self.stream.has_unread() {
            // A request arrived at the last moment: the runtime is about to announce it.
            self.stop_grace.end();
            return self.stop_grace.poll(cx, "").map(|_| Ok(()));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + HasUnread + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let has_received = buffer.filled().len() > before;
        self.state.set_waits_to_read(read.is_pending());
        if has_received {
            self.state.set_has_received();
        }
        self.restart_with_new_request();
        if self.state.is_at_work() {
            return read;
        }
        self.head_began |= has_received;
        if read.is_pending() { self.poll_wait_for_head(cx) } else { read }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.limit_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Waits only if the stream buffers bytes, as TLS does.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() && !self.write.waiting {
            return flushed;
        }
        self.limit_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Successive waits with one timer, which is created at the first wait.
#[derive(Debug)]
struct Wait {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl Wait {
    fn new(limit: Duration) -> Wait {
        Wait { limit, timer: None, waiting: false }
    }

    fn end(&mut self) {
        self.waiting = false;
    }

    /// Extends the wait by `time` after it took too long.
    fn extend(&mut self, cx: &mut Context<'_>, time: Duration) {
        if let Some(timer) = &mut self.timer {
            timer.as_mut().reset(Instant::now() + time);
            // Registers the task to be woken at the deadline.
            let _ = timer.as_mut().poll(cx);
        }
    }

    /// Continues the wait. Ready when it took too long.
    fn poll(&mut self, cx: &mut Context<'_>, why: &'static str) -> Poll<io::Error> {
        let deadline = Instant::now() + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if !std::mem::replace(&mut self.waiting, true) {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

/// The wait for the next request. Every call begins one, so its timer is moved only when it fires.
#[derive(Debug)]
struct KeepAlive {
    limit: Duration,
    waiting_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl KeepAlive {
    fn new(limit: Duration) -> KeepAlive {
        KeepAlive { limit, waiting_since: None, timer: None }
    }

    fn end(&mut self) {
        self.waiting_since = None;
    }

    /// Continues the wait. Ready when it took too long.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = *self.waiting_since.get_or_insert_with(Instant::now) + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        while timer.as_mut().poll(cx).is_ready() {
            if deadline <= Instant::now() {
                return Poll::Ready(());
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
