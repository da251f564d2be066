//! Brings the database up to date.

use sqlx::Connection;
use sqlx::migrate::MigrateError;

use super::{PostgresConfig, in_plain_words};
use crate::StoreError;
use crate::migrations::{self, migrator};

/// Runs the migrations that are missing. Several servers may start at once: the migrator takes an
/// advisory lock.
pub(crate) async fn migrate(config: &PostgresConfig) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", config.address()));
    let mut connection = config.connect().await?;
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
