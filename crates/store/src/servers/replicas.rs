//! The servers on a database: each updates its row every second.

use model::Timestamp;
use sqlx::{PgPool, Row};

use crate::columns::unsigned;
use crate::database::Pool;
use crate::postgres::in_time;
use crate::{Store, StoreError};

/// A server that was silent for this long is deleted.
const FORGOTTEN_MS: i64 = 60 * 60 * 1000;

/// A server on a database that several share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaRow {
    /// Its id, another one with every start.
    pub id: String,
    /// The version of AgentGazer.
    pub version: String,
    /// Where its dashboard is.
    pub address: String,
    /// Its mode: `shared` or `degraded`.
    pub mode: String,
    /// When it was started, by the clock of the database.
    pub started_at: Timestamp,
    /// Milliseconds since its last heartbeat.
    pub silent_ms: u64,
    /// Its lag behind the changes of others at the last heartbeat, in milliseconds.
    pub lag_ms: u64,
}

impl ReplicaRow {
    /// A server counts as gone after this long without a heartbeat.
    pub const GONE_AFTER_MS: u64 = 10_000;

    /// Whether its last heartbeat is recent.
    pub fn is_alive(&self) -> bool {
        self.silent_ms < Self::GONE_AFTER_MS
    }
}

impl Store {
    /// The servers on this database, oldest first; empty if it is not shared.
    pub async fn replicas(&self) -> Result<Vec<ReplicaRow>, StoreError> {
        match &self.readers {
            Pool::Postgres(pool) if self.is_shared() => Ok(read(pool).await?),
            _ => Ok(Vec::new()),
        }
    }

    /// Writes a heartbeat of this server. The times in `replica` are ignored: the database's clock
    /// counts.
    pub async fn write_heartbeat(&self, replica: &ReplicaRow) -> Result<(), StoreError> {
        match &self.readers {
            Pool::Postgres(pool) if self.is_shared() => Ok(write(pool, replica).await?),
            _ => Ok(()),
        }
    }

    /// Deletes the row of this server before it ends.
    pub async fn delete_replica(&self) -> Result<(), StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(()) };
        let query = sqlx::query("delete from replicas where id = $1").bind(self.writer().to_owned());
        in_time(query.execute(pool)).await?;
        Ok(())
    }
}

async fn read(pool: &PgPool) -> Result<Vec<ReplicaRow>, sqlx::Error> {
    let query = sqlx::query(
        "select id, version, address, mode, started_at, greatest(now_ms() - heartbeat_at, 0) as silent_ms, lag_ms
         from replicas order by started_at, id",
    );
    let rows = in_time(query.fetch_all(pool)).await?;
    rows.iter()
        .map(|row| {
            Ok(ReplicaRow {
                id: row.try_get("id")?,
                version: row.try_get("version")?,
                address: row.try_get("address")?,
                mode: row.try_get("mode")?,
                started_at: Timestamp::from_millis(row.try_get("started_at")?),
                silent_ms: unsigned(row.try_get("silent_ms")?),
                lag_ms: unsigned(row.try_get("lag_ms")?),
            })
        })
        .collect()
}

async fn write(pool: &PgPool, replica: &ReplicaRow) -> Result<(), sqlx::Error> {
    let query = sqlx::query(
        "with gone as (delete from replicas where heartbeat_at < now_ms() - $6)
         insert into replicas (id, version, address, mode, started_at, heartbeat_at, lag_ms)
         values ($1, $2, $3, $4, now_ms(), now_ms(), $5)
         on conflict (id) do update set mode = excluded.mode, heartbeat_at = excluded.heartbeat_at,
            lag_ms = excluded.lag_ms",
    );
    let query = query.bind(replica.id.clone()).bind(replica.version.clone()).bind(replica.address.clone());
    let query = query.bind(replica.mode.clone()).bind(crate::columns::signed(replica.lag_ms)).bind(FORGOTTEN_MS);
    in_time(query.execute(pool)).await.map(drop)
}
