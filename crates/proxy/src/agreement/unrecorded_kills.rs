//! Records kills whose replica ended between the decision and the commit: the engine holds them,
//! and the database knows nothing of them. Any replica may do it, because the epoch of an agent
//! ends in the database once.

use std::sync::Arc;
use std::time::Duration;

use guard::AgentView;
use model::{AgreedKill, BlockReason, CallId, Event, EventType, Kill, Stuck, UnrecordedKill};
use tokio::time::{sleep, timeout};

use crate::core::Core;
use crate::incident::record_kill;
use crate::shared::Shared;

/// How often the database is asked about kills that are not in it yet. Calls wait for the answer.
const EVERY: Duration = Duration::from_millis(25);
/// The pause after the database could not be read.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How long the engine may take to return a log.
const LOG_TIMEOUT: Duration = Duration::from_secs(2);

/// Finishes the unconfirmed kills once they are in the database, and records those that no other
/// replica records. Runs until it is dropped.
pub(super) async fn record_unrecorded(shared: &Shared, core: &Arc<Core>) {
    let unconfirmed = &shared.unconfirmed;
    loop {
        let kills = unconfirmed.some();
        if kills.is_empty() {
            unconfirmed.added.notified().await;
            continue;
        }
        let Some(checked) = (shared.stored.kills)(kills).await else {
            unconfirmed.renew_grace();
            sleep(RETRY_PAUSE).await;
            continue;
        };
        for (incident, stored) in checked.recorded {
            unconfirmed.remove(incident);
            core.kills.finish_as(incident, stored);
        }
        for unrecorded in checked.unrecorded {
            if unconfirmed.is_overdue(unrecorded.kill.incident) {
                unconfirmed.remove(unrecorded.kill.incident);
                record(shared, core, unrecorded).await;
            }
        }
        sleep(EVERY).await;
    }
}

/// Records a kill with everything that can be found out about it.
async fn record(shared: &Shared, core: &Arc<Core>, unrecorded: UnrecordedKill) {
    let UnrecordedKill { kill: agreed, provider, model, conversation } = unrecorded;
    tracing::warn!(
        agent = %agreed.agent, incident = %agreed.incident,
        "a kill is not in the database, its replica seems to have ended: this one records it"
    );
    let kill = match find_kill(shared, core, &agreed).await {
        Some(kill) => kill,
        None => bare_kill(core, &agreed),
    };
    let event = Event {
        conversation,
        provider,
        model,
        score: Some(kill.score),
        fingerprint: kill.window.last().copied(),
        block_reason: Some(BlockReason::Inactive),
        incident: Some(kill.incident),
        // Not the id of the call: its own replica may be alive and record the call, too, and an
        // event whose id is taken is not stored, although it is counted.
        ..Event::new(CallId::at(kill.at), kill.agent.clone(), kill.epoch, EventType::KillSwitch, kill.at)
    };
    record_kill(core, kill, event);
}

/// The kill as its own replica found it: the log is judged once more.
async fn find_kill(shared: &Shared, core: &Core, agreed: &AgreedKill) -> Option<Kill> {
    (shared.stored.reload)(agreed.agent.clone()).await;
    let log = timeout(LOG_TIMEOUT, shared.replica.share().log(&agreed.agent)).await.ok()?.ok()??;
    let stored = (shared.stored.calls)(agreed.agent.clone()).await;
    let find = || core.guard.find_kill(&agreed.agent, &log, agreed.incident, &stored);
    core.catch_panic.run(find).flatten().filter(|kill| kill.epoch == agreed.epoch)
}

/// A kill whose log is gone: only the kill itself is known.
fn bare_kill(core: &Core, agreed: &AgreedKill) -> Kill {
    let view = core.guard.agent(&agreed.agent);
    Kill {
        incident: agreed.incident,
        agent: agreed.agent.clone(),
        epoch: agreed.epoch,
        at: agreed.at,
        score: view.as_ref().map(|view| view.current_score).unwrap_or_default(),
        kill_switch: view
            .map_or_else(|| core.guard.defaults_of(&agreed.agent), |AgentView { kill_switch, .. }| kill_switch),
        matches: Vec::new(),
        stuck: Stuck::default(),
        window: Vec::new(),
    }
}
