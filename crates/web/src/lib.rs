//! The JSON API and the dashboard. This crate has no rules of its own: commands go to `control`,
//! and everything that it shows is read from `control`, `guard` and `store`.

mod api;
mod app;
mod compression;
mod drill;
mod event_reader;
mod gate;
mod input;
mod logins;
mod names;
mod opening_words;
mod pages;
mod problem;
mod recording;
mod routes;
mod test_mail;
mod warnings;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use control::Control;
use guard::Guard;
use model::{AllowedHosts, Clock, Failures, Providers, RecorderHandle, SmtpServer};
use store::{Recorder, Store};

pub use drill::{DrillLine, DrillReport, Drills};
pub use gate::{AddressRange, Client, ForwardAuth, OidcLogin, RoleMap, TrustedProxies};
pub use logins::SessionStorage;
pub use names::Names;
pub use opening_words::OpeningWords;
pub use recording::Recording;
pub use routes::{openapi_json, router};
pub use test_mail::TestMails;
pub use warnings::Warnings;

/// The targets that alerts may have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AlertTargets {
    /// Whether targets in private networks are allowed.
    pub(crate) allow_private: bool,
    /// Whether there is a mail server.
    pub(crate) mail: bool,
}

/// Mail as the configuration has it, and how a test mail is sent.
#[derive(Clone, Debug, Default)]
pub struct Mail {
    /// The SMTP server of the configuration.
    pub configured: Option<SmtpServer>,
    /// Sends a test mail through the server in force.
    pub tests: TestMails,
}

/// The systems that log people in for us: reverse proxies in front of the server, and an identity
/// provider.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The proxies whose headers name the client.
    pub proxies: TrustedProxies,
    /// The headers that name the people whom a proxy has logged in.
    pub forward: Option<ForwardAuth>,
    /// The identity provider that people log in at.
    pub oidc: Option<OidcLogin>,
}

/// The parts of the API and the dashboard.
#[derive(Clone, Debug)]
pub struct Web {
    /// Carries out every command.
    pub control: Control,
    /// The agents in memory, to read.
    pub guard: Arc<Guard>,
    /// The database, to read.
    pub store: Store,
    /// The writer: what it has written, and its health.
    pub recorder: Recorder,
    /// For the count of dropped events.
    pub recorder_handle: RecorderHandle,
    /// The providers as they are used.
    pub providers: Providers,
    /// Whether targets of alerts may be in private networks.
    pub allow_private_targets: bool,
    /// The mail server of the configuration.
    pub mail: Mail,
    /// Resolves the names of alert targets.
    pub names: Names,
    /// The proxy's URL, for people to copy.
    pub proxy_url: String,
    /// The beginning of links in alerts.
    pub public_url: String,
    /// The recording of requests and responses.
    pub recording: Recording,
    /// The first words of conversations.
    pub opening_words: OpeningWords,
    /// The token of the dashboard and the API.
    pub token: control::Token,
    /// The storage that keeps sessions over a restart.
    pub sessions: SessionStorage,
    /// Drills that the dashboard can run.
    pub drills: Drills,
    /// Whether the listener speaks TLS.
    pub is_https: bool,
    /// The reverse proxies in front, and whom they log in.
    pub access: Access,
    /// Further warnings of readiness.
    pub warnings: Warnings,
    /// How often reading or scoring a call failed.
    pub detection_failures: Failures,
    /// The host names that it answers to.
    pub hosts: AllowedHosts,
    /// Set when the server is stopping.
    pub draining: Arc<AtomicBool>,
    /// The current time.
    pub clock: Clock,
}
