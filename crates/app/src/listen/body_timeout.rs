//! A request body with a deadline. For the dashboard: its bodies are small, and a client that sends
//! half of one and waits must not hold a connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};

const PROBLEM: &str = r#"{"type":"about:blank","title":"Request Timeout","status":408,"code":"body_timeout","detail":"The body of the request did not arrive in time."}"#;

/// A body with a time limit for the whole.
#[derive(Debug)]
pub(crate) struct TimedBody {
    body: Incoming,
    limit: Duration,
    /// Created at the first wait: most bodies arrive with their heads.
    timer: Option<Pin<Box<Sleep>>>,
    is_late: Lateness,
}

/// Whether a body came too late.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness(Arc<AtomicBool>);

/// The body did not arrive in time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the request's body did not come in time")]
    Late,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

impl TimedBody {
    pub(crate) fn new(body: Incoming, limit: Duration) -> TimedBody {
        TimedBody { body, limit, timer: None, is_late: Lateness::default() }
    }

    /// Shows later whether the body came too late.
    pub(crate) fn lateness(&self) -> Lateness {
        self.is_late.clone()
    }
}

impl Lateness {
    /// The answer to a request whose body came too late, otherwise `response`.
    pub(crate) fn answer<B: From<&'static str>>(&self, response: Response<B>) -> Response<B> {
        if !self.0.load(Ordering::Relaxed) {
            return response;
        }
        // The other headers stay: they restrict what browsers may do with the answer.
        let (mut head, _) = response.into_parts();
        head.status = StatusCode::REQUEST_TIMEOUT;
        head.headers.remove(CONTENT_LENGTH);
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        Response::from_parts(head, B::from(PROBLEM))
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::from)));
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.is_late.0.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(BodyError::Late)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
