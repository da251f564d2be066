//! The body of an answer, sent piece by piece up to its end or its fault.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use crate::script::Fault;
use crate::seen::Unfinished;

/// The delay between pieces, and the fault.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    pub(crate) delay: Duration,
    pub(crate) fault: Option<Fault>,
}

/// The body of an answer.
#[derive(Debug)]
pub struct Reply {
    pieces: VecDeque<Bytes>,
    total: u64,
    sent: usize,
    pace: Pace,
    waiting: Waiting,
    unfinished: Option<Unfinished>,
}

/// What the body waits for before the next piece.
#[derive(Debug)]
enum Waiting {
    /// Nothing.
    No,
    /// One turn of the event loop, so that each piece is sent by itself.
    Turn,
    /// A delay.
    Time(Pin<Box<Sleep>>),
}

impl Reply {
    pub(crate) fn new(pieces: Vec<Bytes>, pace: Pace, unfinished: Unfinished) -> Reply {
        let total = pieces.iter().map(|piece| piece.len() as u64).sum();
        let mut reply =
            Reply { pieces: pieces.into(), total, sent: 0, pace, waiting: Waiting::No, unfinished: Some(unfinished) };
        if total == 0 {
            reply.finish();
        } else if !pace.delay.is_zero() {
            reply.wait();
        }
        reply
    }

    /// A body in one piece that is not counted.
    pub(crate) fn whole(body: Bytes) -> Reply {
        let total = body.len() as u64;
        Reply { pieces: [body].into(), total, sent: 0, pace: Pace::default(), waiting: Waiting::No, unfinished: None }
    }

    fn wait(&mut self) {
        let delay = self.pace.delay;
        self.waiting = if delay.is_zero() { Waiting::Turn } else { Waiting::Time(Box::pin(tokio::time::sleep(delay))) };
    }

    fn finish(&mut self) {
        if let Some(unfinished) = self.unfinished.take() {
            unfinished.finish();
        }
    }

    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.waiting {
            Waiting::No => return Poll::Ready(()),
            Waiting::Turn => context.waker().wake_by_ref(),
            Waiting::Time(sleep) => std::task::ready!(sleep.as_mut().poll(context)),
        }
        let turn = matches!(self.waiting, Waiting::Turn);
        self.waiting = Waiting::No;
        if turn { Poll::Pending } else { Poll::Ready(()) }
    }

    /// The next piece, cut off at the fault.
    fn next_piece(&mut self) -> Poll<Option<io::Result<Bytes>>> {
        let room = match self.pace.fault {
            Some(Fault::DieAfter(limit) | Fault::StallAfter(limit)) => limit.saturating_sub(self.sent),
            _ => usize::MAX,
        };
        let Some(front) = self.pieces.front_mut() else { return Poll::Ready(None) };
        if room == 0 {
            return self.fail();
        }
        let piece = if front.len() > room { front.split_to(room) } else { std::mem::take(front) };
        if front.is_empty() {
            self.pieces.pop_front();
        }
        self.sent += piece.len();
        // Not at the next poll: a body of known length is not polled again after its last byte.
        if self.pieces.is_empty() {
            self.finish();
        }
        Poll::Ready(Some(Ok(piece)))
    }

    fn fail(&mut self) -> Poll<Option<io::Result<Bytes>>> {
        if matches!(self.pace.fault, Some(Fault::StallAfter(_))) {
            // No waker is registered: only the end of the connection ends this.
            return Poll::Pending;
        }
        self.finish();
        Poll::Ready(Some(Err(io::Error::other("the built-in provider was told to die"))))
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        std::task::ready!(self.poll_waiting(context));
        let piece = std::task::ready!(self.next_piece());
        if self.pieces.front().is_some() {
            self.wait();
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        // A single piece is a body with a length; several are a stream.
        let streams = self.pieces.len() > 1;
        if streams { SizeHint::default() } else { SizeHint::with_exact(self.total) }
    }
}
