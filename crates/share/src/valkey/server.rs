//! The address of a Valkey server, how to log in there, and the check that it can be used.

use redis::aio::ConnectionManager;
use redis::{Client, ConnectionInfo, IntoConnectionInfo, TlsCertificates};
use secrecy::{ExposeSecret, SecretString};

use crate::types::ShareError;

/// The oldest version of Redis that has all commands that scripts use.
const OLDEST: (u32, u32) = (6, 2);

/// A Valkey or Redis server.
#[derive(Clone, Debug)]
pub struct ValkeyServer {
    /// Its address, maybe with a user and a password: `redis://`, `rediss://` (TLS), `valkey://` or
    /// `valkeys://` (TLS).
    pub url: SecretString,
    /// The password, if it is not in the URL.
    pub password: Option<SecretString>,
    /// The authorities that may sign its certificate, in PEM; `None` for those that the system
    /// trusts.
    pub authorities: Option<Vec<u8>>,
}

impl ValkeyServer {
    /// The server at `url`.
    pub fn new(url: SecretString) -> ValkeyServer {
        ValkeyServer { url, password: None, authorities: None }
    }

    pub(super) fn client(&self) -> Result<Client, ShareError> {
        let info = read_url(self.url.expose_secret())?;
        let info = match &self.password {
            Some(password) => {
                let login = info.redis_settings().clone().set_password(password.expose_secret());
                info.set_redis_settings(login)
            }
            None => info,
        };
        Ok(match &self.authorities {
            Some(authorities) => {
                let certificates = TlsCertificates { client_tls: None, root_cert: Some(authorities.clone()) };
                Client::build_with_tls(info, certificates)?
            }
            None => Client::open(info)?,
        })
    }
}

/// Whether `url` names a Valkey or Redis server.
pub(super) fn is_url(url: &str) -> bool {
    let has_scheme = ["redis://", "rediss://", "valkey://", "valkeys://"].iter().any(|it| url.starts_with(it));
    has_scheme && read_url(url).is_ok()
}

fn read_url(url: &str) -> Result<ConnectionInfo, redis::RedisError> {
    // The client knows the schemes of Redis only.
    let known = url.strip_prefix("valkey").map_or_else(|| url.to_owned(), |rest| format!("redis{rest}"));
    known.into_connection_info()
}

/// Refuses a server that is too old, and warns of one that evicts keys, because it forgets kills
/// until they are restored. A server that does not report its version or policy is accepted.
pub(super) async fn check(mut connection: ConnectionManager) -> Result<(), ShareError> {
    let info: Result<String, _> = redis::cmd("INFO").query_async(&mut connection).await;
    let Ok(info) = info else { return Ok(()) };
    if let Some(version) = too_old(&info) {
        let message = format!("Redis {}.{} or newer is needed, or Valkey; this is {version}", OLDEST.0, OLDEST.1);
        return Err(ShareError::Setup(message));
    }
    if let Some(policy) = field(&info, "maxmemory_policy").filter(|policy| *policy != "noeviction") {
        tracing::warn!(
            "maxmemory-policy of the shared Valkey is {policy}: set it to noeviction, or windows may get lost"
        );
    }
    Ok(())
}

/// The version of a server that is too old. Valkey says which Redis it is compatible with.
fn too_old(info: &str) -> Option<&str> {
    let version = field(info, "redis_version")?;
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    let found: (u32, u32) = (numbers.next()?, numbers.next()?);
    (found < OLDEST).then_some(version)
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_recognised() {
        for (version, is_too_old) in [("5.0.14", true), ("6.0.16", true), ("6.2.0", false), ("7.2.4", false)] {
            let info = format!("# Server\r\nredis_version:{version}\r\nredis_mode:standalone\r\n");
            assert_eq!(too_old(&info), is_too_old.then_some(version), "{version}");
        }
        for unclear in ["", "redis_version:\r\n", "redis_version:unstable\r\n"] {
            assert_eq!(too_old(unclear), None, "{unclear}");
        }
    }
}
