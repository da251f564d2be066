//! How far sums over longer times have been made of those over shorter ones.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteExecutor};

/// How far the sums of each length are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made(Vec<Cursor>);

/// How far the sums of one length are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) hours: i64,
    /// All that began before are made.
    pub(crate) start: i64,
    /// Of the one that begins there, those of agents before this one. All agents together are called `""`.
    pub(crate) next: String,
}

impl Made {
    pub(crate) async fn read(executor: impl SqliteExecutor<'_>) -> Result<Made, sqlx::Error> {
        let query = sqlx::query("select hours, start, next from sums_made");
        query.try_map(cursor).fetch_all(executor).await.map(Made)
    }

    /// When the first sum over so many hours begins that is not made.
    pub(crate) fn until(&self, hours: i64) -> i64 {
        self.of(hours).map_or(0, |cursor| cursor.start)
    }

    pub(crate) fn of(&self, hours: i64) -> Option<&Cursor> {
        self.0.iter().find(|cursor| cursor.hours == hours)
    }

    /// Whether the sum of an agent over the hours that began at `start` is made.
    pub(crate) fn has(&self, hours: i64, start: i64, agent: &str) -> bool {
        self.of(hours).is_some_and(|cursor| (start, agent) < (cursor.start, cursor.next.as_str()))
    }
}

fn cursor(row: SqliteRow) -> Result<Cursor, sqlx::Error> {
    Ok(Cursor { hours: row.try_get("hours")?, start: row.try_get("start")?, next: row.try_get("next")? })
}

#[cfg(test)]
impl Made {
    /// Made up to these times, by length.
    pub(crate) fn up_to(starts: [(i64, i64); 4]) -> Made {
        Made(starts.map(|(hours, start)| Cursor { hours, start, next: String::new() }).into())
    }
}
