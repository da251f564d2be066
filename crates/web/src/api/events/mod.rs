//! Events: the record of every call and every change of an agent's state.

mod csv;
pub(crate) mod export;

use axum::Json;
use axum::extract::State;
use model::{AgentId, AgentKeyId, BlockReason, CallId, Event, EventType, IncidentId, NanoUsd, Timestamp, WindowKind};
use serde::{Deserialize, Serialize};
use store::{EventFilter, EventRow};
use utoipa::{IntoParams, ToSchema};

use self::export::ExportFormat;
use super::{List, Signals, schemas};
use crate::app::App;
use crate::event_reader::EventReader;
use crate::input::{EventPath, Paging, Parameters};
use crate::problem::{Problem, Refusals};

/// One event.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventView {
    /// Its id; for a call, the request id.
    #[schema(value_type = String, format = "uuid")]
    id: CallId,
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[schema(schema_with = schemas::event_type)]
    event_type: EventType,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
    provider: Option<String>,
    model: Option<String>,
    /// The status that the client got.
    status_code: Option<u16>,
    latency_ms: Option<u64>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    /// US dollars; `null` if the price is not known.
    cost_usd: Option<f64>,
    conversation: Option<String>,
    /// The loop score; `null` if the call was not scored.
    score: Option<f64>,
    blocked: bool,
    #[schema(schema_with = schemas::block_reason)]
    block_reason: Option<BlockReason>,
    details: EventDetails,
}

/// Further fields of an event.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventDetails {
    /// The model that the client asked for, if a policy replaced it by `model`.
    model_asked: Option<String>,
    /// From the call's arrival to the response's first byte.
    first_byte_ms: Option<u64>,
    /// The part of the input tokens that the provider had cached.
    tokens_cached: Option<u64>,
    /// The part of the input tokens that was written to the provider's cache.
    tokens_cache_write: Option<u64>,
    /// The part of the output tokens that was reasoning.
    tokens_reasoning: Option<u64>,
    /// Whether tokens and cost are an estimate: the provider did not report them, or the answer
    /// broke off.
    estimated: bool,
    streamed: bool,
    /// The signals of the score.
    signals: Option<Signals>,
    /// The window that the score comes from.
    #[schema(value_type = Option<String>)]
    window: Option<WindowKind>,
    /// Whether the kill switch would have stopped the call if it were on.
    would_have_stopped: bool,
    /// What went wrong: the provider's own message, at most 300 characters, without keys; what
    /// happened on the way; or why the call has no score. The provider's message may repeat a part
    /// of the prompt, so only operators of the agent see it; others see that there is one.
    error: Option<String>,
    #[schema(value_type = Option<String>, format = "uuid")]
    incident_id: Option<IncidentId>,
    /// The agent key that the call came with.
    #[schema(value_type = Option<String>, format = "uuid")]
    key_id: Option<AgentKeyId>,
    /// The subject of the call's token (`sub`), if it came with a token instead of a key.
    token_subject: Option<Box<str>>,
    /// How many refused calls this event stands for: refusals of inactive agents and by policies
    /// are counted by the minute.
    count: u64,
}

impl EventView {
    /// `event` as it is shown; it stands for `count` calls.
    pub(crate) fn new(event: Event, count: u64) -> EventView {
        let details = EventDetails {
            model_asked: event.model_asked,
            first_byte_ms: event.first_byte_ms,
            tokens_cached: event.usage.cached,
            tokens_cache_write: event.usage.cache_write,
            estimated: event.estimated,
            tokens_reasoning: event.usage.reasoning,
            streamed: event.streamed,
            signals: event.score.map(|score| score.signals.into()),
            window: event.score.map(|score| score.window),
            would_have_stopped: event.would_have_stopped,
            error: event.error,
            incident_id: event.incident,
            key_id: event.key,
            token_subject: event.token_subject,
            count,
        };
        EventView {
            id: event.id,
            agent_id: event.agent,
            event_type: event.event_type,
            timestamp: event.time,
            provider: event.provider,
            model: event.model,
            status_code: event.status,
            latency_ms: event.latency_ms,
            tokens_in: event.usage.input,
            tokens_out: event.usage.output,
            cost_usd: event.cost.map(NanoUsd::usd),
            conversation: event.conversation,
            score: event.score.map(|score| score.value),
            blocked: event.block_reason.is_some(),
            block_reason: event.block_reason,
            details,
        }
    }
}

impl From<EventRow> for EventView {
    fn from(row: EventRow) -> EventView {
        EventView::new(row.event, row.count)
    }
}

/// Which events.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    #[param(value_type = Option<String>)]
    agent: Option<AgentId>,
    #[serde(rename = "type")]
    #[param(schema_with = schemas::event_type, required = false)]
    event_type: Option<EventType>,
    provider: Option<String>,
    model: Option<String>,
    conversation: Option<String>,
    /// The HTTP status that the client got.
    #[param(maximum = 65535)]
    status: Option<u16>,
    blocked: Option<bool>,
    #[param(schema_with = schemas::block_reason_filter, required = false)]
    block_reason: Option<BlockReason>,
    /// Only calls that failed because of the provider or the proxy.
    #[serde(default)]
    failed: bool,
    /// Only calls that took at least this many milliseconds.
    #[param(format = Int64, maximum = 4294967295_u64)]
    min_latency_ms: Option<u32>,
    /// From this time on (RFC 3339).
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Before this time (RFC 3339).
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
    /// Only those whose agent, model, conversation or error contains this, in any case. Errors are
    /// searched for those only who may read all of them.
    text: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Where the page starts: `next_cursor` of the one before.
    cursor: Option<String>,
    /// The format of an export; only for exports, which have no `limit` and no `cursor`.
    #[param(inline)]
    format: Option<ExportFormat>,
}

impl EventsQuery {
    /// How the export is written, or what is wrong with the parameters of one.
    pub(crate) fn export_format(&self) -> Result<ExportFormat, Problem> {
        if self.limit.is_some() {
            return Err(Problem::field("limit", "is not known here: an export has all events"));
        }
        if self.cursor.is_some() {
            return Err(Problem::field("cursor", "is not known here: an export has all events"));
        }
        Ok(self.format.unwrap_or_default())
    }
}

impl Paging for EventsQuery {
    fn limit(&self) -> Option<u32> {
        self.limit
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

impl From<EventsQuery> for EventFilter {
    fn from(query: EventsQuery) -> EventFilter {
        EventFilter {
            agent: query.agent,
            event_type: query.event_type,
            provider: query.provider,
            model: query.model,
            conversation: query.conversation,
            status: query.status,
            blocked: query.blocked,
            block_reason: query.block_reason,
            failed: query.failed,
            min_latency_ms: query.min_latency_ms.map(u64::from),
            from: query.from,
            to: query.to,
            text: query.text,
            text_in_errors: false,
        }
    }
}

/// Events, newest first.
#[utoipa::path(get, path = "/api/events", tag = "events", operation_id = "list_events", params(EventsQuery),
    responses((status = 200, body = List<EventView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    events: EventReader,
    Parameters(query): Parameters<EventsQuery>,
) -> Result<Json<List<EventView>>, Problem> {
    let page = query.page()?;
    if query.format.is_some() {
        return Err(Problem::field("format", "is not known here: it is for /api/events/export"));
    }
    app.web().recorder.catch_up().await;
    let events = events.events(&query.into(), &page).await.map_err(Problem::of_page)?;
    Ok(Json(List::of(events, EventView::from)))
}

/// One event.
#[utoipa::path(get, path = "/api/events/{id}", tag = "events", operation_id = "get_event",
    params(("id" = String, Path, description = "The event, or the call's request id")),
    responses((status = 200, body = EventView), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    events: EventReader,
    EventPath(id): EventPath,
) -> Result<Json<EventView>, Problem> {
    app.web().recorder.catch_up().await;
    let row = events.event(id).await?;
    let row = row.ok_or_else(|| Problem::not_found(format!("There is no event {id}.")))?;
    Ok(Json(row.into()))
}
