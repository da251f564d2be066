//! Exemptions: a prompt or tool calls of a false alarm that do not count for an agent until a time.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::Commands;
use model::{AgentId, ExemptKind, ExemptionId, IncidentId, Timestamp};
use serde::{Deserialize, Serialize};
use store::ExemptionRow;
use utoipa::ToSchema;

use super::read as read_agent;
use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body, ExemptionPath};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// A prompt or tool calls that do not count for an agent.
#[derive(Serialize, ToSchema)]
#[schema(as = Exemption)]
pub(crate) struct ExemptionView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: ExemptionId,
    #[schema(value_type = String)]
    pub(crate) agent_id: AgentId,
    /// Whether it is a prompt or the tool calls of a step.
    #[schema(schema_with = schemas::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// The beginning of it.
    pub(crate) text: String,
    /// The false alarm that it was created for.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) incident_id: Option<IncidentId>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// The end of the exemption.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Timestamp,
}

impl From<ExemptionRow> for ExemptionView {
    fn from(row: ExemptionRow) -> ExemptionView {
        ExemptionView {
            id: row.exemption.id,
            agent_id: row.agent,
            what: row.exemption.exempt.kind(),
            text: row.text,
            incident_id: row.incident,
            created_at: row.created_at,
            until: row.exemption.until,
        }
    }
}

/// A new exemption: the prompt of an incident's stopped call, or the tool calls that it reported,
/// no longer count.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewExemption)]
pub(crate) struct NewExemption {
    /// An incident of this agent.
    #[schema(value_type = String, format = "uuid")]
    pub(crate) incident_id: IncidentId,
    #[schema(schema_with = schemas::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// The end of the exemption, at most 366 days from now.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Timestamp,
}

/// The exemptions of an agent, oldest first, in one page.
#[utoipa::path(get, path = "/api/agents/{id}/exemptions", tag = "agents", operation_id = "list_exemptions",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = List<ExemptionView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    AgentPath(agent): AgentPath,
) -> Result<Json<List<ExemptionView>>, Problem> {
    read_agent(&app, agent.clone()).await?;
    Ok(Json(List::whole(read(&app, &agent).await?)))
}

/// Creates an exemption after a false alarm. It takes effect with the next call.
#[utoipa::path(post, path = "/api/agents/{id}/exemptions", tag = "agents", operation_id = "create_exemption",
    params(("id" = String, Path, description = "The agent")), request_body = NewExemption,
    responses((status = 201, body = ExemptionView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Body(body): Body<NewExemption>,
) -> Result<(StatusCode, Json<ExemptionView>), Problem> {
    let made = exempt(&commands, &agent, body).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revokes an exemption: what it covered counts again from the next call on.
#[utoipa::path(delete, path = "/api/agents/{id}/exemptions/{exemption}", tag = "agents", operation_id = "delete_exemption",
    params(("id" = String, Path, description = "The agent"), ("exemption" = String, Path, description = "The exemption")),
    responses((status = 204, description = "It is revoked"), Refusals))]
pub(crate) async fn delete(
    ByCaller(commands): ByCaller,
    ExemptionPath(agent, id): ExemptionPath,
) -> Result<StatusCode, Problem> {
    commands.revoke_exemption(agent, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The exemptions of an agent that are in force.
pub(crate) async fn read(app: &App, agent: &AgentId) -> Result<Vec<ExemptionView>, Problem> {
    let rows = app.control().exemptions(agent).await?;
    Ok(rows.into_iter().map(ExemptionView::from).collect())
}

/// Makes an exemption.
pub(crate) async fn exempt(commands: &Commands, agent: &AgentId, new: NewExemption) -> Result<ExemptionView, Problem> {
    let NewExemption { incident_id, what, until } = new;
    let new = control::NewExemption { incident: incident_id, what, until };
    Ok(commands.exempt(agent.clone(), new).await?.into())
}
