//! Accepts connections and serves HTTP/1.1 on each, without the limits of a real server.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// The pause after a failed accept, usually for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The longest time for a request's head, or between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(300);

const MAX_HEADER_SIZE: usize = 256 << 10;

/// A running listener. It closes all connections when it is dropped.
#[derive(Debug)]
pub(crate) struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Listener {
    /// Starts on the loopback address and answers every request with `answer`. Port 0 picks a free
    /// one.
    pub(crate) async fn start<A, F, B>(port: u16, answer: A) -> io::Result<(SocketAddr, Listener)>
    where
        A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::error::Error + Send + Sync,
    {
        let socket = TcpListener::bind(("127.0.0.1", port)).await?;
        let address = socket.local_addr()?;
        Ok((address, Listener(tokio::spawn(accept(socket, answer)))))
    }
}

async fn accept<A, F, B>(socket: TcpListener, answer: A)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    // Dropping the set ends its tasks, and with them the connections.
    let mut connections = JoinSet::new();
    loop {
        match socket.accept().await {
            Ok((stream, _)) => {
                connections.spawn(serve(stream, answer.clone()));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve<A, F, B>(stream: TcpStream, answer: A)
where
    A: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes> + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    // Without it a stream's small pieces wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let response = answer(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_header_size(MAX_HEADER_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    // An error ends the connection, which the caller sees.
    let _ = connection.await;
}
