//! How the writer handles database failures: it pauses, retries, and gives up at the end.

use model::RecorderInbox;
use tokio::time::Instant;

use super::Writer;
use crate::database::{Durability, in_plain_words};

impl Writer {
    /// Checks whether the database can be written again when there is nothing to write.
    pub(super) async fn probe(&mut self) -> Result<(), sqlx::Error> {
        self.session.begin(Durability::Full).await?.commit().await?;
        self.note_success();
        Ok(())
    }

    /// Writes what is left, for a limited time, and closes the database.
    pub(super) async fn finish(mut self, inbox: &mut RecorderInbox) {
        let deadline = Instant::now() + self.store.tuning.stop_timeout;
        self.next_sweep = deadline + self.store.tuning.retention_interval;
        self.next_size_check = self.next_sweep;
        loop {
            self.batch_due = Some(Instant::now());
            self.work(inbox).await;
            self.keep_events(inbox);
            let Some((pause, _)) = self.pause.filter(|_| !self.is_idle()) else { break };
            if Instant::now() + pause >= deadline {
                let (incidents, events) = (self.records.len(), self.events.len());
                tracing::error!(
                    "the database could not be written to: {incidents} incidents and {events} events are lost"
                );
                break;
            }
            tokio::time::sleep(pause).await;
        }
        let all_is_written = self.is_idle();
        if let Err(error) = self.session.close().await {
            tracing::warn!("the database could not be closed well: {}", in_plain_words(&error));
        }
        for done in self.stopping {
            let _ = done.send(all_is_written);
        }
    }

    /// Begins a pause; what failed is tried again after it.
    pub(super) async fn note_failure(&mut self, error: &sqlx::Error) {
        self.begin_pause(in_plain_words(error));
        self.session.note_failure(error).await;
    }

    /// Begins or prolongs the pause, and logs it once.
    pub(super) fn begin_pause(&mut self, words: String) {
        if self.health.set(Some(words.clone())).is_none() {
            tracing::warn!("nothing can be recorded at the moment, kills hold all the same: {words}");
        }
        let tuning = &self.store.tuning;
        let length = self.pause.map_or(tuning.first_pause, |(length, _)| (length * 2).min(tuning.longest_pause));
        self.pause = Some((length, Instant::now() + length));
    }

    /// Ends the pause, and logs it once.
    pub(super) fn note_success(&mut self) {
        if self.pause.take().is_some() && self.health.set(None).is_some() {
            tracing::info!("the database can be written again");
        }
    }
}
