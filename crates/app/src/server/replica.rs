//! Takes part in a shared database: writes heartbeats, and follows the changes of other servers.

use std::net::IpAddr;
use std::time::Duration;

use control::Control;
use model::{IncidentId, Timestamp};
use proxy::Proxy;
use store::{ChangeFeed, Notice, ReplicaRow, Store, StoreError};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::parts::Parts;

/// The interval of heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// The mode of a server: shared, or degraded while the engine is unreachable.
const SHARED: &str = "shared";
const DEGRADED: &str = "degraded";

/// A unique name.
pub(super) fn new_id() -> anyhow::Result<String> {
    let id = control::random_id().map_err(|error| anyhow::anyhow!("the system gives no random bytes: {error}"))?;
    Ok(id.chars().take(16).collect())
}

/// The tasks of a server that shares its database.
#[derive(Debug)]
pub(super) struct Replica {
    store: Store,
    tasks: [JoinHandle<()>; 3],
}

impl Replica {
    /// Starts to follow `feed`, which was opened before memory was filled.
    pub(super) fn start(
        feed: ChangeFeed,
        parts: &Parts,
        (control, proxy): (&Control, &Proxy),
        address: &str,
    ) -> Replica {
        let store = &parts.store;
        let followed = control.clone();
        let follow = tokio::spawn(async move { followed.follow(feed).await });
        let engine = parts.sharing.as_ref().map(|sharing| sharing.shared.replica.clone());
        let is_degraded = move || engine.as_ref().is_some_and(|engine| engine.is_degraded());
        let beats = tokio::spawn(send_heartbeats(store.clone(), control.clone(), name_machine(address), is_degraded));
        let evidence = tokio::spawn(fill_evidence(store.clone(), parts.recorder.subscribe(), proxy.clone()));
        Replica { store: store.clone(), tasks: [follow, beats, evidence] }
    }

    /// Removes this server from the list of replicas.
    pub(super) async fn stop(self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        // A heartbeat that is under way would bring it back.
        for task in self.tasks {
            let _ = task.await;
        }
        if let Err(error) = self.store.delete_replica().await {
            tracing::debug!(%error, "this replica is listed for some seconds more");
        }
    }
}

/// The URL of a dashboard with the name of this machine in place of a loopback address, which would
/// be the same on every machine.
fn name_machine(url: &str) -> String {
    let is_loopback = |host: &str| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let parts = url.split_once("://").and_then(|(scheme, host)| Some((scheme, host.rsplit_once(':')?)));
    match (parts, std::fs::read_to_string("/proc/sys/kernel/hostname")) {
        (Some((scheme, (host, port))), Ok(machine)) if is_loopback(host) => {
            format!("{scheme}://{}:{port}", machine.trim())
        }
        _ => url.to_owned(),
    }
}

/// Adds the bodies that this server has to incidents of other servers.
async fn fill_evidence(store: Store, mut notices: broadcast::Receiver<Notice>, proxy: Proxy) {
    loop {
        let incident = match notices.recv().await {
            Ok(Notice::Incident { id, .. }) => id,
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if let Err(error) = fill_one(&store, incident, &proxy).await {
            tracing::warn!(%incident, "the bodies that this replica has are not in the evidence: {error}");
        }
    }
}

async fn fill_one(store: &Store, incident: IncidentId, proxy: &Proxy) -> Result<(), StoreError> {
    let missing = store.missing_evidence(incident).await?;
    if missing.is_empty() {
        return Ok(());
    }
    let proxy = proxy.clone();
    let found = tokio::task::spawn_blocking(move || proxy.cached_evidence(&missing)).await.unwrap_or_default();
    store.fill_evidence(incident, found).await?;
    Ok(())
}

async fn send_heartbeats(store: Store, control: Control, address: String, is_degraded: impl Fn() -> bool) {
    let mut ticks = tokio::time::interval(HEARTBEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let lag = control.follow_lag().unwrap_or_default();
        let replica = ReplicaRow {
            id: store.writer().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: address.clone(),
            mode: if is_degraded() { DEGRADED } else { SHARED }.to_owned(),
            started_at: Timestamp::default(),
            silent_ms: 0,
            lag_ms: u64::try_from(lag.as_millis()).unwrap_or(u64::MAX),
        };
        if let Err(error) = store.write_heartbeat(&replica).await {
            // The writer logs that the database is down.
            tracing::debug!(%error, "a heartbeat could not be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn loopback_address_is_replaced_by_the_name_of_the_machine() {
        assert_eq!(name_machine("https://10.0.0.7:18880"), "https://10.0.0.7:18880");
        for url in ["http://127.0.0.1:18880", "http://[::1]:18880"] {
            let named = name_machine(url);
            assert!(named.starts_with("http://") && named.ends_with(":18880") && named != url, "{named}");
        }
    }
}
