//! What is too old is deleted, a few rows at a time.

use model::{IncidentState, Timestamp};
use sqlx::SqliteConnection;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How many incidents are deleted at a time.
const INCIDENTS: i64 = 10;

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days that events are kept.
    pub event_days: u32,
    /// Days that incidents are kept, with their evidence. An open one stays until it is closed.
    pub incident_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { event_days: 30, incident_days: 180 }
    }
}

impl Retention {
    /// Deletes up to `rows` events and a few incidents (each with megabytes of evidence) that are too old at `now`, and says whether there may be more.
    ///
    /// Ids sort by time, so the oldest rows are the first ones of each table: those are looked at, and no others.
    pub(crate) async fn sweep(
        self,
        transaction: &mut SqliteConnection,
        now: Timestamp,
        rows: i64,
    ) -> Result<bool, sqlx::Error> {
        let before = |days: u32| now.as_millis().saturating_sub(i64::from(days) * DAY_MS);
        let events = sqlx::query(
            "delete from events where id in (
                select id from (select id, timestamp from events order by id limit $2) as oldest where timestamp < $1)",
        )
        .bind(before(self.event_days))
        .bind(rows)
        .execute(&mut *transaction)
        .await?;
        let incidents = sqlx::query(
            "delete from incidents where id in (
                select id from (select id, timestamp from incidents where state <> $3 order by id limit $2) as oldest
                where timestamp < $1)",
        )
        .bind(before(self.incident_days))
        .bind(INCIDENTS)
        .bind(IncidentState::Open.as_str())
        .execute(&mut *transaction)
        .await?;
        Ok(events.rows_affected() > 0 || incidents.rows_affected() > 0)
    }
}
