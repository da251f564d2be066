//! Writes what is due, in order of importance, and handles failures.

use std::collections::HashSet;

use model::{AgentId, Cause, RecorderInbox};
use tokio::time::Instant;

use super::changes::{self, Outcome};
use super::{Writer, batch, deletion};
use crate::database::{Durability, in_plain_words, is_contention, is_temporary};
use crate::error::Failure;
use crate::servers::feed;
use crate::stats::Span;
use crate::{Change, Notice, StoreError, audit};

/// How often a write that conflicted with another server is retried without a pause.
const CONTENTION_ATTEMPTS: u32 = 5;

/// How many recent deletions are remembered while evidence is still being packed.
const DELETED: usize = 1024;

impl Writer {
    /// Writes what is due, the most important first. Stops at the first failure; the rest is
    /// retried after a pause.
    pub(super) async fn work(&mut self, inbox: &mut RecorderInbox) {
        match self.recover().await {
            Err(why) => {
                self.refuse_changes(&why);
                self.begin_pause(why);
            }
            Ok(()) => {
                if let Err(error) = self.write_all_with_retries(inbox).await {
                    self.note_failure(&error).await;
                }
            }
        }
        self.answer_readers();
    }

    /// Answers readers that wait for a catch-up: everything is on disk or waits for a retry.
    fn answer_readers(&mut self) {
        for done in self.catching_up.drain(..) {
            let _ = done.send(());
        }
    }

    /// Retries at once a write that only conflicted with another server.
    async fn write_all_with_retries(&mut self, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        for _ in 0..CONTENTION_ATTEMPTS {
            match self.write_all(inbox).await {
                Err(error) if is_contention(&error) => self.session.reset().await,
                result => return result,
            }
        }
        self.write_all(inbox).await
    }

    async fn write_all(&mut self, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        self.write_records(inbox).await?;
        if !self.changes.is_empty() {
            // A change may be about an agent known only from an event that is not written yet.
            self.write_events(inbox).await?;
            self.write_changes(inbox).await?;
        }
        if self.pause.is_some() || self.batch_due.is_some_and(|due| Instant::now() >= due) {
            self.write_events(inbox).await?;
        }
        if self.is_idle() && self.pause.is_some() {
            self.probe().await?;
        }
        self.answer_readers();
        if self.records.is_empty() && self.changes.is_empty() {
            self.make_sums(inbox).await?;
        }
        if self.is_idle() && Instant::now() >= self.next_sweep {
            self.sweep().await?;
        }
        if self.is_idle() && Instant::now() >= self.next_size_check {
            self.limit_size(inbox).await?;
        }
        if self.is_idle() && self.cache_release.take_if(|due| Instant::now() >= *due).is_some() {
            self.session.release_cache().await;
        }
        Ok(())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.records.is_empty() && self.changes.is_empty() && self.events.is_empty()
    }

    async fn write_changes(&mut self, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        while let Some(request) = self.changes.pop_front() {
            if !request.claim() {
                continue;
            }
            match self.try_change(&request.change, request.cause.as_deref(), inbox).await {
                Ok((changed, notice)) => {
                    self.note_success();
                    request.answer(Ok(changed));
                    self.outbox.send_modify(|moments| *moments += 1);
                    notice.map(|notice| self.notices.send(notice));
                }
                Err(Failure::Refused(why)) => request.answer(Err(why)),
                Err(Failure::Database(error)) if is_temporary(&error) => {
                    if let Some(request) = request.release(&in_plain_words(&error)) {
                        self.changes.push_front(request);
                    }
                    return Err(error);
                }
                Err(Failure::Database(error)) => request.answer(Err(StoreError::from(error))),
            }
        }
        Ok(())
    }

    async fn try_change(&mut self, change: &Change, cause: Option<&Cause>, inbox: &mut RecorderInbox) -> Outcome {
        if let Change::DeleteAgent { agent } = change {
            self.delete_large_tables(agent, inbox).await?;
        }
        let mut transaction = self.session.begin(Durability::Full).await?;
        let entry = match cause {
            Some(cause) => audit::Entry::begin(&mut transaction.connection(), change, cause).await?,
            None => None,
        };
        let changed = changes::apply(&mut transaction.connection(), change, &self.store).await?;
        if let Some(row) = feed::changed_row(change) {
            feed::announce(&mut transaction.connection(), &row, &self.store).await?;
        }
        if let Some(entry) = entry {
            entry.append(&mut transaction.connection(), self.store.config.clock.now(), &self.store.keys).await?;
        }
        transaction.commit().await?;
        if let Change::DeleteAgent { agent } = change {
            self.deleted.truncate(DELETED - 1);
            self.deleted.push_front((agent.clone(), self.store.config.clock.now()));
        }
        if let Change::PutSettings { settings } = change {
            let in_force = settings.apply(self.store.config.settings());
            self.store.settings.put(*settings, in_force.map_err(|error| StoreError::Conflict(error.to_string()))?);
        }
        Ok(changed)
    }

    /// Deletes the many rows of an agent, in steps between which kills are written.
    async fn delete_large_tables(&mut self, agent: &AgentId, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        loop {
            let mut transaction = self.session.begin(Durability::Normal).await?;
            let more =
                deletion::delete_some(&mut transaction.connection(), agent, self.store.tuning.deletion_rows).await?;
            transaction.commit().await?;
            if !more {
                return Ok(());
            }
            self.write_records(inbox).await?;
        }
    }

    /// Writes the events that have come in so far, a batch at a time.
    async fn write_events(&mut self, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        let mut left = self.events.len() + inbox.events.len();
        self.last_batch = left;
        if left >= self.store.tuning.busy_rows {
            self.cache_release = Some(Instant::now() + self.store.tuning.cache_idle_time);
        }
        while left > 0 {
            self.take_events(inbox, self.store.tuning.batch_rows);
            let count = self.batch_in_doubt.unwrap_or(self.store.tuning.batch_rows).min(self.events.len());
            match self.try_events(count).await {
                Ok(()) => {
                    self.note_success();
                    let written = self.events.drain(..count);
                    if self.notices.receiver_count() > 0 {
                        written.for_each(|event| drop(self.notices.send(Notice::Event(event))));
                    }
                }
                Err(error) if is_temporary(&error) => return Err(error),
                Err(error) => {
                    tracing::error!("{count} events cannot be written and are dropped: {error}");
                    self.events.drain(..count);
                    self.health.count_dropped(count);
                    self.session.reset().await;
                }
            }
            left = left.saturating_sub(count);
            // A kill waits for one batch at most.
            if !inbox.records.is_empty() {
                break;
            }
        }
        self.batch_due = if left > 0 { Some(Instant::now()) } else { None };
        Ok(())
    }

    async fn try_events(&mut self, count: usize) -> Result<(), sqlx::Error> {
        // Sums must not be added twice.
        if self.batch_in_doubt.is_some() {
            let was_committed = self.session.was_committed().await?;
            self.batch_in_doubt = None;
            if was_committed {
                self.sums_are_due = true;
                return Ok(());
            }
        }
        let events = &self.events.make_contiguous()[..count];
        // Events of a busy agent come one after the other.
        let runs = events.chunk_by(|one, next| one.agent == next.agent);
        let agents: HashSet<&AgentId> = runs.map(|run| &run[0].agent).collect();
        self.session.fit_cache(agents.len()).await;
        let newest = events.iter().map(|event| Span::Hour.start(event.time.as_millis())).max().unwrap_or(0);
        let mut transaction = self.session.begin(Durability::Normal).await?;
        transaction.record_id().await?;
        batch::write(&mut transaction.connection(), events, &self.store).await?;
        transaction.commit().await.inspect_err(|_| self.batch_in_doubt = Some(count))?;
        if newest != self.newest_hour {
            (self.newest_hour, self.sums_are_due) = (newest, true);
        }
        Ok(())
    }
}
