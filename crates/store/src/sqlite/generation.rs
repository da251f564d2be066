//! Makes readers close their connections to a database that was replaced.

use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::Sqlite;
use sqlx::pool::PoolOptions;
use tokio::time::Instant;

/// When the current database was put in place.
#[derive(Clone, Debug)]
pub(crate) struct Generation(Arc<Mutex<Option<Instant>>>);

impl Default for Generation {
    fn default() -> Self {
        Generation(Arc::new(Mutex::new(None)))
    }
}

impl Generation {
    /// From now on only new connections are used.
    pub(crate) fn advance(&self) {
        *self.0.lock() = Some(Instant::now());
    }

    /// Makes a pool close the connections that are older.
    pub(crate) fn limit(&self, options: PoolOptions<Sqlite>) -> PoolOptions<Sqlite> {
        let began = Arc::clone(&self.0);
        options.before_acquire(move |_, connection| {
            let is_young = began.lock().is_none_or(|began| connection.age < began.elapsed());
            Box::pin(async move { Ok(is_young) })
        })
    }
}
