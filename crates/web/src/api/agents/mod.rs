//! Agents: listed, shown, activated and deactivated, named, deleted.

pub(crate) mod agent_keys;
pub(crate) mod exemptions;
pub(crate) mod groups;
pub(crate) mod kill_switch;
pub(crate) mod labels;
pub(crate) mod policy;
pub(crate) mod recording;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{Agent, AgentChange};
use model::{AgentId, DeactivatedBy, IncidentId, Label, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use store::{AgentFilter, PageRequest};
use utoipa::{IntoParams, ToSchema};

use self::kill_switch::SettingsView;
use super::{List, Signals, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body, Paging, Parameters, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// An agent.
#[derive(Serialize, ToSchema)]
#[schema(as = Agent)]
pub(crate) struct AgentView {
    /// Its id, as the client names it.
    #[schema(value_type = String)]
    pub(crate) agent_id: AgentId,
    /// Its display name.
    pub(crate) name: Option<String>,
    /// Its labels, by which groups may name it.
    #[schema(value_type = Vec<String>)]
    pub(crate) labels: Vec<Label>,
    /// Whether its calls are forwarded.
    pub(crate) active: bool,
    /// What deactivated it.
    #[schema(schema_with = schemas::deactivated_by)]
    pub(crate) deactivated_by: Option<DeactivatedBy>,
    /// When it was deactivated.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) deactivated_at: Option<Timestamp>,
    /// When it was first seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) created_at: Option<Timestamp>,
    /// When it was last seen.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_seen: Option<Timestamp>,
    /// The settings of its kill switch.
    pub(crate) kill_switch: SettingsView,
    /// The score of its newest call.
    pub(crate) current_score: f64,
    /// The signals of that score.
    pub(crate) signals: Signals,
    /// The open incident.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) incident_id: Option<IncidentId>,
    /// Whether its calls are refused because a budget is spent: its own, or that of one of its
    /// groups.
    pub(crate) budget_spent: bool,
}

impl AgentView {
    fn new(app: &App, agent: Agent) -> AgentView {
        AgentView {
            budget_spent: agent.deactivation.is_none() && is_budget_spent(app, &agent.id),
            agent_id: agent.id,
            name: agent.name,
            labels: agent.labels,
            active: agent.deactivation.is_none(),
            deactivated_by: agent.deactivation.map(|deactivation| deactivation.by),
            deactivated_at: agent.deactivation.map(|deactivation| deactivation.at),
            created_at: agent.created_at,
            last_seen: agent.last_seen,
            kill_switch: agent.kill_switch.into(),
            current_score: agent.score.value,
            signals: agent.score.signals.into(),
            incident_id: agent.deactivation.and_then(|deactivation| deactivation.incident),
        }
    }
}

/// Whether a budget is spent that an agent has, or shares with the agents of a group.
fn is_budget_spent(app: &App, id: &AgentId) -> bool {
    let (policies, now) = (app.web().guard.policies(), app.web().clock.now());
    policies.counted(id).is_some_and(|limits| limits.is_spent(now))
        || policies.groups_of(id).iter().any(|group| group.limits.is_spent(now))
}

/// Which agents.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentsQuery {
    /// Only agents whose id or name contains this.
    search: Option<String>,
    /// Only active ones, or only inactive ones.
    #[param(inline)]
    state: Option<StateWord>,
    /// How many at most.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Where the page starts: `next_cursor` of the one before.
    cursor: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StateWord {
    Active,
    Inactive,
}

impl Paging for AgentsQuery {
    fn limit(&self) -> Option<u32> {
        self.limit
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// A change of an agent: an absent field keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AgentChange)]
pub(crate) struct ChangeBody {
    /// Whether its calls are forwarded. Activation clears the windows and closes the incident.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    active: Option<bool>,
    /// A name for people, at most 200 characters; `null` removes it.
    #[serde(default, deserialize_with = "name_or_null")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$")]
    name: Option<Option<String>>,
    /// Why, for the audit log; at most 500 characters.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_length = 500, pattern = "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$")]
    reason: Option<String>,
}

/// Tells an absent name (keep it) from `null` (remove it).
fn name_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Agents, by id.
#[utoipa::path(get, path = "/api/agents", tag = "agents", operation_id = "list_agents", params(AgentsQuery),
    responses((status = 200, body = List<AgentView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    Parameters(query): Parameters<AgentsQuery>,
) -> Result<Json<List<AgentView>>, Problem> {
    let page = query.page()?;
    let active = query.state.map(|state| state == StateWord::Active);
    read_page(&app, &AgentFilter { search: query.search, active, deactivated_by: None }, &page).await.map(Json)
}

/// One agent.
#[utoipa::path(get, path = "/api/agents/{id}", tag = "agents", operation_id = "get_agent",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = AgentView), Refusals))]
pub(crate) async fn get(State(app): State<App>, AgentPath(agent): AgentPath) -> Result<Json<AgentView>, Problem> {
    read(&app, agent).await.map(Json)
}

/// Activates, deactivates or names an agent.
#[utoipa::path(patch, path = "/api/agents/{id}", tag = "agents", operation_id = "change_agent",
    params(("id" = String, Path, description = "The agent")), request_body = ChangeBody,
    responses((status = 200, body = AgentView), Refusals, BodyRefusals))]
pub(crate) async fn patch(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Body(ChangeBody { active, name, reason }): Body<ChangeBody>,
) -> Result<Json<AgentView>, Problem> {
    commands.because(reason)?.change_agent(agent.clone(), AgentChange { name, active }).await?;
    read(&app, agent).await.map(Json)
}

/// Deletes an agent with all its data.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents", operation_id = "delete_agent",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 204, description = "It is deleted"), Refusals))]
pub(crate) async fn delete(ByCaller(commands): ByCaller, AgentPath(agent): AgentPath) -> Result<StatusCode, Problem> {
    commands.delete_agent(agent).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A page of agents.
pub(crate) async fn read_page(app: &App, filter: &AgentFilter, page: &PageRequest) -> Result<List<AgentView>, Problem> {
    let agents = app.control().agents(filter, page).await.map_err(Problem::of_page)?;
    Ok(List::of(agents, |agent| AgentView::new(app, agent)))
}

/// One agent.
pub(crate) async fn read(app: &App, agent: AgentId) -> Result<AgentView, Problem> {
    Ok(AgentView::new(app, app.control().agent(agent).await?))
}
