//! The response's body: bytes pass, a copy is read. It is polled through, so that a slow client slows the provider, and
//! dropping it cancels the call.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, Version};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use wire::UsageFilter;

use crate::body::Body;
use crate::connections::Connection;
use crate::exchange::Exchange;
use crate::fault;
use crate::headers;

const DIED: &str = "the provider closed the connection in the middle of its answer";
const WENT_SILENT: &str = "the provider went silent in the middle of its answer";

/// A provider's body on its way to the client.
pub(crate) struct Tee {
    incoming: Incoming,
    /// What it comes over; none once it has come whole.
    connection: Option<Connection>,
    exchange: Box<Exchange>,
    /// Takes out what the client did not ask for.
    filter: Option<UsageFilter>,
    ended: bool,
}

/// Hands a provider's answer on: status, headers and bytes as they are.
pub(crate) fn tee(
    mut exchange: Box<Exchange>,
    answer: Response<Incoming>,
    mut connection: Connection,
) -> Response<Body> {
    let (mut parts, incoming) = answer.into_parts();
    headers::drop_void_length(&mut parts.headers);
    exchange.answer_begins(&parts);
    headers::drop_hop_by_hop(&mut parts.headers);
    headers::drop_own(&mut parts.headers);
    exchange.show_score(&mut parts.headers);
    // What the provider's connection speaks; ours says for itself what its client does.
    parts.version = Version::HTTP_11;
    if incoming.is_end_stream() {
        connection.give_back();
        exchange.answer_ends();
        return Response::from_parts(parts, Body::from(Bytes::new()));
    }
    connection.silence.restart(exchange.core.config.idle_timeout);
    let filter = exchange.usage_filter(&mut parts);
    let connection = Some(connection);
    Response::from_parts(parts, Body::passing(Tee { incoming, connection, exchange, filter, ended: false }))
}

impl Tee {
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
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
                Poll::Pending => return self.poll_silence(cx).map(|()| Some(self.break_off(WENT_SILENT))),
            }
        }
        Poll::Ready(None)
    }

    /// Ready when the provider has been silent for too long.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.connection {
            Some(connection) => connection.silence.poll_too_long(cx),
            None => Poll::Pending,
        }
    }

    /// What of a frame goes on; none if all of it is held or taken out.
    fn filtered(&mut self, frame: Frame<Bytes>) -> Option<Frame<Bytes>> {
        let (Some(filter), Some(data)) = (&mut self.filter, frame.data_ref()) else { return Some(frame) };
        let passed = self.exchange.core.shield.run(|| {
            fault::strike("usage");
            filter.pass(data)
        });
        let mut data = match passed {
            Some(passed) => passed,
            None => {
                // What asking for usage added stays in from here on, but nothing is lost.
                let unfiltered = [filter.give_up(), data.clone()].concat();
                self.filter = None;
                unfiltered.into()
            }
        };
        if self.ended {
            let held = self.held(true);
            data = if held.is_empty() { data } else { [data, held].concat().into() };
        }
        (!data.is_empty()).then(|| Frame::data(data))
    }

    /// What the filter still holds.
    fn held(&mut self, whole: bool) -> Bytes {
        let Some(filter) = &mut self.filter else { return Bytes::new() };
        self.exchange.core.shield.run(|| filter.finish(whole)).unwrap_or_else(|| filter.give_up())
    }

    fn pass(&mut self, frame: &Frame<Bytes>) {
        if let Some(connection) = &mut self.connection {
            connection.silence.broken();
        }
        if let Some(data) = frame.data_ref() {
            self.exchange.answer_passes(data);
        }
        // A body with a length is not asked again after its last byte.
        if self.incoming.is_end_stream() {
            self.has_come();
            self.exchange.answer_ends();
        }
    }

    /// The body has come whole.
    fn has_come(&mut self) {
        self.ended = true;
        if let Some(connection) = self.connection.take() {
            connection.give_back();
        }
    }

    fn end(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        self.has_come();
        if !self.exchange.answer_ends() {
            return Some(self.break_off(DIED));
        }
        let held = self.held(true);
        (!held.is_empty()).then(|| Ok(Frame::data(held)))
    }

    /// Tells the client in the stream that this is not its end, or else breaks the connection: nothing is invented.
    fn break_off(&mut self, why: &'static str) -> io::Result<Frame<Bytes>> {
        self.ended = true;
        let last_words = self.exchange.answer_breaks_off(why).ok_or_else(|| io::Error::other(why))?;
        let held = self.held(false);
        Ok(Frame::data(if held.is_empty() { last_words } else { [held, last_words].concat().into() }))
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.ended
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
