//! What the proxy is built with.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{AgentKeys, AllowedHosts, KeyRequirement};
use wire::{Prices, RefusalStatus};

use crate::request::origin::Origin;

/// What the proxy is built with.
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
    /// The status of calls that are refused for an inactive agent, a spent budget or the hour, by
    /// the caller's format.
    pub refusal_status: RefusalStatus,
    /// The largest request body, in bytes.
    pub max_request_body: usize,
    /// The memory for request bodies that are being read or sent, in bytes; further bodies wait.
    pub bodies_in_flight: usize,
    /// How long a connection to a provider may take.
    pub connect_timeout: Duration,
    /// How long a provider may take until its response begins.
    pub first_byte_timeout: Duration,
    /// How long either side may be silent inside a body.
    pub idle_timeout: Duration,
    /// The memory for the bodies of the calls in the windows, in bytes.
    pub evidence_budget: usize,
    /// Whether another task copies those bodies to disk, with [`crate::Proxy::take_kept_calls`].
    pub copy_evidence: bool,
    /// How long a kill waits for its commit before it is answered anyway (it holds in memory
    /// meanwhile).
    pub kill_commit_timeout: Duration,
    /// What calls cost.
    pub prices: Arc<Prices>,
    /// By provider, whether streams that would not report their usage are asked to; for other
    /// providers the base URL decides.
    pub include_usage: HashMap<String, bool>,
}

impl ProxyConfig {
    /// The largest body that is read, once it is decompressed. Larger than the largest body that is
    /// forwarded: repeated text, which stuck agents send, compresses to a thousandth.
    pub(crate) fn max_read(&self) -> usize {
        self.max_request_body.saturating_mul(2)
    }
}
