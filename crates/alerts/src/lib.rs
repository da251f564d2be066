//! Notifies people: rules that are evaluated every minute, and a worker that delivers the outbox
//! through webhooks, mail and chats. All its outgoing calls go through the crate `egress` and
//! through `mailer`.

mod chat;
mod evaluate;
mod mail_servers;
mod mailer;
mod message;
#[cfg(test)]
#[path = "../../store/tests/contract/postgres_server.rs"]
#[allow(dead_code, clippy::expect_used, reason = "tests of other crates use the rest")]
mod postgres_server;
mod redact;
mod retry;
mod send;
#[cfg(test)]
mod test_support;
mod webhook;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use egress::Egress;
use model::{Clock, Policy};
use store::{Recorder, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use lettre::message::Mailbox;
pub use mail_servers::MailServers;
pub use mailer::SmtpConfig;

use evaluate::Evaluator;
use send::Sender;
use worker::Worker;

/// How long running deliveries may take when the server stops. A delivery that is aborted is sent
/// again after the next start.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How alerts are delivered.
#[derive(Clone, Debug)]
pub struct AlertsConfig {
    /// The address of the dashboard for links, without a trailing slash.
    pub public_url: String,
    /// Whether targets may be in private networks.
    pub allow_private_targets: bool,
    /// The configured SMTP server.
    pub smtp: Option<SmtpConfig>,
    /// A certificate to trust besides the machine's, as PEM, for an SMTP server that people set.
    pub smtp_certificate: Option<Vec<u8>>,
    /// The policy of agents that have none of their own, unless people have set another. For rules
    /// about budgets.
    pub configured_policy: Policy,
}

/// The running worker and evaluator.
#[derive(Debug)]
pub struct Alerts {
    stop: watch::Sender<bool>,
    worker: JoinHandle<()>,
    evaluator: JoinHandle<()>,
}

impl Alerts {
    /// Starts delivering the outbox and evaluating the rules.
    pub fn start(config: AlertsConfig, store: Store, recorder: Recorder, clock: Clock) -> Alerts {
        let sender = Sender {
            egress: Egress::new(config.allow_private_targets),
            mail: MailServers::new(&config, store.clone()),
            public_url: config.public_url,
            clock: clock.clone(),
        };
        let (stop, stopped) = watch::channel(false);
        let worker = Worker::new(store.clone(), recorder.clone(), Arc::new(sender), clock.clone());
        let worker = tokio::spawn(worker.run(stopped.clone()));
        let evaluator = Evaluator { store, recorder, clock, configured_policy: config.configured_policy };
        let evaluator = tokio::spawn(evaluator.run(stopped));
        Alerts { stop, worker, evaluator }
    }

    /// Stops: starts no more deliveries and gives running ones a moment to finish.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let both = async {
            let _ = self.worker.await;
            let _ = self.evaluator.await;
        };
        let _ = tokio::time::timeout(STOP_TIMEOUT, both).await;
    }
}
