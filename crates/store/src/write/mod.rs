//! The writer. It writes kills first, then changes, then events. What cannot be written is kept and
//! retried; only callers that wait for a kill or a change notice.

mod batch;
mod changes;
mod deletion;
mod events;
mod failures;
mod kills;
mod new_agent;
mod notice;
mod recovery;
mod request;
pub(crate) mod upkeep;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;

use model::{AgentId, Event, RecorderInbox, Timestamp};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Duration, Instant};

pub use self::notice::Notice;
pub(crate) use self::request::{Request, send};

use self::kills::Pending;
use self::request::ChangeRequest;
use crate::database::Session;
use crate::tuning::Tuning;
use crate::{Health, Store};

/// How often the writer checks for a full batch while it waits: a wake-up per event would cost more
/// than the event.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The writer and what it has not written yet.
#[derive(Debug)]
pub(crate) struct Writer {
    store: Store,
    session: Session,
    notices: broadcast::Sender<Notice>,
    health: Health,
    /// Counts the commits after which the outbox may have changed.
    outbox: watch::Sender<u64>,
    records: VecDeque<Pending>,
    /// Agents that were deleted, and when: an earlier kill whose evidence is still being packed
    /// must not bring them back.
    deleted: VecDeque<(AgentId, Timestamp)>,
    changes: VecDeque<ChangeRequest>,
    events: VecDeque<Arc<Event>>,
    /// When the events that have come in are to be written.
    batch_due: Option<Instant>,
    /// The number of events in a batch whose commit was not acknowledged.
    batch_in_doubt: Option<usize>,
    /// The number of events in the last batch.
    last_batch: usize,
    /// When the cache that a burst of events has filled is to be released.
    cache_release: Option<Instant>,
    /// While nothing can be written: how long to wait, and until when.
    pause: Option<(Duration, Instant)>,
    next_sweep: Instant,
    next_size_check: Instant,
    /// The newest hour that was written to, and whether sums over longer times may have become due.
    newest_hour: i64,
    sums_are_due: bool,
    catching_up: Vec<oneshot::Sender<()>>,
    stopping: Vec<oneshot::Sender<bool>>,
}

impl Writer {
    pub(crate) fn new(
        store: &Store,
        (notices, health, outbox): (broadcast::Sender<Notice>, Health, watch::Sender<u64>),
    ) -> Writer {
        Writer {
            session: store.write_session(),
            store: store.clone(),
            notices,
            health,
            outbox,
            records: VecDeque::new(),
            deleted: VecDeque::new(),
            changes: VecDeque::new(),
            events: VecDeque::new(),
            batch_due: None,
            batch_in_doubt: None,
            last_batch: 0,
            cache_release: None,
            pause: None,
            next_sweep: Instant::now(),
            next_size_check: Instant::now(),
            newest_hour: 0,
            sums_are_due: true,
            catching_up: Vec::new(),
            stopping: Vec::new(),
        }
    }

    /// Background work of the database. Never ends.
    pub(crate) fn background_work(&self) -> impl Future<Output = ()> + Send + use<> {
        self.session.background_work()
    }

    /// Writes until `inbox` is closed or a stop is requested, then what is left.
    pub(crate) async fn run(mut self, mut inbox: RecorderInbox, mut requests: mpsc::UnboundedReceiver<Request>) {
        self.session.open().await;
        while self.receive(&mut inbox, &mut requests).await {
            self.check_files().await;
            if self.pause.is_none_or(|(_, until)| Instant::now() >= until) {
                self.work(&mut inbox).await;
            }
        }
        inbox.events.close();
        inbox.records.close();
        requests.close();
        self.finish(&mut inbox).await;
    }

    /// Waits until there is something to do. `false` at the end of input.
    async fn receive(&mut self, inbox: &mut RecorderInbox, requests: &mut mpsc::UnboundedReceiver<Request>) -> bool {
        let wake = self.wake_at();
        let mut open = true;
        tokio::select! {
            biased;
            record = inbox.records.recv() => match record {
                Some(record) => self.keep_record(Pending::from(record).await),
                None => open = false,
            },
            Some(request) = requests.recv() => self.keep_request(request),
            event = inbox.events.recv(), if self.batch_due.is_none() => match event {
                Some(event) => {
                    self.batch_due = Some(Instant::now() + self.delay());
                    self.events.push_back(event);
                }
                None => open = false,
            },
            () = tokio::time::sleep_until(wake) => {}
        }
        while let Ok(request) = requests.try_recv() {
            self.keep_request(request);
        }
        self.check_events(inbox);
        open && self.stopping.is_empty()
    }

    /// How long the first event of a batch waits for others: longer while many come in.
    fn delay(&self) -> Duration {
        let Tuning { batch_delay, busy_delay, busy_rows, .. } = self.store.tuning;
        if self.last_batch < busy_rows { batch_delay } else { busy_delay }
    }

    /// When to wake up if nothing comes in.
    fn wake_at(&self) -> Instant {
        let now = Instant::now();
        match (self.pause, self.batch_due) {
            (Some((_, until)), _) => until.min(now + CHECK_INTERVAL),
            (None, _) if self.sums_are_due || self.session.loss().is_some() => now,
            (None, Some(due)) => due.min(now + CHECK_INTERVAL),
            (None, None) => {
                let next_look = self.next_sweep.min(self.next_size_check).min(self.session.next_poll());
                self.cache_release.map_or(next_look, |due| next_look.min(due))
            }
        }
    }

    /// Makes the batch due early if enough events wait, and empties the inbox while nothing can be
    /// written.
    fn check_events(&mut self, inbox: &mut RecorderInbox) {
        let enough = self.store.tuning.batch_rows.min(inbox.events.max_capacity() / 2);
        if inbox.events.len() >= enough && self.batch_due.is_some() {
            self.batch_due = Some(Instant::now());
        }
        if self.pause.is_some() {
            self.keep_events(inbox);
        }
    }

    /// Takes all events that have come in while they cannot be written. Drops the oldest if there
    /// are too many.
    fn keep_events(&mut self, inbox: &mut RecorderInbox) {
        self.take_events(inbox, usize::MAX);
        let excess = self.events.len().saturating_sub(self.store.tuning.kept_events);
        if excess > 0 {
            // The batch in doubt may have lost its oldest events.
            self.batch_in_doubt = self.batch_in_doubt.map(|count| count.saturating_sub(excess));
            self.events.drain(..excess);
            self.health.count_dropped(excess);
        }
    }

    /// Takes events from the inbox until there are `count`.
    fn take_events(&mut self, inbox: &mut RecorderInbox, count: usize) {
        while self.events.len() < count {
            let Ok(event) = inbox.events.try_recv() else { return };
            self.events.push_back(event);
        }
    }

    fn keep_request(&mut self, request: Request) {
        match request {
            Request::Change(change) => self.changes.push_back(change),
            // Nothing can be written during a pause, so there is nothing to wait for.
            Request::CatchUp(_) if self.pause.is_some() => {}
            Request::CatchUp(done) => {
                self.catching_up.push(done);
                self.batch_due = Some(Instant::now());
            }
            Request::Stop(done) => self.stopping.push(done),
        }
    }

    /// Keeps a record until it is written. Kills are never dropped; the bodies of their evidence
    /// are, so that a disk that fails for long does not fill the memory.
    fn keep_record(&mut self, mut record: Pending) {
        let kept: usize = self.records.iter().map(Pending::bytes).sum();
        if kept + record.bytes() > self.store.tuning.kept_evidence_bytes && !self.records.is_empty() {
            record.evidence.clear();
        }
        self.records.push_back(record);
    }
}
