//! Small pieces of a stream that are there at the same moment go out in one write. Providers send a token at a time, and
//! under load many of them wait in the read buffer by the time their turn comes; a write for each would be most of the
//! cost of a stream.

use std::fmt;
use std::io;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};

use crate::tee::Tee;

/// A piece larger than this is worth a write of its own, and not worth a copy.
const SMALL: usize = 4 << 10;
/// Enough for one write.
const FULL: usize = 16 << 10;
/// How often it is asked in vain before what is held goes out. hyper asks twice in a row before others have their turn.
const PATIENCE: u8 = 2;

/// A body on its way to the client, a few pieces at a time.
pub(crate) struct Gather {
    tee: Tee,
    /// A body with a length comes in large pieces anyway.
    is_stream: bool,
    held: BytesMut,
    /// How often it was asked in vain since the last piece.
    asked: u8,
    /// What follows `held`.
    next: Option<Frames>,
}

type Frames = Option<io::Result<Frame<Bytes>>>;

impl Gather {
    pub(crate) fn new(tee: Tee) -> Gather {
        let is_stream = tee.size_hint().exact().is_none();
        Gather { tee, is_stream, held: BytesMut::new(), asked: 0, next: None }
    }

    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frames> {
        if let Some(next) = self.next.take() {
            return Poll::Ready(next);
        }
        loop {
            match self.tee.poll_frame(cx) {
                Poll::Ready(next) => {
                    if let Some(frames) = self.take(next) {
                        return Poll::Ready(frames);
                    }
                }
                Poll::Pending if self.held.is_empty() => return Poll::Pending,
                // The next piece may be in the read buffer already: its connection gets one turn to hand it over.
                Poll::Pending if self.asked < PATIENCE => {
                    self.asked += 1;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Pending => return Poll::Ready(self.hand_on()),
            }
        }
    }

    /// Takes what comes next. `None`: it is held, and more may come.
    fn take(&mut self, next: Frames) -> Option<Frames> {
        match next {
            Some(Ok(frame)) if self.is_small(&frame) => {
                self.held.extend_from_slice(&frame.into_data().unwrap_or_default());
                self.asked = 0;
                (self.held.len() >= FULL || self.tee.is_end_stream()).then(|| self.hand_on())
            }
            next if self.held.is_empty() => Some(next),
            next => {
                self.next = Some(next);
                Some(self.hand_on())
            }
        }
    }

    fn is_small(&self, frame: &Frame<Bytes>) -> bool {
        self.is_stream && frame.data_ref().is_some_and(|data| data.len() <= SMALL)
    }

    fn hand_on(&mut self) -> Frames {
        self.asked = 0;
        Some(Ok(Frame::data(self.held.split().freeze())))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.tee.is_end_stream() && self.held.is_empty() && self.next.is_none()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        self.tee.size_hint()
    }
}

impl fmt::Debug for Gather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather").field("tee", &self.tee).field("held", &self.held.len()).finish_non_exhaustive()
    }
}
