//! The bodies of the calls in the windows, in a file beside the database, so that the evidence of a
//! kill after a restart is complete. The file is separate because it is written often, can be lost,
//! and must never make a kill or a change wait.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{CallId, KeptBody, KeptCall, KeptCalls, KeptResponse, Timestamp};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions, Row, SqlitePool};

use crate::StoreError;
use crate::columns::invalid;
use crate::files::create_private_file;
use crate::sqlite::files::{DatabaseFiles, beside};

const NAME: &str = "evidence.db";

/// Deleted bodies are overwritten: they may contain secrets.
const SECURE_DELETE: &str = "on";

const TABLE: &str = "
    create table if not exists bodies (
        call_id text primary key not null,
        timestamp bigint not null,
        dialect text not null,
        request blob not null,
        -- The length of a body as it came, if it is compressed.
        request_length bigint,
        response blob,
        response_length bigint,
        content_type text,
        cut integer not null
    ) without rowid";

/// The file. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct EvidenceFile {
    connection: SqlitePool,
    files: Arc<DatabaseFiles>,
}

impl EvidenceFile {
    /// Opens the file in `data_dir`. An unreadable file is replaced: it only held a copy of memory.
    pub async fn open(data_dir: &Path) -> Result<EvidenceFile, StoreError> {
        let connection = match connect(&path(data_dir), TABLE).await {
            Ok(connection) => connection,
            Err(_) => {
                EvidenceFile::delete(data_dir)?;
                connect(&path(data_dir), TABLE).await?
            }
        };
        Ok(EvidenceFile { connection, files: Arc::new(files_of(&path(data_dir))?) })
    }

    /// What happened to the file while it was open; `None` if nothing did.
    pub fn loss(&self) -> Option<String> {
        self.files.loss().map(|loss| loss.to_string())
    }

    /// Puts a new, empty file in the place of this one, which is lost.
    pub async fn replace(&self, data_dir: &Path) -> Result<EvidenceFile, StoreError> {
        // First, because closing it deletes a log by its name.
        self.connection.close().await;
        EvidenceFile::delete(data_dir)?;
        EvidenceFile::open(data_dir).await
    }

    /// Deletes the file and all that is in it, if there is one.
    pub fn delete(data_dir: &Path) -> Result<(), StoreError> {
        delete(&path(data_dir))
    }

    /// The calls in the file, newest first.
    pub async fn calls(&self) -> Result<Vec<CallId>, StoreError> {
        let query = sqlx::query_scalar("select call_id from bodies order by call_id desc");
        let ids: Vec<String> = query.fetch_all(&self.connection).await?;
        Ok(ids.iter().filter_map(|id| CallId::parse(id)).collect())
    }

    /// The bodies of `calls`, newest first, without those that the file does not have.
    pub async fn read(&self, calls: &[CallId]) -> Result<Vec<KeptCall>, StoreError> {
        let query = "select * from bodies where call_id in (select value from json_each($1)) order by call_id desc";
        Ok(sqlx::query(query).bind(list(calls)).try_map(kept_call).fetch_all(&self.connection).await?)
    }

    /// Writes the difference to memory.
    pub async fn write(&self, difference: &KeptCalls) -> Result<(), StoreError> {
        let mut transaction = self.connection.begin().await?;
        let delete = "delete from bodies where call_id in (select value from json_each($1))";
        sqlx::query(delete).bind(list(&difference.gone)).execute(&mut *transaction).await?;
        for call in &difference.changed {
            bind_bodies(sqlx::query(INSERT), call).execute(&mut *transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Closes it; what was written is on disk.
    pub async fn close(&self) {
        self.connection.close().await;
    }
}

/// The ids of `calls` as a list in JSON: one statement for any number of them.
fn list(calls: &[CallId]) -> String {
    serde_json::json!(calls.iter().map(CallId::to_string).collect::<Vec<_>>()).to_string()
}

const INSERT: &str = "
    insert or replace into bodies
        (call_id, timestamp, dialect, request, request_length, response, response_length, content_type, cut)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// Deletes a file of bodies with its log.
pub(super) fn delete(path: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm"] {
        match std::fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::Setup(format!("the file {} cannot be deleted: {error}", path.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The files of a database of bodies that is open.
pub(super) fn files_of(path: &Path) -> Result<DatabaseFiles, StoreError> {
    let not_found = |error| StoreError::Setup(format!("the file {} cannot be found: {error}", path.display()));
    DatabaseFiles::of(path).map_err(not_found)
}

/// Opens a file of bodies, made private if it does not exist, with its `table`.
pub(crate) async fn connect(path: &Path, table: &'static str) -> Result<SqlitePool, StoreError> {
    create_private_file(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("secure_delete", SECURE_DELETE)
        .pragma("journal_size_limit", "0")
        .disable_statement_logging();
    let connection = crate::sql::pool_options().max_connections(1).connect_with(options).await?;
    sqlx::query(table).execute(&connection).await?;
    Ok(connection)
}

type SqliteQuery<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

/// Binds a call to the first nine places of an insertion.
pub(crate) fn bind_bodies<'q>(query: SqliteQuery<'q>, call: &'q KeptCall) -> SqliteQuery<'q> {
    let response = call.response.as_ref();
    query
        .bind(call.call.to_string())
        .bind(call.time.as_millis())
        .bind(&call.dialect)
        .bind(&call.request.bytes)
        .bind(length(&call.request))
        .bind(response.map(|response| &response.body.bytes))
        .bind(response.and_then(|response| length(&response.body)))
        .bind(response.and_then(|response| response.content_type.as_deref()))
        .bind(response.is_some_and(|response| response.cut))
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(NAME)
}

fn length(body: &KeptBody) -> Option<i64> {
    body.unpacked_length.and_then(|length| i64::try_from(length).ok())
}

pub(crate) fn kept_call(row: SqliteRow) -> Result<KeptCall, sqlx::Error> {
    let unpacked_length = |column: &str| -> Result<Option<usize>, sqlx::Error> {
        Ok(row.try_get::<Option<i64>, _>(column)?.and_then(|length| usize::try_from(length).ok()))
    };
    let response = match row.try_get::<Option<Vec<u8>>, _>("response")? {
        None => None,
        Some(bytes) => Some(KeptResponse {
            body: KeptBody { bytes, unpacked_length: unpacked_length("response_length")? },
            content_type: row.try_get("content_type")?,
            cut: row.try_get("cut")?,
        }),
    };
    Ok(KeptCall {
        call: CallId::parse(row.try_get("call_id")?).ok_or_else(|| invalid("call_id"))?,
        time: row.try_get("timestamp").map(Timestamp::from_millis)?,
        dialect: row.try_get("dialect")?,
        request: KeptBody { bytes: row.try_get("request")?, unpacked_length: unpacked_length("request_length")? },
        response,
    })
}
