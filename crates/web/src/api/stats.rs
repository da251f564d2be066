//! Statistics of calls, cost and latency in a range of time, and in the same time before it.

use axum::Json;
use axum::extract::State;
use model::{AgentId, Timestamp, Unscored};
use serde::Serialize;
use store::{ConversationRow, Figures, Period, Resolution, Totals};
use utoipa::ToSchema;

use crate::app::App;
use crate::input::{AgentPath, Parameters, RangeQuery};
use crate::problem::{Problem, Refusals};

/// How many agents or conversations are listed: the most expensive ones.
const LISTED: u32 = 50;

/// Totals of calls.
#[derive(Serialize, ToSchema)]
#[schema(as = Sums)]
pub(crate) struct SumsView {
    /// Calls that were forwarded.
    requests: u64,
    /// Forwarded calls that failed.
    errors: u64,
    /// Calls that were refused.
    blocked: u64,
    /// Input tokens, cached ones included.
    tokens_in: u64,
    /// Output tokens, reasoning included.
    tokens_out: u64,
    tokens_cached: u64,
    tokens_cache_write: u64,
    tokens_reasoning: u64,
    /// US dollars, without the cost of `unpriced_requests`.
    cost_usd: f64,
    /// Requests to models without a known price.
    unpriced_requests: u64,
    /// Requests whose tokens and cost are estimated.
    estimated_requests: u64,
    /// Latencies; `null` if they are not kept.
    latency_ms: Option<Latency>,
}

/// Latencies in milliseconds, accurate to two percent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Latency {
    p50: u64,
    p90: u64,
    p95: u64,
    p99: u64,
}

impl From<&Totals> for SumsView {
    fn from(totals: &Totals) -> SumsView {
        let percentile = |share| totals.latency.percentile(share).unwrap_or_default();
        let latency =
            || Latency { p50: percentile(0.5), p90: percentile(0.9), p95: percentile(0.95), p99: percentile(0.99) };
        SumsView {
            requests: totals.requests,
            errors: totals.errors,
            blocked: totals.blocked,
            tokens_in: totals.tokens_in,
            tokens_out: totals.tokens_out,
            tokens_cached: totals.tokens_cached,
            tokens_cache_write: totals.tokens_cache_write,
            tokens_reasoning: totals.tokens_reasoning,
            cost_usd: totals.cost.usd(),
            unpriced_requests: totals.unpriced,
            estimated_requests: totals.estimated,
            latency_ms: (totals.latency.total() > 0).then(latency),
        }
    }
}

/// One step of a series.
#[derive(Serialize, ToSchema)]
pub(crate) struct StepView {
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
    #[serde(flatten)]
    sums: SumsView,
}

/// Totals of one model.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelStats {
    provider: Option<String>,
    model: Option<String>,
    #[serde(flatten)]
    sums: SumsView,
}

/// Totals of one provider.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProviderStats {
    provider: Option<String>,
    #[serde(flatten)]
    sums: SumsView,
}

/// Totals of one agent.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentStats {
    #[schema(value_type = String)]
    agent_id: AgentId,
    #[serde(flatten)]
    sums: SumsView,
}

/// Totals of one conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationStats {
    conversation: String,
    /// The hour it was first seen in.
    #[schema(value_type = String, format = DateTime)]
    first_hour: Timestamp,
    /// The hour it was last seen in.
    #[schema(value_type = String, format = DateTime)]
    last_hour: Timestamp,
    #[serde(flatten)]
    sums: SumsView,
}

impl From<ConversationRow> for ConversationStats {
    fn from(row: ConversationRow) -> ConversationStats {
        let sums = SumsView::from(&row.totals);
        let ConversationRow { conversation, first_hour, last_hour, .. } = row;
        ConversationStats { conversation, first_hour, last_hour, sums }
    }
}

/// Statistics of a range of time.
#[derive(Serialize, ToSchema)]
#[schema(as = Stats)]
pub(crate) struct StatsView {
    #[schema(value_type = String, format = DateTime)]
    from: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    to: Timestamp,
    #[serde(flatten)]
    sums: SumsView,
    /// The same time right before it.
    previous: SumsView,
    /// How long a step of the series is: `hour` or `day` (of UTC).
    step: &'static str,
    series: Vec<StepView>,
    /// The most expensive first.
    models: Vec<ModelStats>,
    /// The most expensive first.
    providers: Vec<ProviderStats>,
    /// In the overview: the most expensive agents; `latency_ms` is not kept for them here.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<AgentStats>>,
    /// For an agent: its most expensive conversations last seen in the range, each with its totals
    /// since it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversations: Option<Vec<ConversationStats>>,
    /// For an agent: its calls that were forwarded without a score, by reason; the most frequent
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    unscored: Option<Vec<UnscoredCount>>,
}

/// Calls that were forwarded without a score for one reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct UnscoredCount {
    /// Such as `no_conversation` or `invalid_json`.
    reason: &'static str,
    requests: u64,
}

impl StatsView {
    fn new(figures: Figures, previous: &Totals) -> StatsView {
        let named = |name: String| (!name.is_empty()).then_some(name);
        let providers = figures.providers().into_iter();
        StatsView {
            from: figures.period.from(),
            to: figures.period.to(),
            sums: SumsView::from(&figures.total),
            previous: SumsView::from(previous),
            step: match figures.period.resolution() {
                Resolution::Hour => "hour",
                Resolution::Day => "day",
            },
            series: figures
                .series
                .iter()
                .map(|(at, totals)| StepView { timestamp: *at, sums: totals.into() })
                .collect(),
            providers: providers
                .map(|(name, totals)| ProviderStats { provider: named(name), sums: (&totals).into() })
                .collect(),
            models: figures
                .models
                .into_iter()
                .map(|(name, totals)| ModelStats {
                    provider: named(name.provider),
                    model: named(name.model),
                    sums: (&totals).into(),
                })
                .collect(),
            agents: None,
            conversations: None,
            unscored: None,
        }
    }
}

/// Statistics of all agents in a range of time, and in the same time before it.
#[utoipa::path(get, path = "/api/stats/overview", tag = "stats", operation_id = "overview", params(RangeQuery),
    responses((status = 200, body = StatsView), Refusals))]
pub(crate) async fn overview(
    State(app): State<App>,
    Parameters(query): Parameters<RangeQuery>,
) -> Result<Json<StatsView>, Problem> {
    let (web, period) = (app.web(), query.period(app.web().clock.now())?);
    web.recorder.catch_up().await;
    let mut stats = read(&app, None, period).await?;
    let agents = web.store.agent_figures(period, LISTED).await?.into_iter();
    stats.agents = Some(agents.map(|(agent_id, totals)| AgentStats { agent_id, sums: (&totals).into() }).collect());
    Ok(Json(stats))
}

/// Statistics of one agent in a range of time, and in the same time before it.
#[utoipa::path(get, path = "/api/agents/{id}/stats", tag = "stats", operation_id = "agent_stats",
    params(("id" = String, Path, description = "The agent"), RangeQuery),
    responses((status = 200, body = StatsView), Refusals))]
pub(crate) async fn agent(
    State(app): State<App>,
    AgentPath(id): AgentPath,
    Parameters(query): Parameters<RangeQuery>,
) -> Result<Json<StatsView>, Problem> {
    let (web, period) = (app.web(), query.period(app.web().clock.now())?);
    web.recorder.catch_up().await;
    app.control().require_agent(&id).await?;
    let mut stats = read(&app, Some(&id), period).await?;
    let conversations = web.store.conversation_figures(&id, period, LISTED).await?;
    stats.conversations = Some(conversations.into_iter().map(ConversationStats::from).collect());
    let unscored = web.store.unscored(&id, period).await?.into_iter();
    let count = |(reason, requests): (Unscored, u64)| UnscoredCount { reason: reason.as_str(), requests };
    stats.unscored = Some(unscored.map(count).collect());
    Ok(Json(stats))
}

/// Statistics of a period and of the same time before it, of one agent or of all.
async fn read(app: &App, agent: Option<&AgentId>, period: Period) -> Result<StatsView, Problem> {
    let store = &app.web().store;
    let previous = store.total_before(agent, period).await?;
    Ok(StatsView::new(store.figures(agent, period).await?, &previous))
}
