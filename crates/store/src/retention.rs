//! What is too old is deleted, a few rows at a time.

use model::{FieldError, IncidentState, Timestamp};
use serde::{Deserialize, Serialize};
use sqlx::SqliteConnection;

use crate::period::HOURS_KEPT_DAYS;
use crate::span::Span;
use crate::{alerts, exemptions, ladder, unscored};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// How many incidents are deleted at a time.
const INCIDENTS: i64 = 10;

/// A hundred years: whoever wants more wants a copy of the database.
const MOST_DAYS: u32 = 36_500;

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

/// A change of how long things are kept: an absent field keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of Retention")]
pub struct RetentionChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics_days: Option<u64>,
}

impl RetentionChange {
    /// How long things are kept after this change of `current`, or the field that is wrong.
    pub fn apply(self, current: Retention) -> Result<Retention, FieldError> {
        let days = |field: &'static str, days: Option<u64>, current: u32| match days {
            None => Ok(current),
            Some(days) => u32::try_from(days)
                .ok()
                .filter(|days| (1..=MOST_DAYS).contains(days))
                .ok_or_else(|| FieldError::new(field, format!("must be a whole number of days from 1 to {MOST_DAYS}"))),
        };
        Ok(Retention {
            event_days: days("event_days", self.event_days, current.event_days)?,
            incident_days: days("incident_days", self.incident_days, current.incident_days)?,
            statistics_days: days("statistics_days", self.statistics_days, current.statistics_days)?,
        })
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
        for hours in ladder::LENGTHS {
            let query = sqlx::query(
                "delete from agent_sums where (hours, start, agent_id) in (
                    select hours, start, agent_id from agent_sums where hours = $1 and start < $2
                    order by hours, start limit $3)",
            );
            let query = query.bind(hours).bind(before(ladder::kept_days(hours, statistics_days))).bind(rows);
            deleted += query.execute(&mut *transaction).await?.rows_affected();
        }
        let query = sqlx::query(
            "delete from conversations where (agent_id, conversation) in (
                select agent_id, conversation from conversations where last_hour < $1 order by last_hour limit $2)",
        );
        deleted += query.bind(before(hours_days)).bind(rows).execute(&mut *transaction).await?.rows_affected();
        deleted += unscored::sweep(transaction, before(hours_days), rows).await?;
        Ok(deleted > 0)
    }
}
