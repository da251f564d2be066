//! Sums by conversation.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{AgentId, Event, NanoUsd, Timestamp};

use super::read::push_list;
use super::spans::Span;
use super::totals::stored_name;
use super::{Period, Totals};
use crate::columns::{self, signed, unsigned};
use crate::database::{BulkInsert, Connection, Merge, OnConflict, QueryBuilder, Row, text};
use crate::{Store, StoreError, Unpriced};

/// The sums of one conversation.
#[derive(Clone, Debug)]
pub struct ConversationRow {
    /// Its name, from the client or the first message.
    pub conversation: String,
    /// The hour it was first seen in.
    pub first_hour: Timestamp,
    /// The hour it was last seen in.
    pub last_hour: Timestamp,
    /// Its sums; latencies are not kept.
    pub totals: Totals,
}

static ADD: LazyLock<BulkInsert> = LazyLock::new(|| {
    let columns = "agent_id, conversation, first_hour, last_hour, requests, errors, blocked, tokens_in,
        tokens_out, cost_nano_usd, unpriced, unpriced_nano_usd";
    let counts =
        ["requests", "errors", "blocked", "tokens_in", "tokens_out", "cost_nano_usd", "unpriced", "unpriced_nano_usd"];
    let columns_to_merge =
        counts.map(|column| (column, Merge::Add)).into_iter().chain([("last_hour", Merge::Greatest)]);
    let on_conflict = OnConflict::Merge { key: "agent_id, conversation", columns: columns_to_merge.collect() };
    BulkInsert::new(("conversations", columns), 12, &on_conflict)
});

impl Store {
    /// The conversations of an agent that were last seen in a period, the most expensive first, at
    /// most `limit`.
    pub async fn conversation_figures(
        &self,
        agent: &AgentId,
        period: Period,
        limit: u32,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        let mut query = QueryBuilder::new("select * from conversations where agent_id = ");
        query.push_bind(agent.as_str().to_owned()).push(" and last_hour in (");
        push_list(&mut query, period.hours());
        query.push(") order by cost_nano_usd desc, requests desc, conversation limit ").push_bind(i64::from(limit));
        Ok(query.build().try_map(conversation_row).fetch_all(&self.readers).await?)
    }
}

/// The sums of a conversation in one batch, and the hours it was seen in.
#[derive(Default)]
struct Seen {
    totals: Totals,
    unpriced: NanoUsd,
    first: i64,
    last: i64,
}

impl Seen {
    fn add(&mut self, call: &Event, unpriced: &Unpriced) {
        let hour = Span::Hour.start(call.time.as_millis());
        (self.first, self.last) = (self.first.min(hour), self.last.max(hour));
        self.totals.count(call);
        self.unpriced += unpriced.of(call);
    }
}

/// Adds `calls` to their conversations. Budgets count calls without a price as `unpriced` says.
pub(super) async fn add(
    transaction: &mut Connection<'_>,
    calls: &[&Event],
    unpriced: &Unpriced,
) -> Result<(), sqlx::Error> {
    let mut sums: HashMap<(&str, &str), Seen> = HashMap::new();
    for run in calls.chunk_by(|one, next| one.agent == next.agent && one.conversation == next.conversation) {
        if run[0].conversation.is_none() {
            continue;
        }
        let key = (run[0].agent.as_str(), stored_name(&run[0].conversation));
        let hour = Span::Hour.start(run[0].time.as_millis());
        let seen = sums.entry(key).or_insert_with(|| Seen { first: hour, last: hour, ..Seen::default() });
        run.iter().for_each(|call| seen.add(call, unpriced));
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    ADD.execute(transaction, &sums, |arguments, ((agent, conversation), Seen { totals, unpriced, first, last })| {
        arguments.add(text(agent))?;
        arguments.add(text(conversation))?;
        arguments.add(*first)?;
        arguments.add(*last)?;
        arguments.add(signed(totals.requests))?;
        arguments.add(signed(totals.errors))?;
        arguments.add(signed(totals.blocked))?;
        arguments.add(signed(totals.tokens_in))?;
        arguments.add(signed(totals.tokens_out))?;
        arguments.add(totals.cost.nanos())?;
        arguments.add(signed(totals.unpriced))?;
        arguments.add(unpriced.nanos())
    })
    .await
}

fn conversation_row(row: Row) -> Result<ConversationRow, sqlx::Error> {
    let count = |column: &str| row.try_get(column).map(unsigned);
    let totals = Totals {
        requests: count("requests")?,
        errors: count("errors")?,
        blocked: count("blocked")?,
        tokens_in: count("tokens_in")?,
        tokens_out: count("tokens_out")?,
        cost: row.try_get("cost_nano_usd").map(NanoUsd::new)?,
        unpriced: count("unpriced")?,
        ..Totals::default()
    };
    Ok(ConversationRow {
        conversation: row.try_get("conversation")?,
        first_hour: columns::timestamp(&row, "first_hour")?,
        last_hour: columns::timestamp(&row, "last_hour")?,
        totals,
    })
}
