//! What each agent did, all its models together: kept by spans of several lengths, so that a list of all agents adds up few
//! rows of each. They are made when they are over, see `longer_sums`; what comes later than that is added here.

use std::collections::HashMap;
use std::sync::LazyLock;

use sqlx::{Arguments, SqliteConnection};

use super::events::text;
use super::rollup::push_counts;
use super::rows::Insert;
use crate::Tally;
use crate::ladder::{self, LENGTHS};
use crate::made::Made;

static ADD: LazyLock<Insert> = LazyLock::new(|| {
    let into = "agent_sums (hours, start, agent_id, requests, errors, blocked, tokens_in, tokens_out, tokens_cached,
        tokens_cache_write, tokens_reasoning, cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated)";
    Insert::new(into, 16, &super::rollup::ADD_COUNTS)
});

/// Adds the sums of hours, each with its beginning and its agent, to what is made already.
pub(super) async fn add<'a>(
    transaction: &mut SqliteConnection,
    sums: impl Iterator<Item = (i64, &'a str, &'a Tally)>,
    made: &Made,
) -> Result<(), sqlx::Error> {
    let mut all: HashMap<(i64, i64, &str), Tally> = HashMap::new();
    for (hour, agent, tally) in sums {
        for hours in LENGTHS {
            let start = ladder::start(hours, hour);
            if made.has(hours, start, agent) {
                all.entry((hours, start, agent)).or_default().add_counts(tally);
            }
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
