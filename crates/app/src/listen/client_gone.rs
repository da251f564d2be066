//! Detects that a client is gone. A client may close its write side after the request and still
//! wait for the answer; TCP announces that just like the end of the whole connection. The client is
//! therefore probed with a harmless byte.

use std::io;
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::connection_state::{ConnectionState, Probe};

/// The pause after the first probe of a client that is still there; later pauses are longer,
/// because few probes are available.
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
    // Boxed, because hardly any connection gets here and each would hold its memory.
    match Box::pin(probe_until_reset(stream, state)).await {
        Ok(()) => io::Error::from(io::ErrorKind::ConnectionReset),
        Err(error) => error,
    }
}

/// Returns when the client of an encrypted connection has closed its write side. No byte can be
/// inserted between TLS records to probe it, and no known client closes only one side of TLS.
pub(super) async fn client_closed(stream: &TcpStream) -> io::Error {
    read_side_closed(stream).await.err().unwrap_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
}

/// Waits until the client has closed its write side or the connection. Unread bytes do not matter.
#[cfg(any(target_os = "linux", target_os = "android"))]
async fn read_side_closed(stream: &TcpStream) -> io::Result<()> {
    while !stream.ready(Interest::PRIORITY).await?.is_read_closed() {
        // Urgent data, which HTTP does not use: it stays announced, so wait before the next check.
        sleep(FIRST_PAUSE).await;
    }
    Ok(())
}

/// Waits until the client has closed its write side or the connection. Unread bytes are announced
/// here too, so poll at intervals.
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
