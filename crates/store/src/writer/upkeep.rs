//! What the writer does when there is nothing weightier: longer sums are made, and what is too old goes.

use model::RecorderInbox;
use tokio::time::{Duration, Instant};

use super::connection::Durability;
use super::{Writer, longer_sums};
use crate::error::may_pass;
use crate::size_limit;

/// How long a change, or a page that shows the newest, may have to wait for sums; a kill waits for one step of that.
const SUMS_AT_A_TIME: Duration = Duration::from_millis(20);

/// How long a change or a page may have to wait for the deletion of what is too much.
const DELETION_AT_A_TIME: Duration = Duration::from_millis(50);

impl Writer {
    /// Makes sums over longer times for a moment, if they are due.
    pub(super) async fn make_sums(&mut self, inbox: &RecorderInbox) -> Result<(), sqlx::Error> {
        let end = Instant::now() + SUMS_AT_A_TIME;
        while self.sums_are_due && inbox.records.is_empty() && Instant::now() < end {
            match self.try_sums().await {
                Ok(more) => self.sums_are_due = more,
                Err(error) if may_pass(&error) => return Err(error),
                Err(error) => {
                    // Whoever asks for them has them from shorter ones.
                    tracing::error!("sums over longer times cannot be made: {error}");
                    self.sums_are_due = false;
                    self.reset_connection().await;
                }
            }
        }
        Ok(())
    }

    async fn try_sums(&mut self) -> Result<bool, sqlx::Error> {
        let mut transaction = self.connection.begin(Durability::Normal).await?;
        let (now, agents) = (self.store.config.clock.now(), self.store.tuning.sum_agents);
        let more = longer_sums::make_some(&mut transaction, now, agents).await?;
        transaction.commit().await?;
        self.note_success();
        Ok(more)
    }

    /// Looks how large the database is, and deletes some of the oldest for a moment if that is too much. No kill waits for
    /// more than one step of it.
    pub(super) async fn limit_size(&mut self, inbox: &RecorderInbox) -> Result<(), sqlx::Error> {
        let end = Instant::now() + DELETION_AT_A_TIME;
        while self.delete_for_size().await? {
            if !inbox.records.is_empty() || Instant::now() >= end {
                self.next_size_look = Instant::now();
                return Ok(());
            }
        }
        self.next_size_look = Instant::now() + self.store.tuning.size_look;
        Ok(())
    }

    /// Deletes a few of the oldest rows if the database is too large. `false`: it is not, or nothing is left to delete.
    async fn delete_for_size(&mut self) -> Result<bool, sqlx::Error> {
        let mut transaction = self.connection.begin(Durability::Normal).await?;
        let used = size_limit::used_bytes(&mut transaction).await?;
        self.health.set_database_size(used);
        let Some(limit) = self.store.config.max_size.filter(|limit| used > *limit) else {
            transaction.rollback().await?;
            return Ok(false);
        };
        let (events, incidents) = size_limit::delete_oldest(&mut transaction, self.store.tuning.retention_rows).await?;
        transaction.commit().await?;
        if events + incidents > 0 && self.health.count_deleted_for_size(events + incidents) == 0 {
            tracing::warn!(
                "the database has reached {} MiB (retention.max_size): the oldest events are deleted before their time",
                limit >> 20
            );
        }
        Ok(events + incidents > 0)
    }

    /// Deletes some of what is too old. Not before sums are made: of hours that go, those stay.
    pub(super) async fn sweep(&mut self) -> Result<(), sqlx::Error> {
        if self.sums_are_due {
            return Ok(());
        }
        let config = &self.store.config;
        let mut transaction = self.connection.begin(Durability::Normal).await?;
        let rows = self.store.tuning.retention_rows;
        let more = self.store.settings().retention.sweep(&mut transaction, config.clock.now(), rows).await?;
        transaction.commit().await?;
        self.note_success();
        self.next_sweep = Instant::now();
        if !more {
            self.next_sweep += self.store.tuning.retention_interval;
            // Hours come to an end also where nothing happens.
            self.sums_are_due = true;
        }
        Ok(())
    }
}
