//! Alert rules: what people are notified of, about which agent, through which channels.

mod channel_settings;
pub(crate) mod channels;
mod condition;
mod failing;
pub(crate) mod history;
mod masked_url;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{AlertRule, BudgetPeriod, ChannelId, NanoUsd, RuleId, RuleScope, RuleType, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::condition::{OwnFields, condition};
use super::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, RulePath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// A rule that says when people are notified.
#[derive(Serialize, ToSchema)]
#[schema(as = AlertRule)]
pub(crate) struct RuleView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: RuleId,
    /// An agent, or `*` for all.
    pub(crate) agent_id: String,
    #[schema(schema_with = schemas::rule_type)]
    pub(crate) rule_type: RuleType,
    /// Ids of channels; an empty list means every channel.
    #[schema(value_type = Vec<String>)]
    pub(crate) channels: Vec<ChannelId>,
    /// For how long the same alert about the same agent is not repeated. A kill is always sent.
    pub(crate) cooldown_minutes: u32,
    /// How often the alert is repeated while its cause lasts.
    pub(crate) repeat_minutes: Option<u32>,
    /// Whether the end of its cause is sent, too.
    pub(crate) notify_recovery: bool,
    pub(crate) enabled: bool,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// For `agent_down` and `error_rate`: over how many minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) minutes: Option<u32>,
    /// For `error_rate`: the percentage of calls. For `budget`: the percentage of a budget of the
    /// agent's policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percent: Option<f64>,
    /// For `budget`: the amount in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub(crate) amount_usd: Option<NanoUsd>,
    /// For `budget`: the period, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schemas::budget_period)]
    pub(crate) period: Option<BudgetPeriod>,
}

impl From<AlertRule> for RuleView {
    fn from(rule: AlertRule) -> RuleView {
        let OwnFields { minutes, percent, amount_usd, period } = rule.condition.into();
        RuleView {
            id: rule.id,
            agent_id: rule.scope.to_string(),
            rule_type: rule.condition.rule_type(),
            channels: rule.channels,
            cooldown_minutes: rule.cooldown_minutes,
            repeat_minutes: rule.repeat_minutes,
            notify_recovery: rule.notify_recovery,
            enabled: rule.enabled,
            created_at: rule.created_at,
            minutes,
            percent,
            amount_usd,
            period,
        }
    }
}

/// A rule, or a change of one: an absent field keeps its value, or has the default. A new rule
/// needs `rule_type`; of type `agent_down` also `minutes`, of type `error_rate` also `percent` and
/// `minutes`, of type `budget` also `amount_usd` and `period`, or `percent`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AlertRuleChange)]
pub(crate) struct RuleBody {
    /// Cannot be changed later.
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::rule_type)]
    rule_type: Option<RuleType>,
    /// An agent, `@` and the name of a group, or `*` for all.
    #[serde(default, deserialize_with = "present")]
    #[schema(
        nullable = false,
        pattern = "^([*]|@[A-Za-z0-9][A-Za-z0-9._-]{0,63}|[A-Za-z0-9][A-Za-z0-9._:@-]{0,127})$"
    )]
    agent_id: Option<String>,
    /// Ids of channels; an empty list means every channel.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<String>>, nullable = false)]
    channels: Option<Vec<ChannelId>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, maximum = 10080)]
    cooldown_minutes: Option<u32>,
    /// `null` for never.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10080)]
    repeat_minutes: Option<Option<u32>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    notify_recovery: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    enabled: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 1440)]
    pub(super) minutes: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, exclusive_minimum = 0.0, maximum = 100.0)]
    pub(super) percent: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<f64>, nullable = false, exclusive_minimum = 0.0, maximum = 1_000_000_000.0)]
    pub(super) amount_usd: Option<NanoUsd>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::budget_period)]
    pub(super) period: Option<BudgetPeriod>,
}

impl RuleBody {
    /// `rule` after this change, or the invalid field.
    fn apply(self, mut rule: AlertRule) -> Result<AlertRule, Problem> {
        let rule_type = rule.condition.rule_type();
        if self.rule_type.is_some_and(|given| given != rule_type) {
            return Err(Problem::field("rule_type", "cannot be changed: make another rule"));
        }
        rule.condition = condition(rule_type, Some(rule.condition), &self)?;
        if let Some(agent) = &self.agent_id {
            rule.scope = RuleScope::parse(agent)?;
        }
        rule.channels = self.channels.unwrap_or(rule.channels);
        rule.cooldown_minutes = self.cooldown_minutes.unwrap_or(rule.cooldown_minutes);
        rule.repeat_minutes = self.repeat_minutes.unwrap_or(rule.repeat_minutes);
        rule.notify_recovery = self.notify_recovery.unwrap_or(rule.notify_recovery);
        rule.enabled = self.enabled.unwrap_or(rule.enabled);
        rule.check()?;
        Ok(rule)
    }
}

/// All rules. Kills of an agent without a rule of type `kill_switch` are sent to every channel.
#[utoipa::path(get, path = "/api/alerts", tag = "alerts", operation_id = "list_alert_rules",
    responses((status = 200, body = List<RuleView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<List<RuleView>>, Problem> {
    let rules = app.web().store.alert_rules().await?;
    Ok(Json(List::whole(rules.into_iter().map(RuleView::from).collect())))
}

/// Creates a rule.
#[utoipa::path(post, path = "/api/alerts", tag = "alerts", operation_id = "create_alert_rule", request_body = RuleBody,
    responses((status = 201, body = RuleView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    Body(body): Body<RuleBody>,
) -> Result<(StatusCode, Json<RuleView>), Problem> {
    let rule_type = body.rule_type.ok_or_else(|| Problem::field("rule_type", "must be given"))?;
    let rule = AlertRule {
        id: RuleId::new(),
        scope: RuleScope::All,
        condition: condition(rule_type, None, &body)?,
        channels: Vec::new(),
        cooldown_minutes: AlertRule::COOLDOWN_MINUTES,
        repeat_minutes: None,
        notify_recovery: false,
        enabled: true,
        created_at: app.web().clock.now(),
    };
    let rule = body.apply(rule)?;
    commands.add_rule(rule.clone()).await?;
    Ok((StatusCode::CREATED, Json(rule.into())))
}

/// One rule.
#[utoipa::path(get, path = "/api/alerts/{id}", tag = "alerts", operation_id = "get_alert_rule",
    params(("id" = String, Path, description = "The rule")),
    responses((status = 200, body = RuleView), Refusals))]
pub(crate) async fn get(State(app): State<App>, RulePath(id): RulePath) -> Result<Json<RuleView>, Problem> {
    Ok(Json(app.control().rule(id).await?.into()))
}

/// Changes a rule, except for its type.
#[utoipa::path(patch, path = "/api/alerts/{id}", tag = "alerts", operation_id = "change_alert_rule",
    params(("id" = String, Path, description = "The rule")), request_body = RuleBody,
    responses((status = 200, body = RuleView), Refusals, BodyRefusals))]
pub(crate) async fn patch(
    ByCaller(commands): ByCaller,
    RulePath(id): RulePath,
    Body(body): Body<RuleBody>,
) -> Result<Json<RuleView>, Problem> {
    let rule = commands.change_rule(id, |rule| body.apply(rule)).await?;
    Ok(Json(rule.into()))
}

/// Deletes a rule.
#[utoipa::path(delete, path = "/api/alerts/{id}", tag = "alerts", operation_id = "delete_alert_rule",
    params(("id" = String, Path, description = "The rule")),
    responses((status = 204, description = "It is deleted"), Refusals))]
pub(crate) async fn delete(ByCaller(commands): ByCaller, RulePath(id): RulePath) -> Result<StatusCode, Problem> {
    commands.delete_rule(id).await?;
    Ok(StatusCode::NO_CONTENT)
}
