//! Contradictions between settings. They are reported with all other mistakes, except for settings
//! that could not be parsed.

use control::Token;
use secrecy::ExposeSecret;

use super::layer::{Entry, Mistake, Origin};
use super::resolve::UNREAD_FILE;
use super::sections::access;
use super::{Config, TlsConfig};
use crate::tls::Tls;

/// Two settings that contradict each other.
pub(super) struct Contradiction {
    /// The setting to set or change.
    pub(super) key: &'static str,
    /// The setting that requires it.
    pub(super) other: &'static str,
    pub(super) message: String,
}

/// The contradictions in `config`, which was built from `entries` with the mistakes `known`.
pub(super) fn mistakes(config: &Config, entries: &[Entry], known: &[Mistake]) -> Vec<Mistake> {
    // A setting that could not be parsed may be the missing one.
    let is_unread = |key: &str| known.iter().any(|mistake| mistake.key == key);
    if UNREAD_FILE.into_iter().any(is_unread) {
        return Vec::new();
    }
    let both_read = |it: &Contradiction| !is_unread(it.key) && !is_unread(it.other);
    let told = |Contradiction { key, other, message }| {
        let origin = origin(entries, key).or_else(|| origin(entries, other));
        Mistake { key: key.to_owned(), origin: origin.cloned(), message }
    };
    contradictions(config).into_iter().filter(both_read).map(told).collect()
}

/// A token of the operator that could be guessed. A token in the data directory is accepted: the
/// server generated it, and an update must not keep a server from starting.
pub(super) fn short_token(config: &Config, entries: &[Entry], known: &[Mistake]) -> Option<Mistake> {
    let is_told = known.iter().any(|mistake| mistake.key == "token");
    let length = config.token.as_ref()?.expose_secret().len();
    if is_told || length >= Token::MIN_LENGTH {
        return None;
    }
    let random = Token::random().map(|token| format!(", like this random one: {}", token.expose_secret()));
    let message =
        format!("must have at least {} characters, not {length}{}", Token::MIN_LENGTH, random.unwrap_or_default());
    Some(Mistake { key: "token".to_owned(), origin: origin(entries, "token").cloned(), message })
}

/// TLS files that cannot be used.
pub(super) fn unusable_tls(config: &Config, entries: &[Entry], known: &[Mistake]) -> Option<Mistake> {
    let is_told = known.iter().any(|mistake| mistake.key.starts_with("tls."));
    let mistake = Tls::load(config.tls.files().filter(|_| !is_told)?).err()?;
    let (key, message) = (mistake.key.to_owned(), mistake.message());
    Some(Mistake { origin: origin(entries, &key).cloned(), key, message })
}

/// The last origin of `key`.
fn origin<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Origin> {
    entries.iter().rfind(|entry| entry.key == key).map(|entry| &entry.origin)
}

fn contradictions(config: &Config) -> Vec<Contradiction> {
    let mut found = config.alerts.contradictions();
    found.extend(access::contradictions(&config.access));
    found.extend(config.jwt.contradictions());
    found.extend(config.oidc.contradictions());
    found.extend(config.shared.contradictions(config.database.url.is_some()));
    if config.database.password_file.is_some() && config.database.url.is_none() {
        let message = "must be set: a password is for a server like postgres://user@host/database".to_owned();
        found.push(Contradiction { key: "database", other: "database_password_file", message });
    }
    if !config.bind.is_loopback() && config.token.is_none() {
        let message = format!(
            "must be set, because {} can be reached from other machines: set AGENTGAZER_TOKEN (or --token) to a \
             long random text, or bind to 127.0.0.1",
            config.bind
        );
        found.push(Contradiction { key: "token", other: "bind", message });
    }
    let TlsConfig { certificate, key, client_ca } = &config.tls;
    if certificate.is_some() != key.is_some() {
        let (key, other) = if key.is_none() { ("tls.key", "tls.certificate") } else { ("tls.certificate", "tls.key") };
        found.push(Contradiction { key, other, message: "must be set: TLS needs both".to_owned() });
    }
    if client_ca.is_some() && certificate.is_none() && key.is_none() {
        let message = "must be set: client certificates are asked for over TLS only".to_owned();
        found.push(Contradiction { key: "tls.certificate", other: "tls.client_ca", message });
    }
    if config.port != 0 && config.port == config.proxy_port {
        let message = format!("must not be the port of the dashboard ({})", config.port);
        found.push(Contradiction { key: "proxy_port", other: "port", message });
    }
    found
}
