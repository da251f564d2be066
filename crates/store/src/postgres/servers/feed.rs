//! Reads the changes of other replicas. The server notifies; the table is also read once a second,
//! because notifications can be lost (a pooler, a fail-over).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sqlx::PgConnection;
use sqlx::postgres::{PgConnectOptions, PgPool};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use crate::StoreError;
use crate::changed_row::{ChangedKind, ChangedRow};
use crate::postgres::{PostgresConfig, connection, in_time};

const CHANNEL: &str = "agentgazer_changes";

/// How often the table is read without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// After this a connection for notifications is opened again: if the host has vanished, nothing
/// else shows it.
const LISTENER_RENEWAL: Duration = Duration::from_secs(60);

/// Ids are assigned before the commit, so a row may appear this long after one with a higher id.
const OVERLAP: Duration = Duration::from_secs(10);

/// How long rows are kept, much longer than any replica falls behind.
const KEPT_MS: i64 = 60 * 60 * 1000;

/// Adds a row, and wakes the others when it is committed.
pub(crate) async fn announce(
    connection: &mut PgConnection,
    row: &ChangedRow,
    (replica, at): (&str, i64),
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(
        "with added as (insert into changes (kind, key, at, replica) values ($1, $2, $3, $4))
         select pg_notify($5, '')",
    );
    let query = query.bind(row.kind.as_str()).bind(row.key.clone()).bind(at).bind(replica.to_owned()).bind(CHANNEL);
    in_time(query.execute(connection)).await.map(drop)
}

/// Deletes rows that every replica has read.
pub(crate) async fn sweep_changes(connection: &mut PgConnection, now: i64) -> Result<(), sqlx::Error> {
    let query = sqlx::query("delete from changes where at < $1").bind(now - KEPT_MS);
    in_time(query.execute(connection)).await.map(drop)
}

/// The changes of other replicas.
#[derive(Debug)]
pub struct ChangeFeed {
    pool: PgPool,
    replica: String,
    /// The highest id at several moments: rows above the oldest one are read again.
    marks: BTreeMap<Instant, i64>,
    /// Ids above the oldest mark that were already returned.
    returned: BTreeSet<i64>,
    wakes: mpsc::Receiver<()>,
    listening: JoinHandle<()>,
}

impl ChangeFeed {
    /// Starts with the changes made from now on.
    pub(crate) async fn open(config: &PostgresConfig, replica: &str) -> Result<ChangeFeed, StoreError> {
        let options = config.options().map_err(StoreError::Setup)?;
        let pool = connection::pool(options.clone(), 1);
        // Transactions in progress may still add rows with lower ids.
        let query = sqlx::query_scalar("select coalesce(max(id), 0) from changes where at < now_ms() - 20000");
        let newest = in_time(query.fetch_one(&pool)).await?;
        let (wake, wakes) = mpsc::channel(1);
        let listening = tokio::spawn(listen(options, wake));
        let marks = BTreeMap::from([(Instant::now(), newest)]);
        Ok(ChangeFeed { pool, replica: replica.to_owned(), marks, returned: BTreeSet::new(), wakes, listening })
    }

    /// Waits for a notification, a second at most, and returns what others have changed: each row
    /// once, in any order. The order does not matter because the caller reads the current state.
    pub async fn next(&mut self) -> Result<Vec<ChangedRow>, StoreError> {
        let _ = tokio::time::timeout(POLL_INTERVAL, self.wakes.recv()).await;
        let floor = self.floor();
        let query = sqlx::query_as("select id, kind, key, replica from changes where id > $1 order by id");
        let rows: Vec<(i64, String, String, String)> = in_time(query.bind(floor).fetch_all(&self.pool)).await?;
        let mut changed = BTreeSet::new();
        if let Some((newest, ..)) = rows.last() {
            self.marks.insert(Instant::now(), *newest);
        }
        for (id, kind, key, replica) in rows {
            if self.returned.insert(id) && replica != self.replica {
                changed.extend(ChangedKind::parse(&kind).map(|kind| ChangedRow { kind, key }));
            }
        }
        Ok(changed.into_iter().collect())
    }

    /// The id above which rows may be new.
    fn floor(&mut self) -> i64 {
        let now = Instant::now();
        // Keeps the newest mark that is old enough; earlier ones are no longer needed.
        let old: Vec<Instant> = self.marks.keys().copied().filter(|at| now.duration_since(*at) >= OVERLAP).collect();
        if let Some((_, older)) = old.split_last() {
            for at in older {
                self.marks.remove(at);
            }
        }
        let floor = self.marks.first_key_value().map_or(0, |(_, id)| *id);
        self.returned = self.returned.split_off(&(floor + 1));
        floor
    }
}

impl Drop for ChangeFeed {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Wakes the reader with every notification. It reconnects after a failure; until then the reader
/// polls once a second.
async fn listen(options: PgConnectOptions, wake: mpsc::Sender<()>) {
    let mut well = true;
    loop {
        let failure = match listen_until_failure(&options, &wake).await {
            Ok(()) => return,
            Err(failure) => failure,
        };
        if std::mem::take(&mut well) {
            tracing::warn!("changes of other replicas are seen within a second, not at once: {failure}");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns when the reader is gone.
async fn listen_until_failure(options: &PgConnectOptions, wake: &mpsc::Sender<()>) -> Result<(), sqlx::Error> {
    while !wake.is_closed() {
        let mut listener = connection::listener(options.clone()).await?;
        listener.listen(CHANNEL).await?;
        let renewal = Instant::now() + LISTENER_RENEWAL;
        while !wake.is_closed()
            && let Ok(received) = timeout_at(renewal.into(), listener.try_recv()).await
        {
            // A lost connection wakes the reader too, so that it reads what it missed.
            received?;
            let _ = wake.try_send(());
        }
    }
    Ok(())
}
