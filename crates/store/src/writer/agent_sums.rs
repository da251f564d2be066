//! What each agent did, all its models together: kept by spans of several lengths, so that a list of all agents adds up few
//! rows of each.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::AgentId;
use sqlx::{Arguments, SqliteConnection};

use super::batch::text;
use super::rollup::push_counts;
use super::rows::Insert;
use crate::Tally;
use crate::ladder::{self, LENGTHS};

static ADD: LazyLock<Insert> = LazyLock::new(|| {
    let into = "agent_sums (hours, start, agent_id, requests, errors, blocked, tokens_in, tokens_out, tokens_cached,
        tokens_cache_write, tokens_reasoning, cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated)";
    Insert::new(into, 16, super::rollup::ADD_COUNTS)
});

/// Adds the sums of hours, each with its beginning and its agent.
pub(super) async fn add<'a>(
    transaction: &mut SqliteConnection,
    sums: impl Iterator<Item = (i64, &'a str, &'a Tally)>,
) -> Result<(), sqlx::Error> {
    let mut all: HashMap<(i64, i64, &str), Tally> = HashMap::new();
    for (hour, agent, tally) in sums {
        for hours in LENGTHS {
            all.entry((hours, ladder::start(hours, hour), agent)).or_default().add_counts(tally);
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    // In the order of the table, so that each page is touched once.
    all.sort_unstable_by_key(|(key, _)| *key);
    ADD.execute(transaction, &all, |arguments, ((hours, start, agent), tally)| {
        arguments.add(*hours)?;
        arguments.add(*start)?;
        arguments.add(text(agent))?;
        push_counts(arguments, tally)
    })
    .await
}

/// Deletes what is kept of an agent.
pub(super) async fn forget(transaction: &mut SqliteConnection, agent: &AgentId) -> Result<(), sqlx::Error> {
    for hours in LENGTHS {
        // From one beginning to the next, so that the rows of other agents are not looked at.
        let query = sqlx::query(
            "with recursive starts (start) as (
                select min(start) from agent_sums where hours = $1
                union all
                select (select min(start) from agent_sums where hours = $1 and start > starts.start) from starts
                where starts.start is not null)
             delete from agent_sums
             where hours = $1 and start in (select start from starts where start is not null) and agent_id = $2",
        );
        query.bind(hours).bind(agent.as_str()).execute(&mut *transaction).await?;
    }
    Ok(())
}
