//! Follows the changes of other replicas: kills, activations, settings. A call that needs an exact
//! answer gets it from the engine; this is for all other calls, and for idle agents.

use std::sync::Arc;
use std::time::Duration;

use guard::Guard;
use model::{AgreedKill, Timestamp};
use share::{AgentStatus, Killed, ShareError};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Shared;
use super::agreement::deactivation_of;
use super::unrecorded_kills::record_unrecorded;
use crate::core::Core;

/// How often the engine is polled, with or without notifications.
const POLL: Duration = Duration::from_secs(1);
/// How far back it is polled: changes may become visible out of order.
const OVERLAP_MS: i64 = 10_000;

/// Sends heartbeats and applies the changes of other replicas, until it is dropped.
pub(crate) async fn follow_changes(shared: Shared, core: Arc<Core>) {
    let (kills, agreed) = mpsc::unbounded_channel();
    let follow = follow(&shared, &core.guard, &kills);
    // Concurrently: a database that hangs must not delay news of kills.
    tokio::join!(follow, record_unrecorded(&shared, &core, agreed));
}

/// Sends every kill that the engine announces to `kills`.
async fn follow(shared: &Shared, guard: &Guard, kills: &mpsc::UnboundedSender<AgreedKill>) {
    let mut since = Timestamp::from_millis(0);
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut watching = Box::pin(watch(shared.clone()));
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                if let Err(error) = shared.replica.beat().await {
                    tracing::debug!(%error, "no heartbeat");
                    continue;
                }
            }
            () = &mut watching => watching.set(watch(shared.clone())),
        }
        match poll(shared, guard, since, kills).await {
            Ok(now) => since = Timestamp::from_millis(now.as_millis() - OVERLAP_MS),
            Err(error) => tracing::debug!(%error, "changes of other replicas could not be read"),
        }
    }
}

/// Waits for a notification. A failure is retried later; polling continues meanwhile.
async fn watch(shared: Shared) {
    if shared.replica.share().watch().await.is_err() {
        sleep(POLL).await;
    }
}

async fn poll(
    shared: &Shared,
    guard: &Guard,
    since: Timestamp,
    kills: &mpsc::UnboundedSender<AgreedKill>,
) -> Result<Timestamp, ShareError> {
    let (changes, now) = shared.replica.share().changes(since).await?;
    for change in changes {
        if let Some(Killed { incident: Some(incident), at }) = change.killed {
            let _ = kills.send(AgreedKill { agent: change.agent.clone(), epoch: change.epoch, incident, at });
        }
        apply(shared, guard, change).await;
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
