//! The stream of a client: reads and writes as TCP does, but skips bytes of an answer that were
//! already sent as a probe.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio_rustls::server::TlsStream;

use super::connection_state::ConnectionState;

/// The stream of a client. `client_gone` holds the other half, which closes the stream when it is
/// dropped.
#[derive(Debug)]
pub(super) struct ClientStream {
    half: OwnedReadHalf,
    state: ConnectionState,
}

/// A stream that can tell whether bytes wait that were not announced to its reader.
pub(super) trait HasUnread {
    fn has_unread(&self) -> bool;
}

impl ClientStream {
    pub(super) fn new(half: OwnedReadHalf, state: ConnectionState) -> ClientStream {
        ClientStream { half, state }
    }

    /// Writes with `write` once the socket takes bytes.
    fn poll_write_with(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.state.note_write();
        let stream = self.half.as_ref();
        loop {
            ready!(stream.poll_write_ready(cx))?;
            match write(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl HasUnread for ClientStream {
    /// Asks the kernel: the runtime may not have announced bytes that have arrived.
    fn has_unread(&self) -> bool {
        use std::os::fd::AsFd;
        let Ok(fd) = self.half.as_ref().as_fd().try_clone_to_owned() else { return false };
        std::net::TcpStream::from(fd).peek(&mut [0]).is_ok_and(|count| count > 0)
    }
}

impl HasUnread for TlsStream<ClientStream> {
    fn has_unread(&self) -> bool {
        self.get_ref().0.has_unread()
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.half).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let early = self.state.take_sent_early(bytes.len());
        if early > 0 {
            return Poll::Ready(Ok(early));
        }
        self.poll_write_with(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let early = self.state.take_sent_early(pieces.iter().map(|piece| piece.len()).sum());
        if early > 0 {
            return Poll::Ready(Ok(early));
        }
        self.poll_write_with(cx, |stream| stream.try_write_vectored(pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state.note_flush();
        Poll::Ready(Ok(()))
    }

    /// The other half is dropped right after the connection ends, and closes the stream then.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
