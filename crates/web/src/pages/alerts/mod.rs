//! Alerts: channels, rules, and the history of deliveries.

pub(crate) mod actions;
mod forms;
pub(in crate::pages) mod health;

use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use model::{ChannelId, ChannelKind, DeliveryState, RuleId, RuleType, Timestamp};
use serde::Deserialize;
use store::DeliveryFilter;

use self::forms::{ChannelForm, RuleForm};
use self::health::{is_for_all, kill_rules};
use super::frame::Frame;
use super::number::Moment;
use super::pager::Pager;
use super::plain::cut;
use super::words::alerts as words;
use super::words::units::duration;
use super::{PageResult, assets, draw_as};
use crate::api::alert_history::{AttemptView, DeliveryView};
use crate::api::alerts::{self, RuleView};
use crate::api::channels::{self, ChannelView};
use crate::api::{smtp, status};
use crate::app::App;
use crate::input::{Filters, Paging};
use crate::problem::Problem;

const HISTORY_SHOWN: u32 = 20;
/// The answer of a target may be long.
const ANSWER_LENGTH: usize = 300;

#[derive(Template)]
#[template(path = "alerts.html")]
struct AlertsPage {
    frame: Frame,
    summary: String,
    /// Whether a channel fails.
    is_alarming: bool,
    channels: Vec<ChannelLine>,
    rules: Vec<RuleLine>,
    history: Vec<DeliveryLine>,
    state: Option<DeliveryState>,
    pager: Pager,
    /// Whether the server can send mail.
    has_mail: bool,
    /// The beginning of links in alerts, if only this machine can follow them.
    local_links: Option<String>,
    /// The chosen kind of channel and type of rule whose fields are shown.
    adding: Option<ChannelKind>,
    adding_rule: Option<RuleType>,
    form_result: FormResult,
}

impl AlertsPage {
    /// The kind whose fields the form of a new channel has.
    fn new_kind(&self) -> &str {
        let sent = Some(self.form_result.channel.kind.as_str()).filter(|kind| !kind.is_empty());
        sent.unwrap_or(self.adding.unwrap_or(ChannelKind::Webhook).as_str())
    }

    /// The type whose fields the form of a new rule has.
    fn new_rule_type(&self) -> &str {
        let sent = Some(self.form_result.rule.rule_type.as_str()).filter(|rule_type| !rule_type.is_empty());
        sent.unwrap_or(self.adding_rule.unwrap_or(RuleType::KillSwitch).as_str())
    }
}

/// The result of an action, to be shown on the page.
#[derive(Default)]
struct FormResult {
    /// The error in the submitted form.
    error: Option<String>,
    /// The submitted channel or rule, if it has an error: the form keeps what was typed, except
    /// secrets.
    channel: ChannelForm,
    rule: RuleForm,
    /// The same for the change of a channel or a rule.
    changed_channel: Option<(ChannelId, ChannelForm)>,
    changed_rule: Option<(RuleId, RuleForm)>,
    /// The secret of a new webhook, which is shown this once.
    secret: Option<String>,
    /// The result of a test.
    tested: Option<DeliveryLine>,
}

struct ChannelLine {
    id: String,
    name: String,
    kind: &'static str,
    /// Its name in forms.
    kind_word: &'static str,
    target: String,
    /// The content of the form that changes it. Secrets are masked.
    form: ChannelForm,
    /// Whether that form was submitted with an error.
    is_wrong: bool,
    enabled: bool,
    disabled_reason: Option<String>,
    /// Why its newest alert did not arrive.
    failing: Option<String>,
}

struct RuleLine {
    id: String,
    agent: String,
    what: String,
    rule_type: &'static str,
    /// The content of the form that changes it.
    form: RuleForm,
    /// Whether that form was submitted with an error.
    is_wrong: bool,
    /// The number of channels that it names.
    channel_count: usize,
    channels: String,
    cooldown: u32,
    repeat: Option<u32>,
    tells_recovery: bool,
    enabled: bool,
    /// The effect of deleting it.
    without: &'static str,
}

struct DeliveryLine {
    id: String,
    at: Moment,
    summary: String,
    incident: Option<String>,
    channel: String,
    state: &'static str,
    tone: &'static str,
    /// Whether it failed and its channel exists and is on.
    can_retry: bool,
    reason: Option<String>,
    attempts: Vec<AttemptLine>,
}

struct AttemptLine {
    at: Moment,
    took: String,
    delivered: bool,
    answer: String,
}

/// The filter of the history.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlertsQuery {
    state: Option<DeliveryState>,
    cursor: Option<String>,
    /// The kind of the channel to add.
    add: Option<ChannelKind>,
    /// The type of the rule to add.
    rule: Option<RuleType>,
}

impl Paging for AlertsQuery {
    fn limit(&self) -> Option<u32> {
        Some(HISTORY_SHOWN)
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    uri: Uri,
    Filters(query): Filters<AlertsQuery>,
) -> PageResult {
    let page = read(&app, frame, (query, uri.query().unwrap_or_default()), FormResult::default()).await?;
    draw_as(StatusCode::OK, &page)
}

/// Draws the page with the result of an action.
async fn draw_with(app: &App, frame: Frame, form_result: FormResult) -> Result<Response, Problem> {
    let status = if form_result.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    draw_as(status, &read(app, frame, (AlertsQuery::default(), ""), form_result).await?)
}

async fn read(
    app: &App,
    frame: Frame,
    (query, raw_query): (AlertsQuery, &str),
    mut form_result: FormResult,
) -> Result<AlertsPage, Problem> {
    let (page, now) = (query.page()?, app.web().clock.now());
    let Json(channels) = channels::list(State(app.clone())).await?;
    let Json(rules) = alerts::list(State(app.clone())).await?;
    // An alert in a digest is shown in the digest's row, unless the filter asks for it.
    let filter =
        DeliveryFilter { state: query.state, without_digested: query.state.is_none(), ..DeliveryFilter::default() };
    let history = app.web().store.deliveries(&filter, &page).await.map_err(Problem::of_page)?;
    let failing = health::failing(&channels.items).len();
    let mut changed = form_result.changed_rule.take();
    let rules_shown = rules.items.iter().map(|rule| rule_line(rule, &channels.items, &mut changed)).collect();
    let mut changed = form_result.changed_channel.take();
    let on: Vec<ChannelId> = channels.items.iter().filter(|channel| channel.enabled).map(|it| it.id).collect();
    let working = health::working(&channels.items);
    let told = words::KillChannels { on: on.len(), working: working.len(), rules: kill_rules(&rules.items, &working) };
    Ok(AlertsPage {
        frame,
        summary: words::summary(&told, failing),
        is_alarming: failing > 0,
        rules: rules_shown,
        channels: channels.items.into_iter().map(|channel| channel_line(channel, &mut changed)).collect(),
        state: query.state,
        pager: Pager::new("/alerts", raw_query, history.next.map(|cursor| cursor.0)),
        history: history.items.into_iter().map(|row| delivery_line(row.into(), &on, now)).collect(),
        adding: query.add,
        adding_rule: query.rule,
        has_mail: smtp::in_force(app).await?.is_some(),
        local_links: Some(status::read(app)).filter(|status| status.links_are_local).map(|status| status.public_url),
        form_result,
    })
}

/// A channel, with the form of a change that was wrong if it is about this one.
fn channel_line(channel: ChannelView, changed: &mut Option<(ChannelId, ChannelForm)>) -> ChannelLine {
    let wrong = changed.take_if(|(id, _)| *id == channel.id).map(|(_, form)| form);
    let (is_wrong, form) = (wrong.is_some(), wrong.unwrap_or_else(|| ChannelForm::of(&channel)));
    let target = channel.to.map(|to| to.join(", ")).or(channel.chat_id).or(channel.url);
    ChannelLine {
        form,
        is_wrong,
        kind_word: channel.kind.as_str(),
        id: channel.id.to_string(),
        name: cut(&channel.name, ANSWER_LENGTH),
        kind: words::kind(channel.kind),
        target: cut(&target.unwrap_or_default(), ANSWER_LENGTH),
        enabled: channel.enabled,
        failing: channel.failing.map(|why| cut(&why, ANSWER_LENGTH)),
        disabled_reason: channel.disabled_reason.map(|reason| cut(&reason, ANSWER_LENGTH)),
    }
}

/// A rule, with the form of a change that was wrong if it is about this one.
fn rule_line(rule: &RuleView, channels: &[ChannelView], changed: &mut Option<(RuleId, RuleForm)>) -> RuleLine {
    let wrong = changed.take_if(|(id, _)| *id == rule.id).map(|(_, form)| form);
    let name = |id| channels.iter().find(|channel| channel.id == id).map(|channel| channel.name.as_str());
    let names: Vec<_> = rule.channels.iter().filter_map(|id| name(*id)).collect();
    RuleLine {
        id: rule.id.to_string(),
        agent: if is_for_all(rule) { words::ALL_AGENTS.to_owned() } else { rule.agent_id.clone() },
        what: words::rule(rule),
        rule_type: rule.rule_type.as_str(),
        is_wrong: wrong.is_some(),
        form: wrong.unwrap_or_else(|| RuleForm::of(rule)),
        channel_count: rule.channels.len(),
        channels: if names.is_empty() {
            words::EVERY_CHANNEL.to_owned()
        } else {
            cut(&names.join(", "), ANSWER_LENGTH)
        },
        cooldown: rule.cooldown_minutes,
        repeat: rule.repeat_minutes,
        tells_recovery: rule.notify_recovery,
        enabled: rule.enabled,
        without: words::without_rule(rule.rule_type),
    }
}

/// A line of the history. A failed delivery can be retried only if its channel is in `on`.
fn delivery_line(delivery: DeliveryView, on: &[ChannelId], now: Timestamp) -> DeliveryLine {
    let (state, tone) = words::delivery(delivery.state, !delivery.attempts.is_empty());
    DeliveryLine {
        id: delivery.id.to_string(),
        at: Moment::new(delivery.timestamp, now),
        summary: cut(&delivery.summary, ANSWER_LENGTH),
        incident: delivery.incident_id.map(|id| id.to_string()),
        channel: cut(&delivery.channel, ANSWER_LENGTH),
        state,
        tone,
        can_retry: delivery.state == DeliveryState::Failed && on.contains(&delivery.channel_id),
        reason: delivery.reason.map(|reason| cut(&reason, ANSWER_LENGTH)),
        attempts: delivery.attempts.into_iter().map(|attempt| attempt_line(attempt, now)).collect(),
    }
}

fn attempt_line(attempt: AttemptView, now: Timestamp) -> AttemptLine {
    let status = attempt.status_code.map(|status| format!("{status} ")).unwrap_or_default();
    AttemptLine {
        at: Moment::new(attempt.timestamp, now),
        took: duration(attempt.took_ms),
        delivered: attempt.delivered,
        answer: format!("{status}{}", cut(&attempt.answer, ANSWER_LENGTH)),
    }
}
