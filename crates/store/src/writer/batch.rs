//! Events, many in one transaction. What is done here is done for every call: few statements, few allocations.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use model::{AgentId, BlockReason, Epoch, Event, EventType, KillSwitch, Timestamp};
use sqlx::{Arguments, SqliteConnection};

use super::events::text;
use super::rows::Insert;
use super::{events, rollup};
use crate::columns::signed;
use crate::{Store, alerts, unscored};

static TOUCH_AGENTS: LazyLock<Insert> = LazyLock::new(|| {
    let into = "agents (id, enabled, window_size, threshold, action, counting, created_at, last_seen)";
    let then = "on conflict (id) do update set last_seen = excluded.last_seen
        where agents.last_seen is null or agents.last_seen < excluded.last_seen";
    Insert::new(into, 8, then)
});

/// Writes `events` and what they say of their agents.
pub(super) async fn write(
    transaction: &mut SqliteConnection,
    events: &[Arc<Event>],
    store: &Store,
) -> Result<(), sqlx::Error> {
    touch_agents(transaction, events, store.settings().kill_switch).await?;
    let (refusals, others): (Vec<&Event>, Vec<&Event>) =
        events.iter().map(Arc::as_ref).partition(|event| is_counted(event));
    events::insert(transaction, &others).await?;
    count_refusals(transaction, &refusals).await?;
    alerts::count_minutes(transaction, events).await?;
    unscored::add(transaction, events).await?;
    rollup::add(transaction, events, &store.config.unpriced).await
}

/// Notes when each agent was last heard of; makes those that are heard of for the first time.
async fn touch_agents(
    transaction: &mut SqliteConnection,
    events: &[Arc<Event>],
    defaults: KillSwitch,
) -> Result<(), sqlx::Error> {
    let mut heard: HashMap<&AgentId, (Timestamp, Timestamp)> = HashMap::new();
    // Those of a busy agent come one after the other.
    for run in events.chunk_by(|one, next| one.agent == next.agent) {
        let (first, last) = heard.entry(&run[0].agent).or_insert((run[0].time, run[0].time));
        *first = run.iter().map(|event| event.time).fold(*first, Timestamp::min);
        *last = run.iter().map(|event| event.time).fold(*last, Timestamp::max);
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
