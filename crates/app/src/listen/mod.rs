//! A listener: accepts connections, serves HTTP/1.1 on each (over TLS also HTTP/2) with limits and
//! timeouts, and drains when it is stopped. Both ports use it (`axum::serve` has no working header
//! timeout and leaves Nagle's algorithm on).

mod body_timeout;
mod client_gone;
mod client_stream;
mod connection;
mod connection_state;
mod handshake;
mod http2;
mod inherited;
mod timeouts;
mod unauthenticated;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use model::Network;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};
use web::Client;

pub(crate) use body_timeout::TimedBody;
pub(crate) use inherited::{InheritedSockets, SocketRequest};
pub(crate) use unauthenticated::UnauthenticatedLimits;

use connection::Serving;
use connection_state::ConnectionState;
use handshake::Handshake;
use http2::Http2;
use timeouts::Timeouts;
use unauthenticated::{Connection, Unauthenticated};

use crate::tls::ListenerTls;

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListenLimits {
    /// The largest request head, in bytes.
    pub(crate) max_header_size: usize,
    /// How long the head of a request may take.
    pub(crate) header_timeout: Duration,
    /// How long a client may leave waiting bytes unread.
    pub(crate) idle_timeout: Duration,
    /// How many connections are held at once; further ones wait in the kernel's queue.
    pub(crate) max_connections: usize,
    /// The limits for clients that have not authenticated, if clients can.
    pub(crate) unauthenticated: Option<UnauthenticatedLimits>,
    /// How long an idle connection stays open once the server stops, so that a request on its way
    /// is answered.
    pub(crate) stop_grace: Duration,
}

/// A running listener.
#[derive(Debug)]
pub(crate) struct Listener {
    stopping: watch::Sender<Option<Duration>>,
    stop_grace: Duration,
    stop: oneshot::Sender<Duration>,
    task: JoinHandle<bool>,
}

/// How long a connection may be idle between two calls: longer than most clients keep one in their
/// pool (Go and reqwest: 90 s), so that clients close first. A server that closes first may do so
/// just as the next request arrives.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

/// The pause after an accept that failed because resources (such as file descriptors) are used up.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections wait in the kernel's queue. Clients that a full queue does not accept
/// within seconds are reset, although they were connected.
const BACKLOG: u32 = 4096;

/// Connections that are accepted from the kernel's queue before the socket is closed: more than the
/// queue holds.
const MAX_QUEUED: usize = 2 * BACKLOG as usize;

impl Listener {
    /// Accepts connections on `socket`, encrypted if there is `tls`; every request is answered by
    /// `answer`, which also gets the address of the peer.
    pub(crate) fn start<A, F, B>(
        socket: TcpListener,
        limits: ListenLimits,
        tls: Option<ListenerTls>,
        answer: A,
    ) -> Listener
    where
        A: Fn(Request<Incoming>, IpAddr) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        let (stop, stopped) = oneshot::channel();
        let (stopping, is_stopping) = watch::channel(None);
        let acceptor = Acceptor::new(limits, tls, answer, is_stopping);
        let task = tokio::spawn(acceptor.run(socket, stopped));
        Listener { stopping, stop_grace: limits.stop_grace, stop, task }
    }

    /// From now on every answer announces the close of its connection, and idle connections are
    /// closed.
    pub(crate) fn announce_stop(&self) {
        self.stopping.send_replace(Some(self.stop_grace));
    }

    /// Accepts until clients with open connections know of the stop. Lets requests in flight finish
    /// for `drain` in all, then closes the rest. Returns whether all finished.
    pub(crate) async fn stop(self, drain: Duration) -> bool {
        // An idle connection must not count as one that was aborted.
        self.stopping.send_replace(Some(self.stop_grace.min(drain / 2)));
        let _ = self.stop.send(drain);
        self.task.await.unwrap_or(false)
    }
}

/// Opens the socket of a listener.
pub(crate) async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restarted server binds while connections of the previous one are still closing.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections and serves each in a task of its own.
struct Acceptor<A> {
    limits: ListenLimits,
    tls: Option<ListenerTls>,
    server: http1::Builder,
    answer: A,
    stopping: watch::Receiver<Option<Duration>>,
    permits: Arc<Semaphore>,
    connections: JoinSet<()>,
    unauthenticated: Option<Unauthenticated>,
}

impl<A, F, B> Acceptor<A>
where
    A: Fn(Request<Incoming>, IpAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    fn new(
        limits: ListenLimits,
        tls: Option<ListenerTls>,
        answer: A,
        stopping: watch::Receiver<Option<Duration>>,
    ) -> Acceptor<A> {
        Acceptor {
            limits,
            tls,
            server: http_server(limits),
            answer,
            stopping,
            permits: Arc::new(Semaphore::new(limits.max_connections)),
            connections: JoinSet::new(),
            unauthenticated: limits.unauthenticated.map(Unauthenticated::new),
        }
    }

    async fn run(mut self, socket: TcpListener, mut stopped: oneshot::Receiver<Duration>) -> bool {
        let drain = loop {
            tokio::select! {
                drain = &mut stopped => break drain.unwrap_or_default(),
                () = self.work(&socket) => {}
            }
        };
        let cut_at = Instant::now() + drain;
        self.finish_accepting(socket, cut_at.min(Instant::now() + self.limits.stop_grace)).await;
        let finished = timeout(cut_at.saturating_duration_since(Instant::now()), self.all_ended()).await.is_ok();
        // The rest is aborted, which releases their handles to the recorder.
        self.connections.shutdown().await;
        finished
    }

    /// Accepts a connection, or removes one that ended.
    async fn work(&mut self, socket: &TcpListener) {
        tokio::select! {
            (stream, peer, permit) = accept(socket, &self.permits) => self.serve(stream, peer, permit),
            Some(_) = self.connections.join_next() => {
                let open = self.connections.len();
                self.unauthenticated.iter_mut().for_each(|all| all.trim(open));
            }
        }
    }

    /// Accepts until `end`, or until no client is connected: clients that are told of the close
    /// reconnect at once.
    async fn finish_accepting(&mut self, socket: TcpListener, end: Instant) {
        while !self.connections.is_empty() {
            tokio::select! {
                () = sleep_until(end) => break,
                () = self.work(&socket) => {}
            }
        }
        // Closing the socket would reset the connections in the kernel's queue.
        let Ok(socket) = socket.into_std() else { return };
        for _ in 0..MAX_QUEUED {
            let Ok((stream, peer)) = socket.accept() else { return };
            if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
                self.serve(stream, peer, None);
            }
        }
    }

    async fn all_ended(&mut self) {
        while self.connections.join_next().await.is_some() {}
    }

    fn serve(&mut self, stream: TcpStream, peer: SocketAddr, permit: Option<OwnedSemaphorePermit>) {
        // Without it a stream's small pieces wait for acknowledgements: 44 ms each.
        if stream.set_nodelay(true).is_err() {
            return;
        }
        let state = ConnectionState::default();
        let can_authenticate = self.limits.unauthenticated.is_some_and(|limits| limits.can_authenticate);
        let client = can_authenticate.then(|| Client::new(peer.ip()));
        let serving = Serving {
            server: self.server.clone(),
            encrypted: self.tls.as_ref().map(|tls| self.encryption(tls)),
            timeouts: self.timeouts(),
            answer: self.answer.clone(),
            state: state.clone(),
            peer: peer.ip(),
            client: client.clone(),
            stopping: self.stopping.clone(),
            permit,
        };
        let task = self.connections.spawn(serving.run(stream));
        if let Some(all) = &mut self.unauthenticated {
            all.add(Network::of(peer.ip()), Connection { client, state, task });
        }
    }

    fn encryption(&self, tls: &ListenerTls) -> (Handshake, Http2) {
        let handshake = Handshake { tls: tls.current(), limit: self.limits.header_timeout };
        let permits = Arc::clone(&self.permits);
        (handshake, Http2 { max_header_size: self.limits.max_header_size, permits })
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts { head: self.limits.header_timeout, write: self.limits.idle_timeout, keep_alive: KEEP_ALIVE }
    }
}

fn http_server(limits: ListenLimits) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        // `TimedStream` limits the wait for a head: hyper would arm a timer for every request.
        .header_read_timeout(None)
        // A client may stop sending and still wait for its answer: `client_gone` distinguishes the
        // two.
        .half_close(true)
        .max_header_size(limits.max_header_size);
    server
}

type Accepted = (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>);

/// The next connection, once there is a permit. It retries for ever, because file descriptors
/// become free again.
async fn accept(socket: &TcpListener, permits: &Arc<Semaphore>) -> Accepted {
    // The semaphore is never closed, so there is always a permit.
    let permit = Arc::clone(permits).acquire_owned().await.ok();
    loop {
        match socket.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections at the moment");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether an accept failed only because its client was gone.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
