//! Writes the records of kills and observed incidents.

use model::RecorderInbox;
use tokio::sync::broadcast;
use tokio::time::Instant;

use super::{Context, Pending, RecordExtent, Written};
use crate::database::{Durability, is_full, is_temporary};
use crate::servers::feed;
use crate::write::Writer;
use crate::write::notice::Notice;
use crate::{ChangedKind, ChangedRow};

/// How many kills share one transaction, and so one wait for the disk.
const RECORDS: usize = 32;

impl Writer {
    /// Writes all records that have come in, so that none is behind a change that was asked for
    /// after it.
    pub(in crate::write) async fn write_records(&mut self, inbox: &mut RecorderInbox) -> Result<(), sqlx::Error> {
        while let Ok(record) = inbox.records.try_recv() {
            let record = Pending::from(record).await;
            self.keep_record(record);
        }
        if !self.records.is_empty() {
            // The cost of a loop includes events that may still be in the inbox.
            self.take_events(inbox, usize::MAX);
            let due = Instant::now() + self.delay();
            self.batch_due.get_or_insert(due);
        }
        while !self.records.is_empty() {
            // Several servers lock agents in the same order: one agent at a time.
            let count = self.records.len().min(if self.store.is_shared() { 1 } else { RECORDS });
            let written = match self.try_records(count, RecordExtent::Whole).await {
                // The kill matters more than its evidence.
                Err(error) if is_full(&error) => {
                    self.session.reset().await;
                    self.try_records(count, RecordExtent::WithoutEvidence).await?
                }
                Err(error) if !is_temporary(&error) => {
                    self.session.reset().await;
                    self.write_first_record().await?
                }
                result => result?,
            };
            self.note_success();
            for (record, written) in self.records.drain(..written.len()).zip(written) {
                announce(&self.notices, record, written);
            }
            self.outbox.send_modify(|moments| *moments += 1);
        }
        Ok(())
    }

    /// Writes as much of the first record as possible, because one that can never be written must
    /// not block all others.
    async fn write_first_record(&mut self) -> Result<Vec<Written>, sqlx::Error> {
        for extent in [RecordExtent::Whole, RecordExtent::WithoutEvidence, RecordExtent::Bare] {
            match self.try_records(1, extent).await {
                Err(error) if !is_temporary(&error) => {
                    tracing::error!("an incident cannot be written ({extent:?}): {error}");
                    self.session.reset().await;
                }
                result => return result,
            }
        }
        // The callers that wait for it learn that it was not written.
        self.records.pop_front();
        Ok(Vec::new())
    }

    /// Writes the first `count` records and returns the outcome of each.
    async fn try_records(&mut self, count: usize, extent: RecordExtent) -> Result<Vec<Written>, sqlx::Error> {
        let mut transaction = self.session.begin(Durability::Full).await?;
        let mut written = Vec::with_capacity(count);
        let context = Context {
            grouping: self.store.config.grouping,
            groups: &self.store.groups,
            writer: &self.store.tuning.writer,
            unwritten: &self.events,
        };
        for record in self.records.iter().take(count) {
            if record.is_of_deleted(&self.deleted) {
                written.push(Written::TooLate(None));
                continue;
            }
            let outcome = super::write(&mut transaction.connection(), record, extent, &context).await?;
            if outcome == Written::Whole {
                let kill = &record.incident.kill;
                let row = match record.kill {
                    Some(_) => ChangedRow { kind: ChangedKind::Agent, key: kill.agent.to_string() },
                    None => ChangedRow { kind: ChangedKind::Incident, key: kill.incident.to_string() },
                };
                feed::announce(&mut transaction.connection(), &row, &self.store).await?;
            }
            written.push(outcome);
        }
        transaction.commit().await?;
        Ok(written)
    }
}

/// Acknowledges a kill that is on disk, and sends the notices.
fn announce(notices: &broadcast::Sender<Notice>, record: Pending, written: Written) {
    let Pending { incident, kill, .. } = record;
    let first = match written {
        Written::TooLate(Some(first)) => first,
        Written::TooLate(None) | Written::Whole => incident.kill.incident,
    };
    let event = kill.map(|(event, committed)| {
        committed.send_replace(Some(first));
        event
    });
    if written != Written::Whole || notices.receiver_count() == 0 {
        return;
    }
    if let Some(event) = event {
        let _ = notices.send(Notice::Event(event));
    }
    let _ = notices.send(Notice::Incident { id: incident.kill.incident, agent: incident.kill.agent });
}
