//! Sums by agent, provider and model, written with the events: a batch is added up in memory, and
//! each sum of an hour is written once. Rows without an agent are the sums over all agents.
//!
//! Each writer has its own rows, because SQL cannot add latency histograms: a writer reads its own
//! histogram, adds to it and writes it back. Readers merge the rows of all writers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use model::{Event, EventType};
use sqlx::error::BoxDynError;

use super::spans::Progress;
use super::spans::Span;
use super::totals::{add_counts, count_columns, push_counts, stored_name};
use super::{LatencyHistogram, ModelName, Totals, by_agent, conversations};
use crate::Unpriced;
use crate::database::{self, Arguments, BulkInsert, Connection, Lock, Merge, text};

/// The agent that stands for all of them.
const ALL: &str = "";

/// The key of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key<'a> {
    span: Span,
    start: i64,
    agent: &'a str,
    provider: &'a str,
    model: &'a str,
}

impl<'a> Key<'a> {
    /// The hour of a call.
    fn of(call: &'a Event) -> Key<'a> {
        Key {
            span: Span::Hour,
            start: Span::Hour.start(call.time.as_millis()),
            agent: call.agent.as_str(),
            provider: stored_name(&call.provider),
            model: stored_name(&call.model),
        }
    }
}

/// The histogram is already merged with the one that is stored.
static ADD: LazyLock<BulkInsert> = LazyLock::new(|| {
    let key = "span, start, agent_id, provider, model, writer";
    let columns = format!("{key}, {}, latency", count_columns());
    BulkInsert::new(("rollups", &columns), 20, &add_counts(key, [("latency", Merge::Replace)]))
});

/// Reads many histograms at once: few sizes, so that each statement stays prepared.
static FIND_LATENCIES: LazyLock<[(usize, String); 3]> = LazyLock::new(|| {
    [128, 16, 1].map(|size| {
        let wanted = vec!["(?,?,?,?,?,?,?)"; size].join(",");
        let statement = format!(
            "with wanted (place, span, start, agent_id, provider, model, writer) as (values {wanted})
             select wanted.place, rollups.latency from wanted cross join rollups
             where rollups.span = wanted.span and rollups.start = wanted.start
               and rollups.agent_id = wanted.agent_id and rollups.provider = wanted.provider
               and rollups.model = wanted.model and rollups.writer = wanted.writer"
        );
        (size, statement)
    })
});

/// Adds `events` to the statistics as `writer`. Budgets of conversations count calls without a
/// price as `unpriced` says.
pub(crate) async fn add(
    transaction: &mut Connection<'_>,
    events: &[Arc<Event>],
    writer: &str,
    unpriced: &Unpriced,
) -> Result<(), sqlx::Error> {
    let calls: Vec<&Event> = events.iter().map(Arc::as_ref).filter(|event| is_call(event)).collect();
    add_calls(transaction, &calls, writer).await?;
    conversations::add(transaction, &calls, unpriced).await
}

fn is_call(event: &Event) -> bool {
    matches!(event.event_type, EventType::LlmCall | EventType::Blocked | EventType::KillSwitch)
}

async fn add_calls<'a>(transaction: &mut Connection<'_>, calls: &[&'a Event], writer: &str) -> Result<(), sqlx::Error> {
    if calls.is_empty() {
        return Ok(());
    }
    let mut hours: HashMap<Key<'a>, Totals> = HashMap::new();
    // Calls of a busy agent come one after the other: each run of them is looked up once.
    for run in calls.chunk_by(|one, next| Key::of(one) == Key::of(next)) {
        let sum = hours.entry(Key::of(run[0])).or_default();
        run.iter().for_each(|call| sum.add(call));
    }
    // Until the commit, no other server may make longer sums that miss these.
    database::lock_shared(transaction, Lock::Sums).await?;
    let progress = Progress::read(&mut *transaction).await?;
    by_agent::add(transaction, hours.iter().map(|(key, totals)| (key.start, key.agent, totals)), &progress).await?;
    let mut sums: Vec<(Key<'a>, Totals)> = with_longer_sums(hours, &progress).into_iter().collect();
    // In the order of the table, so that each page is touched once.
    sums.sort_unstable_by_key(|(key, _)| *key);
    merge_latencies(transaction, &mut sums, writer).await?;
    ADD.execute(transaction, &sums, |arguments, (key, totals)| push_sum(arguments, key, totals, writer)).await
}

/// Adds the sums over all agents, and those of days that are made already, to the sums of hours.
fn with_longer_sums<'a>(hours: HashMap<Key<'a>, Totals>, progress: &Progress) -> HashMap<Key<'a>, Totals> {
    let mut all: HashMap<Key<'a>, Totals> = HashMap::new();
    for (key, totals) in &hours {
        let day = Span::Day.start(key.start);
        for (span, start, agent) in [(Span::Day, day, key.agent), (Span::Hour, key.start, ALL), (Span::Day, day, ALL)] {
            if span == Span::Hour || progress.has(Span::Day, start, agent) {
                all.entry(Key { span, start, agent, ..*key }).or_default().merge(totals);
            }
        }
    }
    all.extend(hours);
    all
}

/// Adds the sums of a day, by agent, provider and model, where there are none yet.
pub(super) async fn add_day(
    transaction: &mut Connection<'_>,
    start: i64,
    sums: &BTreeMap<(String, ModelName), Totals>,
    writer: &str,
) -> Result<(), sqlx::Error> {
    let sums = sums.iter().map(|((agent, ModelName { provider, model }), totals)| {
        (Key { span: Span::Day, start, agent, provider, model }, totals)
    });
    let sums: Vec<(Key<'_>, &Totals)> = sums.collect();
    ADD.execute(transaction, &sums, |arguments, (key, totals)| push_sum(arguments, key, totals, writer)).await
}

/// Adds the stored histograms of `writer` to those of `sums`.
async fn merge_latencies(
    transaction: &mut Connection<'_>,
    mut sums: &mut [(Key<'_>, Totals)],
    writer: &str,
) -> Result<(), sqlx::Error> {
    for (size, statement) in FIND_LATENCIES.iter() {
        while sums.len() >= *size {
            let (chunk, rest) = sums.split_at_mut(*size);
            sums = rest;
            let mut arguments = transaction.arguments(*size * 7);
            for (place, (key, _)) in chunk.iter().enumerate() {
                arguments
                    .add(place as i64)
                    .and_then(|()| push_key(&mut arguments, key, writer))
                    .map_err(sqlx::Error::Encode)?;
            }
            let found = database::query_with(statement.as_str(), arguments).fetch_all(&mut *transaction).await?;
            for row in found {
                let place = usize::try_from(row.try_get::<i64, _>("place")?).unwrap_or(usize::MAX);
                if let Some((_, totals)) = chunk.get_mut(place) {
                    totals.latency.merge(&LatencyHistogram::decode(row.try_get("latency")?));
                }
            }
        }
    }
    Ok(())
}

/// The values of one sum, in the order of [`ADD`].
fn push_sum(arguments: &mut Arguments, key: &Key<'_>, totals: &Totals, writer: &str) -> Result<(), BoxDynError> {
    push_key(arguments, key, writer)?;
    push_counts(arguments, totals)?;
    arguments.add(totals.latency.encode())
}

fn push_key(arguments: &mut Arguments, key: &Key<'_>, writer: &str) -> Result<(), BoxDynError> {
    arguments.add(key.span.model_code())?;
    arguments.add(key.start)?;
    arguments.add(text(key.agent))?;
    arguments.add(text(key.provider))?;
    arguments.add(text(key.model))?;
    arguments.add(text(writer))
}
