//! Channels, with their settings encrypted at rest.

use model::{Channel, ChannelId, ChannelKind, ChannelSettings, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::{attempts, rules};
use crate::columns::{self, invalid};
use crate::database::{self, Connection, Row};
use crate::error::Failure;
use crate::files::{KeyFile, Sealed};
use crate::{Store, StoreError};

impl Store {
    /// All channels, by name. One whose settings cannot be decrypted comes without them, and the
    /// log says what to do.
    pub async fn channels(&self) -> Result<Vec<Channel>, StoreError> {
        let rows = database::query("select * from channels order by name").try_map(channel_row);
        let rows = rows.fetch_all(&self.readers).await?;
        Ok(rows.into_iter().map(|row| self.opened(row)).collect())
    }

    /// One channel.
    pub async fn channel(&self, id: ChannelId) -> Result<Option<Channel>, StoreError> {
        let query = database::query("select * from channels where id = $1").bind(id.to_string());
        let row = query.try_map(channel_row).fetch_optional(&self.readers).await?;
        Ok(row.map(|row| self.opened(row)))
    }

    fn opened(&self, (channel, sealed): (Channel, Sealed)) -> Channel {
        let opened = self.keys.open_sealed(&owner(channel.id), &sealed);
        let opened = opened.inspect_err(|error| tracing::error!(channel = %channel.name, "{error}"));
        let settings = opened.ok().and_then(|json| Stored::read(&json));
        Channel { settings, ..channel }
    }
}

/// Adds or replaces a channel.
pub(super) async fn put(transaction: &mut Connection<'_>, channel: &Channel, keys: &KeyFile) -> Result<(), Failure> {
    let taken: Option<i64> = database::query_scalar("select 1 from channels where name = $1 and id <> $2")
        .bind(&channel.name)
        .bind(channel.id.to_string())
        .fetch_optional(&mut *transaction)
        .await?;
    if taken.is_some() {
        return Err(StoreError::Conflict(format!("there is a channel {} already", channel.name)).into());
    }
    let Some(settings) = &channel.settings else {
        return Err(StoreError::Conflict("the channel's settings cannot be read; give them again".to_owned()).into());
    };
    let sealed = keys.seal(&owner(channel.id), &Stored::of(settings).written())?;
    database::query(
        "insert into channels (id, kind, name, enabled, disabled_reason, settings_ciphertext, key_id, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)
         on conflict (id) do update set kind = excluded.kind, name = excluded.name, enabled = excluded.enabled,
            disabled_reason = excluded.disabled_reason, settings_ciphertext = excluded.settings_ciphertext,
            key_id = excluded.key_id",
    )
    .bind(channel.id.to_string())
    .bind(channel.kind.as_str())
    .bind(&channel.name)
    .bind(channel.enabled)
    .bind(channel.disabled_reason.as_deref())
    .bind(sealed.ciphertext)
    .bind(sealed.key_id)
    .bind(channel.created_at.as_millis())
    .execute(transaction)
    .await?;
    Ok(())
}

/// Deletes a channel; nothing is sent to it any more.
pub(super) async fn remove(transaction: &mut Connection<'_>, id: ChannelId, at: Timestamp) -> Result<(), Failure> {
    let query = database::query("delete from channels where id = $1").bind(id.to_string());
    if query.execute(&mut *transaction).await?.rows_affected() == 0 {
        return Err(StoreError::NotFound.into());
    }
    rules::drop_channel(transaction, id).await?;
    attempts::give_up_queued(transaction, id, "the channel was deleted", at).await?;
    Ok(())
}

/// The owner that the channel's secret is bound to. Names of providers have no colon.
fn owner(id: ChannelId) -> String {
    format!("channel:{id}")
}

fn channel_row(row: Row) -> Result<(Channel, Sealed), sqlx::Error> {
    let channel = Channel {
        id: ChannelId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        kind: ChannelKind::parse(row.try_get("kind")?).ok_or_else(|| invalid("kind"))?,
        name: row.try_get("name")?,
        enabled: row.try_get("enabled")?,
        disabled_reason: row.try_get("disabled_reason")?,
        created_at: columns::timestamp(&row, "created_at")?,
        settings: None,
    };
    let sealed = Sealed { ciphertext: row.try_get("settings_ciphertext")?, key_id: row.try_get("key_id")? };
    Ok((channel, sealed))
}

/// The settings as they are encrypted.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Stored {
    Webhook { url: String, secret: String },
    Email { to: Vec<String> },
    Slack { url: String },
    Discord { url: String },
    Telegram { url: String, bot_token: String, chat_id: String },
}

impl Stored {
    fn of(settings: &ChannelSettings) -> Stored {
        let plain = |secret: &SecretString| secret.expose_secret().to_owned();
        match settings {
            ChannelSettings::Webhook { url, secret } => Stored::Webhook { url: url.clone(), secret: plain(secret) },
            ChannelSettings::Email { to } => Stored::Email { to: to.clone() },
            ChannelSettings::Slack { url } => Stored::Slack { url: plain(url) },
            ChannelSettings::Discord { url } => Stored::Discord { url: plain(url) },
            ChannelSettings::Telegram { url, bot_token, chat_id } => {
                Stored::Telegram { url: url.clone(), bot_token: plain(bot_token), chat_id: chat_id.clone() }
            }
        }
    }

    fn written(&self) -> SecretString {
        serde_json::to_string(self).unwrap_or_default().into()
    }

    fn read(json: &SecretString) -> Option<ChannelSettings> {
        Some(match serde_json::from_str(json.expose_secret()).ok()? {
            Stored::Webhook { url, secret } => ChannelSettings::Webhook { url, secret: secret.into() },
            Stored::Email { to } => ChannelSettings::Email { to },
            Stored::Slack { url } => ChannelSettings::Slack { url: url.into() },
            Stored::Discord { url } => ChannelSettings::Discord { url: url.into() },
            Stored::Telegram { url, bot_token, chat_id } => {
                ChannelSettings::Telegram { url, bot_token: bot_token.into(), chat_id }
            }
        })
    }
}
