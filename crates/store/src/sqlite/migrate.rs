//! Creates the database and brings it up to date.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::{ConnectOptions, Connection};

use super::connect;
use super::error_codes::in_plain_words;
use crate::StoreError;
use crate::migrations::{self, migrator};
use crate::tuning::Tuning;

/// Runs the migrations that are missing.
pub(crate) async fn migrate(database: &Path, tuning: &Tuning) -> Result<(), StoreError> {
    let failed = |why: String| StoreError::Setup(format!("the database {} cannot be used: {why}", database.display()));
    let options = connect::writer(database, tuning).busy_timeout(Duration::from_secs(5));
    let mut connection = options.connect().await.map_err(|error| failed(in_plain_words(&error)))?;
    let migrated = migrator(migrations::SQLITE).run(&mut connection).await;
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(_) => failed(
            "it was made by a newer version of AgentGazer; run that one, or use another data directory".to_owned(),
        ),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(in_plain_words(&error)),
        error => failed(error.to_string()),
    })?;
    connection.close().await.map_err(|error| failed(in_plain_words(&error)))
}
