//! A connection that does not wait for its client for ever: a request's head that was begun must come in time, and bytes of
//! an answer must be taken in time. Between two calls it may rest, which a header timeout alone would not let it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a client is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the rest of a head.
    pub(super) head: Duration,
    /// For bytes to be taken.
    pub(super) taking: Duration,
}

/// Whether a connection is at work on a call. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(Arc<AtomicBool>);

impl Busy {
    /// Busy until what is returned is dropped.
    pub(super) fn begin(&self) -> AtWork {
        self.0.store(true, Ordering::Relaxed);
        AtWork(self.clone())
    }
}

/// A call that is worked on.
#[derive(Debug)]
pub(super) struct AtWork(Busy);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Relaxed);
    }
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    busy: Busy,
    /// A new connection is there to send a head; later ones begin with their first byte.
    head_began: bool,
    head: Wait,
    taking: Wait,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Patience, busy: Busy) -> Patient<S> {
        let (head, taking) = (Wait::new(patience.head), Wait::new(patience.taking));
        Patient { stream, busy, head_began: true, head, taking }
    }

    fn taken<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.taking.is_over();
            return written;
        }
        self.taking.poll(cx, "the client stopped reading").map(Err)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if self.busy.0.load(Ordering::Relaxed) {
            self.head_began = false;
            self.head.is_over();
            return read;
        }
        self.head_began |= buffer.filled().len() > before;
        if read.is_pending() && self.head_began {
            return self.head.poll(cx, "the request's head did not come in time").map(Err);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.taken(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.taken(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// One wait after another, with one timer that is made when somebody first has to wait.
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

    fn is_over(&mut self) {
        self.waiting = false;
    }

    /// Waits on. Ready when it took too long.
    fn poll(&mut self, cx: &mut Context<'_>, why: &'static str) -> Poll<io::Error> {
        let deadline = Instant::now() + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if !std::mem::replace(&mut self.waiting, true) {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| io::Error::new(io::ErrorKind::TimedOut, why))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{sleep, timeout};

    use super::*;

    const PATIENCE: Patience = Patience { head: Duration::from_secs(10), taking: Duration::from_secs(300) };
    const LONG: Duration = Duration::from_secs(3600);

    fn connection() -> (DuplexStream, Patient<DuplexStream>, Busy) {
        let (client, stream) = duplex(8);
        let busy = Busy::default();
        (client, Patient::new(stream, PATIENCE, busy.clone()), busy)
    }

    async fn seconds_until_timeout(started: Instant, work: impl Future<Output = io::Result<usize>>) -> u64 {
        assert_eq!(work.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        started.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_must_come_in_time_however_it_trickles() {
        let (mut client, mut stream, _) = connection();
        let started = Instant::now();
        for _ in 0..3 {
            sleep(Duration::from_secs(3)).await;
            client.write_all(b"x").await.unwrap();
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 1);
            assert!(timeout(Duration::ZERO, stream.read(&mut [0; 8])).await.is_err());
        }
        assert_eq!(seconds_until_timeout(started, stream.read(&mut [0; 8])).await, 13, "10 s after the first wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_may_rest_between_two_calls() {
        let (mut client, mut stream, busy) = connection();
        let call = busy.begin();
        assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err(), "a call takes as long as it takes");
        drop(call);
        assert!(timeout(LONG, stream.read(&mut [0; 8])).await.is_err());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
        assert_eq!(seconds_until_timeout(Instant::now(), stream.read(&mut [0; 8])).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_must_be_taken_in_time_however_slowly() {
        let (mut client, mut stream, _) = connection();
        let started = Instant::now();
        assert_eq!(stream.write(&[0; 8]).await.unwrap(), 8);
        assert!(timeout(Duration::from_secs(299), stream.write(&[0; 8])).await.is_err());
        assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 1);
        assert_eq!(stream.write(&[0; 8]).await.unwrap(), 1);
        assert_eq!(seconds_until_timeout(started, stream.write(&[0; 8])).await, 599);
    }
}
