//! Notifies people: rules that are evaluated every minute, and a worker that delivers the outbox
//! through webhooks, mail and chats. The only crate that makes outgoing calls of its own, all of
//! them through `egress` and `mailer`.

mod chat;
mod egress;
mod evaluate;
mod mail_servers;
mod mailer;
mod message;
mod retry;
mod send;
#[cfg(test)]
mod test_support;
mod webhook;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Policy};
use store::{Recorder, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use egress::{Fetcher, tls_config};
pub use lettre::message::Mailbox;
pub use mail_servers::MailServers;
pub use mailer::SmtpConfig;

use egress::Egress;
use evaluate::Evaluator;
use send::Sender;
use worker::Worker;

/// How long deliveries under way may take when the server stops. One that is cut is sent again
/// after the next start.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// How alerts are delivered.
#[derive(Clone, Debug)]
pub struct AlertsConfig {
    /// Where people find the dashboard, for links; without a slash at its end.
    pub public_url: String,
    /// Whether targets may be in private networks.
    pub allow_private_targets: bool,
    /// The server that mails go through.
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

    /// Stops: nothing more is begun, what is under way may finish for a moment.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let both = async {
            let _ = self.worker.await;
            let _ = self.evaluator.await;
        };
        let _ = tokio::time::timeout(STOP_TIMEOUT, both).await;
    }
}
