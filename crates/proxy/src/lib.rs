//! How a call flows: the data path. Bytes pass untouched and a copy is read. No call waits for the
//! store, except to commit a kill.

mod answer;
mod call;
mod config;
mod core;
mod detection;
mod encoding;
mod error;
mod evidence;
mod forward;
mod headers;
mod idle_timeout;
mod kills;
mod policy;
mod request;
mod runtime;
mod truncate;
mod upstream;

use std::fmt;
use std::sync::Arc;

use guard::Guard;
use http::{Request, Response};
use hyper::body::Incoming;
use model::{CallId, Clock, Failures, KeptCall, KeptCalls, Providers, RecorderHandle};

pub use answer::body::Body;
pub use config::ProxyConfig;
pub use request::agent_token::AgentToken;
#[doc(hidden)]
pub use request::decode::decode_body as read_body;
pub use request::origin::Origin;

use crate::core::Core;
use forward::{Received, forward};
use request::cors;
use request::route::{self, Route, Unrouted};
use request::upload::Upload;

/// The proxy. Cloning is cheap.
#[derive(Clone)]
pub struct Proxy {
    core: Arc<Core>,
}

impl Proxy {
    /// A proxy without connections.
    pub fn new(
        config: ProxyConfig,
        guard: Arc<Guard>,
        providers: Providers,
        recorder: RecorderHandle,
        clock: Clock,
    ) -> Proxy {
        Proxy { core: Arc::new(Core::new(config, guard, providers, recorder, clock)) }
    }

    /// Answers one request: forwards it to its provider, or refuses it.
    pub fn handle(&self, request: Request<Incoming>) -> impl Future<Output = Response<Body>> + Send + use<> {
        let (core, id) = (Arc::clone(&self.core), CallId::new());
        let (mut parts, body) = request.into_parts();
        // Taken out, so that the route can borrow from it while the headers are edited in place.
        let uri = std::mem::take(&mut parts.uri);
        // Before the future is first polled: if its client is gone by then, it never is, and the
        // call is recorded all the same.
        let identified = route::identify(&core, id, &uri, &parts);
        let page = cors::allowed_origin(&core.config.allow_origins, &parts.headers).cloned();
        async move {
            let routed = identified.and_then(|identified| match Route::parse(&uri) {
                Ok(route) => Ok((identified, route)),
                Err(stop) => Err(Unrouted::Refused(identified.call.caller_format, stop)),
            });
            let upload = Upload::new(body, &core.config);
            let mut response = match routed {
                Ok((identified, route)) => forward(Received::new(identified, route, parts, upload)).await,
                Err(Unrouted::Preflight) => cors::answer_preflight(&parts.headers).map(Body::from),
                Err(Unrouted::Refused(format, stop)) => {
                    upload.discard();
                    stop.answer(format, id, None).map(Body::from)
                }
            };
            response.headers_mut().insert(headers::REQUEST_ID, headers::request_id(id));
            if let Some(origin) = page {
                cors::allow_reading(response.headers_mut(), origin);
            }
            response
        }
    }

    /// How the cached bodies differ from what was taken or restored before, with about `bytes` of
    /// them at most. Compresses them: call it on a thread that may block.
    pub fn take_kept_calls(&self, bytes: usize) -> KeptCalls {
        // An agent that was deleted may have been the last to call.
        self.core.evidence.release(&self.core.guard.take_released_calls());
        self.core.evidence.take_difference(bytes)
    }

    /// Restores, before the first call, the bodies of calls that are in the windows, newest first.
    pub fn restore_kept_calls(&self, calls: Vec<KeptCall>) {
        self.core.evidence.restore(calls);
    }

    /// The first words of the conversation that a call belongs to, while its body is cached.
    /// Decompresses the body: call it on a thread that may block.
    pub fn opening_words(&self, call: CallId) -> Option<String> {
        self.core.evidence.opening_words(call)
    }

    /// Counts the calls whose reading or scoring failed since the start; each of them was let
    /// through.
    pub fn detection_failures(&self) -> Failures {
        self.core.catch_panic.failures()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("config", &self.core.config).finish_non_exhaustive()
    }
}
