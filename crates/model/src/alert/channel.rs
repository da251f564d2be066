//! Channels: a way to notify people, configured once and used by any number of rules.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::{ChannelId, FieldError, Target, Timestamp};

/// The kind of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
#[strum(serialize_all = "snake_case")]
pub enum ChannelKind {
    Webhook,
    Email,
    Slack,
    Discord,
    Telegram,
}

impl ChannelKind {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<ChannelKind> {
        word.parse().ok()
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A way to notify people.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its id.
    pub id: ChannelId,
    /// Its kind.
    pub kind: ChannelKind,
    /// Its display name, unique among channels.
    pub name: String,
    /// Whether anything is sent to it.
    pub enabled: bool,
    /// Why it was disabled automatically, if it was.
    pub disabled_reason: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Its target and secrets; `None` if they cannot be decrypted.
    pub settings: Option<ChannelSettings>,
}

impl Channel {
    /// The longest name, in characters.
    pub const MAX_NAME: usize = 100;

    /// Checks a name: not empty, on one line.
    pub fn check_name(name: &str) -> Result<(), FieldError> {
        let length = name.chars().count();
        if name.trim() != name || !(1..=Self::MAX_NAME).contains(&length) || name.chars().any(char::is_control) {
            let message = "must have 1 to 100 characters on one line, without spaces around them";
            return Err(FieldError::new("name", message));
        }
        Ok(())
    }
}

/// The target of a channel. Addresses that let anyone who knows them post are secrets.
#[derive(Clone, Debug)]
pub enum ChannelSettings {
    /// Standard Webhooks.
    Webhook {
        /// The target.
        url: String,
        /// Signs every message: `whsec_` and base64.
        secret: SecretString,
    },
    /// Through the configured SMTP server.
    Email {
        /// The recipients.
        to: Vec<String>,
    },
    /// A Slack incoming webhook.
    Slack {
        /// Its address.
        url: SecretString,
    },
    /// A Discord webhook.
    Discord {
        /// Its address.
        url: SecretString,
    },
    /// A Telegram bot.
    Telegram {
        /// The Bot API server.
        url: String,
        /// The bot's token.
        bot_token: SecretString,
        /// The chat it writes to.
        chat_id: String,
    },
}

impl ChannelSettings {
    /// Telegram's own Bot API server.
    pub const TELEGRAM: &str = "https://api.telegram.org";
    /// The most recipients of one mail.
    const MAX_TO: usize = 20;

    /// Its kind.
    pub fn kind(&self) -> ChannelKind {
        match self {
            ChannelSettings::Webhook { .. } => ChannelKind::Webhook,
            ChannelSettings::Email { .. } => ChannelKind::Email,
            ChannelSettings::Slack { .. } => ChannelKind::Slack,
            ChannelSettings::Discord { .. } => ChannelKind::Discord,
            ChannelSettings::Telegram { .. } => ChannelKind::Telegram,
        }
    }

    /// The target, if it is a URL.
    pub fn target(&self) -> Option<Target> {
        let url = match self {
            ChannelSettings::Webhook { url, .. } | ChannelSettings::Telegram { url, .. } => url,
            ChannelSettings::Slack { url } | ChannelSettings::Discord { url } => url.expose_secret(),
            ChannelSettings::Email { .. } => return None,
        };
        Target::parse(url).ok()
    }

    /// Checks the settings. An error names the invalid field. Private targets are refused unless
    /// `allow_private`; names are not resolved here.
    pub fn check(&self, allow_private: bool) -> Result<(), FieldError> {
        let check_url = |url: &str| Target::parse(url).and_then(|target| target.check(allow_private));
        match self {
            ChannelSettings::Webhook { url, .. } => Ok(check_url(url)?),
            ChannelSettings::Slack { url } | ChannelSettings::Discord { url } => Ok(check_url(url.expose_secret())?),
            ChannelSettings::Email { to } => check_addresses(to),
            ChannelSettings::Telegram { url, bot_token, chat_id } => {
                check_url(url)?;
                check_bot_token(bot_token.expose_secret())?;
                check_chat_id(chat_id)
            }
        }
    }
}

fn check_addresses(to: &[String]) -> Result<(), FieldError> {
    if !(1..=ChannelSettings::MAX_TO).contains(&to.len()) {
        return Err(FieldError::new("to", "must have 1 to 20 addresses"));
    }
    if !to.iter().all(|address| is_mail_address(address)) {
        return Err(FieldError::new("to", "must be plain mail addresses such as ops@example.com"));
    }
    Ok(())
}

/// A plain address. Stricter than the standard: the rest is rare, and some of it could end a
/// header.
pub(crate) fn is_mail_address(address: &str) -> bool {
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let local_fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    let domain_fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    let dotted = |text: &str| text.split('.').all(|part| !part.is_empty());
    address.len() <= 254
        && (1..=64).contains(&local.len())
        && local.bytes().all(local_fits)
        && domain.bytes().all(domain_fits)
        && dotted(local)
        && dotted(domain)
}

/// The token becomes part of a path, so only the characters that Telegram uses are allowed.
fn check_bot_token(token: &str) -> Result<(), FieldError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b":_-".contains(&byte);
    if !(1..=256).contains(&token.len()) || !token.bytes().all(fits) {
        return Err(FieldError::new("bot_token", "must be a token of the BotFather such as 123456:ABC-DEF"));
    }
    Ok(())
}

fn check_chat_id(chat_id: &str) -> Result<(), FieldError> {
    let number = chat_id.strip_prefix('-').unwrap_or(chat_id);
    let is_number = (1..=20).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    let name = chat_id.strip_prefix('@').unwrap_or_default();
    let is_name =
        (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_number || is_name {
        return Ok(());
    }
    Err(FieldError::new("chat_id", "must be the number of a chat, or @ and the name of a channel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_name_their_field() {
        let field = |settings: ChannelSettings| settings.check(false).err().map(|error| error.field);
        let email = |to: &[&str]| field(ChannelSettings::Email { to: to.iter().map(|to| to.to_string()).collect() });
        assert_eq!(email(&["ops@example.com", "a.b+c@localhost"]), None);
        for bad in ["", "ops", "@x", "ops@", "a b@x", "a@x\r\nBcc: b@y", "<a@x>", "a@x,b@y", "a..b@x", "ä@x", "a@x."] {
            assert_eq!(email(&[bad]), Some("to"), "{bad:?}");
        }
        assert_eq!(email(&[]), Some("to"));
        assert_eq!(email(&["a@x"; 21]), Some("to"));

        let telegram = |bot_token: &str, chat_id: &str| {
            field(ChannelSettings::Telegram {
                url: ChannelSettings::TELEGRAM.to_owned(),
                bot_token: bot_token.into(),
                chat_id: chat_id.to_owned(),
            })
        };
        assert_eq!(telegram("123:ABC-d_e", "-100123"), None);
        assert_eq!(telegram("123:ABC", "@ops_channel"), None);
        for bad in ["", "a/../b", "a?b", "a b"] {
            assert_eq!(telegram(bad, "1"), Some("bot_token"), "{bad:?}");
        }
        for bad in ["", "-", "@", "ops", "1 2", "--1"] {
            assert_eq!(telegram("1:a", bad), Some("chat_id"), "{bad:?}");
        }
        assert_eq!(field(ChannelSettings::Slack { url: "http://127.0.0.1/".into() }), Some("url"));
        assert_eq!(field(ChannelSettings::Discord { url: "ftp://example.com/".into() }), Some("url"));
    }

    #[test]
    fn a_name_is_one_line() {
        assert!(Channel::check_name("ops, Zürich").is_ok());
        for bad in ["", " ops", "ops\n", "a\u{7}b", &"x".repeat(101)] {
            assert!(Channel::check_name(bad).is_err(), "{bad:?}");
        }
    }
}
