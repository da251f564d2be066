//! The built-in provider: an LLM API without a model, for the demo, the tests and the benchmarks. It speaks OpenAI Chat
//! Completions and Anthropic Messages, streamed and not, in the shapes that the official SDKs accept.

mod anthropic;
mod asking;
mod openai;
mod reply;
mod script;
mod seen;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;

pub use asking::Asking;
pub use reply::Reply;
pub use script::{Answer, Behaviour, Call, Fault, Script};
pub use seen::{Counts, Seen, SeenRequest};

use crate::listen::{self, ListenLimits, Listener};
use asking::Dialect;
use reply::Pace;
use seen::Unfinished;

/// A built-in provider at work. It stops when it is dropped.
#[derive(Debug)]
pub struct BuiltinProvider {
    address: SocketAddr,
    seen: Arc<Seen>,
    _listener: Listener,
}

impl BuiltinProvider {
    /// Starts on the loopback address; port 0 picks a free one.
    pub async fn start(port: u16, script: impl Into<Script>) -> io::Result<BuiltinProvider> {
        let socket = listen::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let address = socket.local_addr()?;
        let seen = Arc::new(Seen::default());
        let state = (script.into(), Arc::clone(&seen));
        let listener = Listener::start(socket, LIMITS, move |request| {
            let (script, seen) = state.clone();
            async move { answer(&script, &seen, request).await }
        });
        Ok(BuiltinProvider { address, seen, _listener: listener })
    }

    /// Its base URL, for `--provider`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it saw.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }
}

/// Generous: it is there to be asked.
const LIMITS: ListenLimits = ListenLimits {
    max_header_size: 256 << 10,
    header_timeout: Duration::from_secs(300),
    idle_timeout: Duration::from_secs(300),
    max_connections: 100_000,
};

/// All routes on one screen.
async fn answer(script: &Script, seen: &Arc<Seen>, request: Request<Incoming>) -> Response<Reply> {
    let (head, body) = request.into_parts();
    if head.uri.path() == "/_seen" {
        return json(StatusCode::OK, serde_json::to_string(&seen.counts()).unwrap_or_default().into());
    }
    let Ok(body) = body.collect().await else {
        return json(StatusCode::BAD_REQUEST, Bytes::from_static(b"{}"));
    };
    let body = body.to_bytes();
    let number = seen.request(SeenRequest::new(&head, &body));
    let unfinished = Unfinished::new(Arc::clone(seen));
    match (&head.method, head.uri.path()) {
        (&Method::POST, path) if path.ends_with("/chat/completions") => {
            converse(script, Asking::new(number, Dialect::OpenAi, &head.headers, &body), unfinished).await
        }
        (&Method::POST, path) if path.ends_with("/messages") => {
            converse(script, Asking::new(number, Dialect::Anthropic, &head.headers, &body), unfinished).await
        }
        (&Method::GET, path) if path.ends_with("/models") => {
            let models =
                if head.headers.contains_key("anthropic-version") { anthropic::MODELS } else { openai::MODELS };
            whole(StatusCode::OK, "application/json", Bytes::from_static(models.as_bytes()), unfinished)
        }
        // Whatever else is asked comes back as it came: that is what a pass-through test wants to see.
        _ => echo(&head.headers, body, unfinished),
    }
}

/// Answers a call that carries a conversation.
async fn converse(script: &Script, asking: Asking<'_>, unfinished: Unfinished) -> Response<Reply> {
    let behaviour = script.behaviour(&asking);
    match behaviour.fault {
        Some(Fault::Status(status)) => {
            return whole(status, "application/json", asking.error(status), unfinished);
        }
        Some(Fault::Stall) => std::future::pending().await,
        _ => {}
    }
    let said = behaviour.answer.said(&asking);
    let pace = Pace { delay: behaviour.delay, fault: behaviour.fault };
    if !asking.streamed() {
        let body = vec![asking.body_of(&said)];
        return respond(StatusCode::OK, "application/json", Reply::new(body, pace, unfinished));
    }
    let events = asking.events_of(&said, behaviour.chunks);
    respond(StatusCode::OK, "text/event-stream; charset=utf-8", Reply::new(events, pace, unfinished))
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
