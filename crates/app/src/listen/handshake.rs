//! The TLS handshake of a connection, with a time limit. A client that sends plain HTTP gets an
//! answer that says to use https.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::client_stream::ClientStream;
use super::connection_state::ConnectionState;

/// The first byte of every TLS connection: a record that holds a handshake.
const HANDSHAKE_RECORD: u8 = 0x16;

const USE_HTTPS: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 55\r\n\
connection: close\r\n\r\nThis port speaks TLS: use https:// instead of http://.\n";

/// How much is read of a client that is refused: a socket closed with unread bytes is reset, and
/// the client would not see why.
const MAX_IGNORED: usize = 256 << 10;

/// A handshake.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    pub(super) tls: Arc<ServerConfig>,
    /// How long it may take.
    pub(super) limit: Duration,
}

/// The protocol that client and server agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// An encrypted stream, the socket below it, and the protocol on it.
pub(super) type Encrypted = (TlsStream<ClientStream>, OwnedWriteHalf, Protocol);

impl Handshake {
    /// Encrypts `stream`. `None` if the client cannot, or takes too long.
    pub(super) async fn run(self, stream: TcpStream, state: &ConnectionState) -> Option<Encrypted> {
        // A client that does not finish counts as waiting, so its connection may be closed for
        // another one.
        state.set_waits_to_read(true);
        let accepted = timeout(self.limit, accept(stream, self.tls, state)).await;
        state.set_waits_to_read(false);
        state.set_has_received();
        match accepted {
            Ok(Ok(encrypted)) => encrypted,
            Ok(Err(error)) => {
                tracing::debug!(%error, "no TLS with a client");
                None
            }
            Err(_) => {
                tracing::debug!("a client did not finish the TLS handshake in time");
                None
            }
        }
    }
}

async fn accept(stream: TcpStream, tls: Arc<ServerConfig>, state: &ConnectionState) -> io::Result<Option<Encrypted>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 0 {
        return Ok(None);
    }
    if first != [HANDSHAKE_RECORD] {
        return refuse_plain(stream).await.map(|()| None);
    }
    let (reading, mut writing) = stream.into_split();
    let accepting = TlsAcceptor::from(tls).accept(ClientStream::new(reading, state.clone()));
    let stream = match accepting.into_fallible().await {
        Ok(stream) => stream,
        Err((error, mut client)) => {
            // The alert has been sent: it says, for example, that a certificate is required.
            writing.shutdown().await?;
            ignore_rest(&mut client).await?;
            return Err(error);
        }
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok(Some((stream, writing, if is_http2 { Protocol::Http2 } else { Protocol::Http1 })))
}

async fn refuse_plain(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(USE_HTTPS).await?;
    stream.shutdown().await?;
    ignore_rest(&mut stream).await
}

/// Reads what a refused client sends, until it closes its connection.
async fn ignore_rest(client: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut ignored = [0; 4096];
    let mut total = 0;
    while total < MAX_IGNORED {
        match client.read(&mut ignored).await? {
            0 => break,
            count => total += count,
        }
    }
    Ok(())
}
