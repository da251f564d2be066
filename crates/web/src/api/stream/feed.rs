//! Reads the recorder's notices once for all watchers and sends them in batches. It runs only while
//! there are watchers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use store::{Notice, Recorder};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::{Instant, timeout, timeout_at};

use super::batch::{Batch, BatchBuilder};

/// Notices within this time make one batch: people see no delay, and a watcher costs at most ten
/// writes a second.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// How many batches a watcher may fall behind before it misses something.
const BATCHES: usize = 32;

/// Watchers write in this many groups, one group after another within the time of a batch.
const GROUPS: u32 = 8;

/// How often the feed checks for watchers while nothing is written.
const IDLE_CHECK: Duration = Duration::from_secs(1);

/// The feed that watchers subscribe to. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Feed {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
}

struct Shared {
    /// Counts the watchers so far, to spread them over the groups.
    watchers: AtomicU32,
    batches: Sender<Batch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    /// The number of the next event.
    next: u64,
}

/// A watcher's subscription.
pub(super) struct Subscription {
    pub(super) batches: Receiver<Batch>,
    /// How long after a batch is ready this watcher writes it.
    pub(super) delay: Duration,
    /// The number of the first event that it receives.
    pub(super) next: u64,
    /// Counts the watcher until it is dropped.
    pub(super) place: OwnedSemaphorePermit,
}

impl Feed {
    /// More watchers than people need. Each costs memory, and every batch is sent to all of them.
    pub(super) const MAX: usize = 200;

    pub(crate) fn new() -> Feed {
        let (batches, _) = broadcast::channel(BATCHES);
        let shared = Shared { watchers: AtomicU32::new(0), batches, state: Mutex::default() };
        Feed { shared: Arc::new(shared), places: Arc::new(Semaphore::new(Feed::MAX)) }
    }

    /// Subscribes to what is written from now on; `None` if there are too many watchers.
    pub(super) fn subscribe(&self, recorder: &Recorder) -> Option<Subscription> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let group = self.shared.watchers.fetch_add(1, Ordering::Relaxed) % GROUPS;
        let mut state = self.shared.state.lock();
        let batches = self.shared.batches.subscribe();
        if !state.is_running {
            state.is_running = true;
            tokio::spawn(run(Arc::clone(&self.shared), recorder.subscribe()));
        }
        // Within the time of a batch even with the pauses between two polls.
        let delay = BATCH_TIME * group / (GROUPS + 1);
        Some(Subscription { batches, delay, next: state.next, place })
    }
}

/// Reads until there are no watchers or the recorder has ended.
async fn run(shared: Arc<Shared>, mut notices: Receiver<Notice>) {
    loop {
        match timeout(IDLE_CHECK, notices.recv()).await {
            Ok(Err(RecvError::Closed)) => return,
            Ok(first) => send(&shared, collect(first, &mut notices).await),
            Err(_) => {}
        }
        let mut state = shared.state.lock();
        // Under the lock: a watcher that subscribes just now either is counted or starts the next
        // run.
        if shared.batches.receiver_count() == 0 {
            state.is_running = false;
            return;
        }
    }
}

/// All that is written within the time of a batch after `first`.
async fn collect(first: Result<Notice, RecvError>, notices: &mut Receiver<Notice>) -> BatchBuilder {
    let end = Instant::now() + BATCH_TIME;
    let mut batch = BatchBuilder::default();
    let mut received = first;
    loop {
        match received {
            Ok(notice) => batch.push(notice),
            Err(RecvError::Lagged(missed)) => batch.skip(missed),
            Err(RecvError::Closed) => return batch,
        }
        match timeout_at(end, notices.recv()).await {
            Ok(next) => received = next,
            Err(_) => return batch,
        }
    }
}

fn send(shared: &Shared, batch: BatchBuilder) {
    let mut state = shared.state.lock();
    let batch = batch.finish(state.next);
    state.next += batch.count;
    // This fails if the last watcher has just left.
    let _ = shared.batches.send(batch);
}
