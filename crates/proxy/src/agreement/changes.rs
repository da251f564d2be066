//! Follows the changes of other replicas: kills, activations, settings. A call that needs an exact
//! answer gets it from the engine; this is for all other calls, and for idle agents.

use std::sync::Arc;
use std::time::Duration;

use guard::Guard;
use model::{AgreedKill, Timestamp};
use share::{AgentStatus, Killed, ShareError};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::unrecorded_kills::record_unrecorded;
use crate::core::Core;
use crate::shared::{Shared, deactivation_of};

/// How often the engine is polled, with or without notifications.
const POLL: Duration = Duration::from_secs(1);
/// How long one poll may take.
const POLL_TIMEOUT: Duration = Duration::from_secs(2);
/// After this a connection for notifications is opened again: if the host of the engine has
/// vanished, nothing else shows it.
const WATCH_RENEWAL: Duration = Duration::from_secs(60);
/// How far back it is polled: changes may become visible out of order.
const OVERLAP_MS: i64 = 10_000;

/// Sends heartbeats and applies the changes of other replicas, until it is dropped.
pub(crate) async fn follow_changes(shared: Shared, core: Arc<Core>) {
    let changed = Notify::new();
    // Concurrently: an engine or a database that hangs must not delay news of kills.
    tokio::join!(
        beat(&shared),
        watch(&shared, &changed),
        follow(&shared, &core, &changed),
        record_unrecorded(&shared, &core),
    );
}

async fn beat(shared: &Shared) {
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = shared.replica.beat().await {
            tracing::debug!(%error, "no heartbeat");
        }
    }
}

/// Listens for notifications. A failure is retried later; polling continues meanwhile.
async fn watch(shared: &Shared, changed: &Notify) {
    loop {
        match timeout(WATCH_RENEWAL, shared.replica.share().watch(changed)).await {
            Err(_) => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, "no notifications");
                sleep(POLL).await;
            }
        }
    }
}

async fn follow(shared: &Shared, core: &Core, changed: &Notify) {
    let mut since = Timestamp::from_millis(0);
    loop {
        let _ = timeout(POLL, changed.notified()).await;
        match poll(shared, core, since).await {
            Ok(now) => since = Timestamp::from_millis(now.as_millis() - OVERLAP_MS),
            Err(error) => tracing::debug!(%error, "changes of other replicas could not be read"),
        }
    }
}

async fn poll(shared: &Shared, core: &Core, since: Timestamp) -> Result<Timestamp, ShareError> {
    let asked = Instant::now();
    let read = timeout(POLL_TIMEOUT, shared.replica.share().changes(since)).await;
    let (changes, now) = read.unwrap_or_else(|_| Err(ShareError::Setup("it does not answer".to_owned())))?;
    core.clock.adopt(now, asked.elapsed());
    for change in changes {
        if let Some(Killed { incident: Some(incident), at }) = change.killed {
            let kill = AgreedKill { agent: change.agent.clone(), epoch: change.epoch, incident, at };
            shared.expect_commit(&core.kills, kill);
        }
        apply(shared, &core.guard, change).await;
    }
    Ok(now)
}

async fn apply(shared: &Shared, guard: &Guard, change: AgentStatus) {
    let AgentStatus { agent, epoch, killed, settings } = change;
    let known = guard.agent(&agent);
    if known.is_none() && killed.is_none() {
        return;
    }
    if known.is_none_or(|known| known.epoch < epoch) {
        guard.activate(&agent, epoch);
    }
    if let Some(killed) = killed {
        guard.adopt_deactivation(&agent, epoch, deactivation_of(killed));
    }
    shared.refresh(&agent, settings).await;
}
