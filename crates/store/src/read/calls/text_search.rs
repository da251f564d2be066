//! Finds events that contain a text in the agent, the error, the conversation or the model. Each is
//! searched differently, because comparing a text with every event takes seconds: agents and errors
//! have indexes, and the sums know the names of conversations and models and the hours they were
//! seen in.

use model::Timestamp;

use super::events::{COLUMNS, EventFilter, EventRow, event_row};
use crate::columns::first_id;
use crate::database::dialect::{self, contains_pattern};
use crate::database::{self, QueryBuilder, Row};
use crate::read::page::{Page, PageRequest};
use crate::stats::{HOURS_KEPT_DAYS, Span};
use crate::{Store, StoreError};

/// If more names match than this, so many events match that a page fills quickly.
const MOST_NAMES: i64 = 1000;

/// Sums keep names of up to 200 bytes: a longer one was cut, and its end is unknown.
const LONGEST_NAME: i64 = 200 - 4;

/// What is searched for.
struct Search<'a> {
    /// A pattern for the text.
    pattern: String,
    filter: &'a EventFilter,
    /// The page begins before this id.
    before: Option<String>,
    /// The page ends at this id, if no index finds what the filter asks for.
    end: Option<String>,
    rows: i64,
}

impl Search<'_> {
    /// Adds the other conditions of the search.
    fn push_conditions(&self, query: &mut QueryBuilder) {
        self.filter.push_onto(query);
        if let Some(before) = &self.before {
            query.push(" and id < ").push_bind(before.clone());
        }
        if let Some(end) = &self.end {
            query.push(" and id >= ").push_bind(end.clone());
        }
    }

    fn push_order(&self, query: &mut QueryBuilder) {
        query.push(" order by id desc limit ").push_bind(self.rows);
    }

    /// Adds a condition that `column` contains the text.
    fn push_contains(&self, query: &mut QueryBuilder, column: &'static str) {
        query.push(column).push(dialect::like!()).push_bind(self.pattern.clone()).push(r" escape '\'");
    }
}

/// The values of a column that contain the text, as the sums know them.
enum Names {
    /// These, in events with ids in the range.
    Exactly { names: Vec<String>, ids: (String, String) },
    /// Too many to list, or some were cut.
    Unknown,
}

impl Names {
    /// From rows of a name with the first and the last hour that it was seen in.
    fn of(rows: Vec<(String, i64, i64)>) -> Names {
        let is_cut = |name: &str| name.len() as i64 > LONGEST_NAME;
        if rows.len() as i64 > MOST_NAMES || rows.iter().any(|(name, ..)| is_cut(name)) {
            return Names::Unknown;
        }
        let first = rows.iter().map(|(_, first, _)| *first).min().unwrap_or_default();
        let last = rows.iter().map(|(.., last)| *last).max().unwrap_or_default();
        // An id may be made a little before or after the time of its event.
        let id = |millis| first_id(Timestamp::from_millis(millis));
        let ids = (id(first - Span::Hour.millis()), id(last + 2 * Span::Hour.millis()));
        Names::Exactly { names: rows.into_iter().map(|(name, ..)| name).collect(), ids }
    }
}

impl Store {
    /// A page of events that contain `text`, newest first.
    pub(super) async fn events_with_text(
        &self,
        text: &str,
        filter: &EventFilter,
        page: &PageRequest,
    ) -> Result<Page<EventRow>, StoreError> {
        let (before, rows) = (page.after()?, page.rows());
        let end = self.end_of_scan(filter, before.as_deref()).await?;
        let search = Search { pattern: contains_pattern(text), filter, before, end, rows };
        let mut found = self.events_of_agents(&search).await?;
        if filter.text_in_errors {
            found.extend(self.events_with_error(&search).await?);
        }
        let oldest_sum = self.oldest_sum();
        for (column, names) in
            [("conversation", self.conversation_names(&search).await?), ("model", self.model_names(&search).await?)]
        {
            found.extend(self.events_with_names(&search, column, names).await?);
            found.extend(self.events_before_sums(&search, column, &oldest_sum).await?);
        }
        found.sort_unstable_by_key(|row| std::cmp::Reverse(row.event.id));
        found.dedup_by_key(|row| row.event.id);
        found.truncate(usize::try_from(search.rows).unwrap_or_default());
        Ok(Page::of(found, page, |row| row.event.id.to_string()).or_continue_after(search.end.as_deref()))
    }

    /// The newest events of each agent whose id contains the text.
    async fn events_of_agents(&self, search: &Search<'_>) -> Result<Vec<EventRow>, StoreError> {
        let mut query = QueryBuilder::new("select id from agents where ");
        search.push_contains(&mut query, "id");
        query.push(" limit ").push_bind(MOST_NAMES + 1);
        let agents: Vec<String> = query.build_query_scalar().fetch_all(&self.readers).await?;
        if agents.is_empty() {
            return Ok(Vec::new());
        }
        if agents.len() as i64 > MOST_NAMES {
            let mut query = select();
            search.push_conditions(&mut query);
            search.push_contains(query.push(" and "), "agent_id");
            search.push_order(&mut query);
            return self.fetch(query).await;
        }
        // For each agent the newest rows by its index; a plain `in` would sort all events of all
        // these agents.
        let mut query = QueryBuilder::new("with found (agent) as (values ");
        for (number, agent) in agents.into_iter().enumerate() {
            query.push(if number == 0 { "(" } else { ", (" }).push_bind(agent).push(")");
        }
        query.push(") select ").push(COLUMNS).push(
            " from events where id in (
                select id from found cross join events where events.agent_id = found.agent",
        );
        search.push_conditions(&mut query);
        query.push(" and id >= coalesce((select id from events where agent_id = found.agent");
        search.push_conditions(&mut query);
        query.push(" order by id desc limit 1 offset ").push_bind(search.rows).push("), '')");
        search.push_order(&mut query);
        query.push(") order by id desc");
        self.fetch(query).await
    }

    /// The newest events whose error contains the text.
    async fn events_with_error(&self, search: &Search<'_>) -> Result<Vec<EventRow>, StoreError> {
        let mut query = QueryBuilder::new("select ");
        query.push(COLUMNS).push(" from events ").push(dialect::by_index!("events_with_error"));
        search.push_contains(query.push(" where error is not null and "), "error");
        search.push_conditions(&mut query);
        search.push_order(&mut query);
        self.fetch(query).await
    }

    /// The newest events whose `column` has one of `names`.
    async fn events_with_names(
        &self,
        search: &Search<'_>,
        column: &'static str,
        names: Names,
    ) -> Result<Vec<EventRow>, StoreError> {
        let mut query = select();
        match names {
            Names::Exactly { names, .. } if names.is_empty() => return Ok(Vec::new()),
            Names::Exactly { names, ids: (first, last) } => {
                query.push(" and id >= ").push_bind(first).push(" and id <= ").push_bind(last);
                query.push(" and ").push(column).push(" in (");
                let mut list = query.separated(", ");
                for name in names {
                    list.push_bind(name);
                }
                query.push(")");
            }
            Names::Unknown => search.push_contains(query.push(" and "), column),
        }
        search.push_conditions(&mut query);
        search.push_order(&mut query);
        self.fetch(query).await
    }

    /// The newest events whose `column` contains the text, among events older than the sums.
    async fn events_before_sums(
        &self,
        search: &Search<'_>,
        column: &'static str,
        oldest_sum: &str,
    ) -> Result<Vec<EventRow>, StoreError> {
        let mut query = select();
        query.push(" and id < ").push_bind(oldest_sum.to_owned());
        search.push_contains(query.push(" and "), column);
        search.push_conditions(&mut query);
        search.push_order(&mut query);
        self.fetch(query).await
    }

    /// The id before which events may be older than the sums of hours and conversations.
    fn oldest_sum(&self) -> String {
        let kept = HOURS_KEPT_DAYS.min(i64::from(self.settings().retention.statistics_days));
        first_id(Timestamp::from_millis(self.config.clock.now().as_millis() - (kept - 1) * Span::Day.millis()))
    }

    async fn conversation_names(&self, search: &Search<'_>) -> Result<Names, StoreError> {
        let mut query = QueryBuilder::new("select conversation, first_hour, last_hour from conversations where (");
        search.push_contains(&mut query, "conversation");
        query.push(" or octet_length(conversation) > ").push_bind(LONGEST_NAME);
        query.push(") limit ").push_bind(MOST_NAMES + 1);
        Ok(Names::of(query.build_query_as().fetch_all(&self.readers).await?))
    }

    async fn model_names(&self, search: &Search<'_>) -> Result<Names, StoreError> {
        let query = database::query_as(MODELS).bind(search.pattern.clone());
        let query = query.bind(Span::Hour.model_code()).bind(LONGEST_NAME).bind(MOST_NAMES + 1);
        Ok(Names::of(query.fetch_all(&self.readers).await?))
    }

    async fn fetch(&self, mut query: QueryBuilder) -> Result<Vec<EventRow>, StoreError> {
        Ok(query.build().try_map(|row: Row| event_row(row)).fetch_all(&self.readers).await?)
    }
}

fn select() -> QueryBuilder {
    let mut query = QueryBuilder::new("select ");
    query.push(COLUMNS).push(" from events where true");
    query
}

/// Goes from one hour to the next by the sums over all agents, so that the rows of single agents
/// are not read.
const MODELS: &str = concat!(
    "with recursive starts (start) as (
        select max(start) from rollups where span = $2
        union all
        select (select max(start) from rollups where span = $2 and start < starts.start) from starts
        where starts.start is not null)
    select model, min(rollups.start), max(rollups.start) from starts cross join rollups
    where rollups.start = starts.start and span = $2 and agent_id = '' and (model",
    dialect::like!(),
    r"$1 escape '\' or octet_length(model) > $3)
    group by model limit $4"
);
