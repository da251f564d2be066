//! Events, many in one transaction. What is done here is done for every call: few statements, few allocations.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use model::{AgentId, BlockReason, Epoch, Event, EventType, KillSwitch, NanoUsd, Timestamp};
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, SqliteConnection};

use super::rollup;
use super::rows::Insert;
use crate::columns::signed;
use crate::{Store, alerts, fingerprint};

/// `count` and `minute` have their defaults.
static INSERT_EVENTS: LazyLock<Insert> = LazyLock::new(|| {
    let into = "events (id, agent_id, epoch, number, event_type, timestamp, conversation, provider, model, model_asked,
        status_code, latency_ms, first_byte_ms, tokens_in, tokens_out, tokens_cached, tokens_cache_write, tokens_reasoning, cost_nano_usd,
        cost_estimated, streamed,
        score, similar_prompts, similar_responses, repeated_tool_calls, score_window, would_have_stopped, prompt_hash,
        fingerprint, error, blocked, block_reason, incident_id)";
    Insert::new(into, 33, "")
});

static TOUCH_AGENTS: LazyLock<Insert> = LazyLock::new(|| {
    let into = "agents (id, enabled, window_size, threshold, action, counting, created_at, last_seen)";
    let then = "on conflict (id) do update set last_seen = excluded.last_seen
        where agents.last_seen is null or agents.last_seen < excluded.last_seen";
    Insert::new(into, 8, then)
});

/// Writes `events` and what they say of their agents.
pub(super) async fn write(
    transaction: &mut SqliteConnection,
    events: &[Event],
    store: &Store,
) -> Result<(), sqlx::Error> {
    touch_agents(transaction, events, store.settings().kill_switch).await?;
    let (refusals, others): (Vec<&Event>, Vec<&Event>) = events.iter().partition(|event| is_counted(event));
    insert(transaction, &others).await?;
    count_refusals(transaction, &refusals).await?;
    alerts::count_minutes(transaction, events).await?;
    rollup::add(transaction, events, &store.config.unpriced).await
}

/// Inserts events as they are.
pub(super) async fn insert(transaction: &mut SqliteConnection, events: &[&Event]) -> Result<(), sqlx::Error> {
    INSERT_EVENTS.execute(transaction, events, |arguments, event| push_event(arguments, event)).await
}

/// Notes when each agent was last heard of; makes those that are heard of for the first time.
async fn touch_agents(
    transaction: &mut SqliteConnection,
    events: &[Event],
    defaults: KillSwitch,
) -> Result<(), sqlx::Error> {
    let mut heard: HashMap<&AgentId, (Timestamp, Timestamp)> = HashMap::new();
    for event in events {
        let (first, last) = heard.entry(&event.agent).or_insert((event.time, event.time));
        *first = event.time.min(*first);
        *last = event.time.max(*last);
    }
    let heard: Vec<_> = heard.into_iter().collect();
    TOUCH_AGENTS
        .execute(transaction, &heard, |arguments, (agent, (first, last))| {
            arguments.add(text(agent.as_str()))?;
            arguments.add(defaults.enabled)?;
            arguments.add(defaults.window_size)?;
            arguments.add(defaults.threshold)?;
            arguments.add(defaults.action.as_str())?;
            arguments.add(defaults.counting.as_str())?;
            arguments.add(first.as_millis())?;
            arguments.add(last.as_millis())
        })
        .await
}

/// Whether an event is a refusal of an inactive agent or by a policy. Such an agent may try again without end, so its
/// refusals are counted in one row per reason and minute. A loop is not: each call of it was scored and has its fingerprint.
fn is_counted(event: &Event) -> bool {
    event.event_type == EventType::Blocked && event.block_reason != Some(BlockReason::LoopDetected)
}

/// What refusals are counted by; the last is the minute.
type CountedBy<'a> = (&'a AgentId, Epoch, Option<BlockReason>, i64);

async fn count_refusals(transaction: &mut SqliteConnection, refusals: &[&Event]) -> Result<(), sqlx::Error> {
    let mut counts: HashMap<CountedBy<'_>, (&Event, u64)> = HashMap::new();
    for event in refusals {
        let minute = event.time.as_millis().div_euclid(60_000);
        counts.entry((&event.agent, event.epoch, event.block_reason, minute)).or_insert((event, 0)).1 += 1;
    }
    for ((agent, epoch, reason, minute), (first, count)) in counts {
        sqlx::query(
            "insert into events (id, agent_id, epoch, event_type, timestamp, provider, model, status_code, streamed,
                would_have_stopped, blocked, block_reason, incident_id, count, minute)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 1, $10, $11, $12, $13)
             on conflict (agent_id, epoch, block_reason, minute) where minute is not null
             do update set count = events.count + excluded.count",
        )
        .bind(first.id.to_string())
        .bind(agent.as_str())
        .bind(signed(epoch.0))
        .bind(first.event_type.as_str())
        .bind(first.time.as_millis())
        .bind(first.provider.as_deref())
        .bind(first.model.as_deref())
        .bind(first.status)
        .bind(first.streamed)
        .bind(reason.map(BlockReason::as_str))
        .bind(first.incident.map(|incident| incident.to_string()))
        .bind(signed(count))
        .bind(minute)
        .execute(&mut *transaction)
        .await?;
        if reason == Some(BlockReason::Inactive) {
            count_with_incident(transaction, agent, epoch, count).await?;
        }
    }
    Ok(())
}

/// Counts refusals with the kill that they follow, where people look at them; there they stay when the events are too old.
async fn count_with_incident(
    transaction: &mut SqliteConnection,
    agent: &AgentId,
    epoch: Epoch,
    count: u64,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(
        "update incidents set refused = refused + $1 where agent_id = $2 and epoch = $3 and state <> 'observed'",
    );
    query.bind(signed(count)).bind(agent.as_str()).bind(signed(epoch.0)).execute(transaction).await.map(drop)
}

/// The values of one event, in the order of [`INSERT_EVENTS`].
fn push_event(arguments: &mut SqliteArguments, event: &Event) -> Result<(), BoxDynError> {
    let count = |number: Option<u64>| number.map(signed);
    arguments.add(text(event.id.0.hyphenated().encode_lower(&mut [0; 36])))?;
    arguments.add(text(event.agent.as_str()))?;
    arguments.add(signed(event.epoch.0))?;
    arguments.add(event.fingerprint.map(|fingerprint| signed(fingerprint.number)))?;
    arguments.add(text(event.event_type.as_str()))?;
    arguments.add(event.time.as_millis())?;
    arguments.add(event.conversation.as_deref().map(text))?;
    arguments.add(event.provider.as_deref().map(text))?;
    arguments.add(event.model.as_deref().map(text))?;
    arguments.add(event.model_asked.as_deref().map(text))?;
    arguments.add(event.status)?;
    arguments.add(count(event.latency_ms))?;
    arguments.add(count(event.first_byte_ms))?;
    arguments.add(count(event.usage.input))?;
    arguments.add(count(event.usage.output))?;
    arguments.add(count(event.usage.cached))?;
    arguments.add(count(event.usage.cache_write))?;
    arguments.add(count(event.usage.reasoning))?;
    arguments.add(event.cost.map(NanoUsd::nanos))?;
    arguments.add(event.estimated)?;
    arguments.add(event.streamed)?;
    arguments.add(event.score.map(|score| score.value))?;
    arguments.add(event.score.map(|score| score.signals.similar_prompts))?;
    arguments.add(event.score.map(|score| score.signals.similar_responses))?;
    arguments.add(event.score.map(|score| score.signals.repeated_tool_calls))?;
    arguments.add(event.score.map(|score| text(score.window.as_str())))?;
    arguments.add(event.would_have_stopped)?;
    arguments.add(event.fingerprint.and_then(|it| it.prompt).map(|hash| hash.0.cast_signed()))?;
    arguments.add(event.fingerprint.as_ref().map(fingerprint::encode))?;
    arguments.add(event.error.as_deref().map(text))?;
    arguments.add(event.block_reason.is_some())?;
    arguments.add(event.block_reason.map(|reason| text(reason.as_str())))?;
    arguments.add(event.incident.map(|incident| text(&incident.to_string())))
}

/// Text as an argument with one allocation; a plain `&str` takes two.
pub(super) fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}
