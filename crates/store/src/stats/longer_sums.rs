//! Makes sums over longer spans from shorter ones once a span is over. It handles some agents at a
//! time, so that no kill waits for all of them. The progress is written in the same transaction:
//! readers use these sums up to there, and shorter ones after it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::Timestamp;

use super::by_model;
use super::spans::Progress;
use super::spans::{HOURS_KEPT_DAYS, Span};
use super::totals::{replaced_counts, summed_counts};
use super::{ModelName, Totals};
use crate::database::{self, Connection, Lock};

/// Days are made by model from 24 hours with all latencies, so one step covers this many times
/// fewer agents.
const SHARE_OF_DAYS: i64 = 10;

/// Sorts after the names of all agents.
const END: &str = "\u{10ffff}";

/// Hours count as over after this many days even if nothing has happened since, so that they are
/// summed before they are deleted.
const OVER_AFTER_DAYS: i64 = HOURS_KEPT_DAYS - 2;

/// The size of one step, and its writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portion<'a> {
    /// The number of agents.
    pub(crate) agents: i64,
    pub(crate) writer: &'a str,
}

/// Makes some of the sums that are due at `now`, and says whether there may be more.
pub(crate) async fn make_some(
    transaction: &mut Connection<'_>,
    now: Timestamp,
    portion: Portion<'_>,
) -> Result<bool, sqlx::Error> {
    // An hour that another server is writing must not be missed.
    database::lock(transaction, Lock::Sums).await?;
    let query = database::query_scalar("select max(start) from rollups where span = $1").bind(Span::Hour.model_code());
    let newest: Option<i64> = query.fetch_one(&mut *transaction).await?;
    let Some(newest) = newest else { return Ok(false) };
    // An hour is over when a later one has begun, and a longer span when all its parts are made.
    let mut over = newest.max(Span::Hour.start(now.as_millis()) - OVER_AFTER_DAYS * Span::Day.millis());
    let progress = Progress::read(&mut *transaction).await?;
    let mut part = None;
    for span in Span::ALL {
        let Some(cursor) = progress.cursor(span) else { return Ok(false) };
        let first = first_hour(transaction, cursor.start).await?;
        let start = span.start(first.unwrap_or(over).min(over));
        let next = if start == cursor.start { cursor.next.clone() } else { String::new() };
        let due = Due { span, start, next, part, portion };
        if first.is_some() && due.end() <= over {
            due.make(transaction).await?;
            return Ok(true);
        }
        // Nothing happened between the two.
        if start > cursor.start {
            move_cursor(transaction, span, (start, "")).await?;
        }
        (over, part) = (start.max(cursor.start), Some(span));
    }
    Ok(false)
}

/// The first hour from `start` on in which something happened.
async fn first_hour(transaction: &mut Connection<'_>, start: i64) -> Result<Option<i64>, sqlx::Error> {
    let query = database::query_scalar("select min(start) from rollups where span = $1 and start >= $2");
    query.bind(Span::Hour.model_code()).bind(start).fetch_one(transaction).await
}

/// Records that all sums of `span` before `start` are made, and within that span those of agents
/// before `next`.
async fn move_cursor(
    transaction: &mut Connection<'_>,
    span: Span,
    (start, next): (i64, &str),
) -> Result<(), sqlx::Error> {
    let query = database::query("update sums_made set start = $1, next = $2 where hours = $3");
    query.bind(start).bind(next).bind(span.hours()).execute(transaction).await.map(drop)
}

/// A sum that is due: of the span that began at `start`, of agents from `next` on.
struct Due<'a> {
    span: Span,
    start: i64,
    next: String,
    /// The span it is made from; `None` for the hours as they were written.
    part: Option<Span>,
    portion: Portion<'a>,
}

impl Due<'_> {
    fn end(&self) -> i64 {
        self.start + self.span.millis()
    }

    async fn make(&self, transaction: &mut Connection<'_>) -> Result<(), sqlx::Error> {
        let next = match self.part {
            Some(part) => self.sum_up(transaction, part).await?,
            None => self.sum_up_models(transaction).await?,
        };
        let moved = next.as_deref().map_or((self.end(), ""), |next| (self.start, next));
        move_cursor(transaction, self.span, moved).await
    }

    /// Makes sums from shorter ones, and returns the agent to continue with.
    async fn sum_up(&self, transaction: &mut Connection<'_>, part: Span) -> Result<Option<String>, sqlx::Error> {
        let agents = self.portion.agents;
        let agents = if self.span == Span::Day { (agents / SHARE_OF_DAYS).max(1) } else { agents };
        let query = database::query_scalar(NEXT_AGENT).bind(self.start).bind(part.millis()).bind(self.end());
        let query = query.bind(part.hours()).bind(&self.next).bind(agents);
        let next: Option<String> = query.fetch_one(&mut *transaction).await?;
        let until = next.as_deref().unwrap_or(END);
        let query = database::query(SUM_UP.as_str())
            .bind(self.start)
            .bind(part.millis())
            .bind(self.end())
            .bind(self.span.hours());
        query.bind(part.hours()).bind(&self.next).bind(until).execute(&mut *transaction).await?;
        if self.span == Span::Day {
            self.sum_up_days(transaction, until).await?;
        }
        Ok(next)
    }

    /// Makes sums from hours as they were written, and returns the agent to continue with.
    async fn sum_up_models(&self, transaction: &mut Connection<'_>) -> Result<Option<String>, sqlx::Error> {
        let query = database::query_scalar(NEXT_AGENT_OF_MODELS).bind(Span::Hour.model_code()).bind(self.start);
        let query = query.bind(&self.next).bind(self.portion.agents);
        let next: Option<String> = query.fetch_optional(&mut *transaction).await?;
        let until = next.as_deref().unwrap_or(END);
        let query = database::query(SUM_UP_MODELS.as_str()).bind(Span::Hour.model_code()).bind(self.start);
        query.bind(&self.next).bind(until).bind(self.span.hours()).execute(transaction).await?;
        Ok(next)
    }

    /// Makes days by model, including those of all agents together. SQL cannot add histograms, so
    /// this reads the hours.
    async fn sum_up_days(&self, transaction: &mut Connection<'_>, until: &str) -> Result<(), sqlx::Error> {
        let query = database::query(HOURS_OF_DAY).bind(self.start).bind(Span::Hour.millis()).bind(self.end());
        let query = query.bind(Span::Hour.model_code()).bind(&self.next).bind(until);
        let mut sums: BTreeMap<(String, ModelName), Totals> = BTreeMap::new();
        for row in query.fetch_all(&mut *transaction).await? {
            let key = (row.try_get("agent_id")?, ModelName::of_row(&row)?);
            sums.entry(key).or_default().merge(&Totals::of_row(&row)?);
        }
        by_model::add_day(transaction, self.start, &sums, self.portion.writer).await
    }
}

/// The first agent beyond a number of agents in each of the shorter sums, which bounds the rows
/// before it.
const NEXT_AGENT: &str = "
    with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
    select min((select agent_id from agent_sums where hours = $4 and agent_sums.start = starts.start and agent_id >= $5
        order by agent_id limit 1 offset $6))
    from starts";

/// `cross join` makes SQLite go from the starts to their agents instead of scanning all agents.
static SUM_UP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
        insert into agent_sums select $4, $1, agent_id, {}
        from starts cross join agent_sums
        where hours = $5 and agent_sums.start = starts.start and agent_id >= $6 and agent_id < $7
        group by agent_id on conflict (hours, start, agent_id) do update set {}",
        summed_counts(),
        replaced_counts()
    )
});

const NEXT_AGENT_OF_MODELS: &str = "
    select distinct agent_id from rollups where span = $1 and start = $2 and agent_id >= $3
    order by agent_id limit 1 offset $4";

static SUM_UP_MODELS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "insert into agent_sums select $5, $2, agent_id, {} from rollups
        where span = $1 and start = $2 and agent_id >= $3 and agent_id < $4 and agent_id <> ''
        group by agent_id on conflict (hours, start, agent_id) do update set {}",
        summed_counts(),
        replaced_counts()
    )
});

const HOURS_OF_DAY: &str = "
    with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
    select rollups.* from starts cross join rollups
    where span = $4 and rollups.start = starts.start and agent_id >= $5 and agent_id < $6";
