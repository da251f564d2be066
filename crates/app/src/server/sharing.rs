//! Connects this process to the other replicas, if there are any.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, anyhow};
use control::Control;
use model::{Clock, SavedAgent, Timestamp};
use proxy::{Proxy, Shared, Stored};
use share::{Postgres, Replica, Share, Valkey};
use store::Store;
use tokio::task::JoinHandle;
use web::Warnings;

use crate::config::{Config, Engine};

/// The engine that replicas share, and what this one needs to use it.
pub(super) struct Sharing {
    pub(super) shared: Shared,
    /// Set once it exists: it is created after the proxy.
    control: Arc<OnceLock<Control>>,
}

impl Sharing {
    /// Takes part through `share`.
    pub(super) fn new(share: Share, config: &Config, store: &Store) -> Sharing {
        let replica = Replica::new(share, config.shared.on_failure);
        let control: Arc<OnceLock<Control>> = Arc::default();
        let stored = stored(store.clone(), Arc::clone(&control));
        Sharing { shared: Shared::new(replica, stored), control }
    }

    /// Connects to the configured engine; `None` for a single replica.
    pub(super) async fn connect(config: &Config) -> anyhow::Result<Option<Share>> {
        let share = match config.shared.engine {
            Engine::Off => return Ok(None),
            Engine::Postgres => {
                let server = config.postgres()?.context("shared.engine: the data is not in PostgreSQL")?;
                let options = server.options().map_err(|why| anyhow!("database: {why}"))?;
                Share::Postgres(Postgres::connect(options).await.context("shared.engine cannot be used")?)
            }
            Engine::Valkey => {
                let server = config.shared.valkey()?;
                Share::Valkey(Box::new(Valkey::connect(&server).await.context("shared.url cannot be used")?))
            }
        };
        Ok(Some(share))
    }

    /// The clock that replicas have in common: budgets begin anew everywhere at once.
    pub(super) async fn clock(share: Option<&Share>) -> anyhow::Result<Clock> {
        let Some(share) = share else { return Ok(Clock::System) };
        let reading = share.changes(Timestamp::from_millis(i64::MAX));
        let (_, now) = reading.await.context("the clock of shared.engine cannot be read")?;
        Ok(Clock::followed(now))
    }

    /// Starts to report changes and to follow those of others.
    pub(super) fn start(&self, control: &Control, proxy: &Proxy) -> Running {
        let _ = self.control.set(control.clone());
        control.share_through(self.shared.replica.clone());
        let following = tokio::spawn(proxy.clone().follow_replicas());
        Running { replica: self.shared.replica.clone(), following }
    }
}

/// How the proxy reads what is stored, which it has no way to by itself.
fn stored(store: Store, control: Arc<OnceLock<Control>>) -> Stored {
    let (kills, reloading) = (store.clone(), Arc::clone(&control));
    Stored {
        calls: Box::new(move |agent| {
            let store = store.clone();
            let limit = u32::try_from(SavedAgent::RECALL).unwrap_or(u32::MAX);
            Box::pin(async move { store.fingerprints(&agent, limit).await.unwrap_or_default() })
        }),
        reload: Box::new(move |agent| {
            let control = control.get().cloned();
            // Without one the server is starting, and has just read everything.
            Box::pin(async move {
                match control {
                    Some(control) => control.reload_agent(&agent).await,
                    None => true,
                }
            })
        }),
        access: Box::new(move |()| {
            let control = reloading.get().cloned();
            Box::pin(async move {
                match control {
                    Some(control) => control.reload_access().await,
                    None => true,
                }
            })
        }),
        kills: Box::new(move |agreed| {
            let store = kills.clone();
            Box::pin(async move {
                let read = store.check_kills(&agreed).await;
                read.inspect_err(|error| tracing::debug!(%error, "kills of other replicas could not be checked")).ok()
            })
        }),
    }
}

/// The running tasks of this replica.
#[derive(Debug)]
pub(super) struct Running {
    replica: Replica,
    following: JoinHandle<()>,
}

impl Running {
    /// Closes the last tickets and leaves the list, so that no other replica waits for this one.
    pub(super) async fn stop(self) {
        self.following.abort();
        // A heartbeat that is under way would bring it back.
        let _ = self.following.await;
        self.replica.leave().await;
    }
}

/// Adds a warning if this replica decides alone.
pub(super) fn add_warnings(warnings: Warnings, sharing: Option<&Sharing>) -> Warnings {
    let Some(replica) = sharing.map(|sharing| sharing.shared.replica.clone()) else { return warnings };
    Warnings::new(move || {
        let mut told = warnings.read();
        if replica.is_degraded() {
            told.push(format!(
                "mode: degraded, {} is out of reach and this replica decides by itself",
                replica.engine()
            ));
        }
        told
    })
}
