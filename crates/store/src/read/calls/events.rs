//! Events.

use model::{
    AgentId, AgentKeyId, BlockReason, CLIENT_WENT_AWAY, CallId, Event, EventType, NanoUsd, TextHash, Timestamp, Usage,
};

use crate::columns::{self, first_id, invalid, signed, unsigned};
use crate::database::{self, QueryBuilder, Row, dialect};
use crate::{Page, PageRequest, Store, StoreError};

/// One event. `event.fingerprint` is not read back.
#[derive(Clone, Debug)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// The number of refused calls in this row: refusals of inactive agents and by policies are
    /// counted in one row per minute.
    pub count: u64,
    /// The hash of its prompt, if it was scored and had one.
    pub prompt: Option<TextHash>,
}

/// Filters events.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "each names the field it compares")]
pub struct EventFilter {
    pub agent: Option<AgentId>,
    pub event_type: Option<EventType>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub conversation: Option<String>,
    pub status: Option<u16>,
    pub blocked: Option<bool>,
    pub block_reason: Option<BlockReason>,
    /// Only calls that [failed](Event::is_error).
    pub failed: bool,
    /// Only calls that took at least this long.
    pub min_latency_ms: Option<u64>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Only events whose agent, model or conversation contains this, in any case.
    pub text: Option<String>,
    /// Whether `text` is also searched for in errors.
    pub text_in_errors: bool,
}

/// The time in an id may differ a little from the time of its event.
const ID_SLACK_MS: i64 = 60 * 60 * 1000;

/// All columns but the fingerprint, which only the guard can read.
pub(super) const COLUMNS: &str =
    "id, agent_id, epoch, event_type, timestamp, conversation, provider, model, model_asked, status_code, latency_ms,
    first_byte_ms, tokens_in, tokens_out, tokens_cached, tokens_cache_write, tokens_reasoning, cost_nano_usd, cost_estimated,
    streamed,
    score, similar_prompts, similar_responses, repeated_tool_calls, score_window, would_have_stopped, error,
    block_reason, incident_id, count, prompt_hash, key_id";

impl Store {
    /// A page of events, newest first (`from` is part of the range, `to` is not).
    pub async fn events(&self, filter: &EventFilter, page: &PageRequest) -> Result<Page<EventRow>, StoreError> {
        if let Some(text) = &filter.text {
            return self.events_with_text(text, filter, page).await;
        }
        let (after, mut query) = (page.after()?, select());
        filter.push_onto(&mut query);
        if let Some(after) = &after {
            query.push(" and id < ").push_bind(after.clone());
        }
        let end = self.end_of_scan(filter, after.as_deref()).await?;
        if let Some(end) = &end {
            query.push(" and id >= ").push_bind(end.clone());
        }
        // Ids sort by time: newest first without an index on the time.
        query.push(" order by id desc limit ").push_bind(page.rows());
        let rows = query.build().try_map(event_row).fetch_all(&self.readers).await?;
        Ok(Page::of(rows, page, |row| row.event.id.to_string()).or_continue_after(end.as_deref()))
    }

    /// The id of the last event that a page examines if no index finds its rows; `None` if it may
    /// examine all of them.
    pub(super) async fn end_of_scan(
        &self,
        filter: &EventFilter,
        after: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        if !filter.is_unindexed() {
            return Ok(None);
        }
        let mut query = QueryBuilder::new("select id from events where true");
        if let Some(agent) = &filter.agent {
            query.push(" and agent_id = ").push_bind(agent.as_str().to_owned());
        }
        if let Some(after) = after {
            query.push(" and id < ").push_bind(after.to_owned());
        }
        query.push(" order by id desc limit 1 offset ").push_bind(i64::from(self.tuning.examined_events));
        Ok(query.build().try_map(|row: Row| row.try_get("id")).fetch_optional(&self.readers).await?)
    }

    /// How many calls of an agent were refused since `from` because it was inactive.
    pub async fn refused_while_inactive(&self, agent: &AgentId, from: Timestamp) -> Result<u64, StoreError> {
        // Refusals are counted by the minute, and an index has only those rows.
        let query = database::query_scalar(concat!(
            "select ",
            dialect::sum!("count"),
            " from events where agent_id = $1 and block_reason = $2 and minute is not null and minute >= $3"
        ));
        let minute = from.as_millis().div_euclid(60_000);
        let query = query.bind(agent.as_str().to_owned()).bind(BlockReason::Inactive.as_str()).bind(minute);
        Ok(unsigned(query.fetch_one(&self.readers).await?))
    }

    /// One event.
    pub async fn event(&self, id: CallId) -> Result<Option<EventRow>, StoreError> {
        let mut query = select();
        query.push(" and id = ").push_bind(id.to_string());
        Ok(query.build().try_map(event_row).fetch_optional(&self.readers).await?)
    }
}

fn select() -> QueryBuilder {
    let mut query = QueryBuilder::new("select ");
    query.push(COLUMNS).push(" from events where true");
    query
}

impl EventFilter {
    /// Whether it filters by something rare that has no index: failed or slow calls.
    fn is_unindexed(&self) -> bool {
        self.failed || self.min_latency_ms.is_some()
    }

    /// Adds all conditions but the text.
    pub(super) fn push_onto(&self, query: &mut QueryBuilder) {
        let words = [
            (" and agent_id = ", self.agent.as_ref().map(AgentId::as_str)),
            (" and event_type = ", self.event_type.map(EventType::as_str)),
            (" and provider = ", self.provider.as_deref()),
            (" and model = ", self.model.as_deref()),
            (" and conversation = ", self.conversation.as_deref()),
            (" and block_reason = ", self.block_reason.map(BlockReason::as_str)),
        ];
        let numbers = [
            (" and status_code = ", self.status.map(i64::from)),
            (" and blocked = ", self.blocked.map(i64::from)),
            (" and timestamp >= ", self.from.map(Timestamp::as_millis)),
            (" and timestamp < ", self.to.map(Timestamp::as_millis)),
            (" and latency_ms >= ", self.min_latency_ms.map(signed)),
        ];
        if self.failed {
            push_failed(query);
        }
        if let Some(from) = self.from {
            // Ids sort by time: much older ones need not be examined.
            let earlier = Timestamp::from_millis(from.as_millis() - ID_SLACK_MS);
            query.push(" and id >= ").push_bind(first_id(earlier));
        }
        for (condition, value) in words {
            if let Some(value) = value {
                query.push(condition).push_bind(value.to_owned());
            }
        }
        for (condition, value) in numbers {
            if let Some(value) = value {
                query.push(condition).push_bind(value);
            }
        }
    }
}

/// The same as [`Event::is_error`].
fn push_failed(query: &mut QueryBuilder) {
    query.push(" and event_type = ").push_bind(EventType::LlmCall.as_str());
    query.push(" and coalesce(status_code, 0) <> ").push_bind(CLIENT_WENT_AWAY);
    query.push(" and (status_code >= 400 or (error not in (").push_bind(Event::NOT_SCORED).push(", ");
    query.push_bind(Event::CLIENT_LEFT).push(")");
    for prefix in [Event::UNREAD, Event::UNSUPPORTED] {
        query.push(" and substr(error, 1, ").push(prefix.chars().count()).push(") <> ").push_bind(prefix);
    }
    query.push("))");
}

pub(super) fn event_row(row: Row) -> Result<EventRow, sqlx::Error> {
    let count = |column: &str| row.try_get::<Option<i64>, _>(column).map(|number| number.map(unsigned));
    let block_reason: Option<&str> = row.try_get("block_reason")?;
    let credential: Option<String> = row.try_get("key_id")?;
    let event = Event {
        id: CallId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        agent: columns::agent_id(&row, "agent_id")?,
        epoch: columns::epoch(&row)?,
        event_type: EventType::parse(row.try_get("event_type")?).ok_or_else(|| invalid("event_type"))?,
        time: columns::timestamp(&row, "timestamp")?,
        conversation: row.try_get("conversation")?,
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        model_asked: row.try_get("model_asked")?,
        status: row.try_get("status_code")?,
        latency_ms: count("latency_ms")?,
        first_byte_ms: count("first_byte_ms")?,
        usage: Usage {
            input: count("tokens_in")?,
            output: count("tokens_out")?,
            cached: count("tokens_cached")?,
            cache_write: count("tokens_cache_write")?,
            // It only affects the price, which is in the cost.
            cache_write_long: None,
            reasoning: count("tokens_reasoning")?,
        },
        cost: row.try_get::<Option<i64>, _>("cost_nano_usd")?.map(NanoUsd::new),
        estimated: row.try_get("cost_estimated")?,
        streamed: row.try_get("streamed")?,
        score: columns::score(&row)?,
        unscored: None,
        would_have_stopped: row.try_get("would_have_stopped")?,
        fingerprint: None,
        error: row.try_get("error")?,
        block_reason: block_reason.and_then(BlockReason::parse),
        incident: columns::incident_id(&row, "incident_id")?,
        key: credential.as_deref().and_then(AgentKeyId::parse),
        token_subject: credential.as_deref().and_then(|it| it.strip_prefix(columns::TOKEN_PREFIX)).map(Into::into),
    };
    let prompt: Option<i64> = row.try_get("prompt_hash")?;
    let prompt = prompt.map(|bits| TextHash(bits.cast_unsigned()));
    Ok(EventRow { event, count: row.try_get("count").map(unsigned)?, prompt })
}
