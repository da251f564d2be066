//! The body of a response: bytes pass, and a copy is read. Polling goes through to the provider, so
//! that a slow client slows the provider; dropping the body cancels the call.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Response, Version};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use wire::UsageFilter;

use super::Answering;
use super::body::Body;
use super::coalesce::Coalesce;
use super::expected::Expected;
use super::usage::usage_filter;
use crate::call::Call;
use crate::headers;
use crate::runtime::fault_injection::panic_if_requested;
use crate::upstream::connections::Connection;

const DIED: &str = "the provider closed the connection in the middle of its answer";
const WENT_SILENT: &str = "the provider went silent in the middle of its answer";

/// The body of a provider's answer on its way to the client.
pub(crate) struct Tee {
    incoming: Incoming,
    /// The connection that it comes over; `None` once it is complete.
    connection: Option<Connection>,
    answering: Answering,
    /// Removes what the client did not ask for.
    filter: Option<UsageFilter>,
    ended: bool,
    /// A frame held back until other replicas know of the answer that ends with it.
    delayed: Option<Option<io::Result<Frame<Bytes>>>>,
}

/// Passes on a provider's answer: status, headers and bytes unchanged.
pub(crate) fn tee(
    call: Box<Call>,
    expected: Expected,
    answer: Response<Incoming>,
    mut connection: Connection,
) -> Response<Body> {
    let (mut parts, incoming) = answer.into_parts();
    headers::drop_ignored_length(&mut parts.headers);
    let mut answering = Answering::begin(call, expected, &parts);
    headers::drop_hop_by_hop(&mut parts.headers);
    headers::drop_own(&mut parts.headers);
    answering.call.show_score(&mut parts.headers);
    // The provider's protocol version is independent of the client's.
    parts.version = Version::HTTP_11;
    if incoming.is_end_stream() {
        connection.give_back();
        answering.end();
        return Response::from_parts(parts, Body::from(Bytes::new()));
    }
    connection.idle_timeout.restart(answering.call.core.config.idle_timeout);
    let filter = usage_filter(&answering.expected, &mut parts);
    let tee = Tee { incoming, connection: Some(connection), answering, filter, ended: false, delayed: None };
    Response::from_parts(parts, Body::from(Coalesce::new(tee)))
}

impl Tee {
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match self.delayed.take() {
            Some(next) => next,
            None => ready!(self.poll_next(cx)),
        };
        if self.answering.call.settlement.poll(cx).is_pending() {
            self.delayed = Some(next);
            return Poll::Pending;
        }
        Poll::Ready(next)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        while !self.ended {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(mut frame))) => {
                    if let Some(trailers) = frame.trailers_mut() {
                        headers::drop_own(trailers);
                    }
                    self.pass(&frame);
                    if let Some(frame) = self.filtered(frame) {
                        return Poll::Ready(Some(Ok(frame)));
                    }
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(self.break_off(DIED))),
                Poll::Ready(None) => return Poll::Ready(self.end()),
                Poll::Pending => return self.poll_idle_timeout(cx).map(|()| Some(self.break_off(WENT_SILENT))),
            }
        }
        Poll::Ready(None)
    }

    /// Ready when the provider has been silent for too long.
    fn poll_idle_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.connection {
            Some(connection) => connection.idle_timeout.poll_expired(cx),
            None => Poll::Pending,
        }
    }

    /// The part of a frame that is passed on now; `None` if all of it is held back or removed.
    fn filtered(&mut self, frame: Frame<Bytes>) -> Option<Frame<Bytes>> {
        let (Some(filter), Some(data)) = (&mut self.filter, frame.data_ref()) else { return Some(frame) };
        let passed = self.answering.call.core.catch_panic.run(|| {
            panic_if_requested("usage");
            filter.pass(data)
        });
        let mut data = match passed {
            Some(passed) => passed,
            None => {
                // From here on the added event stays in the stream, but no byte is lost.
                let unfiltered = [filter.give_up(), data.clone()].concat();
                self.filter = None;
                unfiltered.into()
            }
        };
        if self.ended {
            let held = self.take_held(true);
            data = if held.is_empty() { data } else { [data, held].concat().into() };
        }
        (!data.is_empty()).then(|| Frame::data(data))
    }

    /// The bytes that the filter still holds back.
    fn take_held(&mut self, whole: bool) -> Bytes {
        let Some(filter) = &mut self.filter else { return Bytes::new() };
        self.answering.call.core.catch_panic.run(|| filter.finish(whole)).unwrap_or_else(|| filter.give_up())
    }

    fn pass(&mut self, frame: &Frame<Bytes>) {
        if let Some(connection) = &mut self.connection {
            connection.idle_timeout.note_activity();
        }
        if let Some(data) = frame.data_ref() {
            self.answering.observe(data);
        }
        // hyper does not poll a body with a length again after its last byte.
        if self.incoming.is_end_stream() {
            self.release_connection();
            self.answering.end();
        }
    }

    /// The body is complete.
    fn release_connection(&mut self) {
        self.ended = true;
        if let Some(connection) = self.connection.take() {
            connection.give_back();
        }
    }

    fn end(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        self.release_connection();
        if !self.answering.end() {
            return Some(self.break_off(DIED));
        }
        let held = self.take_held(true);
        (!held.is_empty()).then(|| Ok(Frame::data(held)))
    }

    /// Sends the client an error in the stream, or breaks the connection if that is impossible.
    fn break_off(&mut self, why: &'static str) -> io::Result<Frame<Bytes>> {
        self.ended = true;
        let error = self.answering.break_off(why).ok_or_else(|| io::Error::other(why))?;
        let held = self.take_held(false);
        Ok(Frame::data(if held.is_empty() { error } else { [held, error].concat().into() }))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.ended && self.delayed.is_none()
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        if self.filter.is_some() { SizeHint::default() } else { self.incoming.size_hint() }
    }
}

impl fmt::Debug for Tee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tee").field("ended", &self.ended).finish_non_exhaustive()
    }
}
