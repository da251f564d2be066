//! Providers that an operator changed, with their keys encrypted at rest.

use model::{Format, Provider};
use secrecy::SecretString;

use crate::columns::invalid;
use crate::database::{self, Row};
use crate::files::Sealed;
use crate::{Store, StoreError};

impl Store {
    /// The stored providers, with decrypted keys. A provider whose key cannot be decrypted is
    /// returned with a mark, and the log says what to do: the others stay usable.
    pub async fn providers(&self) -> Result<Vec<Provider>, StoreError> {
        let query = database::query("select * from providers order by name").try_map(provider_row);
        let rows = query.fetch_all(&self.readers).await?;
        let opened = rows.into_iter().map(|(provider, sealed)| {
            let key = sealed.as_ref().and_then(|sealed| self.open_key(&provider.name, sealed));
            Provider { key_is_lost: sealed.is_some() && key.is_none(), key, ..provider }
        });
        Ok(opened.collect())
    }

    fn open_key(&self, provider: &str, sealed: &Sealed) -> Option<SecretString> {
        self.keys.open_sealed(provider, sealed).inspect_err(|error| tracing::error!("{error}")).ok()
    }
}

fn provider_row(row: Row) -> Result<(Provider, Option<Sealed>), sqlx::Error> {
    let provider = Provider {
        name: row.try_get("name")?,
        base_url: row.try_get("base_url")?,
        format: Format::parse(row.try_get("format")?).ok_or_else(|| invalid("format"))?,
        key: None,
        key_is_lost: false,
    };
    let ciphertext: Option<String> = row.try_get("key_ciphertext")?;
    let key_id: Option<String> = row.try_get("key_id")?;
    let sealed = ciphertext.zip(key_id).map(|(ciphertext, key_id)| Sealed { ciphertext, key_id });
    Ok((provider, sealed))
}
