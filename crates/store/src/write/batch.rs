//! Writes many events in one transaction. This is done for every call, so it takes few statements
//! and few allocations.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use model::{AgentId, BlockReason, DeactivatedBy, Epoch, Event, EventType, Timestamp};

use super::events;
use crate::columns::signed;
use crate::database::{self, BulkInsert, Connection, OnConflict, text};
use crate::{Store, alerts, stats};

static TOUCH_AGENTS: LazyLock<BulkInsert> = LazyLock::new(|| {
    let columns = "id, enabled, window_size, threshold, action, counting, created_at, last_seen";
    let then = "on conflict (id) do update set last_seen = excluded.last_seen
        where agents.last_seen is null or agents.last_seen < excluded.last_seen";
    BulkInsert::new(("agents", columns), 8, &OnConflict::Clause(then))
});

/// Writes `events`, their agents and their statistics.
pub(super) async fn write(
    transaction: &mut Connection<'_>,
    events: &[Arc<Event>],
    store: &Store,
) -> Result<(), sqlx::Error> {
    touch_agents(transaction, events, store).await?;
    let (refusals, others): (Vec<&Event>, Vec<&Event>) =
        events.iter().map(Arc::as_ref).partition(|event| is_counted(event));
    events::insert(transaction, &others).await?;
    count_refusals(transaction, &refusals).await?;
    deactivate_with_group(transaction, &refusals, store).await?;
    alerts::count_minutes(transaction, events).await?;
    stats::add_unscored(transaction, events).await?;
    stats::add(transaction, events, &store.tuning.writer, &store.config.unpriced).await
}

/// Records when each agent was last seen, and creates agents that are new.
async fn touch_agents(
    transaction: &mut Connection<'_>,
    events: &[Arc<Event>],
    store: &Store,
) -> Result<(), sqlx::Error> {
    let mut seen: HashMap<&AgentId, (Timestamp, Timestamp)> = HashMap::new();
    // Events of a busy agent come one after the other.
    for run in events.chunk_by(|one, next| one.agent == next.agent) {
        let (first, last) = seen.entry(&run[0].agent).or_insert((run[0].time, run[0].time));
        *first = run.iter().map(|event| event.time).fold(*first, Timestamp::min);
        *last = run.iter().map(|event| event.time).fold(*last, Timestamp::max);
    }
    let defaults = store.settings().kill_switch;
    let mut seen: Vec<_> = seen.into_iter().collect();
    // In the order of the key, so that several writers cannot wait for each other.
    seen.sort_unstable_by_key(|(agent, _)| *agent);
    TOUCH_AGENTS
        .execute(transaction, &seen, |arguments, (agent, (first, last))| {
            let start = store.groups.kill_switch(agent, defaults);
            arguments.add(text(agent.as_str()))?;
            arguments.add(start.enabled)?;
            arguments.add(start.window_size)?;
            arguments.add(start.threshold)?;
            arguments.add(start.action.as_str())?;
            arguments.add(start.counting.as_str())?;
            arguments.add(first.as_millis())?;
            arguments.add(last.as_millis())
        })
        .await
}

/// Whether an event is a refusal of an inactive agent or by a policy. Such an agent may retry for
/// ever, so its refusals are counted in one row per reason and minute. Refused calls of a loop are
/// not: each was scored and has a fingerprint.
fn is_counted(event: &Event) -> bool {
    event.event_type == EventType::Blocked && event.block_reason != Some(BlockReason::LoopDetected)
}

/// Stores agents as inactive whose calls were refused because their group is stopped. The stop
/// itself deactivated only agents that were known then.
async fn deactivate_with_group(
    transaction: &mut Connection<'_>,
    refusals: &[&Event],
    store: &Store,
) -> Result<(), sqlx::Error> {
    let inactive = refusals.iter().filter(|event| event.block_reason == Some(BlockReason::Inactive));
    let agents: BTreeSet<&AgentId> = inactive.map(|event| &event.agent).collect();
    for agent in agents {
        let Some(at) = store.groups.stopped(agent).and_then(|group| group.stopped_at) else { continue };
        let query = "update agents set active = 0, deactivated_by = $1, deactivated_at = $2
            where id = $3 and active = 1";
        let query = database::query(query).bind(DeactivatedBy::Manual.as_str()).bind(at.as_millis());
        query.bind(agent.as_str()).execute(&mut *transaction).await?;
    }
    Ok(())
}

/// The key of a counter of refusals; the last is the minute.
type CountedBy<'a> = (&'a AgentId, Epoch, Option<BlockReason>, i64);

async fn count_refusals(transaction: &mut Connection<'_>, refusals: &[&Event]) -> Result<(), sqlx::Error> {
    let mut counts: HashMap<CountedBy<'_>, (&Event, u64)> = HashMap::new();
    for event in refusals {
        let minute = event.time.as_millis().div_euclid(60_000);
        counts.entry((&event.agent, event.epoch, event.block_reason, minute)).or_insert((event, 0)).1 += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|((agent, epoch, _, minute), _)| (*agent, *epoch, *minute));
    for (key, (first, count)) in counts {
        if transaction.is_postgres() {
            // A unique index of a partitioned table must contain the id, so the row is looked up
            // instead.
            if add_to_refusals(transaction, key, count).await? {
                count_with_kill(transaction, key, count).await?;
                continue;
            }
            database::add_days(transaction, [events::id_time(first.id)].into_iter()).await?;
        }
        insert_refusals(transaction, key, first, count).await?;
        count_with_kill(transaction, key, count).await?;
    }
    Ok(())
}

/// Inserts a counter with the values of the `first` refusal of the minute.
async fn insert_refusals(
    transaction: &mut Connection<'_>,
    (agent, epoch, reason, minute): CountedBy<'_>,
    first: &Event,
    count: u64,
) -> Result<(), sqlx::Error> {
    let insert = format!(
        "insert into events (id, agent_id, epoch, event_type, timestamp, provider, model, status_code, streamed,
            would_have_stopped, blocked, block_reason, incident_id, count, minute, key_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 1, $10, $11, $12, $13, $14)
         on conflict {}",
        if transaction.is_postgres() { ADD_NOTHING } else { ADD_COUNT }
    );
    database::query(sqlx::AssertSqlSafe(insert))
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
        .bind(events::credential_text(first).map(|text| text.to_string()))
        .execute(transaction)
        .await
        .map(drop)
}

const ADD_NOTHING: &str = "do nothing";
const ADD_COUNT: &str = "(agent_id, epoch, block_reason, minute) where minute is not null
    do update set count = events.count + excluded.count";

/// Adds to the row of the same minute; `false` if there is none.
async fn add_to_refusals(
    transaction: &mut Connection<'_>,
    (agent, epoch, reason, minute): CountedBy<'_>,
    count: u64,
) -> Result<bool, sqlx::Error> {
    let query = database::query(
        "update events set count = count + $1
         where agent_id = $2 and epoch = $3 and block_reason = $4 and minute = $5",
    );
    let query = query.bind(signed(count)).bind(agent.as_str()).bind(signed(epoch.0));
    let query = query.bind(reason.map(BlockReason::as_str)).bind(minute);
    Ok(query.execute(transaction).await?.rows_affected() > 0)
}

/// Counts refusals of an inactive agent in the incident of its kill.
async fn count_with_kill(
    transaction: &mut Connection<'_>,
    (agent, epoch, reason, _): CountedBy<'_>,
    count: u64,
) -> Result<(), sqlx::Error> {
    if reason == Some(BlockReason::Inactive) {
        count_with_incident(transaction, agent, epoch, count).await?;
    }
    Ok(())
}

/// Counts refusals in the incident of the kill before them, which is kept longer than events.
async fn count_with_incident(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    epoch: Epoch,
    count: u64,
) -> Result<(), sqlx::Error> {
    let query = database::query(
        "update incidents set refused = refused + $1 where agent_id = $2 and epoch = $3 and state <> 'observed'",
    );
    query.bind(signed(count)).bind(agent.as_str()).bind(signed(epoch.0)).execute(transaction).await.map(drop)
}
