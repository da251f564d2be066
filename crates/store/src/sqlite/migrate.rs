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

/// Creates a directory that only its owner can read: prompts and answers are private.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| StoreError::Setup(format!("the data directory {} cannot be made: {error}", path.display())))
}

/// Creates a file that only its owner can read. SQLite gives its other files (`-wal`, `-shm`) the
/// mode of this one.
pub(crate) fn create_private_file(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| {
        StoreError::Setup(format!("the database {} cannot be opened for writing: {error}", path.display()))
    })
}
