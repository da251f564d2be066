//! How people look: the JSON API and the dashboard. No rules of its own: it asks `guard` and `store` and tells what they
//! say.

mod api;
mod app;
mod changes;
mod gate;
mod input;
mod names;
mod pages;
mod problem;
mod routes;
mod token;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use guard::Guard;
use model::{AllowedHosts, Clock, Failures, Policy, Provider, Providers, RecorderHandle};
use store::{Recorder, Store};

pub use gate::{Client, Network};
pub use names::Names;
pub use routes::{openapi_json, router};
pub use token::Token;

/// Where alerts may go, by the operator's configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlertTargets {
    /// Whether to private networks.
    pub allow_private: bool,
    /// Whether there is a server for mails.
    pub mail: bool,
}

/// What the API and the dashboard are built with.
#[derive(Clone, Debug)]
pub struct Web {
    /// The agents as they stand.
    pub guard: Arc<Guard>,
    /// The agents as they were.
    pub store: Store,
    /// The writer.
    pub recorder: Recorder,
    /// For the count of dropped events.
    pub recorder_handle: RecorderHandle,
    /// The providers as they are used.
    pub providers: Providers,
    /// The providers as they would be without what is stored: built in, or given by the operator's configuration.
    pub configured_providers: Arc<Vec<Provider>>,
    /// The policy of agents that have none of their own, as it would be without what is stored.
    pub configured_policy: Arc<Policy>,
    /// Where alerts may go.
    pub alerts: AlertTargets,
    /// What the names of their targets lead to.
    pub names: Names,
    /// Where agents call, for people to copy.
    pub proxy_url: String,
    /// What every caller must know.
    pub token: Token,
    /// How often reading or scoring a call failed.
    pub detection_failures: Failures,
    /// The hosts it answers to.
    pub hosts: AllowedHosts,
    /// Set when the server is stopping.
    pub draining: Arc<AtomicBool>,
    /// Now.
    pub clock: Clock,
}
