//! The connection pool of one provider. An HTTP/1.1 connection carries one call at a time, so a
//! long stream never blocks another call.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::idle_timeout::IdleTimeout;
use crate::upload::{Outgoing, Progress};

/// The most idle connections.
const MAX_IDLE: usize = 512;
/// How long an idle connection is reused. Servers usually close one after a minute; a shorter time
/// avoids using one just as the server closes it.
const IDLE_TIME: Duration = Duration::from_secs(50);
/// How many may stay idle that long. Others are closed soon after a burst, because each holds
/// buffers and keeps memory around them from being released.
const KEPT_IDLE: usize = 32;
/// How often idle connections are checked, and how long one beyond `KEPT_IDLE` may be idle.
const SWEEP: Duration = Duration::from_secs(5);

/// The idle connections to one provider, the longest idle first.
#[derive(Default)]
pub(crate) struct Connections {
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: VecDeque<IdleConnection>,
    /// Whether a task checks them.
    is_checked: bool,
}

struct IdleConnection {
    sender: SendRequest<Outgoing>,
    idle_timeout: IdleTimeout,
    since: Instant,
}

/// A connection for one call. It is closed if it is dropped before it is given back.
pub(crate) struct Connection {
    sender: SendRequest<Outgoing>,
    /// How long the provider may be silent. It stays with the connection, so that not every call
    /// arms a timer.
    pub(crate) idle_timeout: IdleTimeout,
    pool: Arc<Connections>,
    /// Whether it had calls before, so that the provider may be closing it right now.
    pub(crate) is_used: bool,
}

impl Connections {
    /// The most recently used idle connection, if any.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Connection> {
        let idle = &mut self.idle.lock().connections;
        let now = Instant::now();
        while idle.front().is_some_and(|first| now - first.since >= IDLE_TIME) {
            idle.pop_front();
        }
        while idle.back().is_some_and(|last| last.sender.is_closed()) {
            idle.pop_back();
        }
        // A connection that was just given back may not have noticed yet that its call is over.
        let place = idle.iter().rposition(|it| it.sender.is_ready())?;
        let IdleConnection { sender, idle_timeout, .. } = idle.remove(place)?;
        Some(Connection { sender, idle_timeout, pool: Arc::clone(self), is_used: true })
    }

    /// Closes connections that have been idle for too long.
    fn sweep(&self, now: Instant) -> Sweep {
        let mut idle = self.idle.lock();
        let waiting = &mut idle.connections;
        waiting.retain(|it| !it.sender.is_closed());
        let is_old = |it: &IdleConnection, limit| now - it.since >= limit;
        let surplus = waiting.iter().take(waiting.len().saturating_sub(KEPT_IDLE));
        let surplus = surplus.take_while(|it| is_old(it, SWEEP)).count();
        let expired = waiting.iter().take_while(|it| is_old(it, IDLE_TIME)).count();
        let closed: Vec<IdleConnection> = waiting.drain(..surplus.max(expired)).collect();
        waiting.shrink_to(KEPT_IDLE);
        idle.is_checked = !idle.connections.is_empty();
        let next = if idle.is_checked { Sweep::Again } else { Sweep::Done };
        // Closed after the lock is released, so that no call waits for it.
        drop(idle);
        drop(closed);
        next
    }

    /// A new connection.
    pub(crate) fn opened(self: &Arc<Self>, sender: SendRequest<Outgoing>) -> Connection {
        Connection { sender, idle_timeout: IdleTimeout::default(), pool: Arc::clone(self), is_used: false }
    }
}

impl Connection {
    /// Sends `request`, and returns its answer when that begins. An error contains the request if
    /// none of it was sent.
    pub(crate) fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Outgoing>>>> + use<> {
        self.sender.try_send_request(request)
    }

    /// Waits for `answer`; `None` after `limit` without progress of an `upload` that is passed
    /// through.
    pub(crate) async fn wait<T>(
        &mut self,
        mut answer: Pin<&mut impl Future<Output = T>>,
        upload: Option<&Progress>,
        limit: Duration,
    ) -> Option<T> {
        let timeout = &mut self.idle_timeout;
        timeout.restart(limit);
        poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            if let Some(upload) = upload {
                timeout.note_activity_at(upload.last());
            }
            timeout.poll_expired(cx).map(|()| None)
        })
        .await
    }

    /// Returns it to the pool: the answer is complete.
    pub(crate) fn give_back(self) {
        let Connection { sender, idle_timeout, pool, .. } = self;
        if sender.is_closed() {
            return;
        }
        let mut idle = pool.idle.lock();
        idle.connections.push_back(IdleConnection { sender, idle_timeout, since: Instant::now() });
        if idle.connections.len() > MAX_IDLE {
            idle.connections.pop_front();
        }
        if !std::mem::replace(&mut idle.is_checked, true) {
            tokio::spawn(keep_sweeping(Arc::downgrade(&pool)));
        }
    }
}

/// Whether idle connections are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    Again,
    Done,
}

/// Closes idle connections until none is left, even if no calls come.
async fn keep_sweeping(connections: Weak<Connections>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(connections) = connections.upgrade() else { return };
        if connections.sweep(Instant::now()) == Sweep::Done {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use hyper_util::rt::TokioIo;

    use super::*;

    /// Idle connections without a provider, given back at `since`.
    async fn add_idle(connections: &Connections, count: usize, since: Instant) -> Vec<tokio::io::DuplexStream> {
        let mut others = Vec::new();
        for _ in 0..count {
            let (ours, theirs) = tokio::io::duplex(64);
            let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours)).await.unwrap();
            tokio::spawn(connection);
            others.push(theirs);
            let idle_timeout = IdleTimeout::default();
            connections.idle.lock().connections.push_back(IdleConnection { sender, idle_timeout, since });
        }
        others
    }

    #[tokio::test]
    async fn idle_connections_of_a_burst_are_closed() {
        let connections = Connections::default();
        let start = Instant::now();
        let _others = add_idle(&connections, 100, start).await;
        let left = |connections: &Connections| connections.idle.lock().connections.len();
        assert_eq!((connections.sweep(start), left(&connections)), (Sweep::Again, 100), "they may be needed again");
        assert_eq!((connections.sweep(start + SWEEP), left(&connections)), (Sweep::Again, KEPT_IDLE));
        assert_eq!((connections.sweep(start + IDLE_TIME), left(&connections)), (Sweep::Done, 0));
        assert!(connections.idle.lock().connections.capacity() <= KEPT_IDLE);
    }
}
