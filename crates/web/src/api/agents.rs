//! Agents: listed, shown, switched on and off, named, deleted. What memory knows of an agent goes before what is stored.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{AgentId, DeactivatedBy, Deactivation, IncidentId, KillSwitch, Score, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use store::{AgentFilter, AgentRow, PageRequest};
use utoipa::{IntoParams, ToSchema};

use super::kill_switch::SettingsView;
use super::{List, Signals, words};
use crate::app::App;
use crate::changes;
use crate::gate::Caller;
use crate::input::{AgentPath, Body, Paging, Parameters, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

const MAX_NAME_LENGTH: usize = 200;

/// An agent.
#[derive(Serialize, ToSchema)]
#[schema(as = Agent)]
pub(crate) struct AgentView {
    /// Its id, as the client names it.
    #[schema(value_type = String)]
    pub(crate) agent_id: AgentId,
    /// A name for people.
    pub(crate) name: Option<String>,
    /// Whether its calls go through.
    pub(crate) active: bool,
    /// Who deactivated it.
    #[schema(schema_with = words::deactivated_by)]
    pub(crate) deactivated_by: Option<DeactivatedBy>,
    /// Since when it is inactive.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) deactivated_at: Option<Timestamp>,
    /// When it was first heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) created_at: Option<Timestamp>,
    /// When it was last heard of.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_seen: Option<Timestamp>,
    /// The settings of its kill switch.
    pub(crate) kill_switch: SettingsView,
    /// The score of its newest call.
    pub(crate) current_score: f64,
    /// What that score is made of.
    pub(crate) signals: Signals,
    /// The open incident.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) incident_id: Option<IncidentId>,
}

/// Everything that is known of an agent, from memory or from the disk.
struct Known {
    name: Option<String>,
    deactivation: Option<Deactivation>,
    created_at: Option<Timestamp>,
    last_seen: Option<Timestamp>,
    kill_switch: KillSwitch,
    score: Score,
}

impl Known {
    fn show(self, agent_id: AgentId) -> AgentView {
        AgentView {
            agent_id,
            name: self.name,
            active: self.deactivation.is_none(),
            deactivated_by: self.deactivation.map(|deactivation| deactivation.by),
            deactivated_at: self.deactivation.map(|deactivation| deactivation.at),
            created_at: self.created_at,
            last_seen: self.last_seen,
            kill_switch: self.kill_switch.into(),
            current_score: self.score.value,
            signals: self.score.signals.into(),
            incident_id: self.deactivation.and_then(|deactivation| deactivation.incident),
        }
    }
}

/// Which agents.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AgentsQuery {
    /// Only those whose id or name contains this.
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
    /// Whether its calls go through. Activation clears the windows and closes the incident.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    active: Option<bool>,
    /// A name for people, at most 200 characters; `null` takes it away.
    #[serde(default, deserialize_with = "name_or_null")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$")]
    name: Option<Option<String>>,
}

/// Tells an absent name (keep it) from `null` (take it away).
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
    AgentPath(agent): AgentPath,
    Caller(by): Caller,
    Body(body): Body<ChangeBody>,
) -> Result<Json<AgentView>, Problem> {
    if let Some(name) = checked_name(body.name)? {
        app.alone(changes::rename(app.clone(), agent.clone(), name)).await?;
    }
    match body.active {
        Some(true) => app.alone(changes::activate(app.clone(), agent.clone(), by)).await?,
        Some(false) => app.alone(changes::deactivate(app.clone(), agent.clone())).await?,
        None => {}
    }
    read(&app, agent).await.map(Json)
}

/// Deletes an agent with all its data.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents", operation_id = "delete_agent",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 204, description = "It is gone"), Refusals))]
pub(crate) async fn delete(State(app): State<App>, AgentPath(agent): AgentPath) -> Result<StatusCode, Problem> {
    app.alone(changes::delete(app.clone(), agent)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A page of agents. One that memory and disk disagree about is listed by what memory says.
pub(crate) async fn read_page(app: &App, filter: &AgentFilter, page: &PageRequest) -> Result<List<AgentView>, Problem> {
    app.web().recorder.catch_up().await;
    let mut list =
        List::of(app.web().store.agents(filter, page).await.map_err(Problem::of_page)?, |row| merge(app, row));
    list.items.retain(|agent| filter.active.is_none_or(|active| agent.active == active));
    Ok(list)
}

/// One agent, from memory and disk.
pub(crate) async fn read(app: &App, agent: AgentId) -> Result<AgentView, Problem> {
    if let Some(row) = app.web().store.agent(&agent).await? {
        return Ok(merge(app, row));
    }
    // Its first call may be on its way to disk.
    let live = app.web().guard.agent(&agent).ok_or_else(|| changes::unknown(&agent))?;
    let known = Known {
        name: None,
        deactivation: live.deactivation,
        created_at: None,
        last_seen: live.last_seen,
        kill_switch: live.kill_switch,
        score: live.current_score,
    };
    Ok(known.show(agent))
}

fn merge(app: &App, row: AgentRow) -> AgentView {
    let live = app.web().guard.agent(&row.id);
    let known = Known {
        name: row.name,
        deactivation: deactivation(live.map(|live| live.deactivation), row.deactivation),
        created_at: Some(row.created_at),
        last_seen: live.and_then(|live| live.last_seen).max(row.last_seen),
        kill_switch: live.map_or(row.kill_switch, |live| live.kill_switch),
        score: live.map(|live| live.current_score).unwrap_or_default(),
    };
    known.show(row.id)
}

/// Memory says whether the agent is inactive; the disk says whether its incident is still there.
fn deactivation(live: Option<Option<Deactivation>>, stored: Option<Deactivation>) -> Option<Deactivation> {
    match (live, stored) {
        (Some(Some(live)), Some(stored)) => Some(Deactivation { incident: stored.incident, ..live }),
        (Some(live), _) => live,
        (None, stored) => stored,
    }
}

/// The name, if it is one.
pub(crate) fn checked_name(name: Option<Option<String>>) -> Result<Option<Option<String>>, Problem> {
    let Some(Some(text)) = &name else { return Ok(name) };
    let length = text.chars().count();
    if text.trim().is_empty() || length > MAX_NAME_LENGTH || text.chars().any(char::is_control) {
        return Err(Problem::field("name", "must have 1 to 200 characters, none of them a control character"));
    }
    Ok(name)
}
