//! The channel from the data path to the recorder. The sender never waits, except for a kill.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{mpsc, watch};

use crate::{Event, Incident, IncidentId};

/// A record that must not be lost while the process lives.
#[derive(Debug)]
pub enum Record {
    /// A kill: the agent's state, the event and the incident are written in one transaction.
    Kill {
        /// The incident with its evidence.
        incident: Box<Incident>,
        /// Its `kill_switch` event.
        event: Arc<Event>,
        /// Set once it is on disk, to the incident that ended the epoch: its own, or that of
        /// another server that was first.
        committed: watch::Sender<Option<IncidentId>>,
    },
    /// An observed incident.
    Observed {
        /// The incident with its evidence.
        incident: Box<Incident>,
    },
}

/// The receiving end.
#[derive(Debug)]
pub struct RecorderInbox {
    /// Events, in the order they were sent. Bounded: events that do not fit are dropped and
    /// counted. In an `Arc`, so that passing one on does not copy it.
    pub events: mpsc::Receiver<Arc<Event>>,
    /// Kills and incidents. Unbounded, because each is rare and none may be lost.
    pub records: mpsc::UnboundedReceiver<Record>,
}

/// The sending end. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct RecorderHandle {
    events: mpsc::Sender<Arc<Event>>,
    records: mpsc::UnboundedSender<Record>,
    dropped: Arc<AtomicU64>,
}

impl RecorderHandle {
    /// Both ends, with a capacity of `capacity` events.
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

    /// Records a kill. Wait for the commit before the kill is answered or announced.
    pub fn kill(&self, incident: Incident, event: Event) -> KillCommit {
        let (committed, commit) = watch::channel(None);
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
pub struct KillCommit(watch::Receiver<Option<IncidentId>>);

impl KillCommit {
    /// Waits until the kill is on disk. `false` if the recorder is gone, so that it never will be.
    pub async fn wait(mut self) -> bool {
        self.incident().await.is_some()
    }

    /// Waits until the kill is on disk, and returns the incident that ended the epoch: its own, or
    /// that of another server that was first. `None` if the recorder is gone, so that it never will
    /// be.
    pub async fn incident(&mut self) -> Option<IncidentId> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|incident| *incident)
    }
}
