//! The engine on PostgreSQL: unlogged tables, and one function per operation so that each is one
//! round trip. The functions carry a version in their names, so that old and new replicas run side
//! by side.

mod connections;
mod rows;

use std::convert::Infallible;
use std::time::Duration;

use model::shared_log::{LogPart, LogRecord, ReplicaId};
use model::{AgentId, Epoch, Timestamp};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use tokio::sync::Notify;
use uuid::Uuid;

use self::connections::Connections;
use self::rows::{read_admitted, read_expired, read_killed, read_status, read_whole_log, unsigned};
use crate::types::{
    Admission, Admitted, AgentStatus, Charge, Expired, Heartbeat, Killed, Opening, Settlement, ShareError, Takeover,
};
use crate::{DEAD_AFTER, EXPIRED_AT_ONCE, TICKET_LIFE};

/// Tables and functions. A function that changes becomes another one with the next version in its
/// name, and the old one remains for older replicas.
const SCHEMA: &str = include_str!("postgres/schema.sql");
/// Whether the newest table or function exists. Creating tables that exist would lock them and
/// delay calls of other replicas.
const IS_MADE: &str = "select to_regclass('share_access') is not null";
/// The advisory lock for creating the schema: several replicas may start at once.
const SCHEMA_LOCK: i64 = 0x6167_7368_6172_6501;
/// The channel of change notifications.
const CHANNEL: &str = "agentgazer_share";

/// The engine on PostgreSQL.
#[derive(Clone, Debug)]
pub struct Postgres {
    connections: Connections,
}

impl Postgres {
    /// Connects, and creates tables and functions if they are missing.
    pub async fn connect(options: PgConnectOptions) -> Result<Postgres, ShareError> {
        let options = options.disable_statement_logging();
        let mut connection = options.connect().await?;
        let mut transaction = connection.begin().await?;
        sqlx::query("select pg_advisory_xact_lock($1)").bind(SCHEMA_LOCK).execute(&mut *transaction).await?;
        let is_made: bool = sqlx::query_scalar(IS_MADE).fetch_one(&mut *transaction).await?;
        if !is_made {
            // Hides the notices about existing tables.
            transaction.execute("set local client_min_messages = warning").await?;
            transaction.execute(SCHEMA).await?;
        }
        transaction.commit().await?;
        Ok(Postgres { connections: Connections::new(options, connection) })
    }

    pub(crate) async fn admit(&self, admission: &Admission) -> Result<Admitted, ShareError> {
        let charges = &admission.charges;
        let row = self
            .connections
            .one(
                sqlx::query(
                    "select *, (select version from share_access) as access
                     from share_admit_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
                )
                .bind(admission.agent.as_str())
                .bind(signed(admission.epoch.0))
                .bind(signed(admission.seen))
                .bind(admission.call.0.as_bytes().as_slice())
                .bind(admission.replica.0.as_bytes().as_slice())
                .bind(admission.record.map(|record| record.encode()))
                .bind(millis(TICKET_LIFE))
                .bind(charges.iter().map(|charge| charge.scope.as_str()).collect::<Vec<_>>())
                .bind(charges.iter().map(|charge| charge.kind.code()).collect::<Vec<_>>())
                .bind(charges.iter().map(|charge| signed(charge.limit)).collect::<Vec<_>>())
                .bind(charges.iter().map(|charge| signed(charge.amount)).collect::<Vec<_>>())
                .bind(charges.iter().map(|charge| signed(charge.known)).collect::<Vec<_>>()),
            )
            .await?;
        read_admitted(&row)
    }

    pub(crate) async fn settle(&self, settlement: &Settlement) -> Result<Option<Killed>, ShareError> {
        let actual = settlement.charges.iter().map(|(_, actual)| signed(*actual)).collect::<Vec<_>>();
        let charges = settlement.charges.iter().map(|(charge, _)| charge);
        let charges: Vec<&Charge> = charges.filter(|_| settlement.counts_without_ticket()).collect();
        let row = self
            .connections
            .one(
                sqlx::query("select * from share_settle_v2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
                    .bind(settlement.agent.as_str())
                    .bind(signed(settlement.epoch.0))
                    .bind(settlement.call.0.as_bytes().as_slice())
                    .bind(settlement.record.map(|record| record.encode()))
                    .bind(actual)
                    .bind(settlement.replica.0.as_bytes().as_slice())
                    .bind(millis(TICKET_LIFE))
                    .bind(charges.iter().map(|charge| charge.scope.as_str()).collect::<Vec<_>>())
                    .bind(charges.iter().map(|charge| charge.kind.code()).collect::<Vec<_>>())
                    .bind(charges.iter().map(|charge| signed(charge.known)).collect::<Vec<_>>()),
            )
            .await?;
        read_killed(&row)
    }

    pub(crate) async fn kill(&self, agent: &AgentId, epoch: Epoch, killed: Killed) -> Result<Takeover, ShareError> {
        let row = self
            .connections
            .one(
                sqlx::query("select * from share_kill_v1($1, $2, $3, $4)")
                    .bind(agent.as_str())
                    .bind(signed(epoch.0))
                    .bind(incident_code(killed))
                    .bind(killed.at.as_millis()),
            )
            .await?;
        let lost = || Ok(read_killed(&row)?.map_or(Takeover::Unknown, Takeover::Lost));
        match row.try_get::<&str, _>("o_status")? {
            "won" => Ok(Takeover::Won),
            "epoch" => Ok(Takeover::Epoch(Epoch(unsigned(row.try_get("o_epoch")?)))),
            "lost" => lost(),
            _ => Ok(Takeover::Unknown),
        }
    }

    pub(crate) async fn open(&self, opening: &Opening) -> Result<bool, ShareError> {
        let records: Vec<Vec<u8>> = opening.calls.iter().map(|call| LogRecord::Restored(*call).encode()).collect();
        let opened = self
            .connections
            .one(
                sqlx::query("select share_open_v1($1, $2, $3, $4, $5, $6, $7)")
                    .bind(opening.agent.as_str())
                    .bind(signed(opening.epoch.0))
                    .bind(opening.killed.map(incident_code))
                    .bind(opening.killed.map(|killed| killed.at.as_millis()))
                    .bind(signed(opening.newest))
                    .bind(records)
                    .bind(opening.calls.iter().map(|call| signed(call.number)).collect::<Vec<_>>()),
            )
            .await?;
        Ok(opened.try_get(0)?)
    }

    pub(crate) async fn touch(&self, agent: &AgentId) -> Result<(), ShareError> {
        let sql = "with touched as (
                       update share_agents set settings = greatest(settings + 1, share_now_v1()), changed_at = share_now_v1()
                       where agent = $1 returning agent
                   ) select pg_notify('agentgazer_share', '') from touched";
        self.connections.all(sqlx::query(sql).bind(agent.as_str())).await?;
        Ok(())
    }

    pub(crate) async fn touch_access(&self) -> Result<(), ShareError> {
        let sql = "insert into share_access as known values (true, share_now_v1())
                   on conflict (id) do update set version = greatest(known.version + 1, excluded.version)";
        self.connections.all(sqlx::query(sql)).await?;
        Ok(())
    }

    pub(crate) async fn append(&self, agent: &AgentId, epoch: Epoch, records: &[LogRecord]) -> Result<(), ShareError> {
        let sql = "select share_write_v1($1, share_now_v1(), $3, $4)
                   from (select from share_agents where agent = $1 and epoch = $2 for update) locked";
        self.connections
            .all(
                sqlx::query(sql)
                    .bind(agent.as_str())
                    .bind(signed(epoch.0))
                    .bind(records.iter().map(LogRecord::encode).collect::<Vec<_>>())
                    .bind(vec![0_i64; records.len()]),
            )
            .await?;
        Ok(())
    }

    pub(crate) async fn forget(&self, agent: &AgentId) -> Result<(), ShareError> {
        let sql = "with forgotten as (delete from share_agents where agent = $1)
                   delete from share_log where agent = $1";
        self.connections.all(sqlx::query(sql).bind(agent.as_str())).await?;
        Ok(())
    }

    pub(crate) async fn log(&self, agent: &AgentId) -> Result<Option<LogPart>, ShareError> {
        let sql = "select epoch as o_epoch, floor as o_floor, trimmed as o_trimmed, entries.*
                   from share_agents, lateral (
                       select array_agg(seq order by seq) as o_seqs, array_agg(number order by seq) as o_numbers,
                           array_agg(at order by seq) as o_ats, array_agg(record order by seq) as o_records
                       from share_log where share_log.agent = share_agents.agent
                   ) entries
                   where share_agents.agent = $1";
        let row = self.connections.optional(sqlx::query(sql).bind(agent.as_str())).await?;
        Ok(row.as_ref().map(read_whole_log).transpose()?)
    }

    pub(crate) async fn status(&self, agent: &AgentId) -> Result<Option<AgentStatus>, ShareError> {
        let sql = "select agent, epoch, killed as o_killed, killed_at as o_killed_at, settings from share_agents
                   where agent = $1";
        let row = self.connections.optional(sqlx::query(sql).bind(agent.as_str())).await?;
        Ok(row.as_ref().map(read_status).transpose()?.flatten())
    }

    pub(crate) async fn changes(&self, since: Timestamp) -> Result<(Vec<AgentStatus>, Timestamp), ShareError> {
        let sql = "select agent, epoch, killed as o_killed, killed_at as o_killed_at, settings from share_agents
                   where changed_at >= $1";
        let now: i64 = self.connections.one(sqlx::query("select share_now_v1()")).await?.try_get(0)?;
        let rows = self.connections.all(sqlx::query(sql).bind(since.as_millis())).await?;
        let statuses: Result<Vec<_>, _> = rows.iter().map(read_status).collect();
        Ok((statuses?.into_iter().flatten().collect(), Timestamp::from_millis(now)))
    }

    pub(crate) async fn beat(&self, replica: ReplicaId) -> Result<Heartbeat, ShareError> {
        let sql = "with beat as (
                       insert into share_replicas values ($1, share_now_v1())
                       on conflict (replica) do update set beat = excluded.beat
                       returning xmax = 0 as is_new
                   ), ticks as (delete from share_ticks where second < share_now_v1() / 1000 - 120)
                   select is_new, (select count(*) from share_replicas
                       where beat > share_now_v1() - $2 and replica <> $1) as others
                   from beat";
        let row = self
            .connections
            .one(sqlx::query(sql).bind(replica.0.as_bytes().as_slice()).bind(millis(DEAD_AFTER)))
            .await?;
        Ok(Heartbeat { alive: unsigned(row.try_get("others")?) + 1, is_new: row.try_get("is_new")? })
    }

    pub(crate) async fn leave(&self, replica: ReplicaId) -> Result<(), ShareError> {
        self.connections
            .all(sqlx::query("delete from share_replicas where replica = $1").bind(replica.0.as_bytes().as_slice()))
            .await?;
        Ok(())
    }

    pub(crate) async fn expired(&self) -> Result<Vec<Expired>, ShareError> {
        let sql = "select agent, epoch, call, replica, scopes, kinds, amounts from share_tickets
                   where until < share_now_v1() or replica not in
                       (select replica from share_replicas where beat > share_now_v1() - $1)
                   limit $2";
        let rows = self.connections.all(sqlx::query(sql).bind(millis(DEAD_AFTER)).bind(EXPIRED_AT_ONCE)).await?;
        rows.iter().filter_map(|row| read_expired(row).transpose()).collect()
    }

    pub(crate) async fn watch(&self, changed: &Notify) -> Result<Infallible, ShareError> {
        // A pool of its own each time: a listener never gives its connection back if the host has
        // vanished.
        let pool = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let pool = pool.connect_lazy_with(self.connections.options().clone());
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(CHANNEL).await?;
        loop {
            changed.notify_one();
            // It connects again by itself, and says so: what came meanwhile is read then.
            listener.try_recv().await?;
        }
    }
}

/// The incident, or zeros for a deactivation by hand.
fn incident_code(killed: Killed) -> Vec<u8> {
    killed.incident.map_or(Uuid::nil(), |incident| incident.0).as_bytes().to_vec()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn millis(duration: Duration) -> i64 {
    signed(duration.as_millis() as u64)
}
