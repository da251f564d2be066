//! The way from whoever sees things happen to whoever writes them down. The sender never waits,
//! except for a kill.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{mpsc, watch};

use crate::{Event, Incident};

/// Something that must not be lost while the process lives.
#[derive(Debug)]
pub enum Record {
    /// A kill: the agent's state, the event and the incident are written in one transaction.
    Kill {
        /// What happened, with its evidence.
        incident: Box<Incident>,
        /// Its `kill_switch` event.
        event: Arc<Event>,
        /// Set to `true` once it is on disk.
        committed: watch::Sender<bool>,
    },
    /// An observed incident.
    Observed {
        /// What happened, with its evidence.
        incident: Box<Incident>,
    },
}

/// Where the recorder reads.
#[derive(Debug)]
pub struct RecorderInbox {
    /// Events, in the order they were sent. Bounded: what does not fit is dropped and counted. Each
    /// stays where it is in memory, however often it is handed on.
    pub events: mpsc::Receiver<Arc<Event>>,
    /// Kills and incidents. Unbounded, since each is rare and none may be lost.
    pub records: mpsc::UnboundedReceiver<Record>,
}

/// Where the others write. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct RecorderHandle {
    events: mpsc::Sender<Arc<Event>>,
    records: mpsc::UnboundedSender<Record>,
    dropped: Arc<AtomicU64>,
}

impl RecorderHandle {
    /// Both ends, with room for `capacity` events.
    pub fn new(capacity: usize) -> (RecorderHandle, RecorderInbox) {
        let (events, event_inbox) = mpsc::channel(capacity);
        let (records, record_inbox) = mpsc::unbounded_channel();
        let handle = RecorderHandle { events, records, dropped: Arc::default() };
        (handle, RecorderInbox { events: event_inbox, records: record_inbox })
    }

    /// Records `event`, or counts it as dropped if the recorder is too far behind.
    pub fn event(&self, event: Event) {
        if self.events.try_send(Arc::new(event)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many events were dropped since the start.
    pub fn dropped_events(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Records a kill. Wait for the commit before anyone hears of it.
    pub fn kill(&self, incident: Incident, event: Event) -> KillCommit {
        let (committed, commit) = watch::channel(false);
        // A closed channel drops the sender, which ends the wait.
        let _ = self.records.send(Record::Kill { incident: Box::new(incident), event: Arc::new(event), committed });
        KillCommit(commit)
    }

    /// Records an observed incident.
    pub fn observed(&self, incident: Incident) {
        let _ = self.records.send(Record::Observed { incident: Box::new(incident) });
    }
}

/// The commit of one kill; any number of calls may wait for it.
#[derive(Clone, Debug)]
pub struct KillCommit(watch::Receiver<bool>);

impl KillCommit {
    /// Waits until the kill is on disk. `false`: the recorder is gone and it never will be.
    pub async fn wait(mut self) -> bool {
        self.0.wait_for(|committed| *committed).await.is_ok()
    }
}
