//! The sessions of the dashboard, and the finished logins at an identity provider, in the database
//! so that all its servers know them.

use model::Timestamp;

use crate::database::Pool;
use crate::postgres::in_time;
use crate::{Store, StoreError};

/// More than the dashboard ever keeps.
const MOST: i64 = 10_000;

impl Store {
    /// Whether sessions are kept here. A file of SQLite has one server, which keeps its own.
    pub fn keeps_sessions(&self) -> bool {
        matches!(self.readers, Pool::Postgres(_))
    }

    /// Keeps a session, and deletes sessions that had ended at `now`.
    pub async fn put_session(
        &self,
        session: (&str, &str),
        ends_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(()) };
        let query = sqlx::query(
            "with over as (delete from sessions where ends_at <= $4)
             insert into sessions (key, line, ends_at) values ($1, $2, $3)
             on conflict (key) do update set line = excluded.line, ends_at = excluded.ends_at",
        );
        let (key, line) = session;
        let query = query.bind(key.to_owned()).bind(line.to_owned());
        in_time(query.bind(ends_at.as_millis()).bind(now.as_millis()).execute(pool)).await?;
        Ok(())
    }

    /// Returns the sessions among `keys` that are kept.
    pub async fn find_sessions(&self, keys: &[String]) -> Result<Vec<String>, StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(Vec::new()) };
        let query = sqlx::query_scalar("select line from sessions where key = any($1)").bind(keys.to_vec());
        Ok(in_time(query.fetch_all(pool)).await?)
    }

    /// All sessions that are kept.
    pub async fn all_sessions(&self) -> Result<Vec<String>, StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(Vec::new()) };
        let query = sqlx::query_scalar("select line from sessions order by ends_at desc limit $1").bind(MOST);
        Ok(in_time(query.fetch_all(pool)).await?)
    }

    /// Keeps a finished login until it cannot be repeated any more, and deletes those of which that
    /// was true at `now`. Returns `false` if it was finished before.
    pub async fn finish_login(&self, key: &str, ends_at: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(true) };
        let query = sqlx::query(
            "with over as (delete from finished_logins where ends_at <= $3 and key <> $1)
             insert into finished_logins (key, ends_at) values ($1, $2) on conflict (key) do nothing",
        );
        let query = query.bind(key.to_owned()).bind(ends_at.as_millis()).bind(now.as_millis());
        Ok(in_time(query.execute(pool)).await?.rows_affected() == 1)
    }

    /// Ends sessions.
    pub async fn remove_sessions(&self, keys: &[String]) -> Result<(), StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(()) };
        let query = sqlx::query("delete from sessions where key = any($1)").bind(keys.to_vec());
        in_time(query.execute(pool)).await?;
        Ok(())
    }
}
