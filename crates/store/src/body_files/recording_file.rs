//! The requests and responses of recorded agents, in a file beside the database: limited in age and
//! size, and empty unless the operator enables recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{AgentId, CallId, KeptBody, KeptCall, Timestamp};
use parking_lot::RwLock;
use sqlx::{Row, SqlitePool};

use super::evidence_file::{bind_bodies, connect, delete, files_of, kept_call};
use crate::columns::{self, signed, unsigned};
use crate::sqlite::files::DatabaseFiles;
use crate::{EvidenceBody, StoreError, database};

const NAME: &str = "recordings.db";

/// How many calls are deleted at a time while the file is over its limit.
const PORTION: i64 = 100;

/// The small columns come first, so that counting does not read the bodies.
const TABLE: &str = "
    create table if not exists recordings (
        call_id text primary key not null,
        agent_id text not null,
        size bigint not null,
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

const INSERT: &str = "
    insert or replace into recordings
        (call_id, timestamp, dialect, request, request_length, response, response_length, content_type, cut,
         agent_id, size)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// The file. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct RecordingFile {
    path: PathBuf,
    opened: Arc<RwLock<Opened>>,
}

#[derive(Debug)]
struct Opened {
    connection: SqlitePool,
    files: DatabaseFiles,
}

impl Opened {
    async fn open(path: &Path) -> Result<Opened, StoreError> {
        let connection = connect(path, TABLE).await?;
        Ok(Opened { connection, files: files_of(path)? })
    }
}

impl RecordingFile {
    /// Opens the file in `data_dir`.
    pub async fn open(data_dir: &Path) -> Result<RecordingFile, StoreError> {
        let path = data_dir.join(NAME);
        let opened = Opened::open(&path).await?;
        Ok(RecordingFile { path, opened: Arc::new(RwLock::new(opened)) })
    }

    /// What happened to the file while it was open; `None` if nothing did.
    pub fn loss(&self) -> Option<String> {
        self.opened.read().files.loss().map(|loss| loss.to_string())
    }

    /// Opens the file again if it was deleted or replaced, and returns what happened to it. The
    /// content of a deleted file is not restored: a person wanted it gone.
    pub async fn reopen_if_lost(&self) -> Result<Option<String>, StoreError> {
        let Some(loss) = self.loss() else { return Ok(None) };
        // First, because closing it deletes a log by its name.
        self.connection().close().await;
        if !self.path.exists() {
            delete(&self.path)?;
        }
        let opened = Opened::open(&self.path).await?;
        *self.opened.write() = opened;
        Ok(Some(loss))
    }

    fn connection(&self) -> SqlitePool {
        self.opened.read().connection.clone()
    }

    /// Whether there is one in `data_dir`.
    pub fn exists(data_dir: &Path) -> bool {
        data_dir.join(NAME).exists()
    }

    /// Writes calls, each with its agent. An existing call is replaced.
    pub async fn write(&self, calls: &[(AgentId, KeptCall)]) -> Result<(), StoreError> {
        let mut transaction = self.connection().begin().await?;
        for (agent, call) in calls {
            let query = bind_bodies(sqlx::query(INSERT), call);
            let query = query.bind(agent.as_str()).bind(signed(call.stored() as u64));
            query.execute(&mut *transaction).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Whether the request and the response of a call are here; `None` if the call is not.
    pub async fn bodies(&self, call: CallId) -> Result<Option<(bool, bool)>, StoreError> {
        let query = sqlx::query("select response is not null as answered from recordings where call_id = $1");
        let row = query.bind(call.to_string()).fetch_optional(&self.connection()).await?;
        Ok(row.map(|row| row.try_get("answered").map(|answered| (true, answered))).transpose()?)
    }

    /// One body of a call as it was received.
    pub async fn body(&self, call: CallId, which: EvidenceBody) -> Result<Option<Vec<u8>>, StoreError> {
        let query = sqlx::query("select * from recordings where call_id = $1").bind(call.to_string());
        let Some(kept) = query.try_map(kept_call).fetch_optional(&self.connection()).await? else { return Ok(None) };
        let body = match which {
            EvidenceBody::Request => Some(kept.request),
            EvidenceBody::Response => kept.response.map(|response| response.body),
        };
        Ok(body.and_then(unpacked))
    }

    /// Deletes calls that came before `before`, then the oldest until all bodies fit into `bytes`.
    pub async fn expire(&self, before: Timestamp, bytes: u64) -> Result<(), StoreError> {
        let query = sqlx::query("delete from recordings where timestamp < $1").bind(before.as_millis());
        query.execute(&self.connection()).await?;
        while self.size().await? > bytes {
            // Ids sort by time.
            let query = "delete from recordings where call_id in (
                select call_id from recordings order by call_id limit $1)";
            sqlx::query(query).bind(PORTION).execute(&self.connection()).await?;
        }
        Ok(())
    }

    async fn size(&self) -> Result<u64, StoreError> {
        let query = sqlx::query_scalar("select coalesce(sum(size), 0) from recordings");
        Ok(unsigned(query.fetch_one(&self.connection()).await?))
    }

    /// The agents with recorded calls.
    pub async fn agents(&self) -> Result<Vec<AgentId>, StoreError> {
        let query = sqlx::query("select distinct agent_id from recordings");
        Ok(query
            .try_map(|row| columns::agent_id(&database::Row::Sqlite(row), "agent_id"))
            .fetch_all(&self.connection())
            .await?)
    }

    /// Deletes all recorded calls of an agent.
    pub async fn delete_agent(&self, agent: &AgentId) -> Result<(), StoreError> {
        let query = sqlx::query("delete from recordings where agent_id = $1").bind(agent.as_str());
        query.execute(&self.connection()).await?;
        Ok(())
    }

    /// Closes it; what was written is on disk.
    pub async fn close(&self) {
        self.connection().close().await;
    }
}

fn unpacked(body: KeptBody) -> Option<Vec<u8>> {
    match body.unpacked_length {
        Some(length) => zstd::bulk::decompress(&body.bytes, length).ok(),
        None => Some(body.bytes),
    }
}
