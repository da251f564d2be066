//! The sums of some calls.

use model::{Event, EventType, NanoUsd, Usage};
use sqlx::error::BoxDynError;

use super::LatencyHistogram;
use crate::columns::{signed, unsigned};
use crate::database::{Arguments, Merge, OnConflict, Row, dialect};

/// The sums of some calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls that were forwarded.
    pub requests: u64,
    /// Forwarded calls that failed.
    pub errors: u64,
    /// Calls that were refused.
    pub blocked: u64,
    /// Input tokens, cached ones included.
    pub tokens_in: u64,
    /// Output tokens, reasoning included.
    pub tokens_out: u64,
    /// Input tokens read from the provider's cache.
    pub tokens_cached: u64,
    /// Input tokens written to the provider's cache.
    pub tokens_cache_write: u64,
    /// Output tokens that were reasoning.
    pub tokens_reasoning: u64,
    /// The cost as far as prices are known.
    pub cost: NanoUsd,
    /// Requests that used tokens of a model without a price; their cost is missing in `cost`.
    pub unpriced: u64,
    /// The input tokens of those requests.
    pub unpriced_in: u64,
    /// The output tokens of those requests.
    pub unpriced_out: u64,
    /// Requests whose tokens and cost are an estimate.
    pub estimated: u64,
    /// How long the requests took, in milliseconds.
    pub latency: LatencyHistogram,
}

impl Totals {
    /// Adds an event.
    pub(crate) fn add(&mut self, event: &Event) {
        self.count(event);
        if let Some(latency) = event.latency_ms.filter(|_| event.event_type == EventType::LlmCall) {
            self.latency.add(latency);
        }
    }

    /// Adds an event without its latency.
    pub(crate) fn count(&mut self, event: &Event) {
        match event.event_type {
            EventType::LlmCall => self.count_call(event),
            EventType::Blocked | EventType::KillSwitch => self.blocked += 1,
            EventType::AgentActivated | EventType::AgentDeactivated => {}
        }
    }

    fn count_call(&mut self, event: &Event) {
        let Usage { input, output, cached, cache_write, reasoning, .. } = event.usage;
        let add = |sum: &mut u64, tokens: Option<u64>| *sum = sum.saturating_add(tokens.unwrap_or(0));
        self.requests += 1;
        self.errors += u64::from(event.is_error());
        add(&mut self.tokens_in, input);
        add(&mut self.tokens_out, output);
        add(&mut self.tokens_cached, cached);
        add(&mut self.tokens_cache_write, cache_write);
        add(&mut self.tokens_reasoning, reasoning);
        self.estimated += u64::from(event.estimated);
        match event.cost {
            Some(cost) => self.cost += cost,
            None if input.or(output).is_some() => {
                self.unpriced += 1;
                add(&mut self.unpriced_in, input);
                add(&mut self.unpriced_out, output);
            }
            None => {}
        }
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Totals) {
        self.add_counts(other);
        self.latency.merge(&other.latency);
    }

    /// Adds other sums without latencies.
    pub(crate) fn add_counts(&mut self, other: &Totals) {
        let pairs = [
            (&mut self.requests, other.requests),
            (&mut self.errors, other.errors),
            (&mut self.blocked, other.blocked),
            (&mut self.tokens_in, other.tokens_in),
            (&mut self.tokens_out, other.tokens_out),
            (&mut self.tokens_cached, other.tokens_cached),
            (&mut self.tokens_cache_write, other.tokens_cache_write),
            (&mut self.tokens_reasoning, other.tokens_reasoning),
            (&mut self.unpriced, other.unpriced),
            (&mut self.unpriced_in, other.unpriced_in),
            (&mut self.unpriced_out, other.unpriced_out),
            (&mut self.estimated, other.estimated),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
        self.cost += other.cost;
    }

    /// Scales the counts to a share of the time. Latencies stay.
    pub(crate) fn scaled(mut self, share: f64) -> Totals {
        let counts = [
            &mut self.requests,
            &mut self.errors,
            &mut self.blocked,
            &mut self.tokens_in,
            &mut self.tokens_out,
            &mut self.tokens_cached,
            &mut self.tokens_cache_write,
            &mut self.tokens_reasoning,
            &mut self.unpriced,
            &mut self.unpriced_in,
            &mut self.unpriced_out,
            &mut self.estimated,
        ];
        for count in counts {
            *count = (*count as f64 * share).round() as u64;
        }
        self.cost = NanoUsd::new((self.cost.nanos() as f64 * share).round() as i64);
        self
    }

    /// Reads the columns of a row of `rollups`.
    pub(crate) fn of_row(row: &Row) -> Result<Totals, sqlx::Error> {
        let latency = LatencyHistogram::decode(row.try_get("latency")?);
        Ok(Totals { latency, ..Totals::counts_of_row(row)? })
    }

    /// Reads the columns of a row without a histogram.
    pub(crate) fn counts_of_row(row: &Row) -> Result<Totals, sqlx::Error> {
        let count = |column: &str| row.try_get(column).map(unsigned);
        Ok(Totals {
            requests: count("requests")?,
            errors: count("errors")?,
            blocked: count("blocked")?,
            tokens_in: count("tokens_in")?,
            tokens_out: count("tokens_out")?,
            tokens_cached: count("tokens_cached")?,
            tokens_cache_write: count("tokens_cache_write")?,
            tokens_reasoning: count("tokens_reasoning")?,
            cost: row.try_get("cost_nano_usd").map(NanoUsd::new)?,
            unpriced: count("unpriced")?,
            unpriced_in: count("unpriced_in")?,
            unpriced_out: count("unpriced_out")?,
            estimated: count("estimated")?,
            latency: LatencyHistogram::default(),
        })
    }
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelName {
    /// The provider; empty if a call named none.
    pub provider: String,
    /// The model; empty if a call named none.
    pub model: String,
}

impl ModelName {
    pub(crate) fn of_row(row: &Row) -> Result<ModelName, sqlx::Error> {
        Ok(ModelName { provider: row.try_get("provider")?, model: row.try_get("model")? })
    }
}

/// The columns of the counts.
const COUNTS: [&str; 13] = [
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
];

/// The columns of the counts as a list.
pub(super) fn count_columns() -> String {
    COUNTS.join(", ")
}

/// The sums of all counts as a list, each under the name of its column.
pub(super) fn summed_counts() -> String {
    COUNTS.map(|column| format!("{} as {column}", dialect::sum_of(column))).join(", ")
}

/// Assignments that replace the stored counts.
pub(super) fn replaced_counts() -> String {
    COUNTS.map(|column| format!("{column} = excluded.{column}")).join(", ")
}

/// Adds the counts to those that are stored with the same `key`, and merges `more` columns.
pub(super) fn add_counts<const N: usize>(key: &'static str, more: [(&'static str, Merge); N]) -> OnConflict {
    let counts = COUNTS.into_iter().map(|column| (column, Merge::Add));
    OnConflict::Merge { key, columns: counts.chain(more).collect() }
}

/// All counts, in the order of the columns.
pub(super) fn push_counts(arguments: &mut Arguments, totals: &Totals) -> Result<(), BoxDynError> {
    arguments.add(signed(totals.requests))?;
    arguments.add(signed(totals.errors))?;
    arguments.add(signed(totals.blocked))?;
    arguments.add(signed(totals.tokens_in))?;
    arguments.add(signed(totals.tokens_out))?;
    arguments.add(signed(totals.tokens_cached))?;
    arguments.add(signed(totals.tokens_cache_write))?;
    arguments.add(signed(totals.tokens_reasoning))?;
    arguments.add(totals.cost.nanos())?;
    arguments.add(signed(totals.unpriced))?;
    arguments.add(signed(totals.unpriced_in))?;
    arguments.add(signed(totals.unpriced_out))?;
    arguments.add(signed(totals.estimated))
}

/// The longest name of a model or conversation that sums are kept by.
const LONGEST_NAME: usize = 200;

/// A name as it is used in sums: clients choose names, so their length is limited.
pub(super) fn stored_name(name: &Option<String>) -> &str {
    let name = name.as_deref().unwrap_or_default();
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}
