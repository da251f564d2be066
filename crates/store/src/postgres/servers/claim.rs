//! The right to write to a database. A server has it exclusively, or shares it with servers that
//! also share; the two modes exclude each other. It ends with the connection that holds it.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::PgConnection;

use crate::StoreError;
use crate::postgres::{PostgresConfig, in_time};

/// How long a server that was just stopped may still have the lock.
const LOCK_TIMEOUT: &str = "set lock_timeout = '5s'";

/// A disconnected server loses its lock after seconds, not after the hours of the default.
const KEEPALIVES: [&str; 3] =
    ["set tcp_keepalives_idle = 3", "set tcp_keepalives_interval = 2", "set tcp_keepalives_count = 2"];

/// The identity of a writer.
#[derive(Clone, Debug)]
pub(crate) struct WriterName {
    /// Its name, unique among the servers.
    pub(crate) name: Arc<str>,
    /// Whether others write at the same time.
    pub(crate) is_shared: bool,
}

impl WriterName {
    /// The key of the lock. Servers that share a database use one key, which an exclusive server
    /// takes too.
    fn key(&self) -> &str {
        if self.is_shared { "" } else { &self.name }
    }
}

/// The right to write. It is taken before the database is read, so that this server sees everything
/// the previous one wrote.
#[derive(Clone, Debug, Default)]
pub struct WriterClaim(Arc<Mutex<Option<PgConnection>>>);

impl WriterClaim {
    /// Takes it; `None` if another server has it. A SQLite file is claimed with its directory
    /// instead.
    pub(crate) async fn take(
        server: Option<&PostgresConfig>,
        is_shared: bool,
    ) -> Result<Option<WriterClaim>, StoreError> {
        let Some(server) = server else { return Ok(Some(WriterClaim::default())) };
        let writer = WriterName { name: "".into(), is_shared };
        let mut connection = server.connect().await?;
        set_keepalives(&mut connection).await?;
        let query = if is_shared { TRY_SHARED } else { TRY_ALONE };
        let query = sqlx::query_scalar(query).bind(writer.key().to_owned());
        let taken: bool = in_time(query.fetch_one(&mut connection)).await?;
        Ok(taken.then(|| WriterClaim(Arc::new(Mutex::new(Some(connection))))))
    }

    /// The connection that has the lock, for the writer.
    pub(in crate::postgres) fn connection(&self) -> Option<PgConnection> {
        self.0.lock().take()
    }
}

const TRY_ALONE: &str =
    "select pg_try_advisory_lock(hashtext('agentgazer.writer'), hashtext(current_schema() || '/' || $1))";
const TRY_SHARED: &str =
    "select pg_try_advisory_lock_shared(hashtext('agentgazer.writer'), hashtext(current_schema() || '/' || $1))";
const ALONE: &str = "select pg_advisory_lock(hashtext('agentgazer.writer'), hashtext(current_schema() || '/' || $1))";
const SHARED: &str =
    "select pg_advisory_lock_shared(hashtext('agentgazer.writer'), hashtext(current_schema() || '/' || $1))";

/// Takes the lock on a connection of the writer.
pub(in crate::postgres) async fn claim(connection: &mut PgConnection, writer: &WriterName) -> Result<(), sqlx::Error> {
    set_keepalives(connection).await?;
    sqlx::query(LOCK_TIMEOUT).execute(&mut *connection).await?;
    let query = sqlx::query(if writer.is_shared { SHARED } else { ALONE }).bind(writer.key().to_owned());
    query.execute(&mut *connection).await.map_err(|error| match error.as_database_error() {
        Some(refusal) if refusal.code().as_deref() == Some("55P03") => {
            sqlx::Error::Io(io::Error::other("another AgentGazer server writes to the database"))
        }
        _ => error,
    })?;
    sqlx::query("set lock_timeout = 0").execute(connection).await.map(drop)
}

async fn set_keepalives(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    for statement in KEEPALIVES {
        in_time(sqlx::query(statement).execute(&mut *connection)).await?;
    }
    Ok(())
}
