//! Delivers the outbox: each channel separately, a few deliveries at a time, so that a slow target
//! delays no other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::{ChannelId, ChannelKind, Clock, ClockWatch, DeliveryId};
use store::{AlertChange, Attempt, Change, DeliveryRow, Recorder, Store, StoreError};
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};

use crate::retry;
use crate::send::Sender;

/// The longest wait before the outbox is read again, because clocks jump.
const MAX_WAIT: Duration = Duration::from_secs(15);
/// How long to wait after the database could not be read or written.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// Delivers what is queued.
#[derive(Debug)]
pub(crate) struct Worker {
    store: Store,
    recorder: Recorder,
    sender: Arc<Sender>,
    clock: Clock,
    tasks: JoinSet<()>,
    under_way: HashMap<Id, (ChannelId, DeliveryId)>,
    clock_watch: ClockWatch,
    /// By how much the clock was set back since the outbox last followed it.
    set_back_ms: u64,
}

impl Worker {
    pub(crate) fn new(store: Store, recorder: Recorder, sender: Arc<Sender>, clock: Clock) -> Worker {
        let clock_watch = ClockWatch::new(clock.clone());
        let (tasks, under_way) = (JoinSet::new(), HashMap::new());
        Worker { store, recorder, sender, clock, tasks, under_way, clock_watch, set_back_ms: 0 }
    }

    /// Delivers until the server stops, then waits for running deliveries.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut outbox = self.recorder.outbox();
        let mut well = true;
        self.notice_clock_set_while_down().await;
        while !*stop.borrow() {
            outbox.mark_unchanged();
            let pause = match self.dispatch().await {
                Ok(pause) => {
                    well = true;
                    pause
                }
                Err(error) => {
                    if std::mem::take(&mut well) {
                        tracing::warn!("alerts wait, because the outbox cannot be read: {error}");
                    }
                    RETRY_WAIT
                }
            };
            tokio::select! {
                _ = outbox.changed() => {}
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended.map_or_else(|error| error.id(), |(id, ())| id)),
                () = tokio::time::sleep(pause) => {}
                _ = stop.changed() => {}
            }
        }
        while self.tasks.join_next().await.is_some() {}
    }

    fn ended(&mut self, id: Id) {
        self.under_way.remove(&id);
    }

    /// An alert with a future time was queued before the clock was set back while the server was
    /// down. Its age is unknown, so it is due.
    async fn notice_clock_set_while_down(&mut self) {
        // Another server may have queued it by a clock that is ahead of ours.
        if self.store.is_shared() {
            return;
        }
        let now = self.clock.now();
        let newest = self.store.newest_queued().await.ok().flatten();
        let set_back = newest.map_or(0, |newest| newest.millis_since(now));
        self.set_back_ms = if set_back > 0 { set_back + retry::longest_ms() } else { 0 };
    }

    /// After the clock was set back, pauses end when they would have ended before. After it was set
    /// forward, they end sooner.
    async fn follow_clock(&mut self) -> Result<(), StoreError> {
        if let Some(jump) = self.clock_watch.check() {
            self.set_back_ms += jump.expected.millis_since(jump.now);
        }
        if self.set_back_ms > 0 {
            let change = AlertChange::ClockSetBack { by_ms: self.set_back_ms, now: self.clock.now() };
            self.recorder.change(Change::Alerts(change)).await?;
            self.set_back_ms = 0;
        }
        Ok(())
    }

    /// Starts every delivery that is due, and returns how long to wait before the next.
    async fn dispatch(&mut self) -> Result<Duration, StoreError> {
        self.follow_clock().await?;
        let now = self.clock.now();
        for channel in self.store.channels_due(now).await? {
            self.dispatch_channel(channel).await?;
        }
        let next = self.store.next_due(now).await?;
        Ok(next.map_or(MAX_WAIT, |due| Duration::from_millis(due.millis_since(now))).min(MAX_WAIT))
    }

    async fn dispatch_channel(&mut self, id: ChannelId) -> Result<(), StoreError> {
        let running: HashSet<DeliveryId> =
            self.under_way.values().filter(|(channel, _)| *channel == id).map(|(_, delivery)| *delivery).collect();
        let channel = self.store.channel(id).await?.map(Arc::new);
        let limit = channel.as_ref().map_or(1, |channel| max_running(channel.kind));
        let now = self.clock.now();
        // One more than can be started shows whether several wait for the same digest.
        let mut due = self.store.due(id, now, limit + running.len() + 1).await?;
        due.retain(|delivery| !running.contains(&delivery.id));
        if let Some(window) = shared_window(&due) {
            let change =
                AlertChange::Digest { channel: id, window_opened_at: window, digest: DeliveryId::new(), at: now };
            self.recorder.change(Change::Alerts(change)).await?;
            due.retain(|delivery| delivery.waits_in != Some(window));
        }
        due.truncate(limit.saturating_sub(running.len()));
        for delivery in self.store.lease(due).await? {
            let place = (id, delivery.id);
            let (sender, recorder, channel) = (Arc::clone(&self.sender), self.recorder.clone(), channel.clone());
            let task = self.tasks.spawn(async move {
                let attempt = sender.attempt(channel.as_deref(), &delivery).await;
                record(&recorder, delivery.id, attempt).await;
            });
            self.under_way.insert(task.id(), place);
        }
        Ok(())
    }
}

/// The most deliveries that a channel has running: chats accept about one message a second.
fn max_running(kind: ChannelKind) -> usize {
    match kind {
        ChannelKind::Webhook => 4,
        ChannelKind::Email => 2,
        ChannelKind::Slack | ChannelKind::Discord | ChannelKind::Telegram => 1,
    }
}

/// The digest window that several of these deliveries wait in.
fn shared_window(due: &[DeliveryRow]) -> Option<model::Timestamp> {
    let mut windows = HashSet::new();
    due.iter().filter_map(|delivery| delivery.waits_in).find(|window| !windows.insert(*window))
}

/// Records the outcome of an attempt, however long that takes: until then the delivery counts as
/// running, so that it is not sent twice while the database cannot be written.
async fn record(recorder: &Recorder, delivery: DeliveryId, attempt: Attempt) {
    loop {
        let change = AlertChange::Attempted { delivery, attempt: attempt.clone() };
        match recorder.change(Change::Alerts(change)).await {
            Err(StoreError::Unavailable(_)) => tokio::time::sleep(RETRY_WAIT).await,
            Ok(_) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests;
