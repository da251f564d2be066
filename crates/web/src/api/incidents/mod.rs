//! Incidents: the record of every kill and of every observed episode, and what people say of it.

pub(crate) mod evidence;
pub(crate) mod offers;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{
    Action, ActivatedBy, AgentId, Counting, Cycle, IncidentId, IncidentState, NanoUsd, Timestamp, WindowKind,
    cost_per_hour,
};
use serde::{Deserialize, Serialize};
use store::{Feedback, IncidentFilter, IncidentRow};
use utoipa::{IntoParams, ToSchema};

use super::{List, Signals, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, IncidentPath, Paging, Parameters};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The record of one kill, with the settings of that moment.
#[derive(Serialize, ToSchema)]
#[schema(as = Incident)]
pub(crate) struct IncidentView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: IncidentId,
    #[schema(value_type = String)]
    pub(crate) agent_id: AgentId,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
    /// Of the call that was refused.
    pub(crate) provider: String,
    /// Of the call that was refused.
    pub(crate) model: Option<String>,
    /// Of the call that was refused.
    pub(crate) conversation: Option<String>,
    #[schema(schema_with = schemas::action)]
    pub(crate) action: Action,
    pub(crate) score: f64,
    pub(crate) threshold: f64,
    pub(crate) window_size: u16,
    #[schema(schema_with = schemas::counting)]
    pub(crate) counting: Counting,
    /// The window that fired.
    #[schema(schema_with = schemas::window)]
    pub(crate) window: WindowKind,
    /// The signals of the score.
    pub(crate) signals: Signals,
    #[schema(schema_with = schemas::incident_state)]
    pub(crate) state: IncidentState,
    /// When the loop began; `null` for incidents of versions that did not record it.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) stuck_since: Option<Timestamp>,
    /// How many calls the agent made since then, the stopped one included.
    pub(crate) stuck_calls: u64,
    /// The cycle, if calls were repeated in the same order.
    pub(crate) cycle: Option<CycleView>,
    /// The cost of those calls when the agent was stopped; `null` if no price is known.
    #[schema(value_type = Option<f64>)]
    pub(crate) loop_cost_usd: Option<NanoUsd>,
    /// The cost of an hour of that loop.
    #[schema(value_type = Option<f64>)]
    pub(crate) loop_cost_per_hour_usd: Option<NanoUsd>,
    /// How many further requests were refused until the agent was activated again. They cost
    /// nothing.
    pub(crate) refused: u64,
    /// When the agent was activated again.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) closed_at: Option<Timestamp>,
    /// Where the activation came from.
    #[schema(schema_with = schemas::activated_by)]
    pub(crate) closed_by: Option<ActivatedBy>,
    /// A person's feedback.
    #[schema(schema_with = schemas::feedback_or_null)]
    pub(crate) feedback: Option<Feedback>,
    /// How many calls the evidence holds.
    pub(crate) evidence_count: u64,
}

/// Calls that were repeated in the same order.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[schema(as = Cycle)]
pub(crate) struct CycleView {
    /// How many calls one lap has.
    pub(crate) period: u32,
    /// How many whole laps there were.
    pub(crate) laps: u32,
}

impl From<IncidentRow> for IncidentView {
    fn from(row: IncidentRow) -> IncidentView {
        let lasted = row.stuck_since.map(|since| row.at.millis_since(since));
        let per_hour = row.loop_cost.zip(lasted).and_then(|(cost, lasted)| cost_per_hour(cost, lasted));
        IncidentView {
            id: row.id,
            agent_id: row.agent,
            timestamp: row.at,
            provider: row.provider,
            model: row.model,
            conversation: row.conversation,
            action: row.kill_switch.action,
            score: row.score.value,
            threshold: row.kill_switch.threshold,
            window_size: row.kill_switch.window_size,
            counting: row.kill_switch.counting,
            window: row.score.window,
            signals: row.score.signals.into(),
            state: row.state,
            stuck_since: row.stuck_since,
            stuck_calls: row.stuck_calls,
            cycle: row.cycle.map(|Cycle { period, laps }| CycleView { period, laps }),
            loop_cost_usd: row.loop_cost,
            loop_cost_per_hour_usd: per_hour,
            refused: row.refused,
            closed_at: row.closed_at,
            closed_by: row.closed_by,
            feedback: row.feedback,
            evidence_count: row.evidence_count,
        }
    }
}

/// Which incidents.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct IncidentsQuery {
    #[param(value_type = Option<String>)]
    agent: Option<AgentId>,
    #[param(schema_with = schemas::incident_state, required = false)]
    state: Option<IncidentState>,
    /// How many at most.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Where the page starts: `next_cursor` of the one before.
    cursor: Option<String>,
}

impl Paging for IncidentsQuery {
    fn limit(&self) -> Option<u32> {
        self.limit
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// A person's feedback on an incident.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = IncidentFeedback)]
pub(crate) struct FeedbackBody {
    /// Whether it was a loop.
    #[schema(schema_with = schemas::feedback)]
    feedback: Feedback,
}

/// Incidents, newest first.
#[utoipa::path(get, path = "/api/incidents", tag = "incidents", operation_id = "list_incidents",
    params(IncidentsQuery), responses((status = 200, body = List<IncidentView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    Parameters(query): Parameters<IncidentsQuery>,
) -> Result<Json<List<IncidentView>>, Problem> {
    let page = query.page()?;
    let filter = IncidentFilter { agent: query.agent, state: query.state, ..IncidentFilter::default() };
    let incidents = app.web().store.incidents(&filter, &page).await.map_err(Problem::of_page)?;
    Ok(Json(List::of(incidents, IncidentView::from)))
}

/// One incident.
#[utoipa::path(get, path = "/api/incidents/{id}", tag = "incidents", operation_id = "get_incident",
    params(("id" = String, Path, description = "The incident")),
    responses((status = 200, body = IncidentView), Refusals))]
pub(crate) async fn get(State(app): State<App>, IncidentPath(id): IncidentPath) -> Result<Json<IncidentView>, Problem> {
    read(&app, id).await.map(Json)
}

/// Records whether it was a loop.
#[utoipa::path(post, path = "/api/incidents/{id}/feedback", tag = "incidents", operation_id = "give_feedback",
    params(("id" = String, Path, description = "The incident")), request_body = FeedbackBody,
    responses((status = 200, body = IncidentView), Refusals, BodyRefusals))]
pub(crate) async fn feedback(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IncidentPath(id): IncidentPath,
    Body(body): Body<FeedbackBody>,
) -> Result<Json<IncidentView>, Problem> {
    commands.set_feedback(id, body.feedback).await?;
    read(&app, id).await.map(Json)
}

/// Deletes an incident with its evidence.
#[utoipa::path(delete, path = "/api/incidents/{id}", tag = "incidents", operation_id = "delete_incident",
    params(("id" = String, Path, description = "The incident")),
    responses((status = 204, description = "It is deleted"), Refusals))]
pub(crate) async fn delete(
    ByCaller(commands): ByCaller,
    IncidentPath(id): IncidentPath,
) -> Result<StatusCode, Problem> {
    commands.delete_incident(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// One incident.
pub(crate) async fn read(app: &App, id: IncidentId) -> Result<IncidentView, Problem> {
    // Refusals are counted with the events, so this waits until the events sent so far are written.
    app.web().recorder.catch_up().await;
    app.web().store.incident(id).await?.map(IncidentView::from).ok_or_else(|| unknown(id))
}

fn unknown(id: IncidentId) -> Problem {
    Problem::not_found(format!("There is no incident {id}."))
}
