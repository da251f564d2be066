//! Settings about alerts: allowed targets, links, and the SMTP server.

use std::path::PathBuf;
use std::time::Duration;

use ::alerts::{AlertsConfig, Mailbox, SmtpConfig};
use anyhow::Context;
use model::{Policy, SmtpSecurity, SmtpServer};
use secrecy::SecretString;
use store::Grouping;

use crate::config::contradictions::Contradiction;

/// Settings of alerts.
#[derive(Clone, Debug)]
pub struct Alerting {
    /// Whether targets may be in private networks.
    pub allow_private_targets: bool,
    /// The address of the dashboard for people, if it differs from the listener's.
    pub public_url: Option<String>,
    /// How long alerts after the first one are collected; zero disables digests.
    pub digest_window: Duration,
    /// The SMTP server.
    pub smtp: Smtp,
}

/// The SMTP server, as far as it is set.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Smtp {
    pub host: Option<String>,
    pub port: Option<u16>,
    pub security: SmtpSecurity,
    pub username: Option<String>,
    pub password: Option<SecretString>,
    pub from: Option<Mailbox>,
    pub certificate: Option<PathBuf>,
}

impl Default for Alerting {
    fn default() -> Self {
        let smtp = Smtp {
            host: None,
            port: None,
            security: SmtpSecurity::StartTls,
            username: None,
            password: None,
            from: None,
            certificate: None,
        };
        Alerting { allow_private_targets: false, public_url: None, digest_window: Grouping::default().window, smtp }
    }
}

impl Alerting {
    /// Contradictions between settings.
    pub(in crate::config) fn contradictions(&self) -> Vec<Contradiction> {
        let Smtp { host, username, password, from, .. } = &self.smtp;
        let pairs = [
            (("smtp.host", host.is_some()), ("smtp.from", from.is_some()), "must be set: mails need both"),
            (
                ("smtp.username", username.is_some()),
                ("smtp.password", password.is_some()),
                "must be set: a login needs both",
            ),
        ];
        let contradiction = |((one, is_set), (other, is_other_set), message): (_, _, &str)| {
            let (key, other) = if is_set { (other, one) } else { (one, other) };
            (is_set != is_other_set).then(|| Contradiction { key, other, message: message.to_owned() })
        };
        pairs.into_iter().filter_map(contradiction).collect()
    }

    /// The grouping of alerts that come close together.
    pub(crate) fn grouping(&self) -> Grouping {
        let usual = Grouping::default();
        Grouping { window: self.digest_window, quiet: usual.quiet.min(self.digest_window) }
    }

    /// The base of links in alerts: the listener's address, unless another is set.
    pub(crate) fn public_url(&self, dashboard: &str) -> String {
        self.public_url.clone().unwrap_or_else(|| dashboard.to_owned())
    }

    /// The configuration of worker and evaluator, with links to `dashboard` unless another address
    /// is set.
    pub(crate) fn config(&self, dashboard: &str, configured_policy: &Policy) -> anyhow::Result<AlertsConfig> {
        Ok(AlertsConfig {
            public_url: self.public_url(dashboard),
            allow_private_targets: self.allow_private_targets,
            smtp: self.smtp.config()?,
            smtp_certificate: self.smtp.certificate()?,
            configured_policy: configured_policy.clone(),
        })
    }
}

impl Smtp {
    fn config(&self) -> anyhow::Result<Option<SmtpConfig>> {
        let (Some(host), Some(from)) = (&self.host, &self.from) else { return Ok(None) };
        Ok(Some(SmtpConfig {
            host: host.clone(),
            port: self.port,
            security: self.security,
            credentials: self.username.clone().zip(self.password.clone()),
            from: from.clone(),
            certificate: self.certificate()?,
        }))
    }

    fn certificate(&self) -> anyhow::Result<Option<Vec<u8>>> {
        let read = |path: &PathBuf| {
            std::fs::read(path).with_context(|| format!("{} cannot be read (setting smtp.certificate)", path.display()))
        };
        self.certificate.as_ref().map(read).transpose()
    }

    /// The server as it is shown on the dashboard.
    pub(crate) fn server(&self) -> Option<SmtpServer> {
        let (Some(host), Some(from)) = (&self.host, &self.from) else { return None };
        Some(SmtpServer {
            host: host.clone(),
            port: self.port,
            security: self.security,
            username: self.username.clone(),
            password: self.password.clone(),
            password_is_lost: false,
            from: from.to_string(),
        })
    }
}
