//! The state of a connection, shared by its stream, its service and the check for a gone client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use tokio::net::TcpStream;

/// The first bytes of every answer, whatever its version and status.
const ANSWER_BEGIN: &[u8] = b"HTTP/1.";
/// Leading zeros before one chunk's size. Clients accept 16 digits and more; a size has 8 at most.
const MAX_ZEROS: u8 = 4;

/// The state of a connection. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct ConnectionState(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    stage: AtomicU8,
    requests: AtomicU32,
    waits_to_read: AtomicBool,
    waits_to_write: AtomicBool,
    has_received: AtomicBool,
    /// In milliseconds; 0 while the server does not stop.
    stop_grace_ms: AtomicU32,
    /// Whether hyper wrote bytes that the stream has not flushed yet.
    is_unflushed: AtomicBool,
    /// Bytes of `ANSWER_BEGIN` that were sent ahead of the answer.
    sent_early: AtomicU8,
    zeros: AtomicU8,
}

const IDLE: u8 = 0;
const WORKING: u8 = 1;
const SENDING_CHUNKS: u8 = 2;
const SENDING: u8 = 3;

/// A probe of a client that has closed its write side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// A byte was sent: the kernel of a gone client answers with a reset.
    Sent,
    /// No byte can be sent now.
    NotNow,
}

impl ConnectionState {
    /// Starts work on a request.
    pub(super) fn begin(&self) -> RequestInProgress {
        self.0.stage.store(WORKING, Relaxed);
        self.0.requests.fetch_add(1, Relaxed);
        RequestInProgress(self.clone())
    }

    /// Whether a request is in progress.
    pub(super) fn is_at_work(&self) -> bool {
        self.0.stage.load(Relaxed) != IDLE
    }

    /// The number of requests so far.
    pub(super) fn requests(&self) -> u32 {
        self.0.requests.load(Relaxed)
    }

    /// Records whether the connection waits for its client to send.
    pub(super) fn set_waits_to_read(&self, waits: bool) {
        self.0.waits_to_read.store(waits, Relaxed);
    }

    /// Records whether the connection waits for its client to read.
    pub(super) fn set_waits_to_write(&self, waits: bool) {
        self.0.waits_to_write.store(waits, Relaxed);
    }

    /// Records that the client has sent something.
    pub(super) fn set_has_received(&self) {
        self.0.has_received.store(true, Relaxed);
    }

    /// Whether the client has ever sent something.
    pub(super) fn has_received(&self) -> bool {
        self.0.has_received.load(Relaxed)
    }

    /// Whether the connection waits for its client.
    pub(super) fn waits_for_client(&self) -> bool {
        self.0.waits_to_read.load(Relaxed) || self.0.waits_to_write.load(Relaxed)
    }

    /// The server stops: answers announce the close, and the connection ends after being idle for
    /// `grace`.
    pub(super) fn set_stopping(&self, grace: Duration) {
        self.0.stop_grace_ms.store(u32::try_from(grace.as_millis()).unwrap_or(u32::MAX).max(1), Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.0.stop_grace_ms.load(Relaxed) != 0
    }

    /// How long the connection may be idle, once the server stops.
    pub(super) fn stop_grace(&self) -> Option<Duration> {
        let millis = self.0.stop_grace_ms.load(Relaxed);
        (millis != 0).then(|| Duration::from_millis(u64::from(millis)))
    }

    /// Sends a byte that the client will get anyway, or that its HTTP parser ignores by the
    /// standard. The kernel of a gone client answers with a reset; a client that only closed its
    /// write side reads on. There is no other way to distinguish the two.
    pub(super) fn probe(&self, stream: &TcpStream) -> std::io::Result<Probe> {
        if self.0.is_unflushed.load(Relaxed) {
            // The bytes to be written are a probe themselves.
            return Ok(Probe::NotNow);
        }
        let (byte, counter) = match self.0.stage.load(Relaxed) {
            WORKING => (ANSWER_BEGIN.get(usize::from(self.0.sent_early.load(Relaxed))), &self.0.sent_early),
            SENDING_CHUNKS => ((self.0.zeros.load(Relaxed) < MAX_ZEROS).then_some(&b'0'), &self.0.zeros),
            _ => (None, &self.0.zeros),
        };
        let Some(byte) = byte else { return Ok(Probe::NotNow) };
        match stream.try_write(&[*byte]) {
            Ok(_) => {
                counter.fetch_add(1, Relaxed);
                Ok(Probe::Sent)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(Probe::NotNow),
            Err(error) => Err(error),
        }
    }

    /// How many of the bytes to be written were already sent, at most `available`.
    pub(super) fn take_sent_early(&self, available: usize) -> usize {
        let early = self.0.sent_early.load(Relaxed);
        let taken = usize::from(early).min(available);
        self.0.sent_early.store(early - taken as u8, Relaxed);
        taken
    }

    /// Records that bytes are being written.
    pub(super) fn note_write(&self) {
        self.0.is_unflushed.store(true, Relaxed);
        self.0.zeros.store(0, Relaxed);
    }

    /// Records that all bytes are written. hyper flushes whole heads and whole chunks only.
    pub(super) fn note_flush(&self) {
        self.0.is_unflushed.store(false, Relaxed);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct RequestInProgress(ConnectionState);

impl RequestInProgress {
    /// The answer's head is about to be sent.
    pub(super) fn begin_answer(&self, is_chunked: bool) {
        self.0.0.stage.store(if is_chunked { SENDING_CHUNKS } else { SENDING }, Relaxed);
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.0.stage.store(IDLE, Relaxed);
    }
}
