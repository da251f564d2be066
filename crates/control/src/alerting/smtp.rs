//! The SMTP server that alerts by mail go through.

use model::{SmtpSecurity, SmtpServer};
use secrecy::SecretString;
use store::Change;

use crate::{Command, Commands, ControlError};

/// The SMTP server to set. The stored password is kept if none is given.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields are those of SmtpServer")]
pub struct SmtpChange {
    pub host: String,
    pub port: Option<u16>,
    pub security: SmtpSecurity,
    pub username: Option<String>,
    pub password: Option<SecretString>,
    pub from: String,
}

impl Commands {
    /// Sets the SMTP server. It overrides the configured one, for the next mail and after a
    /// restart.
    pub async fn put_smtp_server(&self, change: SmtpChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.put_smtp_server(change).await }).await
    }

    /// Restores the SMTP server of the configuration.
    pub async fn reset_smtp_server(&self) -> Result<(), ControlError> {
        self.exclusive(move |command| async move {
            command.change(Change::PutSmtpServer { server: None }).await?;
            Ok(())
        })
        .await
    }
}

impl Command {
    async fn put_smtp_server(&self, change: SmtpChange) -> Result<(), ControlError> {
        let server = change.apply(self.store.smtp_server().await?)?;
        server.check()?;
        self.change(Change::PutSmtpServer { server: Some(Box::new(server)) }).await?;
        Ok(())
    }
}

impl SmtpChange {
    /// The server after the change of `current`.
    fn apply(self, current: Option<SmtpServer>) -> Result<SmtpServer, ControlError> {
        let kept = match (&self.password, &self.username) {
            (None, Some(_)) => self.kept_password(current)?,
            _ => None,
        };
        Ok(SmtpServer {
            host: self.host,
            port: self.port,
            security: self.security,
            username: self.username,
            password: self.password.or(kept),
            password_is_lost: false,
            from: self.from,
        })
    }

    /// The stored password, if server and user are unchanged. Otherwise a caller could have the
    /// hidden password sent to another host, or unencrypted.
    fn kept_password(&self, current: Option<SmtpServer>) -> Result<Option<SecretString>, ControlError> {
        let Some(current) = current.filter(|current| current.password.is_some() || current.password_is_lost) else {
            return Ok(None);
        };
        let is_same = current.host == self.host
            && current.port == self.port
            && current.security == self.security
            && current.username == self.username;
        match current.password.filter(|_| is_same) {
            Some(password) => Ok(Some(password)),
            None if is_same => {
                Err(ControlError::field("password", "must be given again: the stored one is unreadable"))
            }
            None => {
                let message = "must be given again when host, port, security or username changes";
                Err(ControlError::field("password", message))
            }
        }
    }
}
