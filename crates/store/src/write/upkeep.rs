//! The writer's work in idle times: makes sums over longer spans, and deletes what is too old or
//! too much.

pub(crate) mod retention;

use model::RecorderInbox;
use tokio::time::{Duration, Instant};

use super::Writer;
use crate::database::{self, Durability, Lock, is_temporary, used_bytes};
use crate::stats;

/// The longest that a change or a page waits for sums; a kill waits for one step of that.
const SUMS_AT_A_TIME: Duration = Duration::from_millis(20);

/// The longest that a change or a page waits for deletions.
const DELETION_AT_A_TIME: Duration = Duration::from_millis(50);

impl Writer {
    /// Makes sums over longer spans for a moment, if they are due.
    pub(super) async fn make_sums(&mut self, inbox: &RecorderInbox) -> Result<(), sqlx::Error> {
        let end = Instant::now() + SUMS_AT_A_TIME;
        while self.sums_are_due && inbox.records.is_empty() && Instant::now() < end {
            match self.try_sums().await {
                Ok(more) => self.sums_are_due = more,
                Err(error) if is_temporary(&error) => return Err(error),
                Err(error) => {
                    // Readers use shorter sums instead.
                    tracing::error!("sums over longer spans cannot be made: {error}");
                    self.sums_are_due = false;
                    self.session.reset().await;
                }
            }
        }
        Ok(())
    }

    async fn try_sums(&mut self) -> Result<bool, sqlx::Error> {
        let mut transaction = self.session.begin(Durability::Normal).await?;
        let tuning = &self.store.tuning;
        let portion = stats::Portion { agents: tuning.sum_agents, writer: &tuning.writer };
        let more = stats::make_some(&mut transaction.connection(), self.store.config.clock.now(), portion).await?;
        transaction.commit().await?;
        self.note_success();
        Ok(more)
    }

    /// Measures the database, and deletes some of the oldest rows for a moment if it is too large.
    /// No kill waits for more than one step of it.
    pub(super) async fn limit_size(&mut self, inbox: &RecorderInbox) -> Result<(), sqlx::Error> {
        let end = Instant::now() + DELETION_AT_A_TIME;
        while self.delete_for_size().await? {
            if !inbox.records.is_empty() || Instant::now() >= end {
                self.next_size_check = Instant::now();
                return Ok(());
            }
        }
        self.next_size_check = Instant::now() + self.store.tuning.size_interval;
        Ok(())
    }

    /// Deletes a few of the oldest rows if the database is too large. `false`: it is not, or
    /// nothing is left to delete.
    async fn delete_for_size(&mut self) -> Result<bool, sqlx::Error> {
        let mut transaction = self.session.begin(Durability::Normal).await?;
        // Locked before the size is read: another server may have freed space.
        let may_delete = database::try_lock(&mut transaction.connection(), Lock::Upkeep).await?;
        let used = used_bytes(&mut transaction.connection()).await?;
        self.health.set_database_size(used);
        let Some(limit) = self.store.config.max_size.filter(|limit| may_delete && used > *limit) else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let (events, incidents) =
            retention::delete_oldest(&mut transaction.connection(), self.store.tuning.retention_rows).await?;
        transaction.commit().await?;
        if events + incidents > 0 && self.health.count_deleted_for_size(events + incidents) == 0 {
            tracing::warn!(
                "the database has reached {} MiB (retention.max_size): the oldest events are deleted before their time",
                limit >> 20
            );
        }
        Ok(events + incidents > 0)
    }

    /// Deletes some of what is too old, but only after sums are made from the hours to delete.
    pub(super) async fn sweep(&mut self) -> Result<(), sqlx::Error> {
        if self.sums_are_due {
            return Ok(());
        }
        let config = &self.store.config;
        let mut transaction = self.session.begin(Durability::Normal).await?;
        if !database::try_lock(&mut transaction.connection(), Lock::Upkeep).await? {
            transaction.rollback().await?;
            self.next_sweep = Instant::now() + self.store.tuning.size_interval;
            return Ok(());
        }
        database::sweep_changes(&mut transaction.connection(), config.clock.now().as_millis()).await?;
        let rows = self.store.tuning.retention_rows;
        let kept = self.store.settings().retention;
        let more = retention::sweep(&mut transaction.connection(), kept, config.clock.now(), rows).await?;
        transaction.commit().await?;
        self.note_success();
        self.next_sweep = Instant::now();
        if !more {
            self.next_sweep += self.store.tuning.retention_interval;
            // Hours end even if no call comes.
            self.sums_are_due = true;
        }
        Ok(())
    }
}
