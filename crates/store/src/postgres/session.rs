//! The writer's connection: opened when it is needed, discarded after any failure.

use std::io;

use sqlx::postgres::{PgConnection, Postgres};
use sqlx::{ConnectOptions, Connection as _, Transaction};

use super::connection::is_unknown_transaction;
use super::{PostgresConfig, WriterClaim, WriterName, connection, in_time, servers};
use crate::sql::Durability;

/// The connection that writes.
#[derive(Debug)]
pub(crate) struct Session {
    config: PostgresConfig,
    /// The identity it writes under.
    writer: WriterName,
    /// The connection that the right to write was taken with.
    claim: WriterClaim,
    open: Option<PgConnection>,
    /// The number of connections so far.
    connections: u64,
    /// The number of connections that [`was_reconnected`](Session::was_reconnected) has seen.
    seen_connections: u64,
    /// A transaction whose commit was not acknowledged.
    in_doubt: Option<String>,
}

impl Session {
    pub(crate) fn new(config: &PostgresConfig, writer: WriterName, claim: WriterClaim) -> Session {
        let config = config.clone();
        Session { config, writer, claim, open: None, connections: 0, seen_connections: 1, in_doubt: None }
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self, durability: Durability) -> Result<WriteTransaction<'_>, sqlx::Error> {
        self.connect().await?;
        let Some(connection) = &mut self.open else { return Err(sqlx::Error::PoolClosed) };
        let begin = match durability {
            Durability::Normal => "begin; set local synchronous_commit = off",
            Durability::Full => "begin; set local synchronous_commit = on",
        };
        let inner = in_time(connection.begin_with(begin)).await?;
        Ok(WriteTransaction { inner, id: None, in_doubt: &mut self.in_doubt })
    }

    async fn connect(&mut self) -> Result<(), sqlx::Error> {
        if self.open.is_some() {
            return Ok(());
        }
        if let Some(connection) = self.claim.connection() {
            self.use_connection(connection);
            return Ok(());
        }
        let options = self.config.options().map_err(|why| sqlx::Error::Configuration(why.into()))?;
        let connecting = tokio::time::timeout(connection::CONNECT_TIMEOUT, options.connect()).await;
        let late = |_| sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the server does not answer"));
        let mut connection = connecting.map_err(late)??;
        in_time(servers::claim(&mut connection, &self.writer)).await?;
        self.use_connection(connection);
        Ok(())
    }

    fn use_connection(&mut self, connection: PgConnection) {
        self.open = Some(connection);
        self.connections += 1;
    }

    /// Whether the transaction in doubt was committed. An error if that is still unknown.
    pub(crate) async fn was_committed(&mut self) -> Result<bool, sqlx::Error> {
        let Some(id) = self.in_doubt.clone() else { return Ok(false) };
        self.connect().await?;
        let Some(connection) = &mut self.open else { return Err(sqlx::Error::PoolClosed) };
        let query = sqlx::query_scalar("select pg_xact_status($1::text::xid8)").bind(id);
        let status: Result<Option<String>, sqlx::Error> = in_time(query.fetch_one(connection)).await;
        let status = match status {
            // The server has not given out that id, so it lost the transaction: in a crash, or
            // because it was a standby.
            Err(error) if is_unknown_transaction(&error) => None,
            status => status?,
        };
        let committed = match status.as_deref() {
            Some("in progress") => {
                return Err(sqlx::Error::Io(io::Error::other("the last transaction has not ended")));
            }
            Some("committed") => true,
            _ => false,
        };
        self.in_doubt = None;
        Ok(committed)
    }

    /// Whether there was a new connection since the last call. The server may be a new one too,
    /// promoted without the newest kills.
    pub(crate) fn was_reconnected(&mut self) -> bool {
        let is_new = self.connections > self.seen_connections;
        self.seen_connections = self.seen_connections.max(self.connections);
        is_new
    }

    /// Discards the connection with any transaction it is in.
    pub(crate) fn reset(&mut self) {
        self.open = None;
    }

    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self.open {
            Some(connection) => in_time(connection.close()).await,
            None => Ok(()),
        }
    }
}

/// A transaction of the writer.
pub(crate) struct WriteTransaction<'a> {
    inner: Transaction<'a, Postgres>,
    /// Its id, if it is remembered.
    id: Option<String>,
    in_doubt: &'a mut Option<String>,
}

impl WriteTransaction<'_> {
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.inner
    }

    /// Records the id of the transaction: the server reports its outcome by that id.
    pub(crate) async fn record_id(&mut self) -> Result<(), sqlx::Error> {
        let query = sqlx::query_scalar("select pg_current_xact_id()::text");
        self.id = Some(in_time(query.fetch_one(&mut *self.inner)).await?);
        Ok(())
    }

    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        let committed = in_time(self.inner.commit()).await;
        // A transaction without an id may follow one in doubt, whose outcome is not known yet.
        if let (Err(_), Some(id)) = (&committed, self.id) {
            *self.in_doubt = Some(id);
        }
        committed
    }

    pub(crate) async fn rollback(self) -> Result<(), sqlx::Error> {
        in_time(self.inner.rollback()).await
    }
}
