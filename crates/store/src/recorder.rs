//! The handle on the writer, which drains the recorder's inbox in batches and commits kills and
//! changes at once.

use std::sync::Arc;
use std::time::Duration;

use model::{Cause, RecorderInbox};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::write::{self, Notice, Request, Writer};
use crate::{Change, Changed, Health, Store, StoreError};

/// How far a watcher may fall behind before it misses something.
const NOTICES: usize = 1024;

/// A handle on the writer. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Recorder {
    requests: mpsc::UnboundedSender<Request>,
    notices: broadcast::Sender<Notice>,
    health: Health,
    outbox: watch::Sender<u64>,
    change_timeout: Duration,
    catch_up_timeout: Duration,
}

impl Recorder {
    /// Starts the writer on `store`. It ends when `inbox` is closed and everything in it is on
    /// disk, or when it is told to [`stop`](Recorder::stop).
    ///
    /// The inbox should have room for the events of a few seconds: they wait there while another
    /// program locks the database or a large kill is written.
    pub fn start(store: Store, inbox: RecorderInbox) -> (Recorder, tokio::task::JoinHandle<()>) {
        let (requests, requests_inbox) = mpsc::unbounded_channel();
        let recorder = Recorder {
            requests,
            notices: broadcast::channel(NOTICES).0,
            health: Health::default(),
            outbox: watch::Sender::new(0),
            change_timeout: store.tuning.change_timeout,
            catch_up_timeout: store.tuning.catch_up_timeout,
        };
        let listeners = (recorder.notices.clone(), recorder.health.clone(), recorder.outbox.clone());
        let writer = Writer::new(&store, listeners);
        let background_work = writer.background_work();
        let writing = async move {
            tokio::select! {
                () = writer.run(inbox, requests_inbox) => {}
                () = background_work => {}
            }
        };
        (recorder, tokio::spawn(writing))
    }

    /// Makes a change of the program's own and waits until it is on disk. `Unavailable` after a few
    /// seconds: nothing was changed.
    pub async fn change(&self, change: Change) -> Result<Changed, StoreError> {
        write::send(&self.requests, (change, None), self.change_timeout).await
    }

    /// Makes a change that a person asks for, with its row of the audit log in the same
    /// transaction.
    pub async fn change_by(&self, cause: Arc<Cause>, change: Change) -> Result<Changed, StoreError> {
        write::send(&self.requests, (change, Some(cause)), self.change_timeout).await
    }

    /// Waits until the events that were sent so far are written, so that the next read sees them.
    /// Gives up soon if the database is busy.
    pub async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        if self.requests.send(Request::CatchUp(done)).is_ok() {
            let _ = tokio::time::timeout(self.catch_up_timeout, caught_up).await;
        }
    }

    /// Accepts nothing more, writes everything that was sent so far, and closes the database: the
    /// end of a drain. Returns whether all is on disk; `false` after a few seconds of database
    /// failures (the log says what was lost).
    ///
    /// Events, kills and changes sent afterwards are not recorded; a kill's commit then ends with
    /// `false`.
    pub async fn stop(&self) -> bool {
        let (done, ended) = oneshot::channel();
        // If the writer has ended already there is nothing left to wait for.
        self.requests.send(Request::Stop(done)).is_err() || ended.await.unwrap_or(true)
    }

    /// Subscribes to what is written from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// Sends watchers a notice of what another server on the same database has written.
    pub fn announce(&self, notice: Notice) {
        // There may be no watcher.
        let _ = self.notices.send(notice);
    }

    /// Changes whenever something may have been queued or delivered.
    pub fn outbox(&self) -> watch::Receiver<u64> {
        self.outbox.subscribe()
    }

    /// Health of the writer.
    pub fn health(&self) -> Health {
        self.health.clone()
    }
}
