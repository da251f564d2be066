//! The one writer: drains the recorder's inbox in batches, commits kills and changes at once.

use std::sync::Arc;

use model::{AgentId, Event, IncidentId, KillSwitch, RecorderInbox};
use tokio::sync::broadcast;

use crate::{Change, Changed, Health, Store, StoreError};

/// What was written, for those who watch live.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Notice {
    /// A call, a refusal, a kill, an activation or a deactivation.
    Event(Arc<Event>),
    /// An incident was opened or observed.
    Incident { id: IncidentId, agent: AgentId },
    /// Settings changed.
    Configured { agent: AgentId, kill_switch: KillSwitch },
}

/// A handle on the writer. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Recorder {}

impl Recorder {
    /// Starts the writer on `store`. It ends when `inbox` is closed and everything in it is on disk.
    pub fn start(store: Store, inbox: RecorderInbox) -> (Recorder, tokio::task::JoinHandle<()>) {
        let _ = (store, inbox);
        todo!()
    }

    /// Makes a change and waits until it is on disk. `Unavailable` after a few seconds: nothing was changed.
    pub async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        let _ = change;
        todo!()
    }

    /// What is written from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Notice> {
        todo!()
    }

    /// How the writer fares.
    pub fn health(&self) -> Health {
        todo!()
    }
}
