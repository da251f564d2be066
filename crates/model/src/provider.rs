//! Providers: the upstream LLM APIs, and the set of known ones.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The family of wire formats that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
#[strum(serialize_all = "snake_case")]
pub enum Format {
    Openai,
    Anthropic,
    Gemini,
    Ollama,
}

impl Format {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Format> {
        word.parse().ok()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An upstream LLM API.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name in the proxy's paths: `1..=64` characters of `a-z 0-9 . _ -`, the first one
    /// alphanumeric.
    pub name: String,
    /// Its base URL: `http` or `https`, a host, optionally a port and a path; no query, no trailing
    /// slash.
    pub base_url: String,
    /// Its wire format.
    pub format: Format,
    /// The stored credential that replaces the client's, if any.
    pub key: Option<SecretString>,
    /// Whether a stored key cannot be decrypted. Then no call is forwarded: the client's own
    /// credential must not go there.
    pub key_is_lost: bool,
}

/// The error for an invalid provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {message}")]
pub struct InvalidProvider {
    /// `name` or `base_url`.
    pub field: &'static str,
    /// What it must be.
    pub message: &'static str,
}

impl Provider {
    /// Whether `name` is a valid provider name.
    pub fn is_name(name: &str) -> bool {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        let starts_well = name.bytes().next().is_some_and(|first| !b"._-".contains(&first));
        starts_well && name.len() <= 64 && name.bytes().all(allowed)
    }

    /// A provider without a stored key. A trailing slash of `base_url` is dropped.
    pub fn new(name: &str, base_url: &str, format: Format) -> Result<Provider, InvalidProvider> {
        let invalid = |field, message| Err(InvalidProvider { field, message });
        if !Provider::is_name(name) {
            return invalid("name", "must have 1 to 64 characters of a-z 0-9 . _ - and start with a letter or digit");
        }
        let Some(rest) = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://")) else {
            return invalid("base_url", "must start with http:// or https://");
        };
        let host = rest.split('/').next().unwrap_or_default();
        if host.is_empty() || host.contains('@') {
            return invalid("base_url", "must name a host, without user or password");
        }
        if rest.bytes().any(|byte| !byte.is_ascii_graphic() || b"?#".contains(&byte)) {
            return invalid("base_url", "must be plain ASCII without query or fragment");
        }
        let (name, base_url) = (name.to_owned(), base_url.trim_end_matches('/').to_owned());
        Ok(Provider { name, base_url, format, key: None, key_is_lost: false })
    }
}

/// The known providers: read by every call, replaced as a whole when one changes.
#[derive(Clone, Debug, Default)]
pub struct Providers(Arc<ArcSwap<BTreeMap<String, Arc<Provider>>>>);

impl Providers {
    /// Creates a set of `providers`.
    pub fn new(providers: impl IntoIterator<Item = Provider>) -> Providers {
        let book = Providers::default();
        for provider in providers {
            book.put(provider);
        }
        book
    }

    /// The provider with this name.
    pub fn get(&self, name: &str) -> Option<Arc<Provider>> {
        self.0.load().get(name).cloned()
    }

    /// All providers, by name.
    pub fn all(&self) -> Vec<Arc<Provider>> {
        self.0.load().values().cloned().collect()
    }

    /// Whether a key is stored for any of them, even one that cannot be decrypted.
    pub fn have_keys(&self) -> bool {
        self.0.load().values().any(|provider| provider.key.is_some() || provider.key_is_lost)
    }

    /// Adds a provider or replaces the one with its name.
    pub fn put(&self, provider: Provider) {
        let provider = Arc::new(provider);
        self.0.rcu(|book| {
            let mut book = BTreeMap::clone(book);
            book.insert(provider.name.clone(), Arc::clone(&provider));
            book
        });
    }

    /// Removes a provider.
    pub fn remove(&self, name: &str) {
        self.0.rcu(|book| {
            let mut book = BTreeMap::clone(book);
            book.remove(name);
            book
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_names_the_field_that_is_wrong() {
        let check = |name: &str, url: &str| Provider::new(name, url, Format::Openai).map_err(|error| error.field);
        assert!(check("openai", "https://api.openai.com/").is_ok_and(|it| it.base_url == "https://api.openai.com"));
        assert_eq!(check("Open AI", "https://api.openai.com").err(), Some("name"));
        assert_eq!(check("", "https://api.openai.com").err(), Some("name"));
        for url in ["api.openai.com", "ftp://x", "https://", "https://u:p@x", "https://x/?a=b", "http://x/a b"] {
            assert_eq!(check("x", url).err(), Some("base_url"), "{url}");
        }
    }
}
