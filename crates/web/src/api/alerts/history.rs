//! The history of alerts: delivered, queued and failed ones, with every attempt.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use model::{AgentId, AlertData, ChannelId, ChannelKind, DeliveryId, DeliveryState, IncidentId, RuleId, Timestamp};
use serde::{Deserialize, Serialize};
use store::{AttemptRow, DeliveryFilter, DeliveryRow};
use tokio::sync::watch;
use utoipa::{IntoParams, ToSchema};

use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{DeliveryPath, Paging, Parameters};
use crate::problem::{Problem, Refusals};

/// How long the answer to a test waits for its first attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// One alert to one channel.
#[derive(Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(crate) struct DeliveryView {
    /// The same on every attempt; of a webhook, its `webhook-id`.
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: DeliveryId,
    /// What it is about, as webhooks name it.
    #[serde(rename = "type")]
    pub(crate) alert_type: &'static str,
    /// The alert in one sentence.
    pub(crate) summary: String,
    #[schema(schema_with = schemas::delivery_state)]
    pub(crate) state: DeliveryState,
    /// When its cause happened.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
    #[schema(value_type = Option<String>)]
    pub(crate) agent_id: Option<AgentId>,
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) incident_id: Option<IncidentId>,
    /// `null` for a test, a digest, and kills where no rule exists.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) rule_id: Option<RuleId>,
    #[schema(value_type = String, format = "uuid")]
    pub(crate) channel_id: ChannelId,
    /// The channel's name when it was queued.
    pub(crate) channel: String,
    #[schema(schema_with = schemas::channel_kind)]
    pub(crate) kind: ChannelKind,
    /// When it is tried next, while it is queued.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) next_attempt_at: Option<Timestamp>,
    /// When it was delivered or given up.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) finished_at: Option<Timestamp>,
    /// Why delivery was given up.
    pub(crate) reason: Option<String>,
    /// The digest that it was sent in.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub(crate) digest_id: Option<DeliveryId>,
    /// Every attempt, oldest first.
    pub(crate) attempts: Vec<AttemptView>,
}

/// One attempt.
#[derive(Serialize, ToSchema)]
#[schema(as = DeliveryAttempt)]
pub(crate) struct AttemptView {
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
    pub(crate) took_ms: u64,
    /// Whether the target accepted it.
    pub(crate) delivered: bool,
    /// The status of the answer, if the channel uses HTTP.
    pub(crate) status_code: Option<u16>,
    /// The answer, or what went wrong.
    pub(crate) answer: String,
}

impl From<AttemptRow> for AttemptView {
    fn from(row: AttemptRow) -> AttemptView {
        let AttemptRow { at, took_ms, delivered, status, answer } = row;
        AttemptView { timestamp: at, took_ms, delivered, status_code: status, answer }
    }
}

impl From<DeliveryRow> for DeliveryView {
    fn from(row: DeliveryRow) -> DeliveryView {
        DeliveryView {
            id: row.id,
            alert_type: row.alert_type.as_str(),
            summary: row.data.as_ref().map(AlertData::summary).unwrap_or_default(),
            state: row.state,
            timestamp: row.queued_at,
            agent_id: row.agent,
            incident_id: row.incident,
            rule_id: row.rule,
            channel_id: row.channel,
            channel: row.channel_name,
            kind: row.channel_kind,
            next_attempt_at: (row.state == DeliveryState::Queued).then_some(row.due_at),
            finished_at: row.finished_at,
            reason: row.reason,
            digest_id: row.digest,
            attempts: row.attempts.into_iter().map(AttemptView::from).collect(),
        }
    }
}

/// Which alerts.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    #[param(value_type = Option<String>)]
    agent: Option<AgentId>,
    #[param(value_type = Option<String>)]
    channel: Option<ChannelId>,
    #[param(value_type = Option<String>)]
    incident: Option<IncidentId>,
    #[param(schema_with = schemas::delivery_state, required = false)]
    state: Option<DeliveryState>,
    /// How many at most.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Where the page starts: `next_cursor` of the one before.
    cursor: Option<String>,
}

impl Paging for HistoryQuery {
    fn limit(&self) -> Option<u32> {
        self.limit
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// Alerts, delivered or not, newest first.
#[utoipa::path(get, path = "/api/alert-history", tag = "alerts", operation_id = "list_alert_history",
    params(HistoryQuery), responses((status = 200, body = List<DeliveryView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    Parameters(query): Parameters<HistoryQuery>,
) -> Result<Json<List<DeliveryView>>, Problem> {
    let page = query.page()?;
    let HistoryQuery { agent, channel, incident, state, .. } = query;
    let filter = DeliveryFilter { agent, channel, incident, state, without_digested: false };
    let deliveries = app.web().store.deliveries(&filter, &page).await.map_err(Problem::of_page)?;
    Ok(Json(List::of(deliveries, DeliveryView::from)))
}

/// One alert to one channel.
#[utoipa::path(get, path = "/api/alert-history/{id}", tag = "alerts", operation_id = "get_alert",
    params(("id" = String, Path, description = "The delivery")),
    responses((status = 200, body = DeliveryView), Refusals))]
pub(crate) async fn get(State(app): State<App>, DeliveryPath(id): DeliveryPath) -> Result<Json<DeliveryView>, Problem> {
    read(&app, id).await.map(|row| Json(row.into()))
}

/// Queues a failed alert again.
#[utoipa::path(post, path = "/api/alert-history/{id}/retry", tag = "alerts", operation_id = "retry_alert",
    params(("id" = String, Path, description = "The delivery")),
    responses((status = 200, body = DeliveryView), Refusals))]
pub(crate) async fn retry(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    DeliveryPath(id): DeliveryPath,
) -> Result<Json<DeliveryView>, Problem> {
    commands.retry_delivery(id).await?;
    read(&app, id).await.map(|row| Json(row.into()))
}

/// A delivery after its first attempt, or after some seconds without one. `outbox` was subscribed
/// before it was queued.
pub(super) async fn first_attempt(
    app: &App,
    id: DeliveryId,
    mut outbox: watch::Receiver<u64>,
) -> Result<DeliveryView, Problem> {
    let deadline = tokio::time::Instant::now() + ATTEMPT_TIMEOUT;
    loop {
        let row = read(app, id).await?;
        let waiting = row.attempts.is_empty() && row.state == DeliveryState::Queued;
        if !waiting || tokio::time::timeout_at(deadline, outbox.changed()).await.is_err() {
            return Ok(row.into());
        }
    }
}

async fn read(app: &App, id: DeliveryId) -> Result<DeliveryRow, Problem> {
    app.web().store.delivery(id).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: DeliveryId) -> Problem {
    Problem::not_found(format!("There is no alert {id}."))
}
