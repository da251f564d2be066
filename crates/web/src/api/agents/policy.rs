//! The policy of one agent: what it may spend, when and how often it may call, and which models it
//! gets.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use control::{DefaultPolicy, PolicyStatus};
use model::{AgentId, BudgetPeriod, NanoUsd, Policy, PolicyChange};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::schemas;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The policy of an agent and what the agent has spent.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentPolicy)]
pub(crate) struct PolicyView {
    #[serde(flatten)]
    #[schema(value_type = PolicySchema)]
    pub(crate) policy: Arc<Policy>,
    /// Whether the agent has no policy of its own.
    pub(crate) is_default: bool,
    /// What it has spent today.
    #[schema(value_type = f64)]
    spent_daily_usd: NanoUsd,
    /// What it has spent this week.
    #[schema(value_type = f64)]
    spent_weekly_usd: NanoUsd,
    /// What it has spent this month.
    #[schema(value_type = f64)]
    spent_monthly_usd: NanoUsd,
}

impl PolicyView {
    /// What was spent in a period.
    pub(crate) fn spent(&self, period: BudgetPeriod) -> NanoUsd {
        match period {
            BudgetPeriod::Day => self.spent_daily_usd,
            BudgetPeriod::Week => self.spent_weekly_usd,
            BudgetPeriod::Month => self.spent_monthly_usd,
        }
    }
}

/// The policy of agents that have none of their own.
#[derive(Serialize, ToSchema)]
#[schema(as = DefaultPolicy)]
pub(crate) struct DefaultView {
    #[serde(flatten)]
    #[schema(value_type = PolicySchema)]
    policy: Arc<Policy>,
    /// Whether it comes from the file, the environment and the flags.
    is_configured: bool,
}

/// What an agent may spend, when and how often it may call, and which models it gets.
#[derive(ToSchema)]
#[schema(as = Policy)]
#[allow(dead_code, reason = "only describes what is shown")]
pub(crate) struct PolicySchema {
    /// The most that the agent may spend in a day of `time_zone`, in US dollars.
    budget_daily_usd: Option<f64>,
    /// In a week, from Monday on.
    budget_weekly_usd: Option<f64>,
    /// In a month.
    budget_monthly_usd: Option<f64>,
    /// In one conversation.
    budget_conversation_usd: Option<f64>,
    /// The IANA name of the zone in which days begin and hours are counted.
    time_zone: String,
    /// When the agent may call; `null` means always.
    allowed_hours: Option<Vec<AllowedHoursSchema>>,
    /// Rates per minute.
    rate_limits: Vec<RateLimitSchema>,
    /// Models that replace the requested ones.
    model_overrides: Vec<ModelOverrideSchema>,
}

/// A change of a policy: an absent field keeps its value, `null` removes a limit.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PolicyChange)]
#[allow(dead_code, reason = "only describes what is taken")]
pub(crate) struct ChangeSchema {
    #[schema(minimum = 0.0, maximum = 1000000.0)]
    budget_daily_usd: Option<f64>,
    #[schema(minimum = 0.0, maximum = 1000000.0)]
    budget_weekly_usd: Option<f64>,
    #[schema(minimum = 0.0, maximum = 1000000.0)]
    budget_monthly_usd: Option<f64>,
    #[schema(minimum = 0.0, maximum = 1000000.0)]
    budget_conversation_usd: Option<f64>,
    #[schema(nullable = false)]
    time_zone: Option<String>,
    allowed_hours: Option<Vec<AllowedHoursSchema>>,
    #[schema(nullable = false)]
    rate_limits: Option<Vec<RateLimitSchema>>,
    #[schema(nullable = false)]
    model_overrides: Option<Vec<ModelOverrideSchema>>,
}

/// Hours on some days. A range that ends before it begins ends on the next day.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AllowedHours)]
#[allow(dead_code, reason = "only describes what is shown and taken")]
pub(crate) struct AllowedHoursSchema {
    #[schema(schema_with = schemas::weekdays)]
    days: Vec<String>,
    /// `HH:MM`.
    #[schema(pattern = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
    from: String,
    /// `HH:MM`, up to `24:00`; not part of the range.
    #[schema(pattern = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
    to: String,
}

/// How often an agent may call a provider. At least one of the two is a number.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RateLimit)]
#[allow(dead_code, reason = "only describes what is shown and taken")]
pub(crate) struct RateLimitSchema {
    /// A provider's name, or `*` for all of them together.
    provider: String,
    #[schema(minimum = 1)]
    requests_per_minute: Option<u64>,
    #[schema(minimum = 1)]
    tokens_per_minute: Option<u64>,
}

/// A model that replaces the requested one.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModelOverride)]
#[allow(dead_code, reason = "only describes what is shown and taken")]
pub(crate) struct ModelOverrideSchema {
    /// A provider's name, or `*`.
    provider: String,
    /// The requested model, or `*`.
    model: String,
    /// The model to use instead.
    r#use: String,
}

/// The policy of an agent.
#[utoipa::path(get, path = "/api/agents/{id}/policy", tag = "agents", operation_id = "get_policy",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = PolicyView), Refusals))]
pub(crate) async fn get(State(app): State<App>, AgentPath(agent): AgentPath) -> Result<Json<PolicyView>, Problem> {
    app.control().require_agent(&agent).await?;
    read(&app, &agent).await.map(Json)
}

/// Changes the policy of an agent and creates an unknown agent. The change takes effect with the
/// next call.
#[utoipa::path(put, path = "/api/agents/{id}/policy", tag = "agents", operation_id = "put_policy",
    params(("id" = String, Path, description = "The agent")), request_body = ChangeSchema,
    responses((status = 200, body = PolicyView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Body(change): Body<PolicyChange>,
) -> Result<Json<PolicyView>, Problem> {
    commands.set_policy(agent.clone(), change).await?;
    read(&app, &agent).await.map(Json)
}

/// Removes the agent's own policy: the default applies from the next call on.
#[utoipa::path(delete, path = "/api/agents/{id}/policy", tag = "agents", operation_id = "delete_policy",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = PolicyView), Refusals))]
pub(crate) async fn delete(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
) -> Result<Json<PolicyView>, Problem> {
    commands.reset_policy(agent.clone()).await?;
    read(&app, &agent).await.map(Json)
}

/// The policy of agents that have none of their own.
#[utoipa::path(get, path = "/api/policy", tag = "settings", operation_id = "get_default_policy",
    responses((status = 200, body = DefaultView), Refusals))]
pub(crate) async fn get_default(State(app): State<App>) -> Result<Json<DefaultView>, Problem> {
    let DefaultPolicy { policy, is_configured } = app.control().default_policy().await?;
    Ok(Json(DefaultView { policy, is_configured }))
}

/// Changes the policy of agents that have none of their own, from the next call on. It overrides
/// the configuration, also after a restart.
#[utoipa::path(put, path = "/api/policy", tag = "settings", operation_id = "put_default_policy",
    request_body = ChangeSchema, responses((status = 200, body = DefaultView), Refusals, BodyRefusals))]
pub(crate) async fn put_default(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    Body(change): Body<PolicyChange>,
) -> Result<Json<DefaultView>, Problem> {
    commands.set_default_policy(change).await?;
    get_default(State(app)).await
}

/// Goes back to the policy of the configuration for agents that have none of their own.
#[utoipa::path(delete, path = "/api/policy", tag = "settings", operation_id = "delete_default_policy",
    responses((status = 200, body = DefaultView), Refusals))]
pub(crate) async fn delete_default(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
) -> Result<Json<DefaultView>, Problem> {
    commands.reset_default_policy().await?;
    get_default(State(app)).await
}

/// The policy of an agent and what the agent has spent.
pub(crate) async fn read(app: &App, agent: &AgentId) -> Result<PolicyView, Problem> {
    let PolicyStatus { policy, is_default, spent: [day, week, month] } = app.control().policy(agent).await?;
    Ok(PolicyView { policy, is_default, spent_daily_usd: day, spent_weekly_usd: week, spent_monthly_usd: month })
}
