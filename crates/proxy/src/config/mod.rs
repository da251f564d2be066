//! The configuration of the proxy.

mod origin;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{AgentKeys, AllowedHosts, KeyRequirement};
use wire::{Prices, RefusalStatus};

use crate::credentials::OwnTokens;
use crate::shared::Shared;

pub use origin::Origin;

/// The configuration of the proxy.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The hosts it answers to.
    pub hosts: AllowedHosts,
    /// The origins of the web pages that may call; all other pages are refused.
    pub allow_origins: Vec<Origin>,
    /// Whether calls need an agent key.
    pub key_requirement: KeyRequirement,
    /// The agent keys in force.
    pub keys: AgentKeys,
    /// The token of the first start and tokens that name an agent, which go to no provider.
    pub own_tokens: OwnTokens,
    /// The status of refusals for an inactive agent, a spent budget or the hour, by the caller's
    /// format.
    pub refusal_status: RefusalStatus,
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// The memory for request bodies in flight, in bytes; further bodies wait.
    pub bodies_in_flight: usize,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take to begin its response.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// The memory for the bodies of the calls in the windows, in bytes.
    pub evidence_budget: usize,
    /// Whether another task copies those bodies to disk, with [`crate::Proxy::take_kept_calls`].
    pub copy_evidence: bool,
    /// How long a kill waits for its commit before it is answered anyway (it is in effect in memory
    /// meanwhile).
    pub kill_commit_timeout: Duration,
    /// The price list.
    pub prices: Arc<Prices>,
    /// Whether to ask for the usage of streams that would not report it, by provider. For other
    /// providers the base URL decides.
    pub include_usage: HashMap<String, bool>,
    /// The state that replicas share; `None` for a single process.
    pub shared: Option<Shared>,
}

impl ProxyConfig {
    /// The largest decompressed body that is read. Larger than the largest body that is forwarded:
    /// the repeated text of stuck agents compresses to a thousandth.
    pub(crate) fn max_read(&self) -> usize {
        self.max_request_body.saturating_mul(2)
    }
}
