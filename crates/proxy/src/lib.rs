//! How a call flows: the data path. Bytes pass untouched, a copy is read; the store is never waited for, except to commit
//! a kill.

mod answer_decoder;
mod answering;
mod aside;
mod body;
mod connections;
mod conversation;
mod cors;
mod decoding;
mod destination;
mod disk_copy;
mod dot_segments;
mod error;
mod evidence;
mod exchange;
mod fault;
mod forward;
mod gather;
mod headers;
mod held;
mod incident;
mod kills;
mod listener;
mod origin;
mod policy;
mod recorded;
mod room;
mod route;
mod scoring;
mod shield;
mod silence;
mod tee;
mod upload;
mod upstream;
mod usage;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use guard::Guard;
use http::{Request, Response};
use hyper::body::Incoming;
use model::{AllowedHosts, CallId, Clock, Failures, KeptCall, KeptCalls, Providers, RecorderHandle};
use wire::{Prices, RefusalStatus};

use parking_lot::Mutex;
use wire::Chains;

pub use body::Body;
#[doc(hidden)]
pub use decoding::readable as read_body;
pub use origin::Origin;

use aside::Aside;
use destination::Destinations;
use evidence::Shelf;
use kills::Kills;
use policy::Settled;
use room::Room;
use route::{Route, Unrouted};
use shield::Shield;
use upload::Upload;
use upstream::Upstream;

/// What the proxy is built with.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The hosts it answers to.
    pub hosts: AllowedHosts,
    /// The origins of the web pages that may call; all other pages are refused.
    pub allow_origins: Vec<Origin>,
    /// The status of calls that are refused for an inactive agent, a spent budget or the hour, by the caller's format.
    pub refusal_status: RefusalStatus,
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// How much memory request bodies that are being read or sent may take together, in bytes; further ones wait.
    pub bodies_in_flight: usize,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take until its response begins.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// How much memory the bodies of the calls in the windows may take, in bytes.
    pub evidence_budget: usize,
    /// Whether somebody copies those bodies to disk, with [`Proxy::take_kept_calls`].
    pub copy_evidence: bool,
    /// How long a kill waits for its commit before it is answered all the same (it holds in memory meanwhile).
    pub kill_commit_timeout: Duration,
    /// What calls cost.
    pub prices: Arc<Prices>,
    /// By provider, whether streams that would not report their usage are asked to; of others their base URL decides.
    pub include_usage: HashMap<String, bool>,
}

impl ProxyConfig {
    /// The largest body that is read, once it is decompressed. Larger than what is forwarded at most: text that repeats
    /// itself, as that of a stuck agent does, compresses to a thousandth.
    pub(crate) fn max_read(&self) -> usize {
        self.max_request_body.saturating_mul(2)
    }
}

/// How much is remembered for calls that carry only what is new, in bytes.
const CHAINS: usize = 32 << 20;

/// The proxy. Cloning is cheap.
#[derive(Clone)]
pub struct Proxy {
    core: Arc<Core>,
}

/// What every call needs.
pub(crate) struct Core {
    pub(crate) config: ProxyConfig,
    pub(crate) guard: Arc<Guard>,
    pub(crate) recorder: RecorderHandle,
    pub(crate) clock: Clock,
    pub(crate) destinations: Destinations,
    pub(crate) upstream: Upstream,
    pub(crate) shelf: Shelf,
    pub(crate) kills: Kills,
    pub(crate) shield: Shield,
    pub(crate) aside: Aside,
    pub(crate) room: Room,
    pub(crate) chains: Mutex<Chains>,
    pub(crate) settled: Settled,
    /// Older than the id of every call since the start.
    pub(crate) started: CallId,
}

impl Proxy {
    /// A proxy that dials nobody yet.
    pub fn new(
        config: ProxyConfig,
        guard: Arc<Guard>,
        providers: Providers,
        recorder: RecorderHandle,
        clock: Clock,
    ) -> Proxy {
        let core = Core {
            destinations: Destinations::new(providers),
            upstream: Upstream::new(&config),
            shelf: Shelf::new(config.evidence_budget, config.copy_evidence),
            kills: Kills::default(),
            shield: Shield::default(),
            aside: Aside::default(),
            room: Room::new(config.bodies_in_flight),
            chains: Mutex::new(Chains::new(CHAINS)),
            settled: Settled::default(),
            started: CallId::new(),
            config,
            guard,
            recorder,
            clock,
        };
        Proxy { core: Arc::new(core) }
    }

    /// Answers one request: forwards it to its provider, or refuses it.
    pub fn handle(&self, request: Request<Incoming>) -> impl Future<Output = Response<Body>> + Send + use<> {
        let (core, call) = (Arc::clone(&self.core), CallId::new());
        let (mut parts, body) = request.into_parts();
        // Taken out, so that the route can borrow from it while the headers are edited in place.
        let uri = std::mem::take(&mut parts.uri);
        // Now, and not when the future is first polled: if its client is gone by then it never is, and called all the same.
        let begun = route::identify(&core, call, &uri, &parts);
        let page = cors::allowed_origin(&core.config.allow_origins, &parts.headers).cloned();
        async move {
            let routed = begun.and_then(|exchange| match Route::parse(&uri) {
                Ok(route) => Ok((exchange, route)),
                Err(stop) => Err(Unrouted::Refused(exchange.spoken, stop)),
            });
            let mut response = match routed {
                Ok((exchange, route)) => forward::forward(exchange, route, parts, body).await,
                Err(Unrouted::Preflight) => cors::answer_preflight(&parts.headers),
                Err(Unrouted::Refused(format, stop)) => {
                    Upload::new(body, &core.config).discard();
                    stop.answer(format, call, None)
                }
            };
            response.headers_mut().insert(headers::REQUEST_ID, headers::request_id(call));
            if let Some(origin) = page {
                cors::allow_reading(response.headers_mut(), origin);
            }
            response
        }
    }

    /// How the bodies in memory differ from what was taken or restored before, with about `bytes` of them at most. Compresses
    /// them: not for the thread of an async task.
    pub fn take_kept_calls(&self, bytes: usize) -> KeptCalls {
        // An agent that was deleted may have been the last to call.
        self.core.shelf.release(&self.core.guard.take_released_calls());
        self.core.shelf.take_difference(bytes)
    }

    /// Takes back, before the first call, the bodies of calls that stand in the windows, newest first.
    pub fn restore_kept_calls(&self, calls: Vec<KeptCall>) {
        self.core.shelf.restore(calls);
    }

    /// How often reading or scoring a call failed since the start; each of those calls was let through.
    pub fn detection_failures(&self) -> Failures {
        self.core.shield.failures()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("config", &self.core.config).finish_non_exhaustive()
    }
}
