//! Exemptions: what does not count for an agent, made from an incident that was a false alarm, until a time.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{AgentId, ExemptKind, Exemption, ExemptionId, IncidentId, Timestamp};
use serde::{Deserialize, Serialize};
use store::ExemptionRow;
use utoipa::ToSchema;

use super::offers::{self, Candidate};
use super::{List, incidents, words};
use crate::app::App;
use crate::changes;
use crate::input::{AgentPath, Body, ExemptionPath};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The longest time, in days.
pub(crate) const LONGEST_DAYS: i64 = 366;
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What does not count for an agent.
#[derive(Serialize, ToSchema)]
#[schema(as = Exemption)]
pub(crate) struct ExemptionView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: ExemptionId,
    #[schema(value_type = String)]
    pub(crate) agent_id: AgentId,
    /// Whether it is a prompt or the tool calls of a step.
    #[schema(schema_with = words::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// The beginning of it.
    pub(crate) text: String,
    /// The false alarm that it was made for.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) incident_id: Option<IncidentId>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// From this time on it counts again.
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

/// What is no longer to count: what the stopped call of an incident asked, or the tool calls that it reported.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewExemption)]
pub(crate) struct NewExemption {
    /// An incident of this agent.
    #[schema(value_type = String, format = "uuid")]
    pub(crate) incident_id: IncidentId,
    #[schema(schema_with = words::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// From this time on it counts again: at most 366 days from now.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Timestamp,
}

/// What does not count for an agent, oldest first, in one page.
#[utoipa::path(get, path = "/api/agents/{id}/exemptions", tag = "agents", operation_id = "list_exemptions",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = List<ExemptionView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    AgentPath(agent): AgentPath,
) -> Result<Json<List<ExemptionView>>, Problem> {
    super::agents::read(&app, agent.clone()).await?;
    Ok(Json(List::whole(read(&app, &agent).await?)))
}

/// Lets the prompt or the tool calls of a false alarm pass, from the next call on.
#[utoipa::path(post, path = "/api/agents/{id}/exemptions", tag = "agents", operation_id = "create_exemption",
    params(("id" = String, Path, description = "The agent")), request_body = NewExemption,
    responses((status = 201, body = ExemptionView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    State(app): State<App>,
    AgentPath(agent): AgentPath,
    Body(body): Body<NewExemption>,
) -> Result<(StatusCode, Json<ExemptionView>), Problem> {
    let made = exempt(&app, &agent, body).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revokes one: it counts again from the next call on.
#[utoipa::path(delete, path = "/api/agents/{id}/exemptions/{exemption}", tag = "agents", operation_id = "delete_exemption",
    params(("id" = String, Path, description = "The agent"), ("exemption" = String, Path, description = "The exemption")),
    responses((status = 204, description = "It is revoked"), Refusals))]
pub(crate) async fn delete(
    State(app): State<App>,
    ExemptionPath(agent, id): ExemptionPath,
) -> Result<StatusCode, Problem> {
    app.alone(changes::revoke(app.clone(), agent, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What does not count for an agent now.
pub(crate) async fn read(app: &App, agent: &AgentId) -> Result<Vec<ExemptionView>, Problem> {
    let rows = app.web().store.exemptions(agent, app.web().clock.now()).await?;
    Ok(rows.into_iter().map(ExemptionView::from).collect())
}

/// Makes an exemption.
pub(crate) async fn exempt(app: &App, agent: &AgentId, new: NewExemption) -> Result<ExemptionView, Problem> {
    let now = app.web().clock.now();
    let latest = now.as_millis().saturating_add(LONGEST_DAYS * DAY_MS);
    if new.until <= now || new.until.as_millis() > latest {
        return Err(Problem::field("until", format!("must be in the future, at most {LONGEST_DAYS} days from now")));
    }
    let incident = incidents::read(app, new.incident_id).await?;
    if incident.agent_id != *agent {
        return Err(Problem::field("incident_id", format!("must be an incident of {agent}")));
    }
    let Some(Candidate { exempt, text }) = offers::candidate(app, &incident, new.what).await? else {
        return Err(Problem::field("what", "must be something that the stopped call has, see GET …/exemptions of it"));
    };
    let row = ExemptionRow {
        exemption: Exemption { id: ExemptionId::new(), exempt, until: new.until },
        agent: agent.clone(),
        text,
        incident: Some(incident.id),
        created_at: now,
    };
    app.alone(changes::exempt(app.clone(), row.clone())).await?;
    Ok(row.into())
}
