//! Sums over longer times, made of shorter ones when those are over, of some agents at a time so that no kill waits for all.
//! How far it is stands in the same transaction; up to there readers take them, and shorter ones from there on.

use std::collections::BTreeMap;

use model::Timestamp;
use sqlx::{Row, SqliteConnection};

use super::rollup;
use crate::ladder::{self, LENGTHS};
use crate::made::{Cursor, Made};
use crate::period::{DAY_HOURS, HOURS_KEPT_DAYS};
use crate::span::Span;
use crate::{ModelName, Tally, figures};

/// Days are summed up by model, from twenty-four hours, with all latencies: of so many times fewer agents at a time.
const SHARE_OF_DAYS: i64 = 10;

/// After the names of all agents.
const END: &str = "\u{10ffff}";

/// Hours are over after so many days, also if nothing has happened since: before they are deleted.
const OVER_AFTER_DAYS: i64 = HOURS_KEPT_DAYS - 2;

/// Makes some of the sums that are due at `now`, of so many agents, and says whether there may be more.
pub(crate) async fn make_some(
    transaction: &mut SqliteConnection,
    now: Timestamp,
    agents: i64,
) -> Result<bool, sqlx::Error> {
    let query = sqlx::query_scalar("select max(start) from rollups where span = $1").bind(Span::Hour.code());
    let newest: Option<i64> = query.fetch_one(&mut *transaction).await?;
    let Some(newest) = newest else { return Ok(false) };
    // An hour is over when a later one has begun, and what is longer when all is made that it is made of.
    let mut over = newest.max(Span::Hour.start(now) - OVER_AFTER_DAYS * Span::Day.millis());
    let made = Made::read(&mut *transaction).await?;
    let mut shorter = None;
    for hours in LENGTHS {
        let Some(cursor) = made.of(hours) else { return Ok(false) };
        let first = first_hour(transaction, cursor.start).await?;
        let start = ladder::start(hours, first.unwrap_or(over).min(over));
        let next = if start == cursor.start { cursor.next.clone() } else { String::new() };
        let due = Due { hours, start, next, shorter, agents };
        if first.is_some() && due.end() <= over {
            due.make(transaction).await?;
            return Ok(true);
        }
        // Nothing has happened from there to here.
        if start > cursor.start {
            move_cursor(transaction, Cursor { hours, start, next: String::new() }).await?;
        }
        (over, shorter) = (start.max(cursor.start), Some(hours));
    }
    Ok(false)
}

/// The first hour from `start` on in which something happened.
async fn first_hour(transaction: &mut SqliteConnection, start: i64) -> Result<Option<i64>, sqlx::Error> {
    let query = sqlx::query_scalar("select min(start) from rollups where span = $1 and start >= $2");
    query.bind(Span::Hour.code()).bind(start).fetch_one(transaction).await
}

async fn move_cursor(transaction: &mut SqliteConnection, to: Cursor) -> Result<(), sqlx::Error> {
    let query = sqlx::query("update sums_made set start = $1, next = $2 where hours = $3");
    query.bind(to.start).bind(to.next).bind(to.hours).execute(transaction).await.map(drop)
}

/// Sums that are due: over so many hours that began at `start`, of agents from `next` on.
struct Due {
    hours: i64,
    start: i64,
    next: String,
    /// The length of those that they are made of; `None`: the hours as they were written.
    shorter: Option<i64>,
    /// Of how many agents at a time.
    agents: i64,
}

impl Due {
    fn end(&self) -> i64 {
        self.start + self.hours * Span::Hour.millis()
    }

    async fn make(&self, transaction: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let next = match self.shorter {
            Some(shorter) => self.sum_up(transaction, shorter).await?,
            None => self.sum_up_models(transaction).await?,
        };
        let (start, next) = next.map_or((self.end(), String::new()), |next| (self.start, next));
        move_cursor(transaction, Cursor { hours: self.hours, start, next }).await
    }

    /// Makes sums of shorter ones, and returns the agent to go on with.
    async fn sum_up(&self, transaction: &mut SqliteConnection, shorter: i64) -> Result<Option<String>, sqlx::Error> {
        let agents = if self.hours == DAY_HOURS { (self.agents / SHARE_OF_DAYS).max(1) } else { self.agents };
        let step = shorter * Span::Hour.millis();
        let query = sqlx::query_scalar(NEXT_AGENT).bind(self.start).bind(step).bind(self.end());
        let query = query.bind(shorter).bind(&self.next).bind(agents);
        let next: Option<String> = query.fetch_one(&mut *transaction).await?;
        let until = next.as_deref().unwrap_or(END);
        let query = sqlx::query(SUM_UP).bind(self.start).bind(step).bind(self.end()).bind(self.hours);
        query.bind(shorter).bind(&self.next).bind(until).execute(&mut *transaction).await?;
        if self.hours == DAY_HOURS {
            self.sum_up_days(transaction, until).await?;
        }
        Ok(next)
    }

    /// Makes sums of hours as they were written, and returns the agent to go on with.
    async fn sum_up_models(&self, transaction: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
        let query = sqlx::query_scalar(NEXT_AGENT_OF_MODELS).bind(Span::Hour.code()).bind(self.start);
        let next: Option<String> = query.bind(&self.next).bind(self.agents).fetch_optional(&mut *transaction).await?;
        let until = next.as_deref().unwrap_or(END);
        let query = sqlx::query(SUM_UP_MODELS).bind(Span::Hour.code()).bind(self.start);
        query.bind(&self.next).bind(until).bind(self.hours).execute(transaction).await?;
        Ok(next)
    }

    /// Makes days by model, of all agents together, too. SQL cannot add histograms up.
    async fn sum_up_days(&self, transaction: &mut SqliteConnection, until: &str) -> Result<(), sqlx::Error> {
        let query = sqlx::query(HOURS_OF_DAY).bind(self.start).bind(Span::Hour.millis()).bind(self.end());
        let query = query.bind(Span::Hour.code()).bind(&self.next).bind(until);
        let mut sums: BTreeMap<(String, ModelName), Tally> = BTreeMap::new();
        for row in query.fetch_all(&mut *transaction).await? {
            let key = (row.try_get("agent_id")?, figures::model_name(&row)?);
            sums.entry(key).or_default().merge(&Tally::of_row(&row)?);
        }
        rollup::add_day(transaction, self.start, &sums).await
    }
}

/// The first agent beyond so many of each of the shorter sums: what is before it is a bounded number of rows.
const NEXT_AGENT: &str = "
    with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
    select min((select agent_id from agent_sums where hours = $4 and agent_sums.start = starts.start and agent_id >= $5
        order by agent_id limit 1 offset $6))
    from starts";

/// All that is counted, added up as in `figures.rs`.
macro_rules! sums {
    () => {
        "cast(total(requests) as integer), cast(total(errors) as integer), cast(total(blocked) as integer),
        cast(total(tokens_in) as integer), cast(total(tokens_out) as integer), cast(total(tokens_cached) as integer),
        cast(total(tokens_cache_write) as integer), cast(total(tokens_reasoning) as integer),
        cast(total(cost_nano_usd) as integer), cast(total(unpriced) as integer), cast(total(unpriced_in) as integer),
        cast(total(unpriced_out) as integer), cast(total(estimated) as integer)"
    };
}

/// `cross join` holds SQLite to going from the beginnings to their agents, and not through all agents there are.
const SUM_UP: &str = concat!(
    "with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
    insert or replace into agent_sums select $4, $1, agent_id, ",
    sums!(),
    " from starts cross join agent_sums
    where hours = $5 and agent_sums.start = starts.start and agent_id >= $6 and agent_id < $7
    group by agent_id"
);

const NEXT_AGENT_OF_MODELS: &str = "
    select distinct agent_id from rollups where span = $1 and start = $2 and agent_id >= $3
    order by agent_id limit 1 offset $4";

const SUM_UP_MODELS: &str = concat!(
    "insert or replace into agent_sums select $5, $2, agent_id, ",
    sums!(),
    " from rollups
    where span = $1 and start = $2 and agent_id >= $3 and agent_id < $4 and agent_id <> ''
    group by agent_id"
);

const HOURS_OF_DAY: &str = "
    with recursive starts (start) as (select $1 union all select start + $2 from starts where start + $2 < $3)
    select rollups.* from starts cross join rollups
    where span = $4 and rollups.start = starts.start and agent_id >= $5 and agent_id < $6";
