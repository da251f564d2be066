//! Channels, through which people are notified. Their secrets are stored and never shown, except
//! for the signing secret of a webhook, which its receiver needs: it is answered once.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{Channel, ChannelId, ChannelKind, ChannelSettings, DeliveryId, TargetHost, Timestamp, is_global};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::channel_settings::{Fields, settings};
use super::failing;
use super::history::{DeliveryView, first_attempt};
use super::masked_url::mask;
use crate::AlertTargets;
use crate::api::{List, schemas, smtp};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, ChannelPath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// A channel through which people are notified.
#[derive(Serialize, ToSchema)]
#[schema(as = Channel)]
pub(crate) struct ChannelView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: ChannelId,
    #[schema(schema_with = schemas::channel_kind)]
    pub(crate) kind: ChannelKind,
    pub(crate) name: String,
    /// Whether anything is sent to it.
    pub(crate) enabled: bool,
    /// Why the server switched it off: its target answered that it is gone for good.
    pub(crate) disabled_reason: Option<String>,
    /// The answer of its target, if it is on and its newest alert did not arrive.
    pub(crate) failing: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// Its address. The path may be a secret: only the host and, for a long address, the last four
    /// characters are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// The addresses that mails go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Vec<String>>,
    /// The chat of a Telegram bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chat_id: Option<String>,
    /// The secret that verifies deliveries to a webhook. Only in the answer that created the
    /// channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
}

impl From<Channel> for ChannelView {
    fn from(channel: Channel) -> ChannelView {
        let (mut url, mut to, mut chat_id) = (None, None, None);
        match channel.settings {
            Some(ChannelSettings::Webhook { url: address, .. }) => url = mask(&address),
            Some(ChannelSettings::Slack { url: secret } | ChannelSettings::Discord { url: secret }) => {
                url = mask(secret.expose_secret());
            }
            Some(ChannelSettings::Telegram { url: server, chat_id: chat, .. }) => {
                url = mask(&server);
                chat_id = Some(chat);
            }
            Some(ChannelSettings::Email { to: addresses }) => to = Some(addresses),
            None => {}
        }
        let Channel { id, kind, name, enabled, disabled_reason, created_at, .. } = channel;
        ChannelView {
            id,
            kind,
            name,
            enabled,
            disabled_reason,
            failing: None,
            created_at,
            url,
            to,
            chat_id,
            secret: None,
        }
    }
}

/// A channel, or a change of one: an absent field keeps its value. A new channel needs `kind` and
/// `name`; a `webhook`, `slack` or `discord` also `url`, an `email` also `to`, a `telegram` also
/// `bot_token` and `chat_id`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChannelChange)]
pub(crate) struct ChannelBody {
    /// Cannot be changed later.
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::channel_kind)]
    kind: Option<ChannelKind>,
    /// A unique name for people.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "^\\S(.*\\S)?$")]
    name: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    enabled: Option<bool>,
    /// Its address. Sending back the masked form keeps the stored address.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 2048, pattern = "^https?://\\S+$")]
    url: Option<String>,
    /// One address, or up to 20.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<String>>, nullable = false, min_items = 1, max_items = 20)]
    to: Option<OneOrMore>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, write_only, min_length = 1, max_length = 256, pattern = "^[A-Za-z0-9:_-]+$")]
    bot_token: Option<String>,
    /// The number of a chat, or `@` and the name of a channel.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, nullable = false, pattern = "^(-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64})$")]
    chat_id: Option<ChatId>,
}

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an address or a list of addresses")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The id of a chat, as text or as a number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the number of a chat, or @ and the name of a channel")]
enum ChatId {
    Text(String),
    Number(i64),
}

impl ChannelBody {
    /// The fields that only some kinds have.
    fn fields(&mut self) -> Fields {
        let to = self.to.take().map(|to| match to {
            OneOrMore::One(address) => vec![address],
            OneOrMore::More(addresses) => addresses,
        });
        let chat_id = self.chat_id.take().map(|chat_id| match chat_id {
            ChatId::Text(text) => text,
            ChatId::Number(number) => number.to_string(),
        });
        Fields { url: self.url.take(), to, bot_token: self.bot_token.take().map(SecretString::from), chat_id }
    }
}

/// All channels, by name.
#[utoipa::path(get, path = "/api/channels", tag = "alerts", operation_id = "list_channels",
    responses((status = 200, body = List<ChannelView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<List<ChannelView>>, Problem> {
    let channels = app.web().store.channels().await?;
    let mut answers = if channels.is_empty() { HashMap::new() } else { failing::answers(&app).await? };
    let views = channels.into_iter().map(|channel| view(channel, &mut answers));
    Ok(Json(List::whole(views.collect())))
}

/// One channel as it is now.
async fn read(app: &App, id: ChannelId) -> Result<Json<ChannelView>, Problem> {
    let channel = app.control().channel(id).await?;
    Ok(Json(view(channel, &mut failing::answers(app).await?)))
}

/// The channel with the answer of its target, if it fails.
fn view(channel: Channel, answers: &mut HashMap<ChannelId, String>) -> ChannelView {
    let failing = answers.remove(&channel.id).filter(|_| channel.enabled);
    ChannelView { failing, ..channel.into() }
}

/// Creates a channel. For a webhook, the answer has its signing secret, once.
#[utoipa::path(post, path = "/api/channels", tag = "alerts", operation_id = "create_channel", request_body = ChannelBody,
    responses((status = 201, body = ChannelView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    Body(mut body): Body<ChannelBody>,
) -> Result<(StatusCode, Json<ChannelView>), Problem> {
    let missing = |field| Problem::field(field, "must be given");
    let kind = body.kind.ok_or_else(|| missing("kind"))?;
    let settings = settings(kind, body.fields(), None, targets(&app).await?)?;
    check_name_of_target(&app, &settings).await?;
    let name = body.name.ok_or_else(|| missing("name"))?;
    Channel::check_name(&name)?;
    let secret = match &settings {
        ChannelSettings::Webhook { secret, .. } => Some(secret.expose_secret().to_owned()),
        _ => None,
    };
    let channel = Channel {
        id: ChannelId::new(),
        kind,
        name,
        enabled: body.enabled.unwrap_or(true),
        disabled_reason: None,
        created_at: app.web().clock.now(),
        settings: Some(settings),
    };
    commands.add_channel(channel.clone()).await?;
    Ok((StatusCode::CREATED, Json(ChannelView { secret, ..channel.into() })))
}

/// Refuses a target whose name resolves to private addresses only. A name that does not resolve is
/// accepted: it may later, and every delivery checks again.
async fn check_name_of_target(app: &App, settings: &ChannelSettings) -> Result<(), Problem> {
    let Some(TargetHost::Name(name)) = settings.target().map(|target| target.host()) else { return Ok(()) };
    check_name(app, "url", &name).await
}

/// Refuses a name that resolves to private addresses only, unless they are allowed.
pub(in crate::api) async fn check_name(app: &App, field: &'static str, name: &str) -> Result<(), Problem> {
    if app.web().allow_private_targets {
        return Ok(());
    }
    let addresses = app.web().names.look_up(name).await;
    match addresses.first() {
        Some(first) if !addresses.iter().any(|address| is_global(*address)) => {
            let message = format!(
                "leads to {first}, which is a private address (the server allows them with --allow-private-targets)"
            );
            Err(Problem::field(field, message))
        }
        _ => Ok(()),
    }
}

/// The targets that channels may have now.
async fn targets(app: &App) -> Result<AlertTargets, Problem> {
    let allow_private = app.web().allow_private_targets;
    Ok(AlertTargets { allow_private, mail: smtp::in_force(app).await?.is_some() })
}

/// One channel.
#[utoipa::path(get, path = "/api/channels/{id}", tag = "alerts", operation_id = "get_channel",
    params(("id" = String, Path, description = "The channel")),
    responses((status = 200, body = ChannelView), Refusals))]
pub(crate) async fn get(State(app): State<App>, ChannelPath(id): ChannelPath) -> Result<Json<ChannelView>, Problem> {
    read(&app, id).await
}

/// Changes a channel, except for its kind and its secret.
#[utoipa::path(patch, path = "/api/channels/{id}", tag = "alerts", operation_id = "change_channel",
    params(("id" = String, Path, description = "The channel")), request_body = ChannelBody,
    responses((status = 200, body = ChannelView), Refusals, BodyRefusals))]
pub(crate) async fn patch(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    ChannelPath(id): ChannelPath,
    Body(body): Body<ChannelBody>,
) -> Result<Json<ChannelView>, Problem> {
    let changing = app.clone();
    commands.change_channel(id, |channel| async move { apply(&changing, channel, body).await }).await?;
    read(&app, id).await
}

/// `channel` after this change, or the invalid field.
async fn apply(app: &App, mut channel: Channel, mut body: ChannelBody) -> Result<Channel, Problem> {
    if body.kind.is_some_and(|kind| kind != channel.kind) {
        return Err(Problem::field("kind", "cannot be changed: make another channel"));
    }
    let settings = settings(channel.kind, body.fields(), channel.settings.take(), targets(app).await?)?;
    check_name_of_target(app, &settings).await?;
    channel.settings = Some(settings);
    if let Some(name) = body.name {
        Channel::check_name(&name)?;
        channel.name = name;
    }
    if let Some(enabled) = body.enabled {
        channel.enabled = enabled;
        channel.disabled_reason = channel.disabled_reason.filter(|_| !enabled);
    }
    Ok(channel)
}

/// Deletes a channel and removes it from its rules. A rule that named no other is deleted with it,
/// unless it is off.
#[utoipa::path(delete, path = "/api/channels/{id}", tag = "alerts", operation_id = "delete_channel",
    params(("id" = String, Path, description = "The channel")),
    responses((status = 204, description = "It is deleted"), Refusals))]
pub(crate) async fn delete(ByCaller(commands): ByCaller, ChannelPath(id): ChannelPath) -> Result<StatusCode, Problem> {
    commands.delete_channel(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test through a channel. The answer is the delivery after its first attempt, or after
/// some seconds without one.
#[utoipa::path(post, path = "/api/channels/{id}/test", tag = "alerts", operation_id = "test_channel",
    params(("id" = String, Path, description = "The channel")),
    responses((status = 200, body = DeliveryView), Refusals))]
pub(crate) async fn test(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    ChannelPath(id): ChannelPath,
) -> Result<Json<DeliveryView>, Problem> {
    let delivery = DeliveryId::new();
    let outbox = app.web().recorder.outbox();
    commands.test_channel(id, delivery).await?;
    first_attempt(&app, delivery, outbox).await.map(Json)
}
