//! Brings the database up to date.

use sqlx::migrate::MigrateError;
use sqlx::{Connection, PgConnection};

use super::connection::pooler;
use super::{PostgresConfig, in_plain_words, in_time};
use crate::StoreError;
use crate::migrations::{self, migrator};

/// The version of the schema that this program can use. Migrations only add to a schema, so a
/// program uses one that a newer program has migrated; a migration that older programs cannot live
/// with stores a higher number as the setting `schema_major`.
const SCHEMA_MAJOR: u64 = 1;

/// Runs the migrations that are missing. Several servers may start at once: the migrator takes an
/// advisory lock.
pub(crate) async fn migrate(config: &PostgresConfig) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", config.address()));
    // The migrator's lock would not hold behind a pooler.
    pooler::refuse_pooler(config).await?;
    let mut connection = config.connect().await?;
    let major = schema_major(&mut connection).await.map_err(|error| failed(in_plain_words(&error)))?;
    if major > SCHEMA_MAJOR {
        return Err(failed(
            "it was made by a newer version of AgentGazer; run that one, or use another database".to_owned(),
        ));
    }
    let mut migrator = migrator(migrations::POSTGRES);
    // Replicas of a newer version may have migrated it: old and new ones run side by side.
    migrator.set_ignore_missing(true);
    migrator.run(&mut connection).await.map_err(|error| match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(in_plain_words(&error)),
        error => failed(error.to_string()),
    })?;
    connection.close().await.map_err(|error| failed(in_plain_words(&error)))
}

/// The version of the schema in the database; 1 if it says nothing.
async fn schema_major(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let query = sqlx::query_scalar("select to_regclass('settings') is not null");
    let has_settings: bool = in_time(query.fetch_one(&mut *connection)).await?;
    if !has_settings {
        return Ok(1);
    }
    let query = sqlx::query_scalar("select value from settings where name = 'schema_major'");
    let stored: Option<String> = in_time(query.fetch_optional(connection)).await?;
    Ok(stored.and_then(|major| major.parse().ok()).unwrap_or(1))
}
