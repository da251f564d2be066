//! Brings the database up to date.

use sqlx::migrate::MigrateError;
use sqlx::{ConnectOptions, Connection};

use super::{PostgresConfig, connect, in_plain_words};
use crate::StoreError;
use crate::migrations::{self, migrator};

/// Runs the migrations that are missing. Several servers may start at once: the migrator takes an
/// advisory lock.
pub(crate) async fn migrate(config: &PostgresConfig) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", config.address()));
    let options = config.options().map_err(failed)?;
    let connecting = tokio::time::timeout(connect::PATIENCE, options.connect()).await;
    let connection = connecting.map_err(|_| failed("the server does not answer".to_owned()))?;
    let mut connection = connection.map_err(|error| failed(in_plain_words(&error)))?;
    let migrated = migrator(migrations::POSTGRES).run(&mut connection).await;
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(_) => {
            failed("it was made by a newer version of AgentGazer; run that one, or use another database".to_owned())
        }
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(in_plain_words(&error)),
        error => failed(error.to_string()),
    })?;
    connection.close().await.map_err(|error| failed(in_plain_words(&error)))
}
