//! What a person does about alerts: makes, changes, tests, switches and deletes channels and rules,
//! and tries a delivery again.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{News, delivery_line, draw_with};
use crate::api::alert_history;
use crate::api::alerts::{self, RuleView};
use crate::api::channels::{self, ChannelView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, ChannelPath, DeliveryPath, Fields, RulePath};
use crate::pages::frame::Frame;
use crate::pages::words::problem::said;
use crate::pages::{Drawn, see_other};
use crate::problem::Problem;

/// What the form of a channel sends. A kind takes only some of it; the rest is left empty.
#[derive(Default, Deserialize)]
pub(crate) struct ChannelForm {
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) to: String,
    #[serde(default)]
    bot_token: String,
    #[serde(default)]
    pub(super) chat_id: String,
}

/// What the form of a rule sends.
#[derive(Default, Deserialize)]
pub(crate) struct RuleForm {
    pub(super) rule_type: String,
    pub(super) agent_id: String,
    #[serde(default)]
    pub(super) channel: String,
    #[serde(default)]
    pub(super) minutes: String,
    #[serde(default)]
    pub(super) percent: String,
    #[serde(default)]
    pub(super) amount_usd: String,
    #[serde(default)]
    pub(super) period: String,
    #[serde(flatten)]
    pub(super) telling: TellingForm,
}

/// How often a rule tells. An empty field is the usual.
#[derive(Default, Deserialize)]
pub(crate) struct TellingForm {
    #[serde(default)]
    pub(super) cooldown_minutes: String,
    #[serde(default)]
    pub(super) repeat_minutes: String,
    /// A checkbox is sent only if it is on.
    #[serde(default)]
    pub(super) notify_recovery: Option<String>,
}

impl ChannelForm {
    /// What a channel holds.
    pub(super) fn of(channel: &ChannelView) -> ChannelForm {
        ChannelForm {
            kind: channel.kind.as_str().to_owned(),
            name: channel.name.clone(),
            url: channel.url.clone().unwrap_or_default(),
            to: channel.to.as_deref().unwrap_or_default().join(", "),
            bot_token: String::new(),
            chat_id: channel.chat_id.clone().unwrap_or_default(),
        }
    }

    /// The fields that were filled in, as the API takes them.
    fn body(&self) -> Map<String, Value> {
        let addresses: Vec<_> = self.to.split(',').map(str::trim).filter(|address| !address.is_empty()).collect();
        let mut body = given([
            ("kind", &self.kind),
            ("name", &self.name),
            ("url", &self.url),
            ("bot_token", &self.bot_token),
            ("chat_id", &self.chat_id),
        ]);
        if !addresses.is_empty() {
            body.insert("to".to_owned(), json!(addresses));
        }
        body
    }
}

impl RuleForm {
    /// What a rule holds.
    pub(super) fn of(rule: &RuleView) -> RuleForm {
        let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let channel = match rule.channels.as_slice() {
            [] => String::new(),
            [only] => only.to_string(),
            _ => KEEP.to_owned(),
        };
        RuleForm {
            rule_type: rule.rule_type.as_str().to_owned(),
            agent_id: if rule.agent_id == "*" { String::new() } else { rule.agent_id.clone() },
            channel,
            minutes: rule.minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
            percent: text(rule.percent),
            amount_usd: text(rule.amount_usd.map(|amount| amount.usd())),
            period: rule.period.map(|period| period.as_str().to_owned()).unwrap_or_default(),
            telling: TellingForm {
                cooldown_minutes: rule.cooldown_minutes.to_string(),
                repeat_minutes: rule.repeat_minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
                notify_recovery: rule.notify_recovery.then(String::new),
            },
        }
    }

    /// The fields that were filled in, as the API takes them.
    fn body(&self) -> Map<String, Value> {
        let agent = if self.agent_id.trim().is_empty() { "*" } else { self.agent_id.trim() };
        let mut body =
            given([("rule_type", self.rule_type.as_str()), ("agent_id", agent), ("period", self.period.as_str())]);
        match self.channel.as_str() {
            KEEP => {}
            "" => drop(body.insert("channels".to_owned(), json!([]))),
            channel => drop(body.insert("channels".to_owned(), json!([channel]))),
        }
        let own = [("minutes", &self.minutes), ("percent", &self.percent), ("amount_usd", &self.amount_usd)];
        body.extend(own.into_iter().filter_map(|(field, text)| number(field, text)));
        body.extend(self.telling.fields());
        body
    }
}

/// Leaves the channels of a rule as they are: the form can name one or all.
const KEEP: &str = "keep";

/// Whether a channel or a rule is on.
#[derive(Deserialize)]
pub(crate) struct SwitchForm {
    enabled: bool,
}

/// Makes a channel. The page that follows shows the secret of a webhook, once.
pub(crate) async fn add_channel(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    Fields(form): Fields<ChannelForm>,
) -> Drawn {
    let made = match read_body(form.body()) {
        Ok(body) => channels::create(State(app.clone()), by, Body(body)).await,
        Err(problem) => Err(problem),
    };
    let news = match made {
        Ok((_, Json(channel))) => News { secret: channel.secret, ..News::default() },
        Err(problem) => News { channel: form, ..wrong(&problem)? },
    };
    draw_with(&app, frame, news).await
}

/// Changes a channel. A secret that is left empty stays.
pub(crate) async fn change_channel(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    path: ChannelPath,
    Fields(form): Fields<ChannelForm>,
) -> Drawn {
    let mut body = form.body();
    body.remove("kind");
    let changed = match read_body(body) {
        Ok(body) => channels::patch(State(app.clone()), by, path, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(back()),
        Err(problem) => draw_with(&app, frame, wrong(&problem)?).await,
    }
}

/// Sends a test through a channel and shows what came of it.
pub(crate) async fn test_channel(State(app): State<App>, by: ByCaller, frame: Frame, path: ChannelPath) -> Drawn {
    let Json(delivery) = channels::test(State(app.clone()), by, path).await?;
    let tested = Some(delivery_line(delivery, &[], app.web().clock.now()));
    draw_with(&app, frame, News { tested, ..News::default() }).await
}

/// Turns a channel on or off.
pub(crate) async fn switch_channel(
    State(app): State<App>,
    by: ByCaller,
    path: ChannelPath,
    Fields(form): Fields<SwitchForm>,
) -> Drawn {
    let (body, id) = (read_body(Map::from_iter([("enabled".to_owned(), json!(form.enabled))]))?, path.0);
    let _ = channels::patch(State(app), by, path, Body(body)).await?;
    Ok(see_other(&format!("/alerts?done=channel-{}&undo={id}", on_or_off(form.enabled))))
}

/// Deletes a channel.
pub(crate) async fn delete_channel(by: ByCaller, path: ChannelPath) -> Drawn {
    channels::delete(by, path).await?;
    Ok(see_other("/alerts?done=deleted"))
}

/// Makes a rule.
pub(crate) async fn add_rule(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    Fields(form): Fields<RuleForm>,
) -> Drawn {
    let made = match read_body(form.body()) {
        Ok(body) => alerts::create(State(app.clone()), by, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match made {
        Ok(_) => Ok(back()),
        Err(problem) => draw_with(&app, frame, News { rule: form, ..wrong(&problem)? }).await,
    }
}

/// Changes a rule.
pub(crate) async fn change_rule(
    State(app): State<App>,
    by: ByCaller,
    frame: Frame,
    path: RulePath,
    Fields(form): Fields<RuleForm>,
) -> Drawn {
    let mut fields = form.body();
    // What was emptied is never repeated.
    fields.entry("repeat_minutes").or_insert(Value::Null);
    let changed = match read_body(fields) {
        Ok(body) => alerts::patch(by, path, Body(body)).await,
        Err(problem) => Err(problem),
    };
    match changed {
        Ok(_) => Ok(back()),
        Err(problem) => draw_with(&app, frame, wrong(&problem)?).await,
    }
}

/// Turns a rule on or off.
pub(crate) async fn switch_rule(by: ByCaller, path: RulePath, Fields(form): Fields<SwitchForm>) -> Drawn {
    let (body, id) = (read_body(Map::from_iter([("enabled".to_owned(), json!(form.enabled))]))?, path.0);
    let _ = alerts::patch(by, path, Body(body)).await?;
    Ok(see_other(&format!("/alerts?done=rule-{}&undo={id}", on_or_off(form.enabled))))
}

/// Deletes a rule.
pub(crate) async fn delete_rule(by: ByCaller, path: RulePath) -> Drawn {
    alerts::delete(by, path).await?;
    Ok(see_other("/alerts?done=deleted"))
}

/// Tries a delivery again.
pub(crate) async fn retry(State(app): State<App>, by: ByCaller, path: DeliveryPath) -> Drawn {
    let _ = alert_history::retry(State(app), by, path).await?;
    Ok(see_other("/alerts?done=retried"))
}

impl TellingForm {
    fn fields(&self) -> Map<String, Value> {
        let numbers = [("cooldown_minutes", &self.cooldown_minutes), ("repeat_minutes", &self.repeat_minutes)];
        let mut fields: Map<_, _> = numbers.into_iter().filter_map(|(field, text)| number(field, text)).collect();
        fields.insert("notify_recovery".to_owned(), json!(self.notify_recovery.is_some()));
        fields
    }
}

/// A field that was filled in. What is no number is sent on as the text it is, so that the answer
/// names the field.
fn number(field: &str, text: &str) -> Option<(String, Value)> {
    let text = text.trim();
    let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    (!text.is_empty()).then(|| (field.to_owned(), value))
}

fn on_or_off(enabled: bool) -> &'static str {
    if enabled { "on" } else { "off" }
}

fn back() -> Response {
    see_other("/alerts?done=alerts")
}

/// The fields that were filled in.
fn given<const N: usize>(fields: [(&str, &str); N]) -> Map<String, Value> {
    let filled = fields.into_iter().map(|(field, text)| (field, text.trim())).filter(|(_, text)| !text.is_empty());
    filled.map(|(field, text)| (field.to_owned(), json!(text))).collect()
}

/// The same body that the API takes, so that both have the same rules.
fn read_body<T: serde::de::DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Problem> {
    crate::input::read_json(Value::Object(fields))
}

/// What is wrong with what was sent, to be said on the page; any other problem has a page of its
/// own.
fn wrong(problem: &Problem) -> Result<News, Problem> {
    if !problem.status().is_client_error() {
        return Err(problem.clone());
    }
    Ok(News { error: Some(said(problem)), ..News::default() })
}
