//! The settings of a channel, read from the fields that its kind takes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{ChannelKind, ChannelSettings};
use secrecy::{ExposeSecret, SecretString};

use super::masked_url::unmask;
use crate::AlertTargets;
use crate::problem::Problem;

/// Bytes of a webhook's secret: the standard asks for 24 to 64.
const SECRET_BYTES: usize = 32;

/// The fields of all kinds.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) url: Option<String>,
    pub(super) to: Option<Vec<String>>,
    pub(super) bot_token: Option<SecretString>,
    pub(super) chat_id: Option<String>,
}

/// The settings of a channel: `fields`, completed from `current`.
pub(super) fn settings(
    kind: ChannelKind,
    mut fields: Fields,
    current: Option<ChannelSettings>,
    targets: AlertTargets,
) -> Result<ChannelSettings, Problem> {
    fields.url = unmask(fields.url, current.as_ref().and_then(url))?;
    let settings = match kind {
        ChannelKind::Webhook => webhook(&mut fields, current)?,
        ChannelKind::Slack => {
            let before = current.and_then(|it| if let ChannelSettings::Slack { url } = it { Some(url) } else { None });
            ChannelSettings::Slack { url: secret_url(&mut fields, before)? }
        }
        ChannelKind::Discord => {
            let before =
                current.and_then(|it| if let ChannelSettings::Discord { url } = it { Some(url) } else { None });
            ChannelSettings::Discord { url: secret_url(&mut fields, before)? }
        }
        ChannelKind::Email => email(&mut fields, current, targets)?,
        ChannelKind::Telegram => telegram(&mut fields, current)?,
    };
    let left = [
        ("url", fields.url.is_some()),
        ("to", fields.to.is_some()),
        ("bot_token", fields.bot_token.is_some()),
        ("chat_id", fields.chat_id.is_some()),
    ];
    if let Some((field, _)) = left.into_iter().find(|(_, given)| *given) {
        return Err(Problem::field(field, format!("does not belong to a channel of kind {kind}")));
    }
    settings.check(targets.allow_private)?;
    Ok(settings)
}

/// The address of a channel that has one.
fn url(settings: &ChannelSettings) -> Option<&str> {
    match settings {
        ChannelSettings::Webhook { url, .. } | ChannelSettings::Telegram { url, .. } => Some(url),
        ChannelSettings::Slack { url } | ChannelSettings::Discord { url } => Some(url.expose_secret()),
        ChannelSettings::Email { .. } => None,
    }
}

fn needed<T>(field: &'static str, value: Option<T>) -> Result<T, Problem> {
    value.ok_or_else(|| Problem::field(field, "must be given"))
}

fn secret_url(fields: &mut Fields, current: Option<SecretString>) -> Result<SecretString, Problem> {
    needed("url", fields.url.take().map(SecretString::from).or(current))
}

fn webhook(fields: &mut Fields, current: Option<ChannelSettings>) -> Result<ChannelSettings, Problem> {
    let (before, secret) = match current {
        Some(ChannelSettings::Webhook { url, secret }) => (Some(url), secret),
        _ => (None, new_secret()?),
    };
    Ok(ChannelSettings::Webhook { url: needed("url", fields.url.take().or(before))?, secret })
}

fn email(
    fields: &mut Fields,
    current: Option<ChannelSettings>,
    targets: AlertTargets,
) -> Result<ChannelSettings, Problem> {
    if !targets.mail {
        return Err(Problem::field(
            "kind",
            "cannot be email: the server has no mail server (set one on the Settings page or with PUT /api/settings/smtp)",
        ));
    }
    let before = current.and_then(|it| if let ChannelSettings::Email { to } = it { Some(to) } else { None });
    Ok(ChannelSettings::Email { to: needed("to", fields.to.take().or(before))? })
}

fn telegram(fields: &mut Fields, current: Option<ChannelSettings>) -> Result<ChannelSettings, Problem> {
    let (before, token, chat) = match current {
        Some(ChannelSettings::Telegram { url, bot_token, chat_id }) => (Some(url), Some(bot_token), Some(chat_id)),
        _ => (None, None, None),
    };
    let moved = fields.url.is_some() && before.is_some() && fields.url != before;
    if moved && fields.bot_token.is_none() {
        // Otherwise a stored token, which is never shown, could be sent to a host of the caller's
        // choice.
        return Err(Problem::field("bot_token", "must be given again when url changes"));
    }
    let url = fields.url.take().or(before).unwrap_or_else(|| ChannelSettings::TELEGRAM.to_owned());
    let bot_token = needed("bot_token", fields.bot_token.take().or(token))?;
    let chat_id = needed("chat_id", fields.chat_id.take().or(chat))?;
    Ok(ChannelSettings::Telegram { url, bot_token, chat_id })
}

fn new_secret() -> Result<SecretString, Problem> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(Problem::internal)?;
    Ok(format!("whsec_{}", STANDARD.encode(bytes)).into())
}
