//! A listener: accepts connections, serves HTTP/1.1 on each with limits on its head and its patience, and drains when it
//! is stopped. Both ports use it (`axum::serve` has no working header timeout and leaves Nagle on).

mod patience;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use patience::{Busy, Patience, Patient};

/// How much a listener takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListenLimits {
    /// The largest request head, in bytes.
    pub(crate) max_header_size: usize,
    /// How long a head may take.
    pub(crate) header_timeout: Duration,
    /// How long a client may take none of the bytes that wait for it.
    pub(crate) idle_timeout: Duration,
    /// How many connections are held at once; further ones wait in the kernel's queue.
    pub(crate) max_connections: usize,
}

/// A listener at work.
#[derive(Debug)]
pub(crate) struct Listener {
    stop: oneshot::Sender<Duration>,
    task: JoinHandle<bool>,
}

/// How long a connection may rest between two calls: longer than the pools of most clients keep one (Go and reqwest: 90 s),
/// so that it is they who close it. A server that closes first may do so just when the next request comes.
const KEEP_ALIVE: Duration = Duration::from_secs(120);

/// How long to wait after an accept that failed for want of resources (such as file descriptors).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Listener {
    /// Begins to accept on `socket`; every request is answered by `answer`.
    pub(crate) fn start<A, F, B>(socket: TcpListener, limits: ListenLimits, answer: A) -> Listener
    where
        A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept_all(socket, limits, answer, stopped));
        Listener { stop, task }
    }

    /// Accepts no more, lets the requests in flight finish for `grace`, then cuts what is left. Says whether all finished.
    pub(crate) async fn stop(self, grace: Duration) -> bool {
        let _ = self.stop.send(grace);
        self.task.await.unwrap_or(false)
    }
}

/// Opens the socket of a listener.
pub(crate) async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

async fn accept_all<A, F, B>(
    socket: TcpListener,
    limits: ListenLimits,
    answer: A,
    mut stopped: oneshot::Receiver<Duration>,
) -> bool
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let server = http_server(limits);
    let patience = Patience { head: limits.header_timeout, taking: limits.idle_timeout };
    let room = Arc::new(Semaphore::new(limits.max_connections));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let grace = loop {
        tokio::select! {
            grace = &mut stopped => break grace.unwrap_or_default(),
            (stream, permit) = accept(&socket, &room) => {
                // Without it a stream's small pieces wait for acknowledgements: 44 ms each.
                if stream.set_nodelay(true).is_ok() {
                    let busy = Busy::default();
                    let stream = Patient::new(stream, patience, busy.clone());
                    connections.spawn(serve(server.clone(), (stream, busy), answer.clone(), (graceful.watcher(), permit)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    };
    drop(socket);
    let finished = tokio::time::timeout(grace, graceful.shutdown()).await.is_ok();
    // What is left is cut, and whatever those tasks held (the way to the recorder) is let go.
    connections.shutdown().await;
    finished
}

fn http_server(limits: ListenLimits) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(KEEP_ALIVE.max(limits.header_timeout))
        .max_header_size(limits.max_header_size);
    server
}

/// The next connection, once there is room for it. Never gives up: running out of file descriptors passes.
async fn accept(socket: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so there always is a permit.
    let permit = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match socket.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept connections at the moment");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whether an accept failed only because its client was gone already.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves one connection to its end.
async fn serve<A, F, B>(
    server: http1::Builder,
    (stream, busy): (Patient<TcpStream>, Busy),
    answer: A,
    (watcher, _permit): (Watcher, Option<OwnedSemaphorePermit>),
) where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let service = service_fn(move |request| {
        // Boxed, so that a connection that idles holds none of the memory that a call needs.
        let answered = Box::pin(answer(request));
        let call = busy.begin();
        // The body is what is dropped when the answer has been written.
        let until_written = |body: B| {
            body.map_err(move |error| {
                let _ = &call;
                error
            })
        };
        async move { Ok::<_, Infallible>(answered.await.map(until_written)) }
    });
    let connection = server.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        // A client that broke off is daily business.
        tracing::debug!(%error, "connection ended early");
    }
}

#[cfg(test)]
mod tests;
