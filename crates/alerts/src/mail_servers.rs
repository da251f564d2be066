//! The SMTP server in use: the one that people have set, or the configured one. It is read for
//! every mail, so that a change takes effect at once in every process on the same store.

use egress::{Egress, EgressError};
use model::Clock;
use store::Store;

use crate::AlertsConfig;
use crate::mailer::{Mailed, Mailer, SmtpConfig};
use crate::message::Message;

/// Sends mails through the server in use. Cloning is cheap enough for each test mail.
#[derive(Clone, Debug)]
pub struct MailServers {
    configured: Option<SmtpConfig>,
    certificate: Option<Vec<u8>>,
    egress: Egress,
    store: Store,
    public_url: String,
}

impl MailServers {
    /// The servers of `config` and `store`.
    pub fn new(config: &AlertsConfig, store: Store) -> MailServers {
        MailServers {
            configured: config.smtp.clone(),
            certificate: config.smtp_certificate.clone(),
            egress: Egress::new(config.allow_private_targets),
            store,
            public_url: config.public_url.clone(),
        }
    }

    /// Sends a test mail to one address, and returns the server's answer.
    pub async fn test(&self, to: &str) -> Result<String, String> {
        let message = Message::test_mail(to, Clock::System.now(), &self.public_url);
        match self.send(&[to.to_owned()], &message).await {
            Mailed::Accepted(status, answer) => Ok(format!("{status} {answer}")),
            Mailed::Rejected(Some(status), answer) | Mailed::Failed(Some(status), answer) => {
                Err(format!("{status} {answer}"))
            }
            Mailed::Rejected(None, answer) | Mailed::Failed(None, answer) => Err(answer),
        }
    }

    pub(crate) async fn send(&self, to: &[String], message: &Message) -> Mailed {
        match self.mailer().await {
            Ok(mailer) => mailer.send(to, message).await,
            Err(failure) => failure,
        }
    }

    async fn mailer(&self) -> Result<Mailer, Mailed> {
        let stored = self.store.smtp_server().await;
        let stored =
            stored.map_err(|error| Mailed::Failed(None, format!("the mail server cannot be read: {error}")))?;
        let Some(server) = stored else {
            let configured = self.configured.clone().map(Mailer::new);
            return configured.ok_or_else(|| rejected("no mail server is set: set one on the Settings page"));
        };
        if server.password_is_lost {
            let why = "the password of the mail server cannot be decrypted: restore the key file or enter it again";
            return Err(rejected(why));
        }
        // Only the operator may allow private addresses: in the configuration, or with the flag.
        let address = self.egress.address_of_host(&server.host).await.map_err(unreached)?;
        let config = SmtpConfig::new(server, self.certificate.clone());
        let config = config.ok_or_else(|| rejected("the sender of the mail server is no address"))?;
        Ok(Mailer::at(config, address))
    }
}

fn unreached(error: EgressError) -> Mailed {
    match error {
        EgressError::Refused(why) => rejected(&why),
        EgressError::Failed(why) => Mailed::Failed(None, why),
    }
}

fn rejected(why: &str) -> Mailed {
    Mailed::Rejected(None, why.to_owned())
}
