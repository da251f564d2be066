//! A connection that does not wait for its client for ever: a request's head that was begun must come in time, and bytes of
//! an answer must be taken in time. Between two calls it may rest, which a header timeout alone would not let it. When the
//! server stops, it may rest only so long that a request on its way still arrives.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::client_stream::HasUnread;
use super::exchange::Exchange;

/// How long a client is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the rest of a head.
    pub(super) head: Duration,
    /// For bytes to be taken.
    pub(super) taking: Duration,
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    exchange: Exchange,
    /// The requests that were worked on when a byte was last waited for.
    requests: u32,
    /// Whether bytes of the next head came.
    head_began: bool,
    head: Wait,
    taking: Wait,
    rest: Wait,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Patience, exchange: Exchange) -> Patient<S> {
        Patient {
            stream,
            exchange,
            requests: 0,
            head_began: false,
            head: Wait::new(patience.head),
            taking: Wait::new(patience.taking),
            rest: Wait::new(Duration::ZERO),
        }
    }

    fn taken<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.exchange.set_waits_to_write(written.is_pending());
        if written.is_ready() {
            self.taking.is_over();
            return written;
        }
        self.taking.poll(cx, "the client stopped reading").map(Err)
    }

    /// Begins anew with each request: what came before it belongs to no later head.
    fn forget_past_heads(&mut self) {
        let requests = self.exchange.requests();
        if std::mem::replace(&mut self.requests, requests) != requests {
            self.head_began = false;
            self.head.is_over();
            self.rest.is_over();
        }
    }
}

impl<S: HasUnread> Patient<S> {
    /// Waits for a head. Ready with an error when it took too long, or with nothing to end a connection that rests.
    fn poll_wait_for_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A new connection is there to send a head; later ones begin with their first byte.
        let is_new = self.requests == 0;
        if self.head_began || is_new {
            let late = self.head.poll(cx, "the request's head did not come in time");
            if let Poll::Ready(error) = late {
                return Poll::Ready(Err(error));
            }
        }
        let Some(rest) = self.exchange.rest().filter(|_| !self.head_began) else { return Poll::Pending };
        self.rest.limit = rest;
        if self.rest.poll(cx, "").is_pending() {
            return Poll::Pending;
        }
        if self.stream.has_unread() {
            // A request came at the last moment: the runtime is about to say so.
            self.rest.is_over();
            return self.rest.poll(cx, "").map(|_| Ok(()));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + HasUnread + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let has_received = buffer.filled().len() > before;
        self.exchange.set_waits_to_read(read.is_pending());
        if has_received {
            self.exchange.set_has_received();
        }
        self.forget_past_heads();
        if self.exchange.is_at_work() {
            return read;
        }
        self.head_began |= has_received;
        if read.is_pending() { self.poll_wait_for_head(cx) } else { read }
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
    const REST: Duration = Duration::from_secs(2);
    const LONG: Duration = Duration::from_secs(3600);

    impl HasUnread for DuplexStream {
        fn has_unread(&self) -> bool {
            false
        }
    }

    fn connection() -> (DuplexStream, Patient<DuplexStream>, Exchange) {
        let (client, stream) = duplex(8);
        let exchange = Exchange::default();
        (client, Patient::new(stream, PATIENCE, exchange.clone()), exchange)
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
        let (mut client, mut stream, exchange) = connection();
        let call = exchange.begin();
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

    #[tokio::test]
    async fn a_connection_waits_for_its_client_to_send_and_to_read() {
        let (mut client, mut stream, exchange) = connection();
        assert!(timeout(Duration::ZERO, stream.read(&mut [0; 8])).await.is_err());
        assert!(exchange.waits_for_client());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
        assert!(!exchange.waits_for_client());
        assert!(timeout(Duration::ZERO, stream.write_all(&[0; 9])).await.is_err());
        assert!(exchange.waits_for_client());
        assert_eq!(client.read(&mut [0; 8]).await.unwrap(), 8);
        stream.write_all(&[0]).await.unwrap();
        assert!(!exchange.waits_for_client());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_rests_ends_soon_after_the_server_stops() {
        let (_client, mut stream, exchange) = connection();
        drop(exchange.begin());
        exchange.set_stopping(REST);
        let started = Instant::now();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the end");
        assert_eq!(started.elapsed().as_secs(), 2);

        let (mut late, mut stream, exchange) = connection();
        exchange.set_stopping(REST);
        assert!(timeout(Duration::from_secs(1), stream.read(&mut [0; 8])).await.is_err());
        late.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
        assert_eq!(seconds_until_timeout(Instant::now(), stream.read(&mut [0; 8])).await, 9, "10 s for a head");
    }
}
