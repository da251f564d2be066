//! Coalesces small pieces of a stream that are available at the same moment into one write.
//! Providers send a token at a time; under load many of them wait in the read buffer, and a write
//! for each would be most of the cost of a stream.

use std::fmt;
use std::io;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};

use super::tee::Tee;

/// A larger piece gets a write of its own, because copying it costs more.
const SMALL: usize = 4 << 10;
/// Enough for one write.
const FULL: usize = 16 << 10;
/// How often the next piece may be missing before the held ones are sent. hyper polls twice in a
/// row before other tasks run.
const MAX_MISSES: u8 = 2;

/// A body on its way to the client, in coalesced pieces.
pub(crate) struct Coalesce {
    tee: Tee,
    /// A body with a length comes in large pieces already.
    is_stream: bool,
    held: BytesMut,
    /// How often the next piece was missing since the last one.
    misses: u8,
    /// The frame that follows `held`.
    next: Option<Frames>,
}

type Frames = Option<io::Result<Frame<Bytes>>>;

impl Coalesce {
    pub(crate) fn new(tee: Tee) -> Coalesce {
        let is_stream = tee.size_hint().exact().is_none();
        Coalesce { tee, is_stream, held: BytesMut::new(), misses: 0, next: None }
    }

    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frames> {
        if let Some(next) = self.next.take() {
            return Poll::Ready(next);
        }
        loop {
            match self.tee.poll_frame(cx) {
                Poll::Ready(next) => {
                    if let Some(frames) = self.add(next) {
                        return Poll::Ready(frames);
                    }
                }
                Poll::Pending if self.held.is_empty() => return Poll::Pending,
                // The next piece may be in the read buffer already: its connection gets one turn to
                // deliver it.
                Poll::Pending if self.misses < MAX_MISSES => {
                    self.misses += 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Ready(self.flush()),
            }
        }
    }

    /// Adds the next frame. `None` if it is held, because more may come.
    fn add(&mut self, next: Frames) -> Option<Frames> {
        match next {
            Some(Ok(frame)) if self.is_small(&frame) => {
                self.held.extend_from_slice(&frame.into_data().unwrap_or_default());
                self.misses = 0;
                (self.held.len() >= FULL || self.tee.is_end_stream()).then(|| self.flush())
            }
            next if self.held.is_empty() => Some(next),
            next => {
                self.next = Some(next);
                Some(self.flush())
            }
        }
    }

    fn is_small(&self, frame: &Frame<Bytes>) -> bool {
        self.is_stream && frame.data_ref().is_some_and(|data| data.len() <= SMALL)
    }

    fn flush(&mut self) -> Frames {
        self.misses = 0;
        Some(Ok(Frame::data(self.held.split().freeze())))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.tee.is_end_stream() && self.held.is_empty() && self.next.is_none()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.tee.size_hint()
    }
}

impl fmt::Debug for Coalesce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalesce").field("tee", &self.tee).field("held", &self.held.len()).finish_non_exhaustive()
    }
}
