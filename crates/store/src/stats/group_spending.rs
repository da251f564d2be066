//! The spending of deleted agents. The budgets of their groups still count it, by hour and without
//! the agent's name.

use model::{AgentId, Groups, NanoUsd, Timestamp};
use sqlx::AssertSqlSafe;

use super::spans::{HOURS_KEPT_DAYS, Span};
use crate::columns::unsigned;
use crate::database::{self, Connection, Pool, Row, dialect};
use crate::{StoreError, Unpriced};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Keeps the spending of `agent`, which is about to be deleted, for each of its groups.
pub(crate) async fn keep(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    (groups, unpriced): (&Groups, &Unpriced),
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    // No budget looks further back.
    let oldest = now.as_millis() - HOURS_KEPT_DAYS * DAY_MS;
    let query = database::query("delete from group_spending where start < $1").bind(oldest);
    query.execute(&mut *transaction).await?;
    let groups: Vec<_> = groups.all().into_iter().filter(|group| group.includes(agent)).collect();
    if groups.is_empty() {
        return Ok(());
    }
    let spent = by_hour(transaction, agent, oldest, unpriced).await?;
    for group in groups {
        for (start, cost) in &spent {
            let query = database::query(
                "insert into group_spending (group_name, start, cost_nano_usd) values ($1, $2, $3)
                 on conflict (group_name, start) do update
                 set cost_nano_usd = group_spending.cost_nano_usd + excluded.cost_nano_usd",
            );
            let query = query.bind(group.name.clone()).bind(*start).bind(cost.nanos());
            query.execute(&mut *transaction).await?;
        }
    }
    Ok(())
}

/// What an agent has spent, as budgets count it, by hour.
async fn by_hour(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    oldest: i64,
    unpriced: &Unpriced,
) -> Result<Vec<(i64, NanoUsd)>, sqlx::Error> {
    // From one hour to the next, so that the rows of other agents are not read.
    let statement = format!(
        "with recursive starts (start) as (
            select min(start) from rollups where span = $1 and start >= $3
            union all
            select (select min(start) from rollups where span = $1 and start > starts.start) from starts
            where starts.start is not null)
         select start, provider, {} as cost, {} as tokens_in, {} as tokens_out from rollups
         where span = $1 and start in (select start from starts where start is not null) and agent_id = $2
         group by start, provider order by start",
        dialect::sum!("cost_nano_usd"),
        dialect::sum!("unpriced_in"),
        dialect::sum!("unpriced_out"),
    );
    let query = database::query(AssertSqlSafe(statement)).bind(Span::Hour.model_code()).bind(agent.as_str());
    let rows = query.bind(oldest).try_map(|row: Row| {
        let tokens = (unsigned(row.try_get("tokens_in")?), unsigned(row.try_get("tokens_out")?));
        let counted = unpriced.of_tokens(row.try_get("provider")?, tokens);
        Ok((row.try_get("start")?, NanoUsd::new(row.try_get("cost")?) + counted))
    });
    let spent: Vec<(i64, NanoUsd)> = rows.fetch_all(transaction).await?;
    Ok(spent.into_iter().filter(|(_, cost)| *cost != NanoUsd::ZERO).collect())
}

/// The spending of deleted agents of a group since `from`. The hour in which the period begins
/// counts as a whole, because some time zones begin their days within an hour.
pub(crate) async fn since(readers: &Pool, group: &str, from: Timestamp) -> Result<NanoUsd, StoreError> {
    let query = database::query_scalar(concat!(
        "select ",
        dialect::sum!("cost_nano_usd"),
        " from group_spending where group_name = $1 and start >= $2"
    ));
    let query = query.bind(group.to_owned()).bind(Span::Hour.start(from.as_millis()));
    let spent: Option<i64> = query.fetch_one(readers).await?;
    Ok(NanoUsd::new(spent.unwrap_or_default()))
}
