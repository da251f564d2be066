//! The data path of a call. Bytes pass untouched and a copy is read. No call waits for the store,
//! except to commit a kill.

mod agreement;
mod answer;
mod budgets;
mod call;
mod config;
mod core;
mod credentials;
mod detection;
mod encoding;
mod error;
mod evidence;
mod forward;
mod headers;
mod idle_timeout;
mod incident;
mod kills;
mod policy;
mod request;
mod runtime;
mod shared;
mod truncate;
mod upload;
mod upstream;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use guard::Guard;
use http::{Request, Response};
use hyper::body::Incoming;
use model::{CallId, Clock, Evidence, Failures, KeptCall, KeptCalls, Providers, RecorderHandle};

pub use answer::body::Body;
pub use config::{Origin, ProxyConfig};
pub use credentials::OwnTokens;
pub use credentials::agent_token::AgentToken;
#[doc(hidden)]
pub use request::decode::decode_body as read_body;
#[doc(hidden)]
pub use request::dot_segments::has_dot_segments;

pub use shared::{Shared, Stored};

use crate::core::Core;
use forward::{Received, forward};
use request::cors;
use request::route::{self, Route, Unrouted};
use upload::Upload;

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

    /// Answers one request of the client at `from`: forwards it to its provider, or refuses it.
    pub fn handle(
        &self,
        request: Request<Incoming>,
        from: IpAddr,
    ) -> impl Future<Output = Response<Body>> + Send + use<> {
        let (core, id) = (Arc::clone(&self.core), CallId::new());
        let (mut parts, body) = request.into_parts();
        // Taken out, so that the route can borrow from it while the headers are edited in place.
        let uri = std::mem::take(&mut parts.uri);
        // Before the future is first polled: if the client is gone by then it is never polled, and
        // the call must still be recorded.
        let identified = route::identify(&core, id, &uri, (&parts, from));
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
            if core.is_degraded() {
                response.headers_mut().insert(headers::MODE, headers::DEGRADED);
            }
            if let Some(origin) = page {
                cors::allow_reading(response.headers_mut(), origin);
            }
            response
        }
    }

    /// The difference between the cached bodies and those taken or restored before, with at most
    /// about `bytes` of bodies. Compresses them: call it on a thread that may block.
    pub fn take_kept_calls(&self, bytes: usize) -> KeptCalls {
        // A deleted agent may have been the last one to call.
        self.core.evidence.release(&self.core.guard.take_released_calls());
        self.core.evidence.take_difference(bytes)
    }

    /// Makes [`Proxy::take_kept_calls`] return all cached bodies again: the copy on disk is lost.
    pub fn keep_calls_again(&self) {
        self.core.evidence.write_copy_again();
    }

    /// Announces, before the first call, the calls whose bodies the copy on disk has.
    pub fn expect_kept_calls(&self, calls: &[CallId]) {
        self.core.evidence.expect(calls);
    }

    /// Restores bodies of expected calls, newest first. `false` if there is no room for all.
    pub fn restore_kept_calls(&self, calls: Vec<KeptCall>) -> bool {
        self.core.evidence.restore(calls)
    }

    /// Gives up the bodies of calls, which then leave the copy on disk, too.
    pub fn release_kept_calls(&self, calls: &[CallId]) {
        self.core.evidence.release(calls);
    }

    /// The first words of the conversation that a call belongs to, while its body is cached.
    /// Decompresses the body: call it on a thread that may block.
    pub fn opening_words(&self, call: CallId) -> Option<String> {
        self.core.evidence.opening_words(call)
    }

    /// The evidence of those calls whose bodies are cached, for an incident that another server has
    /// recorded. Decompresses the bodies: call it on a thread that may block.
    pub fn cached_evidence(&self, calls: &[CallId]) -> Vec<Evidence> {
        incident::read_cached(&self.core, calls)
    }

    /// Follows the decisions and changes of other replicas, and records the kills of replicas that
    /// ended before they could. Ends at once if there are no replicas.
    pub async fn follow_replicas(self) {
        if let Some(shared) = self.core.config.shared.clone() {
            agreement::follow_changes(shared, self.core).await;
        }
    }

    /// Compares the clock with the time that has passed, so that no budget begins anew because the
    /// clock was set. Call it every second; calls that a budget limits do it, too.
    pub fn check_clock(&self) {
        self.core.budget_clock.check(self.core.guard.policies());
    }

    /// The count of calls whose reading or scoring failed since the start; each of them was
    /// forwarded.
    pub fn detection_failures(&self) -> Failures {
        self.core.catch_panic.failures()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("config", &self.core.config).finish_non_exhaustive()
    }
}
