//! Where the events can be that contain a text: what is kept of agents, conversations, models and errors tells that, so that a
//! search for what is not there reads no event, and one for what is rare reads few.

use model::Timestamp;
use sqlx::Row;

use crate::figures::first_id;
use crate::period::HOURS_KEPT_DAYS;
use crate::span::Span;
use crate::{Store, StoreError};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Of more agents than that whose names contain the text, no search is long.
const AGENTS: i64 = 1000;

/// Longer names of conversations are not kept whole, so nobody knows what their ends contain.
const LONGEST_NAME: i64 = 200;

/// The events that may contain a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// None of them.
    Nowhere,
    /// Any of them.
    Anywhere,
    /// Those with ids from the first to the last.
    Between(String, String),
}

impl Extent {
    fn of(first: Option<String>, last: Option<String>) -> Extent {
        first.zip(last).map_or(Extent::Nowhere, |(first, last)| Extent::Between(first, last))
    }

    /// From the hour that begins at `first` to the end of the one that begins at `last`; an id is made a little before or after
    /// the time that its event tells.
    fn of_hours(first: Option<i64>, last: Option<i64>) -> Extent {
        let id = |millis| first_id(Timestamp::from_millis(millis));
        Extent::of(first.map(|first| id(first - HOUR_MS)), last.map(|last| id(last + 2 * HOUR_MS)))
    }

    /// What lies in either.
    fn or(self, other: Extent) -> Extent {
        match (self, other) {
            (Extent::Nowhere, extent) | (extent, Extent::Nowhere) => extent,
            (Extent::Between(a, b), Extent::Between(c, d)) => Extent::Between(a.min(c), b.max(d)),
            _ => Extent::Anywhere,
        }
    }
}

impl Store {
    /// Where events can be that contain what `pattern` matches.
    pub(crate) async fn text_extent(&self, pattern: &str) -> Result<Extent, StoreError> {
        let kept = HOURS_KEPT_DAYS.min(i64::from(self.settings().retention.statistics_days));
        let floor = Timestamp::from_millis(self.config.clock.now().as_millis() - (kept - 1) * 24 * HOUR_MS);
        let oldest: Option<String> = sqlx::query_scalar("select min(id) from events").fetch_one(&self.readers).await?;
        // What is kept of conversations and models does not reach so far back.
        if oldest.is_some_and(|oldest| oldest < first_id(floor)) {
            return Ok(Extent::Anywhere);
        }
        let agents = self.agents_extent(pattern).await?;
        let errors = self.ids_extent(ERRORS, pattern).await?;
        let conversations = self.hours_extent(CONVERSATIONS, pattern).await?;
        let models = self.hours_extent(MODELS, pattern).await?;
        Ok(agents.or(errors).or(conversations).or(models))
    }

    async fn agents_extent(&self, pattern: &str) -> Result<Extent, StoreError> {
        let query = sqlx::query(AGENTS_FOUND).bind(pattern.to_owned()).bind(AGENTS + 1);
        let row = query.fetch_one(&self.readers).await?;
        if row.try_get::<i64, _>("agents")? > AGENTS {
            return Ok(Extent::Anywhere);
        }
        Ok(Extent::of(row.try_get("first")?, row.try_get("last")?))
    }

    async fn ids_extent(&self, query: &'static str, pattern: &str) -> Result<Extent, StoreError> {
        let row = sqlx::query(query).bind(pattern.to_owned()).fetch_one(&self.readers).await?;
        Ok(Extent::of(row.try_get("first")?, row.try_get("last")?))
    }

    async fn hours_extent(&self, query: &'static str, pattern: &str) -> Result<Extent, StoreError> {
        let query = sqlx::query(query).bind(pattern.to_owned());
        let row = query.bind(Span::Hour.code()).bind(LONGEST_NAME - 4).fetch_one(&self.readers).await?;
        Ok(Extent::of_hours(row.try_get("first")?, row.try_get("last")?))
    }
}

const AGENTS_FOUND: &str = r"
    select count(*) as agents, min(first) as first, max(last) as last from (
        select (select min(id) from events where agent_id = found.id) as first,
               (select max(id) from events where agent_id = found.id) as last
        from (select id from agents where id like $1 escape '\' limit $2) as found)";

const ERRORS: &str = r"
    select min(id) as first, max(id) as last from events indexed by events_with_error
    where error is not null and error like $1 escape '\'";

/// `$2` is only for the other one.
const CONVERSATIONS: &str = r"
    select min(first_hour) as first, max(last_hour) as last from conversations
    where $2 = $2 and (conversation like $1 escape '\' or length(conversation) > $3)";

/// From one hour to the next, so that the rows of single agents are not looked at.
const MODELS: &str = r"
    with recursive starts (start) as (
        select max(start) from rollups where span = $2
        union all
        select (select max(start) from rollups where span = $2 and start < starts.start) from starts
        where starts.start is not null)
    select min(start) as first, max(start) as last from starts cross join rollups using (start)
    where span = $2 and agent_id = '' and (model like $1 escape '\' or length(model) > $3)";
