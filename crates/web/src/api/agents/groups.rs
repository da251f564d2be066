//! Groups of agents: what their agents share, what new ones start with, and stopping all of them.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{GroupChange, GroupStatus};
use model::{AgentId, AgentPattern, KillSwitchChange, Label, NanoUsd, Policy, PolicyChange, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::labels::parse_labels;
use super::policy::PolicySchema;
use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, GroupPath, MaybeBody, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// A group of agents.
#[derive(Serialize, ToSchema)]
#[schema(as = Group)]
pub(crate) struct GroupView {
    pub(crate) name: String,
    /// Its agents: names, and patterns such as `team-a/*`.
    #[schema(value_type = Vec<String>)]
    pub(crate) agents: Vec<AgentPattern>,
    /// Agents with one of these labels are in it, too.
    #[schema(value_type = Vec<String>)]
    pub(crate) labels: Vec<Label>,
    /// When it was stopped. Until it is activated, calls of all its agents are refused, also of new
    /// ones.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) stopped_at: Option<Timestamp>,
    /// Budgets, rates and hours of all its agents together.
    #[schema(value_type = PolicySchema)]
    pub(crate) policy: Policy,
    /// Settings of new agents of the group, where they differ from the defaults.
    #[schema(value_type = Object)]
    pub(crate) kill_switch: KillSwitchChange,
    /// What its agents have spent together today, in US dollars; 0 without a policy.
    pub(crate) spent_daily_usd: f64,
    /// The same for this week, from Monday on.
    pub(crate) spent_weekly_usd: f64,
    /// The same for this month.
    pub(crate) spent_monthly_usd: f64,
}

impl From<GroupStatus> for GroupView {
    fn from(status: GroupStatus) -> GroupView {
        let [day, week, month] = status.spent.map(NanoUsd::usd);
        GroupView {
            name: status.group.name.clone(),
            agents: status.group.agents.clone(),
            labels: status.group.labels.clone(),
            stopped_at: status.group.stopped_at,
            policy: status.group.policy.clone(),
            kill_switch: status.group.kill_switch,
            spent_daily_usd: day,
            spent_weekly_usd: week,
            spent_monthly_usd: month,
        }
    }
}

/// A change of a group: an absent field keeps its value, also inside `policy` and `kill_switch`. A
/// list that is given replaces the whole list. A new group needs `agents` or `labels`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GroupChange)]
pub(crate) struct GroupBody {
    /// Names, and patterns such as `team-a/*`: 1 to 100, or none beside labels.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_items = 100)]
    pub(crate) agents: Option<Vec<String>>,
    /// Agents with one of these labels are in it, too.
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::labels, required = false)]
    pub(crate) labels: Option<Vec<String>>,
    /// The fields of an agent's policy, without `budget_conversation_usd` and `model_overrides`.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub(crate) policy: Option<PolicyChange>,
    /// The fields of an agent's kill switch; `{}` goes back to the defaults.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub(crate) kill_switch: Option<KillSwitchChange>,
}

/// The agents of a group that were stopped or activated.
#[derive(Serialize, ToSchema)]
#[schema(as = GroupAgents)]
pub(crate) struct MembersView {
    #[schema(value_type = Vec<String>)]
    agents: Vec<AgentId>,
}

/// All groups, by name, in one page.
#[utoipa::path(get, path = "/api/groups", tag = "groups", operation_id = "list_groups",
    responses((status = 200, body = List<GroupView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Json<List<GroupView>> {
    Json(List::whole(app.control().groups().await.into_iter().map(GroupView::from).collect()))
}

/// One group.
#[utoipa::path(get, path = "/api/groups/{name}", tag = "groups", operation_id = "get_group",
    params(("name" = String, Path, description = "The group")),
    responses((status = 200, body = GroupView), Refusals))]
pub(crate) async fn get(State(app): State<App>, GroupPath(name): GroupPath) -> Result<Json<GroupView>, Problem> {
    Ok(Json(app.control().group(&name).await?.into()))
}

/// Adds or changes a group. The change takes effect with the next call.
#[utoipa::path(put, path = "/api/groups/{name}", tag = "groups", operation_id = "put_group",
    params(("name" = String, Path, description = "The group")), request_body = GroupBody,
    responses((status = 200, body = GroupView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    GroupPath(name): GroupPath,
    Body(body): Body<GroupBody>,
) -> Result<Json<GroupView>, Problem> {
    commands.put_group(name.clone(), body.change()?).await?;
    Ok(Json(app.control().group(&name).await?.into()))
}

/// Removes a group. Its agents stay as they are.
#[utoipa::path(delete, path = "/api/groups/{name}", tag = "groups", operation_id = "delete_group",
    params(("name" = String, Path, description = "The group")),
    responses((status = 204, description = "It is removed"), Refusals))]
pub(crate) async fn delete(ByCaller(commands): ByCaller, GroupPath(name): GroupPath) -> Result<StatusCode, Problem> {
    commands.remove_group(name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Why the agents of a group are stopped or activated. The whole body may be left out.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = GroupReason)]
pub(crate) struct ReasonBody {
    /// For the audit log, at most 500 characters.
    #[serde(default)]
    #[schema(max_length = 500, pattern = "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$")]
    reason: Option<String>,
}

/// Stops a group: calls of its agents, also of new ones, are refused until it is activated.
/// Deactivates its known agents and lists them.
#[utoipa::path(post, path = "/api/groups/{name}/stop", tag = "groups", operation_id = "stop_group",
    params(("name" = String, Path, description = "The group")), request_body = ReasonBody,
    responses((status = 200, body = MembersView), Refusals, BodyRefusals))]
pub(crate) async fn stop(
    ByCaller(commands): ByCaller,
    GroupPath(name): GroupPath,
    MaybeBody(ReasonBody { reason }): MaybeBody<ReasonBody>,
) -> Result<Json<MembersView>, Problem> {
    Ok(Json(MembersView { agents: commands.because(reason)?.stop_group(&name).await? }))
}

/// Activates a group and its known agents, and lists them. Agents of another stopped group stay
/// inactive.
#[utoipa::path(post, path = "/api/groups/{name}/activate", tag = "groups", operation_id = "activate_group",
    params(("name" = String, Path, description = "The group")), request_body = ReasonBody,
    responses((status = 200, body = MembersView), Refusals, BodyRefusals))]
pub(crate) async fn activate(
    ByCaller(commands): ByCaller,
    GroupPath(name): GroupPath,
    MaybeBody(ReasonBody { reason }): MaybeBody<ReasonBody>,
) -> Result<Json<MembersView>, Problem> {
    Ok(Json(MembersView { agents: commands.because(reason)?.activate_group(&name).await? }))
}

impl GroupBody {
    pub(crate) fn change(self) -> Result<GroupChange, Problem> {
        let parse = |(position, text): (usize, String)| {
            let invalid =
                |error: model::InvalidAgentPattern| Problem::field(format!("agents[{position}]"), error.to_string());
            AgentPattern::parse(&text).map_err(invalid)
        };
        let agents = self.agents.map(|agents| agents.into_iter().enumerate().map(parse).collect::<Result<Vec<_>, _>>());
        Ok(GroupChange {
            agents: agents.transpose()?,
            labels: self.labels.map(parse_labels).transpose()?,
            policy: self.policy.unwrap_or_default(),
            kill_switch: self.kill_switch,
        })
    }
}
