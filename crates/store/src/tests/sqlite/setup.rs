use super::*;
use crate::Store;
use sqlx::Connection;

async fn refusal(directory: &TempDir) -> String {
    match Store::open(config(directory)).await {
        Err(StoreError::Setup(words)) => words,
        other => panic!("{other:?}"),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    let mode = |path: &str| fixture.directory.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("data"), 0o700);
    for file in ["key", "data/agentgazer.db", "data/agentgazer.db-wal", "data/agentgazer.db-shm"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[tokio::test]
async fn newer_database_is_refused_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(config(&directory)).await.unwrap();
    let options = crate::sqlite::connect::writer(&store.config.database(), &quick());
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query("insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (999, 'x', 1, x'00', 0)")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    assert!(refusal(&directory).await.contains("newer version"));
}

#[tokio::test]
async fn file_that_is_no_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("data")).unwrap();
    std::fs::write(directory.path().join("data/agentgazer.db"), "not a database ".repeat(1000)).unwrap();
    assert!(refusal(&directory).await.contains("damaged"));
}

#[tokio::test]
async fn error_names_a_data_directory_that_cannot_be_created() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("data"), "a file").unwrap();
    assert!(refusal(&directory).await.contains("data directory"));
}

#[tokio::test]
async fn error_names_a_key_file_without_a_key() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("key"), "short").unwrap();
    assert!(refusal(&directory).await.contains("key file"));
}

/// The pool's task for old connections can spin for ever, which keeps the program from ending.
#[tokio::test]
async fn pool_has_no_task_for_old_connections() {
    let fixture = Fixture::new().await;
    let options = fixture.store.readers.sqlite().options();
    assert_eq!((options.get_idle_timeout(), options.get_max_lifetime()), (None, None));
}
