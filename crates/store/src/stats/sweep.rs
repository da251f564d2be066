//! Deletes statistics that are too old: hours before days.

use model::Timestamp;

use super::spans::{HOURS_KEPT_DAYS, Span};
use super::unscored;
use crate::database::{self, Connection};

/// Deletes up to `rows` rows of each kind that are too old at `now`, and says whether there may be
/// more.
pub(crate) async fn sweep(
    transaction: &mut Connection<'_>,
    statistics_days: i64,
    now: Timestamp,
    rows: i64,
) -> Result<bool, sqlx::Error> {
    let before = |days: i64| now.as_millis().saturating_sub(days * Span::Day.millis());
    let mut deleted = 0;
    for span in Span::BY_MODEL {
        let query = database::query(
            "delete from rollups where (span, start, agent_id, provider, model, writer) in (
                select span, start, agent_id, provider, model, writer from rollups where span = $1 and start < $2
                order by span, start limit $3)",
        );
        let query = query.bind(span.model_code()).bind(before(span.kept_days(statistics_days))).bind(rows);
        deleted += query.execute(&mut *transaction).await?.rows_affected();
    }
    for span in Span::ALL {
        let query = database::query(
            "delete from agent_sums where (hours, start, agent_id) in (
                select hours, start, agent_id from agent_sums where hours = $1 and start < $2
                order by hours, start limit $3)",
        );
        let query = query.bind(span.hours()).bind(before(span.kept_days(statistics_days))).bind(rows);
        deleted += query.execute(&mut *transaction).await?.rows_affected();
    }
    let hours_days = statistics_days.min(HOURS_KEPT_DAYS);
    let query = database::query(
        "delete from conversations where (agent_id, conversation) in (
            select agent_id, conversation from conversations where last_hour < $1 order by last_hour limit $2)",
    );
    deleted += query.bind(before(hours_days)).bind(rows).execute(&mut *transaction).await?.rows_affected();
    deleted += unscored::sweep(transaction, before(hours_days), rows).await?;
    Ok(deleted > 0)
}
