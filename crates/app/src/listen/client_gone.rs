//! Notices that a client is gone. A client may close its write side after the request and still
//! wait for the answer; TCP announces that just like the end of the whole connection. So the client
//! is probed with a byte that does no harm.

use std::io;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::connection_state::{ConnectionState, Probe};

/// The pause after the first probe of a client that is still there; the next ones are longer, since
/// probes are few.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The pause when no byte could be sent.
const RETRY: Duration = Duration::from_millis(100);

/// Returns when the client is gone. While it sends nothing more but may still read, this does not
/// return.
pub(super) async fn client_gone(stream: &TcpStream, state: &ConnectionState) -> io::Error {
    if let Err(error) = read_side_closed(stream).await {
        return error;
    }
    // Boxed, because hardly any connection gets here and each would have to hold its memory.
    match Box::pin(probe_until_reset(stream, state)).await {
        Ok(()) => io::Error::from(io::ErrorKind::ConnectionReset),
        Err(error) => error,
    }
}

/// Returns when the client of an encrypted connection has closed its write side. No byte can be put
/// between the records of TLS to probe it, and clients that close only one side of TLS are unknown.
pub(super) async fn client_closed(stream: &TcpStream) -> io::Error {
    read_side_closed(stream).await.err().unwrap_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
}

/// Waits until the client has closed its write side, or all. Bytes that nobody has read yet do not
/// matter.
#[cfg(any(target_os = "linux", target_os = "android"))]
async fn read_side_closed(stream: &TcpStream) -> io::Result<()> {
    while !stream.ready(Interest::PRIORITY).await?.is_read_closed() {
        // Urgent data, which HTTP does not know: it stays announced, so wait without asking at once
        // again.
        sleep(FIRST_PAUSE).await;
    }
    Ok(())
}

/// Waits until the client has closed its write side, or all. Unread bytes are announced as well
/// here, so ask now and then.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
async fn read_side_closed(stream: &TcpStream) -> io::Result<()> {
    while !stream.ready(Interest::READABLE).await?.is_read_closed() {
        sleep(RETRY).await;
    }
    Ok(())
}

async fn probe_until_reset(stream: &TcpStream, state: &ConnectionState) -> io::Result<()> {
    let mut pause = FIRST_PAUSE;
    loop {
        let probe = state.probe(stream)?;
        let wait = if probe == Probe::Sent { pause } else { RETRY };
        if probe == Probe::Sent {
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        tokio::select! {
            reset = stream.ready(Interest::ERROR) => return reset.map(drop),
            () = sleep(wait) => {}
        }
    }
}
