//! Figures, kept with the events they come from: a batch is added up in memory, and each sum of an hour is written once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use model::{Event, EventType, NanoUsd, Timestamp};
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, Row, SqliteConnection};

use super::agent_sums;
use super::events::text;
use super::rows::Insert;
use crate::columns::signed;
use crate::made::Made;
use crate::period::DAY_HOURS;
use crate::span::Span;
use crate::{ModelName, Sketch, Tally, Unpriced};

/// The agent that stands for all of them.
const ALL: &str = "";

/// The longest name of a model or conversation that figures are kept by.
const LONGEST_NAME: usize = 200;

/// What a sum is of.
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
            start: Span::Hour.start(call.time),
            agent: call.agent.as_str(),
            provider: name(&call.provider),
            model: name(&call.model),
        }
    }
}

/// What is counted is added to what is there.
pub(super) static ADD_COUNTS: LazyLock<String> = LazyLock::new(|| {
    add_up(&[
        "requests",
        "errors",
        "blocked",
        "tokens_in",
        "tokens_out",
        "tokens_cached",
        "tokens_cache_write",
        "tokens_reasoning",
        "cost_nano_usd",
        "unpriced",
        "unpriced_in",
        "unpriced_out",
        "estimated",
    ])
});

/// Not beyond the largest number of a column: SQLite would go on with fractions, which nobody could read any more.
fn add_up(columns: &[&str]) -> String {
    let sum = |column: &&str| format!("{column} = min({column} + excluded.{column}, {})", i64::MAX);
    format!("on conflict do update set {}", columns.iter().map(sum).collect::<Vec<_>>().join(", "))
}

/// The histogram was merged with the one that was there.
static ADD_ROLLUPS: LazyLock<Insert> = LazyLock::new(|| {
    let into = "rollups (span, start, agent_id, provider, model, requests, errors, blocked, tokens_in, tokens_out,
        tokens_cached, tokens_cache_write, tokens_reasoning, cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated,
        latency)";
    Insert::new(into, 19, &format!("{}, latency = excluded.latency", *ADD_COUNTS))
});

/// By how many histograms each reads: few sizes, so that each stays prepared.
static FIND_LATENCIES: LazyLock<[(usize, String); 3]> = LazyLock::new(|| {
    [128, 16, 1].map(|size| {
        let wanted = vec!["(?,?,?,?,?,?)"; size].join(",");
        let statement = format!(
            "with wanted (place, span, start, agent_id, provider, model) as (values {wanted})
             select place, latency from wanted cross join rollups using (span, start, agent_id, provider, model)"
        );
        (size, statement)
    })
});

static ADD_CONVERSATIONS: LazyLock<Insert> = LazyLock::new(|| {
    let into = "conversations (agent_id, conversation, first_hour, last_hour, requests, errors, blocked, tokens_in,
        tokens_out, cost_nano_usd, unpriced, unpriced_nano_usd)";
    let counts =
        ["requests", "errors", "blocked", "tokens_in", "tokens_out", "cost_nano_usd", "unpriced", "unpriced_nano_usd"];
    Insert::new(into, 12, &format!("{}, last_hour = max(last_hour, excluded.last_hour)", add_up(&counts)))
});

/// Adds `events` to the figures. Budgets of conversations count those without a price as `unpriced` says.
pub(super) async fn add(
    transaction: &mut SqliteConnection,
    events: &[Arc<Event>],
    unpriced: &Unpriced,
) -> Result<(), sqlx::Error> {
    let calls: Vec<&Event> = events.iter().map(Arc::as_ref).filter(|event| is_call(event)).collect();
    add_rollups(transaction, &calls).await?;
    add_conversations(transaction, &calls, unpriced).await
}

fn is_call(event: &Event) -> bool {
    matches!(event.event_type, EventType::LlmCall | EventType::Blocked | EventType::KillSwitch)
}

async fn add_rollups<'a>(transaction: &mut SqliteConnection, calls: &[&'a Event]) -> Result<(), sqlx::Error> {
    let mut sums: HashMap<Key<'a>, Tally> = HashMap::new();
    // Calls of a busy agent come one after the other: each run of them is looked up once.
    for run in calls.chunk_by(|one, next| Key::of(one) == Key::of(next)) {
        let sum = sums.entry(Key::of(run[0])).or_default();
        run.iter().for_each(|call| sum.add(call));
    }
    let made = Made::read(&mut *transaction).await?;
    agent_sums::add(transaction, sums.iter().map(|(key, tally)| (key.start, key.agent, tally)), &made).await?;
    // All agents are sums of those, and so are days that are made already: what many events have in common is added once.
    let mut all: HashMap<Key<'a>, Tally> = HashMap::new();
    for (key, tally) in &sums {
        let day = Span::Day.start(Timestamp::from_millis(key.start));
        for (span, start, agent) in [(Span::Day, day, key.agent), (Span::Hour, key.start, ALL), (Span::Day, day, ALL)] {
            if span == Span::Hour || made.has(DAY_HOURS, start, agent) {
                all.entry(Key { span, start, agent, ..*key }).or_default().merge(tally);
            }
        }
    }
    all.extend(sums);
    let mut sums: Vec<(Key<'a>, Tally)> = all.into_iter().collect();
    // In the order of the table, so that each page is touched once.
    sums.sort_unstable_by_key(|(key, _)| *key);
    merge_latencies(transaction, &mut sums).await?;
    ADD_ROLLUPS.execute(transaction, &sums, |arguments, (key, tally)| push_rollup(arguments, key, tally)).await
}

/// Adds the sums of a day, by agent, provider and model, where there are none yet.
pub(super) async fn add_day(
    transaction: &mut SqliteConnection,
    start: i64,
    sums: &BTreeMap<(String, ModelName), Tally>,
) -> Result<(), sqlx::Error> {
    let sums = sums.iter().map(|((agent, ModelName { provider, model }), tally)| {
        (Key { span: Span::Day, start, agent, provider, model }, tally)
    });
    let sums: Vec<(Key<'_>, &Tally)> = sums.collect();
    ADD_ROLLUPS.execute(transaction, &sums, |arguments, (key, tally)| push_rollup(arguments, key, tally)).await
}

/// Adds the stored histograms to those of `sums`: SQL cannot.
async fn merge_latencies(
    transaction: &mut SqliteConnection,
    mut sums: &mut [(Key<'_>, Tally)],
) -> Result<(), sqlx::Error> {
    for (size, statement) in FIND_LATENCIES.iter() {
        while sums.len() >= *size {
            let (chunk, rest) = sums.split_at_mut(*size);
            sums = rest;
            let mut arguments = SqliteArguments::default();
            for (place, (key, _)) in chunk.iter().enumerate() {
                arguments
                    .add(place as i64)
                    .and_then(|()| push_key(&mut arguments, key))
                    .map_err(sqlx::Error::Encode)?;
            }
            let found = sqlx::query_with(statement.as_str(), arguments).fetch_all(&mut *transaction).await?;
            for row in found {
                let place = usize::try_from(row.try_get::<i64, _>("place")?).unwrap_or(usize::MAX);
                if let Some((_, tally)) = chunk.get_mut(place) {
                    tally.latency.merge(&Sketch::decode(row.try_get("latency")?));
                }
            }
        }
    }
    Ok(())
}

/// The values of one sum, in the order of [`ADD_ROLLUPS`].
fn push_rollup(arguments: &mut SqliteArguments, key: &Key<'_>, tally: &Tally) -> Result<(), BoxDynError> {
    push_key(arguments, key)?;
    push_counts(arguments, tally)?;
    arguments.add(tally.latency.encode())
}

/// All that is counted, in the order of the columns.
pub(super) fn push_counts(arguments: &mut SqliteArguments, tally: &Tally) -> Result<(), BoxDynError> {
    arguments.add(signed(tally.requests))?;
    arguments.add(signed(tally.errors))?;
    arguments.add(signed(tally.blocked))?;
    arguments.add(signed(tally.tokens_in))?;
    arguments.add(signed(tally.tokens_out))?;
    arguments.add(signed(tally.tokens_cached))?;
    arguments.add(signed(tally.tokens_cache_write))?;
    arguments.add(signed(tally.tokens_reasoning))?;
    arguments.add(tally.cost.nanos())?;
    arguments.add(signed(tally.unpriced))?;
    arguments.add(signed(tally.unpriced_in))?;
    arguments.add(signed(tally.unpriced_out))?;
    arguments.add(signed(tally.estimated))
}

fn push_key(arguments: &mut SqliteArguments, key: &Key<'_>) -> Result<(), BoxDynError> {
    arguments.add(key.span.code())?;
    arguments.add(key.start)?;
    arguments.add(text(key.agent))?;
    arguments.add(text(key.provider))?;
    arguments.add(text(key.model))
}

/// What a conversation comes to, and the hours it was seen in.
#[derive(Default)]
struct Seen {
    tally: Tally,
    unpriced: NanoUsd,
    first: i64,
    last: i64,
}

impl Seen {
    fn add(&mut self, call: &Event, unpriced: &Unpriced) {
        let hour = Span::Hour.start(call.time);
        (self.first, self.last) = (self.first.min(hour), self.last.max(hour));
        self.tally.count(call);
        self.unpriced += unpriced.of(call);
    }
}

async fn add_conversations(
    transaction: &mut SqliteConnection,
    calls: &[&Event],
    unpriced: &Unpriced,
) -> Result<(), sqlx::Error> {
    let mut sums: HashMap<(&str, &str), Seen> = HashMap::new();
    for run in calls.chunk_by(|one, next| one.agent == next.agent && one.conversation == next.conversation) {
        if run[0].conversation.is_none() {
            continue;
        }
        let (key, hour) = ((run[0].agent.as_str(), name(&run[0].conversation)), Span::Hour.start(run[0].time));
        let seen = sums.entry(key).or_insert_with(|| Seen { first: hour, last: hour, ..Seen::default() });
        run.iter().for_each(|call| seen.add(call, unpriced));
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(key, _)| *key);
    ADD_CONVERSATIONS
        .execute(transaction, &sums, |arguments, ((agent, conversation), Seen { tally, unpriced, first, last })| {
            arguments.add(text(agent))?;
            arguments.add(text(conversation))?;
            arguments.add(*first)?;
            arguments.add(*last)?;
            arguments.add(signed(tally.requests))?;
            arguments.add(signed(tally.errors))?;
            arguments.add(signed(tally.blocked))?;
            arguments.add(signed(tally.tokens_in))?;
            arguments.add(signed(tally.tokens_out))?;
            arguments.add(tally.cost.nanos())?;
            arguments.add(signed(tally.unpriced))?;
            arguments.add(unpriced.nanos())
        })
        .await
}

/// A name as figures are kept by: clients make them up, so they have an end.
fn name(name: &Option<String>) -> &str {
    let name = name.as_deref().unwrap_or_default();
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}
