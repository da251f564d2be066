//! The address of the server, and limits on how long it may take to answer.

mod error_codes;
pub(super) mod pooler;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::{PgConnectOptions, PgListener};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool};

pub(super) use self::error_codes::is_unknown_transaction;
pub(crate) use self::error_codes::{in_plain_words, is_contention, is_full, is_temporary};
pub(crate) use self::pooler::refuse_pooler;
use crate::StoreError;

/// How long to wait for a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest one statement may take. A server that hangs must not block the writer for ever;
/// normal reads and writes take a fraction of this.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// A PostgreSQL server and its database.
#[derive(Clone)]
pub struct PostgresConfig {
    url: SecretString,
    password_file: Option<PathBuf>,
}

impl PostgresConfig {
    /// The database at `url` (`postgres://user:password@host:port/database?sslmode=require`). The
    /// password may be in `password_file` instead, which is read with every connection so that it
    /// can be changed.
    pub fn new(url: SecretString, password_file: Option<PathBuf>) -> Result<PostgresConfig, String> {
        let config = PostgresConfig { url, password_file };
        config.options().map(|_| config)
    }

    /// The server and the database without the password, for messages.
    pub fn address(&self) -> String {
        PgConnectOptions::from_str(self.url.expose_secret()).map_or_else(
            |_| "postgres".to_owned(),
            |options| {
                let database = options.get_database().unwrap_or(options.get_username());
                format!("postgres://{}:{}/{database}", options.get_host(), options.get_port())
            },
        )
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<PgConnection, StoreError> {
        let options = self.options().map_err(StoreError::Setup)?;
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await;
        let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", self.address()));
        let connection = connecting.map_err(|_| failed("the server does not answer".to_owned()))?;
        connection.map_err(|error| failed(in_plain_words(&error)))
    }

    /// How to connect, with the password as it is now.
    pub fn options(&self) -> Result<PgConnectOptions, String> {
        let url = self.url.expose_secret();
        if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
            return Err("must be postgres://user@host/database".to_owned());
        }
        let options = PgConnectOptions::from_str(url).map_err(|error| format!("cannot be read: {error}"))?;
        // Values must not be logged.
        let options = options.application_name("agentgazer").disable_statement_logging();
        let Some(file) = &self.password_file else { return Ok(options) };
        let password = std::fs::read_to_string(file);
        let password = password.map_err(|error| format!("the password file {}: {error}", file.display()))?;
        Ok(options.password(password.trim_end_matches(['\r', '\n'])))
    }
}

impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresConfig").field(&self.address()).finish()
    }
}

/// At most so many connections with `options`, opened when they are needed.
pub(super) fn pool(options: PgConnectOptions, connections: u32) -> PgPool {
    let pool = crate::sql::pool_options().max_connections(connections).acquire_timeout(CONNECT_TIMEOUT);
    // A connection is tested before it is given back. Without a limit that never ends if the host
    // has vanished, and the pool has one connection less.
    let pool = pool.after_release(|connection: &mut PgConnection, _| {
        Box::pin(async move {
            let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the server does not answer");
            tokio::time::timeout(CONNECT_TIMEOUT, connection.ping()).await.map_err(late)??;
            Ok(true)
        })
    });
    pool.connect_lazy_with(options)
}

/// A connection that listens. It has a pool of its own, because it is never given back if the host
/// has vanished.
pub(super) async fn listener(options: PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    PgListener::connect_with(&pool(options, 1)).await
}

/// Waits for an answer of the server, up to a limit.
pub(crate) async fn in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, sqlx::Error> {
    tokio::time::timeout(STATEMENT_TIMEOUT, answer).await.unwrap_or_else(|_| {
        let why = format!("the server did not answer within {} s", STATEMENT_TIMEOUT.as_secs());
        Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, why)))
    })
}
