//! How a call flows: the data path. Bytes pass untouched, a copy is read; the store is never waited for, except to commit
//! a kill.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use guard::Guard;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use model::{AllowedHosts, Clock, Providers, RecorderHandle};

/// What the proxy is built with.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The hosts it answers to.
    pub hosts: AllowedHosts,
    /// The status of the standard inactive response.
    pub refusal_status: StatusCode,
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take until its response begins.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// How much memory the bodies of the calls in the windows may take, in bytes.
    pub evidence_budget: usize,
    /// How long a kill waits for its commit before it is answered all the same (it holds in memory meanwhile).
    pub kill_commit_timeout: Duration,
}

/// The body of every response: the provider's own bytes, or a refusal.
pub type Body = BoxBody<Bytes, std::io::Error>;

/// The proxy. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Proxy {}

impl Proxy {
    /// A proxy that dials nobody yet.
    pub fn new(
        config: ProxyConfig,
        guard: Arc<Guard>,
        providers: Providers,
        recorder: RecorderHandle,
        clock: Clock,
    ) -> Proxy {
        let _ = (config, guard, providers, recorder, clock);
        todo!()
    }

    /// Answers one request: forwards it to its provider, or refuses it.
    pub async fn handle(&self, request: Request<Incoming>) -> Response<Body> {
        let _ = request;
        todo!()
    }
}
