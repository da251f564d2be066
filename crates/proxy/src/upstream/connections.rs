//! The connections to one provider: those that wait for their next call, and those with a call on them. HTTP/1.1 has one
//! call at a time on each, so a long stream never stands in another's way.

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

use crate::silence::Silence;
use crate::upload::{Outgoing, Progress};

/// How many are kept for the next call.
const MOST_WAITING: usize = 512;
/// How long one may have waited and still be used: shorter than the usual minute of servers, so that it is rarely one that
/// they are just closing.
const WAITING_TIME: Duration = Duration::from_secs(50);
/// How many are kept that long. After a burst the others are closed soon: each holds buffers, and keeps the memory around
/// them from being given back.
const KEPT_WAITING: usize = 32;
/// How often those that wait are looked through, and how long one beyond `KEPT_WAITING` may wait.
const SWEEP: Duration = Duration::from_secs(5);

/// The connections to one provider that wait for their next call, the one that has waited longest first.
#[derive(Default)]
pub(crate) struct Connections {
    waiting: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    connections: VecDeque<Waiting>,
    /// Whether a task looks through them.
    is_swept: bool,
}

struct Waiting {
    sender: SendRequest<Outgoing>,
    silence: Silence,
    since: Instant,
}

/// A connection for one call. Dropped before it is given back, it is closed.
pub(crate) struct Connection {
    sender: SendRequest<Outgoing>,
    /// How long the provider may be silent. It stays with the connection, so that not every call has to arm a timer.
    pub(crate) silence: Silence,
    home: Arc<Connections>,
    /// Whether it had calls before. Then the provider may be closing it this very moment.
    pub(crate) is_used: bool,
}

impl Connections {
    /// One that waits, if there is any: the one that was used last.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Connection> {
        let waiting = &mut self.waiting.lock().connections;
        let now = Instant::now();
        while waiting.front().is_some_and(|first| now - first.since >= WAITING_TIME) {
            waiting.pop_front();
        }
        waiting.retain(|it| !it.sender.is_closed());
        // One that was given back this moment may not have noticed itself that its call is over.
        let place = waiting.iter().rposition(|it| it.sender.is_ready())?;
        let Waiting { sender, silence, .. } = waiting.remove(place)?;
        Some(Connection { sender, silence, home: Arc::clone(self), is_used: true })
    }

    /// Closes those that have waited for too long.
    fn sweep(&self, now: Instant) -> Sweep {
        let mut idle = self.waiting.lock();
        let waiting = &mut idle.connections;
        let is_old = |it: &Waiting, limit| now - it.since >= limit;
        let surplus = waiting.iter().take(waiting.len().saturating_sub(KEPT_WAITING));
        let surplus = surplus.take_while(|it| is_old(it, SWEEP)).count();
        let expired = waiting.iter().take_while(|it| is_old(it, WAITING_TIME)).count();
        let closed: Vec<Waiting> = waiting.drain(..surplus.max(expired)).collect();
        waiting.shrink_to(KEPT_WAITING);
        idle.is_swept = !idle.connections.is_empty();
        let next = if idle.is_swept { Sweep::Again } else { Sweep::Done };
        // Closed after the lock: nobody has to wait for that.
        drop(idle);
        drop(closed);
        next
    }

    /// A new one.
    pub(crate) fn opened(self: &Arc<Self>, sender: SendRequest<Outgoing>) -> Connection {
        Connection { sender, silence: Silence::default(), home: Arc::clone(self), is_used: false }
    }
}

impl Connection {
    /// Sends `request` off, and gives its answer when that begins. An error has the request in it if nothing of it was sent.
    pub(crate) fn send(
        &mut self,
        request: Request<Outgoing>,
    ) -> impl Future<Output = Result<Response<Incoming>, TrySendError<Request<Outgoing>>>> + use<> {
        self.sender.try_send_request(request)
    }

    /// Waits for `answer`; `None` if that takes longer than `limit`, while nothing moves of an `upload` that is passed on.
    pub(crate) async fn wait<T>(
        &mut self,
        mut answer: Pin<&mut impl Future<Output = T>>,
        upload: Option<&Progress>,
        limit: Duration,
    ) -> Option<T> {
        let silence = &mut self.silence;
        silence.restart(limit);
        poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(Some(answer));
            }
            if let Some(upload) = upload {
                silence.broken_at(upload.last());
            }
            silence.poll_too_long(cx).map(|()| None)
        })
        .await
    }

    /// The answer has come whole: the next call may have it.
    pub(crate) fn give_back(self) {
        let Connection { sender, silence, home, .. } = self;
        if sender.is_closed() {
            return;
        }
        let mut idle = home.waiting.lock();
        idle.connections.push_back(Waiting { sender, silence, since: Instant::now() });
        if idle.connections.len() > MOST_WAITING {
            idle.connections.pop_front();
        }
        if !std::mem::replace(&mut idle.is_swept, true) {
            tokio::spawn(keep_sweeping(Arc::downgrade(&home)));
        }
    }
}

/// Whether there is anything left to look through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweep {
    Again,
    Done,
}

/// Closes connections that nobody needs any more, until none waits. Calls would do so only when they come.
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

    /// Connections to nobody, given back at `since`.
    async fn idle(connections: &Connections, count: usize, since: Instant) -> Vec<tokio::io::DuplexStream> {
        let mut others = Vec::new();
        for _ in 0..count {
            let (ours, theirs) = tokio::io::duplex(64);
            let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours)).await.unwrap();
            tokio::spawn(connection);
            others.push(theirs);
            connections.waiting.lock().connections.push_back(Waiting { sender, silence: Silence::default(), since });
        }
        others
    }

    #[tokio::test]
    async fn connections_that_a_burst_leaves_behind_are_closed() {
        let connections = Connections::default();
        let start = Instant::now();
        let _others = idle(&connections, 100, start).await;
        let left = |connections: &Connections| connections.waiting.lock().connections.len();
        assert_eq!((connections.sweep(start), left(&connections)), (Sweep::Again, 100), "they may be needed again");
        assert_eq!((connections.sweep(start + SWEEP), left(&connections)), (Sweep::Again, KEPT_WAITING));
        assert_eq!((connections.sweep(start + WAITING_TIME), left(&connections)), (Sweep::Done, 0));
        assert!(connections.waiting.lock().connections.capacity() <= KEPT_WAITING);
    }
}
