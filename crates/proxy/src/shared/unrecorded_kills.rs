//! Records kills whose replica ended between the decision and the commit: the engine holds them,
//! and the database knows nothing of them. Any replica may do it, because the epoch of an agent
//! ends in the database once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use guard::AgentView;
use model::{AgreedKill, BlockReason, CallId, Event, EventType, IncidentId, Kill, Matched, Stuck, UnrecordedKill};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::Shared;
use crate::core::Core;
use crate::evidence::incident::record_kill;

/// How long a replica has to record its own kill. A commit takes milliseconds.
const GRACE: Duration = Duration::from_secs(4);
/// How often overdue kills are checked.
const EVERY: Duration = Duration::from_secs(1);
/// How many kills the database is asked about at a time.
const AT_ONCE: usize = 500;
/// How long the engine may take to return a log.
const LOG_TIMEOUT: Duration = Duration::from_secs(2);
/// How many kills are remembered as recorded here. Replicas seldom die at that moment.
const REMEMBERED: usize = 1_000;

/// Announced kills, until they are known to be in the database.
#[derive(Default)]
struct Unconfirmed {
    waiting: HashMap<IncidentId, (AgreedKill, Instant)>,
    /// Kills that this replica has handed to its recorder.
    recorded: HashSet<IncidentId>,
}

/// Records the kills in `agreed` that no other replica records, until the channel is closed.
pub(super) async fn record_unrecorded(
    shared: &Shared,
    core: &Arc<Core>,
    mut agreed: mpsc::UnboundedReceiver<AgreedKill>,
) {
    let mut unconfirmed = Unconfirmed::default();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            kill = agreed.recv() => match kill {
                Some(kill) => unconfirmed.add(kill),
                None => return,
            },
            _ = ticks.tick() => unconfirmed.record_due(shared, core).await,
        }
    }
}

impl Unconfirmed {
    /// Adds a kill, which may be announced several times.
    fn add(&mut self, kill: AgreedKill) {
        if !self.recorded.contains(&kill.incident) {
            self.waiting.entry(kill.incident).or_insert_with(|| (kill, Instant::now()));
        }
    }

    async fn record_due(&mut self, shared: &Shared, core: &Arc<Core>) {
        let due = self.waiting.values().filter(|(_, heard)| heard.elapsed() >= GRACE).map(|(kill, _)| kill.clone());
        let due: Vec<AgreedKill> = due.take(AT_ONCE).collect();
        if due.is_empty() {
            return;
        }
        // If that is unknown at the moment, they are checked again at the next tick.
        let Some(unrecorded) = (shared.stored.unrecorded)(due.clone()).await else { return };
        due.iter().for_each(|kill| drop(self.waiting.remove(&kill.incident)));
        for unrecorded in unrecorded {
            self.remember(unrecorded.kill.incident);
            record(shared, core, unrecorded).await;
        }
    }

    fn remember(&mut self, incident: IncidentId) {
        if self.recorded.len() >= REMEMBERED {
            self.recorded.clear();
        }
        self.recorded.insert(incident);
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
        ..Event::new(trigger_of(&kill), kill.agent.clone(), kill.epoch, EventType::KillSwitch, kill.at)
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

/// The call that was refused: the last of the evidence.
fn trigger_of(kill: &Kill) -> CallId {
    let trigger = kill.matches.last().filter(|it| it.matched.contains(&Matched::Trigger));
    trigger.map_or_else(CallId::new, |trigger| trigger.call)
}
