//! An LLM API without a model, for the demo, the tests, the benchmarks and the client matrix.
//! [`FakeProvider`] speaks every dialect that the proxy reads, streamed and not, as the official
//! SDKs expect it, and follows a script. [`raw::ByteProvider`] sends exactly the bytes that a test
//! gives it.

mod asking;
mod asking_body;
mod control;
mod dialect;
mod listener;
mod output;
pub mod raw;
mod reply;
mod script;
mod seen;
mod side_calls;
mod steps;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;

pub use asking::Asking;
pub use output::Call;
pub use reply::Reply;
pub use script::{Answer, Behaviour, Fault, Script};
pub use seen::{Counts, Seen, SeenRequest};

use control::Faults;
use dialect::Dialect;
use listener::Listener;
use reply::Pace;
use seen::Unfinished;
use steps::Steps;

/// A running provider. It stops when it is dropped.
#[derive(Debug)]
pub struct FakeProvider {
    address: SocketAddr,
    seen: Arc<Seen>,
    _listener: Listener,
}

impl FakeProvider {
    /// Starts on the loopback address; port 0 picks a free one.
    pub async fn start(port: u16, script: impl Into<Script>) -> io::Result<FakeProvider> {
        let seen = Arc::new(Seen::default());
        let state = Arc::new(State::new(script.into(), Arc::clone(&seen)));
        let answer = move |request| {
            let state = Arc::clone(&state);
            async move { answer(&state, request).await }
        };
        let (address, listener) = Listener::start(port, answer).await?;
        Ok(FakeProvider { address, seen, _listener: listener })
    }

    /// The base URL, for `--provider`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }
}

/// The state behind every answer.
#[derive(Debug)]
struct State {
    script: Script,
    seen: Arc<Seen>,
    faults: Faults,
    steps: Steps,
}

impl State {
    fn new(script: Script, seen: Arc<Seen>) -> State {
        State { script, seen, faults: Faults::default(), steps: Steps::default() }
    }
}

/// Routes a request.
async fn answer(state: &State, request: Request<Incoming>) -> Response<Reply> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return json(StatusCode::BAD_REQUEST, Bytes::from_static(b"{}"));
    };
    let body = body.to_bytes();
    if let Some((status, answer)) = control::answer(&head, &body, state) {
        return json(status, answer.to_string().into());
    }
    let number = state.seen.request(SeenRequest::new(&head, &body));
    let unfinished = Unfinished::new(Arc::clone(&state.seen));
    if let Some(dialect) = Dialect::of(&head.method, head.uri.path()) {
        return converse(state, Asking::new(number, dialect, &head, &body), unfinished).await;
    }
    match side_calls::answer(&head, &body) {
        Some(answer) => whole(StatusCode::OK, "application/json", answer.to_string().into(), unfinished),
        // Any other body is echoed, so that tests can compare forwarded bytes.
        None => echo(&head.headers, body, unfinished),
    }
}

/// Answers a call that carries a conversation.
async fn converse(state: &State, asking: Asking<'_>, unfinished: Unfinished) -> Response<Reply> {
    let behaviour = match state.steps.next(&asking) {
        Some(answer) => Behaviour { answer, ..Behaviour::default() },
        None => state.script.behaviour(&asking),
    };
    let fault = state.faults.next().or(behaviour.fault);
    match fault {
        Some(Fault::Status(status)) => {
            return whole(status, "application/json", asking.error(status), unfinished);
        }
        Some(Fault::Stall) => std::future::pending().await,
        _ => {}
    }
    let output = behaviour.answer.output(&asking);
    state.steps.keep(&asking, &output);
    let pieces = match asking.streamed() {
        true => asking.events_of(&output, behaviour.chunks),
        false => vec![asking.body_of(&output)],
    };
    let pace = Pace { delay: behaviour.delay, fault };
    respond(StatusCode::OK, asking.framing().content_type(), Reply::new(pieces, pace, unfinished))
}

fn echo(headers: &HeaderMap, body: Bytes, unfinished: Unfinished) -> Response<Reply> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    whole(StatusCode::OK, content_type.unwrap_or("application/octet-stream"), body, unfinished)
}

fn json(status: StatusCode, body: Bytes) -> Response<Reply> {
    respond(status, "application/json", Reply::whole(body))
}

fn whole(status: StatusCode, content_type: &str, body: Bytes, unfinished: Unfinished) -> Response<Reply> {
    respond(status, content_type, Reply::new(vec![body], Pace::default(), unfinished))
}

fn respond(status: StatusCode, content_type: &str, reply: Reply) -> Response<Reply> {
    let mut response = Response::new(reply);
    *response.status_mut() = status;
    let content_type = http::HeaderValue::from_str(content_type);
    let content_type = content_type.unwrap_or(http::HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

#[cfg(test)]
mod tests;
