//! Readers leave the old database when a new one takes its place.

use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::Sqlite;
use sqlx::pool::PoolOptions;
use tokio::time::Instant;

/// When the database that is read was put in its place.
#[derive(Clone, Debug)]
pub(crate) struct Generation(Arc<Mutex<Option<Instant>>>);

impl Default for Generation {
    fn default() -> Self {
        Generation(Arc::new(Mutex::new(None)))
    }
}

impl Generation {
    /// From now on only connections are used that are opened from now on.
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
