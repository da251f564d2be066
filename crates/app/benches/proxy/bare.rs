//! The minimum cost of a proxy on our HTTP library: it reads a request completely, forwards it, and
//! does nothing else. It runs in its own process, as the others do: this bench, started with other
//! arguments.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};

use crate::processes::{PROXY_CORE, Process, Provider, Target, free_address, pinned, wait_until_it_listens};

/// A proxy on our HTTP library that only forwards: the difference to ours is the cost of everything
/// else.
pub(crate) struct Bare {
    address: SocketAddr,
    process: Process,
}

impl Bare {
    /// The argument that turns this bench into that proxy; its address and the provider's follow.
    pub(crate) const ARGUMENT: &str = "--bare";

    pub(crate) fn start(provider: &Provider) -> Bare {
        let address = free_address();
        let bench = std::env::current_exe().expect("this program");
        let addresses = [address, provider.address].map(|address| address.to_string());
        let arguments = [Bare::ARGUMENT, &addresses[0], &addresses[1]];
        let process = pinned(PROXY_CORE, &bench.to_string_lossy(), &arguments);
        wait_until_it_listens(address);
        Bare { address, process }
    }
}

impl Target for Bare {
    fn name(&self) -> &'static str {
        "bare hyper"
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn cpu_time(&self) -> Duration {
        self.process.cpu_time()
    }
}

type HttpClient = Client<HttpConnector, Full<Bytes>>;

/// Forwards what comes to `address` to the provider, for as long as the process lives.
pub(crate) fn serve(address: SocketAddr, provider: SocketAddr) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let way: HttpClient = Client::builder(TokioExecutor::new()).build(connector);
        let listener = TcpListener::bind(address).await.expect("the address is free");
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("a socket");
            tokio::spawn(serve_connection(stream, way.clone(), provider));
        }
    });
}

async fn serve_connection(stream: TcpStream, way: HttpClient, provider: SocketAddr) {
    let service = service_fn(|request| forward(&way, provider, request));
    // The result does not matter.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn forward(way: &HttpClient, provider: SocketAddr, request: Request<Incoming>) -> io::Result<Response<Incoming>> {
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let path = parts.uri.path_and_query().cloned().ok_or(io::ErrorKind::InvalidInput)?;
    let uri = Uri::builder().scheme("http").authority(provider.to_string()).path_and_query(path).build();
    parts.uri = uri.map_err(io::Error::other)?;
    parts.headers.remove(HOST);
    way.request(Request::from_parts(parts, Full::new(body))).await.map_err(io::Error::other)
}
