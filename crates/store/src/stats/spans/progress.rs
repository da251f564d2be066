//! How far sums over longer spans have been made from shorter ones.

use super::span::Span;
use crate::database::{self, Row, Source};

/// How far the sums of each span are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress(Vec<Cursor>);

/// How far the sums of one span are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) hours: i64,
    /// All sums that began before this are made.
    pub(crate) start: i64,
    /// In the span that begins at `start`, the sums of agents before this one are made. `""` stands
    /// for all agents together.
    pub(crate) next: String,
}

impl Progress {
    pub(crate) async fn read(source: impl Into<Source<'_>>) -> Result<Progress, sqlx::Error> {
        let query = database::query("select hours, start, next from sums_made");
        query.try_map(cursor).fetch_all(source.into()).await.map(Progress)
    }

    /// The start of the first sum of this span that is not made.
    pub(crate) fn made_until(&self, span: Span) -> i64 {
        self.cursor(span).map_or(0, |cursor| cursor.start)
    }

    pub(crate) fn cursor(&self, span: Span) -> Option<&Cursor> {
        self.0.iter().find(|cursor| cursor.hours == span.hours())
    }

    /// Whether the sum of an agent over the span that began at `start` is made.
    pub(crate) fn has(&self, span: Span, start: i64, agent: &str) -> bool {
        self.cursor(span).is_some_and(|cursor| (start, agent) < (cursor.start, cursor.next.as_str()))
    }
}

fn cursor(row: Row) -> Result<Cursor, sqlx::Error> {
    Ok(Cursor { hours: row.try_get("hours")?, start: row.try_get("start")?, next: row.try_get("next")? })
}

#[cfg(test)]
impl Progress {
    /// Made up to these times.
    pub(crate) fn up_to(starts: [(Span, i64); 4]) -> Progress {
        Progress(starts.map(|(span, start)| Cursor { hours: span.hours(), start, next: String::new() }).into())
    }
}
