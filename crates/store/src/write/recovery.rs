//! How the writer handles a lost or damaged database: it writes a new one in its place.

use std::collections::HashSet;

use model::IncidentId;
use tokio::time::Instant;

use super::Writer;
use super::request::ChangeRequest;
use crate::StoreError;
use crate::database::MemoryState;

impl Writer {
    /// Puts a new database in the place of one that is lost, or returns why that is not possible.
    pub(super) async fn recover(&mut self) -> Result<(), String> {
        let Some(loss) = self.session.loss() else { return Ok(()) };
        let words = format!("{loss}; kills hold in memory only until a new database is written");
        // Readiness reports it while the new one is written.
        if self.health.set(Some(words.clone())).is_none() {
            tracing::error!("{loss}: nothing is acknowledged until a new database is written");
        }
        if !self.session.may_rescue() {
            return Err(words);
        }
        let began = Instant::now();
        match self.rescue().await {
            Ok(()) => {
                self.pause = None;
                self.health.set(None);
                Ok(())
            }
            Err(error) => {
                self.session.pause_rescue(began);
                Err(format!("{words}, which fails: {error}"))
            }
        }
    }

    /// Refuses the changes that wait, so that their callers can decide what to do.
    pub(super) fn refuse_changes(&mut self, why: &str) {
        for request in self.changes.drain(..).filter(ChangeRequest::claim) {
            request.answer(Err(StoreError::Unavailable(why.to_owned())));
        }
    }

    async fn rescue(&mut self) -> Result<(), StoreError> {
        if self.session.is_back().await {
            return Ok(());
        }
        self.store.config.claim_directory.claim(&self.store.config.data_dir)?;
        self.store.keys.write_if_missing()?;
        let (agents, pending) = (self.store.kills.agents(), self.pending_incidents());
        let memory = MemoryState { agents: &agents, pending: &pending, now: self.store.config.clock.now() };
        let notice = self.session.rescue(memory).await?;
        tracing::warn!("{notice}");
        self.health.set_notice(notice);
        Ok(())
    }

    /// Checks the files. If another program wrote to them, they may lack kills that memory holds:
    /// those are written again.
    pub(super) async fn check_files(&mut self) {
        if self.session.may_lack_kills().await
            && let Err(error) = self.write_kills_again().await
        {
            self.note_failure(&error).await;
        }
    }

    async fn write_kills_again(&mut self) -> Result<(), sqlx::Error> {
        let (agents, pending) = (self.store.kills.agents(), self.pending_incidents());
        let memory = MemoryState { agents: &agents, pending: &pending, now: self.store.config.clock.now() };
        self.session.write_kills(&memory).await
    }

    /// The incidents that are still to be written.
    fn pending_incidents(&self) -> HashSet<IncidentId> {
        self.records.iter().map(|record| record.incident.kill.incident).collect()
    }
}
