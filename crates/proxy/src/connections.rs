//! The connections to one provider: those that wait for their next call, and those with a call on them. HTTP/1.1 has one
//! call at a time on each, so a long stream never stands in another's way.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
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

/// The connections to one provider that wait for their next call, the one that has waited longest first.
#[derive(Default)]
pub(crate) struct Connections {
    waiting: Mutex<VecDeque<Waiting>>,
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
        let mut waiting = self.waiting.lock();
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
        let mut waiting = home.waiting.lock();
        waiting.push_back(Waiting { sender, silence, since: Instant::now() });
        if waiting.len() > MOST_WAITING {
            waiting.pop_front();
        }
    }
}
