//! Channels: a way to people, configured once and used by any number of rules.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::{ChannelId, FieldError, Target, Timestamp};

/// How a channel reaches people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum ChannelKind {
    Webhook,
    Email,
    Slack,
    Discord,
    Telegram,
}

impl ChannelKind {
    const ALL: [ChannelKind; 5] =
        [ChannelKind::Webhook, ChannelKind::Email, ChannelKind::Slack, ChannelKind::Discord, ChannelKind::Telegram];

    /// The word for it in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            ChannelKind::Webhook => "webhook",
            ChannelKind::Email => "email",
            ChannelKind::Slack => "slack",
            ChannelKind::Discord => "discord",
            ChannelKind::Telegram => "telegram",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<ChannelKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A way to people.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its id.
    pub id: ChannelId,
    /// How it reaches people.
    pub kind: ChannelKind,
    /// What people call it; no two have the same.
    pub name: String,
    /// Whether anything is sent to it.
    pub enabled: bool,
    /// Why it was switched off by itself, if it was.
    pub disabled_reason: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Where it leads; none if that is stored but cannot be decrypted.
    pub settings: Option<ChannelSettings>,
}

impl Channel {
    /// The longest name, in characters.
    pub const MAX_NAME: usize = 100;

    /// A name as it may be: not empty, on one line.
    pub fn check_name(name: &str) -> Result<(), FieldError> {
        let length = name.chars().count();
        if name.trim() != name || !(1..=Self::MAX_NAME).contains(&length) || name.chars().any(char::is_control) {
            let message = "must have 1 to 100 characters on one line, without spaces around them";
            return Err(FieldError::new("name", message));
        }
        Ok(())
    }
}

/// Where a channel leads. Addresses that let anyone post who knows them are secrets.
#[derive(Clone, Debug)]
pub enum ChannelSettings {
    /// Standard Webhooks.
    Webhook {
        /// Where to.
        url: String,
        /// Signs every message: `whsec_` and base64.
        secret: SecretString,
    },
    /// Through the configured SMTP server.
    Email {
        /// To whom.
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
    /// Where Telegram's own Bot API server is.
    pub const TELEGRAM: &str = "https://api.telegram.org";
    /// The most addresses one mail goes to.
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

    /// Where it leads, if that is an address that is called.
    pub fn target(&self) -> Option<Target> {
        let url = match self {
            ChannelSettings::Webhook { url, .. } | ChannelSettings::Telegram { url, .. } => url,
            ChannelSettings::Slack { url } | ChannelSettings::Discord { url } => url.expose_secret(),
            ChannelSettings::Email { .. } => return None,
        };
        Target::parse(url).ok()
    }

    /// Whether these settings can be used, or the field that is wrong. Targets that are private for
    /// sure are refused unless `allow_private`; what a name leads to is for others to look up.
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

/// A plain address. Narrower than the standard allows: what is left out is rare, and some of it
/// could end a header.
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

/// The token becomes part of a path: only the characters that Telegram gives out may stand in it.
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
