//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use web::Client;

use super::client_gone::{client_closed, client_gone};
use super::client_stream::{ClientStream, HasUnread};
use super::connection_state::{ConnectionState, RequestInProgress};
use super::handshake::{Handshake, Protocol};
use super::http2::{self, Http2};
use super::timeouts::{TimedStream, Timeouts};

/// The parts that serve a connection.
pub(super) struct Serving<A> {
    pub(super) server: http1::Builder,
    /// The handshake and HTTP/2, if the connection is encrypted.
    pub(super) encrypted: Option<(Handshake, Http2)>,
    pub(super) timeouts: Timeouts,
    pub(super) answer: A,
    pub(super) state: ConnectionState,
    /// The address of the other side.
    pub(super) peer: IpAddr,
    /// The client, if requests carry it.
    pub(super) client: Option<Client>,
    /// Announces that the server stops, and how long connections may then be idle.
    pub(super) stopping: watch::Receiver<Option<Duration>>,
    /// Held as long as the connection is open.
    pub(super) permit: Option<OwnedSemaphorePermit>,
}

impl<A, F, B> Serving<A>
where
    A: Fn(Request<Incoming>, IpAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    /// Serves the connection to its end.
    pub(super) async fn run(mut self, stream: TcpStream) {
        match self.encrypted.take() {
            // Boxed, so that a connection without TLS does not hold the memory of one with it.
            Some((handshake, http2)) => Box::pin(self.run_encrypted(stream, handshake, http2)).await,
            None => {
                let (reading, writing) = stream.into_split();
                let state = self.state.clone();
                let gone = client_gone(writing.as_ref(), &state);
                self.serve_http1(ClientStream::new(reading, state.clone()), gone).await;
            }
        }
    }

    async fn run_encrypted(self, stream: TcpStream, handshake: Handshake, http2: Http2) {
        let Some((stream, socket, protocol)) = handshake.run(stream, &self.state).await else { return };
        let gone = client_closed(socket.as_ref());
        match protocol {
            Protocol::Http1 => self.serve_http1(stream, gone).await,
            Protocol::Http2 => http2::serve(stream, self, http2, gone).await,
        }
    }

    async fn serve_http1<S>(self, stream: S, gone: impl Future<Output = io::Error>)
    where
        S: AsyncRead + AsyncWrite + HasUnread + Unpin,
    {
        let Serving { server, timeouts, answer, state, peer, client, mut stopping, permit: _permit, .. } = self;
        let stream = TimedStream::new(stream, timeouts, state.clone());
        let service = {
            let state = state.clone();
            service_fn(move |mut request: Request<Incoming>| {
                if let Some(client) = &client {
                    request.extensions_mut().insert(client.clone());
                }
                let may_be_chunked = request.version() == Version::HTTP_11 && request.method() != Method::HEAD;
                // Boxed, so that a connection that idles holds none of the memory that a call
                // needs.
                let answered = Box::pin(answer(request, peer));
                finish_answer(answered, state.begin(), state.clone(), may_be_chunked)
            })
        };
        // Pinned here: passed by value, it would take its memory twice.
        let connection = pin!(server.serve_connection(TokioIo::new(stream), service));
        drive(connection, gone, &state, &mut stopping).await;
    }
}

/// Runs a connection until it ends or its client is gone.
async fn drive(
    mut connection: Pin<&mut impl Future<Output = hyper::Result<()>>>,
    gone: impl Future<Output = io::Error>,
    state: &ConnectionState,
    stopping: &mut watch::Receiver<Option<Duration>>,
) {
    let mut gone = pin!(gone);
    if let Some(grace) = *stopping.borrow_and_update() {
        state.set_stopping(grace);
    }
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => return note_end(ended),
            // The connection is polled again, and learns that it may no longer be idle.
            Ok(()) = stopping.changed() => state.set_stopping(stopping.borrow_and_update().unwrap_or_default()),
            error = gone.as_mut() => {
                tracing::debug!(%error, "the client is gone");
                return;
            }
        }
    }
}

/// Logs how a connection ended.
pub(super) fn note_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        // Clients that break off are normal.
        tracing::debug!(%error, "connection ended early");
    }
}

/// The answer to one request, once it is complete. The connection is busy with it until its body is
/// written.
async fn finish_answer<F, B>(
    answered: Pin<Box<F>>,
    call: RequestInProgress,
    state: ConnectionState,
    may_be_chunked: bool,
) -> Result<Response<impl Body<Data = Bytes, Error = B::Error>>, Infallible>
where
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes>,
{
    let mut response = answered.await;
    if state.is_stopping() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    call.begin_answer(may_be_chunked && is_chunked(&response));
    // The body is dropped when the answer has been written.
    let until_written = |body: B| {
        body.map_err(move |error| {
            let _ = &call;
            error
        })
    };
    Ok(response.map(until_written))
}

/// Whether hyper sends the body of this response in chunks. False if that is uncertain.
fn is_chunked<B: Body>(response: &Response<B>) -> bool {
    let has_no_body = matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let headers = response.headers();
    let is_framed = headers.contains_key(CONTENT_LENGTH) || headers.contains_key(TRANSFER_ENCODING);
    !has_no_body && !is_framed && response.body().size_hint().exact().is_none() && !response.body().is_end_stream()
}
