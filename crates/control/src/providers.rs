//! Providers: base URL, format and key.

use model::{Format, Provider};
use secrecy::SecretString;
use store::Change;

use crate::error::OrNotFound;
use crate::{Command, Commands, ControlError, State};

const MAX_KEY_LENGTH: usize = 4096;

/// The error if a key cannot be stored.
const OPEN_RELAY: &str = "The key is not stored: other machines reach this proxy, and proxy.require_key is \"never\", so each \
                          of them could use it. Set proxy.require_key to \"auto\", or proxy.allow_open_relay to true.";

/// A change of a provider: an absent field keeps its value. A new provider needs `base_url` and
/// `format`.
#[derive(Clone, Debug, Default)]
pub struct ProviderChange {
    /// The base URL.
    pub base_url: Option<String>,
    /// The wire format.
    pub format: Option<Format>,
    /// The key that replaces the client's own.
    pub key: Option<SecretString>,
}

impl Commands {
    /// Adds or changes a provider. It takes effect from the next call on.
    pub async fn put_provider(&self, name: String, change: ProviderChange) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.put_provider(&name, change).await }).await
    }

    /// Removes the stored part of a provider, including its key: a built-in or configured one is
    /// used again.
    pub async fn remove_provider(&self, name: String) -> Result<(), ControlError> {
        self.exclusive(move |command| async move { command.remove_provider(&name).await }).await
    }
}

impl Command {
    async fn put_provider(&self, name: &str, change: ProviderChange) -> Result<(), ControlError> {
        let provider = change.apply(name, self.providers.get(name).as_deref())?;
        if has_key(&provider) && self.key_requirement.refuses_provider_keys() {
            return Err(ControlError::Conflict(OPEN_RELAY.to_owned()));
        }
        self.change(Change::PutProvider { provider: provider.clone() }).await?;
        self.providers.put(provider);
        Ok(())
    }

    async fn remove_provider(&self, name: &str) -> Result<(), ControlError> {
        let removed = self.change(Change::RemoveProvider { name: name.to_owned() }).await;
        removed.or_not_found(|| format!("Nothing is stored for provider {name}."))?;
        self.use_configured_provider(name);
        Ok(())
    }
}

impl State {
    /// Restores the configured provider.
    pub(crate) fn use_configured_provider(&self, name: &str) {
        match self.configured_providers.iter().find(|provider| provider.name == name) {
            Some(configured) => self.providers.put(configured.clone()),
            None => self.providers.remove(name),
        }
    }
}

impl ProviderChange {
    /// The provider after the change.
    fn apply(self, name: &str, current: Option<&Provider>) -> Result<Provider, ControlError> {
        let missing = |field| ControlError::field(field, "must be given for a new provider");
        let base_url = self.base_url.or_else(|| current.map(|current| current.base_url.clone()));
        let format = self.format.or_else(|| current.map(|current| current.format));
        let base_url = base_url.ok_or_else(|| missing("base_url"))?;
        let mut provider = Provider::new(name, &base_url, format.ok_or_else(|| missing("format"))?)?;

        provider.key = match (self.key, current) {
            (Some(key), _) => Some(checked_key(key)?),
            // Otherwise a caller could have the stored key, which is never shown, sent to another
            // host.
            (None, Some(current)) if has_key(current) && current.base_url != provider.base_url => {
                return Err(ControlError::field("key", "must be given again when base_url changes"));
            }
            (None, current) => {
                provider.key_is_lost = current.is_some_and(|current| current.key_is_lost);
                current.and_then(|current| current.key.clone())
            }
        };
        Ok(provider)
    }
}

/// Whether a key is stored, even one that cannot be decrypted.
pub fn has_key(provider: &Provider) -> bool {
    provider.key.is_some() || provider.key_is_lost
}

fn checked_key(key: SecretString) -> Result<SecretString, ControlError> {
    let text = secrecy::ExposeSecret::expose_secret(&key);
    let fits = !text.is_empty() && text.len() <= MAX_KEY_LENGTH;
    if !fits || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(ControlError::field("key", "must have 1 to 4096 visible ASCII characters, no spaces"));
    }
    Ok(key)
}
