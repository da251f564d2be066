//! What is too old is deleted, a few rows at a time.

use model::{IncidentState, Timestamp};
use sqlx::SqliteConnection;

use crate::period::HOURS_KEPT_DAYS;
use crate::span::Span;
use crate::{alerts, exemptions};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How many incidents are deleted at a time.
const INCIDENTS: i64 = 10;

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days that events are kept.
    pub event_days: u32,
    /// Days that incidents are kept, with their evidence, and the history of alerts. An open one stays until it is closed.
    pub incident_days: u32,
    /// Days that statistics are kept by the day; by the hour and by conversation they are for two months at most.
    pub statistics_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { event_days: 30, incident_days: 180, statistics_days: 400 }
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
        let figures = self.sweep_figures(transaction, now, rows).await?;
        let deliveries = alerts::sweep_deliveries(transaction, before(self.incident_days)).await?;
        let minutes = alerts::sweep_minutes(transaction, now, rows).await?;
        let exemptions = exemptions::sweep(transaction, now, rows).await?;
        let more = figures || deliveries || minutes || exemptions;
        Ok(events.rows_affected() > 0 || incidents.rows_affected() > 0 || more)
    }

    /// The same for figures: hours go before days.
    async fn sweep_figures(
        self,
        transaction: &mut SqliteConnection,
        now: Timestamp,
        rows: i64,
    ) -> Result<bool, sqlx::Error> {
        let before = |days: i64| now.as_millis().saturating_sub(days * DAY_MS);
        let statistics_days = i64::from(self.statistics_days);
        let hours_days = statistics_days.min(HOURS_KEPT_DAYS);
        let mut deleted = 0;
        for (span, days) in [(Span::Hour, hours_days), (Span::Day, statistics_days)] {
            let query = sqlx::query(
                "delete from rollups where (span, start, agent_id, provider, model) in (
                    select span, start, agent_id, provider, model from rollups where span = $1 and start < $2
                    order by span, start limit $3)",
            );
            let query = query.bind(span.code()).bind(before(days)).bind(rows);
            deleted += query.execute(&mut *transaction).await?.rows_affected();
        }
        let query = sqlx::query(
            "delete from conversations where (agent_id, conversation) in (
                select agent_id, conversation from conversations where last_hour < $1 order by last_hour limit $2)",
        );
        deleted += query.bind(before(hours_days)).bind(rows).execute(transaction).await?.rows_affected();
        Ok(deleted > 0)
    }
}
