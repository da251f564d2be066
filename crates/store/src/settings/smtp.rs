//! The SMTP server that people have set, with its password encrypted at rest.

use model::{SmtpSecurity, SmtpServer};
use serde::{Deserialize, Serialize};

use crate::config::in_force;
use crate::database::{self, Connection};
use crate::files::{KeyFile, Sealed};
use crate::{Store, StoreError};

/// The name of the setting, and the owner that its password is sealed for.
const SMTP: &str = "smtp";

/// The server as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredServer {
    host: String,
    port: Option<u16>,
    security: SmtpSecurity,
    username: Option<String>,
    /// The ciphertext of the password, and the key file that it was sealed with.
    password: Option<(String, String)>,
    from: String,
}

impl Store {
    /// The SMTP server that people have set; `None` if the configured one is used. A password that
    /// cannot be decrypted is marked as lost, and the log says what to do.
    pub async fn smtp_server(&self) -> Result<Option<SmtpServer>, StoreError> {
        let query = database::query_scalar("select value from settings where name = $1").bind(SMTP);
        let Some(text): Option<String> = query.fetch_optional(&self.readers).await? else { return Ok(None) };
        let stored: StoredServer = serde_json::from_str(&text)
            .map_err(|error| StoreError::Setup(format!("the stored SMTP server cannot be read: {error}")))?;
        let StoredServer { host, port, security, username, password, from } = stored;
        let sealed = password.map(|(ciphertext, key_id)| Sealed { ciphertext, key_id });
        let password = sealed.as_ref().and_then(|sealed| {
            self.keys.open_sealed(SMTP, sealed).inspect_err(|error| tracing::error!("{error}")).ok()
        });
        let password_is_lost = sealed.is_some() && password.is_none();
        Ok(Some(SmtpServer { host, port, security, username, password, password_is_lost, from }))
    }
}

/// Stores the server, or removes the stored one.
pub(crate) async fn write(
    transaction: &mut Connection<'_>,
    server: Option<&SmtpServer>,
    keys: &KeyFile,
) -> Result<(), StoreError> {
    let Some(server) = server else {
        database::query("delete from settings where name = $1").bind(SMTP).execute(transaction).await?;
        return Ok(());
    };
    let sealed = server.password.as_ref().map(|password| keys.seal(SMTP, password)).transpose()?;
    let stored = StoredServer {
        host: server.host.clone(),
        port: server.port,
        security: server.security,
        username: server.username.clone(),
        password: sealed.map(|sealed| (sealed.ciphertext, sealed.key_id)),
        from: server.from.clone(),
    };
    let value = serde_json::to_string(&stored).map_err(|error| StoreError::Conflict(error.to_string()))?;
    Ok(in_force::put(transaction, SMTP, &value).await?)
}
