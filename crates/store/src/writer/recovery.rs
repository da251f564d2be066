//! What the writer does when the files of the database are lost or damaged: a new database is written in their place.

use std::collections::HashSet;
use std::path::PathBuf;

use model::IncidentId;
use sqlx::SqliteConnection;
use tokio::time::Instant;

use super::Writer;
use super::connection::Durability;
use super::file_watch::Look;
use super::request::ChangeRequest;
use crate::files::Loss;
use crate::rescue::{self, Extent, Held};
use crate::{StoreError, connect};

impl Writer {
    /// Puts a new database in the place of one that is lost, or says why that is not possible.
    pub(super) async fn recover(&mut self) -> Result<(), String> {
        let Some(loss) = self.watch.loss.clone() else { return Ok(()) };
        let words = format!("{loss}; kills hold in memory only until a new database is written");
        // Readiness says so while the new one is written.
        if self.health.set(Some(words.clone())).is_none() {
            tracing::error!("{loss}: nothing is acknowledged until a new database is written");
        }
        if Instant::now() < self.watch.next_rescue {
            return Err(words);
        }
        let began = Instant::now();
        match self.rescue(&loss).await {
            Ok(()) => {
                self.pause = None;
                self.health.set(None);
                Ok(())
            }
            Err(error) => {
                self.watch.pause_rescue(began.elapsed());
                Err(format!("{words}, which fails: {error}"))
            }
        }
    }

    /// Refuses the changes that wait: whoever made them can decide what to do.
    pub(super) fn refuse_changes(&mut self, why: &str) {
        for request in self.changes.drain(..).filter(ChangeRequest::take) {
            request.answer(Err(StoreError::Unavailable(why.to_owned())));
        }
    }

    async fn rescue(&mut self, loss: &Loss) -> Result<(), StoreError> {
        if self.watch.is_back().await {
            self.watch.loss = None;
            return Ok(());
        }
        self.store.config.claim_directory.claim(&self.store.config.data_dir)?;
        self.store.keys.write_if_missing()?;
        let extent = self.write_copy().await?;
        let database = self.store.config.database();
        let aside = rescue::swap(&database, self.store.config.clock.now())
            .map_err(|error| StoreError::Setup(error.to_string()))?;
        self.use_new_database().await?;
        let told = told(loss, extent, aside);
        tracing::warn!("{told}");
        self.health.set_notice(told);
        Ok(())
    }

    async fn write_copy(&mut self) -> Result<Extent, StoreError> {
        let pending: HashSet<IncidentId> = self.records.iter().map(|record| record.incident.kill.incident).collect();
        let agents = self.store.kills.agents();
        let held = Held { agents: &agents, pending: &pending, now: self.store.config.clock.now() };
        let (database, tuning) = (self.store.config.database(), self.store.tuning.clone());
        // The writer's own connection comes first: it has pages in memory that may be damaged on disk.
        let source: &mut SqliteConnection = match (self.connection.opened(), &mut self.watch.anchor) {
            (Some(connection), _) | (None, Some(connection)) => connection,
            (None, None) => return Err(StoreError::Unavailable("no connection has it open".to_owned())),
        };
        rescue::write_copy(source, &database, held, &tuning).await
    }

    /// Leaves the old files: every connection is opened again.
    async fn use_new_database(&mut self) -> Result<(), StoreError> {
        self.connection.reset(connect::writer(&self.store.config.database(), &self.store.tuning)).await;
        self.watch.close().await;
        self.store.generation.advance();
        self.watch.open().await?;
        Ok(())
    }

    /// Looks at the files. What another program wrote may lack kills that memory holds: those are written again.
    pub(super) async fn look_at_files(&mut self) {
        if self.watch.look().await == Look::ChangedByOthers {
            self.reset_connection().await;
            self.store.generation.advance();
            if let Err(error) = self.hold_kills().await {
                self.note_trouble(&error).await;
            }
        }
    }

    async fn hold_kills(&mut self) -> Result<(), sqlx::Error> {
        let pending = self.records.iter().map(|record| record.incident.kill.incident).collect();
        let agents = self.store.kills.agents();
        let held = Held { agents: &agents, pending: &pending, now: self.store.config.clock.now() };
        let mut transaction = self.connection.begin(Durability::Full).await?;
        rescue::hold_kills(&mut transaction, &held).await?;
        transaction.commit().await
    }
}

/// What happened, for the log and the status.
fn told(loss: &Loss, extent: Extent, aside: Option<PathBuf>) -> String {
    let content = match extent {
        Extent::Whole => "with everything that was in it",
        Extent::Readable => "with every kill and with what could still be read",
    };
    let kept = aside.map(|path| format!("; what was in its place is kept as {}", path.display())).unwrap_or_default();
    format!("{loss}: a new database was written {content}{kept}")
}
