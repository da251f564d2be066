//! The engine on Valkey or Redis: one script per operation. The hash of a script's text is its
//! version, so that old and new replicas each run their own. All keys have one hash tag, so that a
//! cluster keeps them together.

mod answers;
mod connection;
mod scripts;
mod server;

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt;
use model::shared_log::{LogPart, LogRecord, ReplicaId};
use model::{AgentId, Epoch, Timestamp};
use tokio::sync::Notify;
use uuid::Uuid;

use self::answers::{read_admitted, read_expired, read_killed, read_log, read_status, read_takeover};
use self::connection::Connection;
use self::scripts::Scripts;
pub use self::server::ValkeyServer;
use crate::types::{
    Admission, Admitted, AgentStatus, Expired, Heartbeat, Killed, Opening, Settlement, ShareError, Takeover,
};
use crate::{DEAD_AFTER, EXPIRED_AT_ONCE, TICKET_LIFE};

/// The engine on Valkey or Redis.
#[derive(Clone)]
pub struct Valkey {
    connection: Connection,
    scripts: Arc<Scripts>,
}

impl Valkey {
    /// Connects to a server.
    pub async fn connect(server: &ValkeyServer) -> Result<Valkey, ShareError> {
        let connection = Connection::open(server.client()?).await?;
        server::check(connection.get()).await?;
        Ok(Valkey { connection, scripts: Arc::new(Scripts::new()) })
    }

    /// Whether `url` names a server.
    pub fn is_url(url: &str) -> bool {
        server::is_url(url)
    }

    pub(crate) async fn admit(&self, admission: &Admission) -> Result<Admitted, ShareError> {
        let agent = &admission.agent;
        let mut call = self.scripts.admit.prepare_invoke();
        call.key(agent_key(agent))
            .key(log_key(agent))
            .key(tickets_key(agent))
            .key(due_key(admission.replica))
            .key(ACCESS);
        for charge in &admission.charges {
            call.key(scope_key(&charge.scope));
        }
        call.arg(admission.epoch.0)
            .arg(admission.seen)
            .arg(admission.call.0.to_string())
            .arg(admission.replica.0.to_string())
            .arg(admission.record.map(|record| record.encode()).unwrap_or_default())
            .arg(TICKET_LIFE.as_millis() as u64)
            .arg(due_member(agent, admission.call.0));
        for charge in &admission.charges {
            call.arg(charge.kind.code()).arg(charge.limit).arg(charge.amount).arg(charge.known).arg(&charge.scope);
        }
        read_admitted(call.invoke_async(&mut self.connection.get()).await?)
    }

    pub(crate) async fn settle(&self, settlement: &Settlement) -> Result<Option<Killed>, ShareError> {
        let agent = &settlement.agent;
        let mut call = self.scripts.settle.prepare_invoke();
        call.key(agent_key(agent)).key(log_key(agent)).key(tickets_key(agent)).key(due_key(settlement.replica));
        for (charge, _) in &settlement.charges {
            call.key(scope_key(&charge.scope));
        }
        call.arg(settlement.epoch.0)
            .arg(settlement.call.0.to_string())
            .arg(settlement.record.map(|record| record.encode()).unwrap_or_default())
            .arg(due_member(agent, settlement.call.0))
            .arg(settlement.replica.0.to_string())
            .arg(TICKET_LIFE.as_millis() as u64)
            .arg(u8::from(settlement.counts_without_ticket()));
        for (charge, actual) in &settlement.charges {
            call.arg(*actual).arg(charge.kind.code()).arg(charge.known);
        }
        let killed: Vec<String> = call.invoke_async(&mut self.connection.get()).await?;
        Ok(read_killed(&killed))
    }

    pub(crate) async fn kill(&self, agent: &AgentId, epoch: Epoch, killed: Killed) -> Result<Takeover, ShareError> {
        let mut call = self.scripts.kill.prepare_invoke();
        call.key(agent_key(agent)).key(CHANGES).arg(epoch.0).arg(incident_code(killed));
        call.arg(killed.at.as_millis()).arg(agent.as_str()).arg(CHANNEL);
        let answer: Vec<String> = call.invoke_async(&mut self.connection.get()).await?;
        Ok(read_takeover(&answer))
    }

    pub(crate) async fn open(&self, opening: &Opening) -> Result<bool, ShareError> {
        let agent = &opening.agent;
        let mut call = self.scripts.open.prepare_invoke();
        call.key(agent_key(agent)).key(log_key(agent)).key(CHANGES).arg(opening.epoch.0);
        call.arg(opening.killed.map(incident_code).unwrap_or_default());
        call.arg(opening.killed.map_or(0, |killed| killed.at.as_millis())).arg(opening.newest);
        call.arg(agent.as_str()).arg(CHANNEL);
        for print in &opening.calls {
            call.arg(print.number).arg(LogRecord::Restored(*print).encode());
        }
        Ok(call.invoke_async(&mut self.connection.get()).await?)
    }

    pub(crate) async fn touch(&self, agent: &AgentId) -> Result<(), ShareError> {
        let mut call = self.scripts.touch.prepare_invoke();
        call.key(agent_key(agent)).key(CHANGES).arg(agent.as_str()).arg(CHANNEL);
        let _: u64 = call.invoke_async(&mut self.connection.get()).await?;
        Ok(())
    }

    pub(crate) async fn touch_access(&self) -> Result<(), ShareError> {
        let mut call = self.scripts.touch_access.prepare_invoke();
        let _: u64 = call.key(ACCESS).invoke_async(&mut self.connection.get()).await?;
        Ok(())
    }

    pub(crate) async fn append(&self, agent: &AgentId, epoch: Epoch, records: &[LogRecord]) -> Result<(), ShareError> {
        let mut call = self.scripts.append.prepare_invoke();
        call.key(agent_key(agent)).key(log_key(agent)).arg(epoch.0);
        for record in records {
            call.arg(record.encode());
        }
        let _: u64 = call.invoke_async(&mut self.connection.get()).await?;
        Ok(())
    }

    pub(crate) async fn forget(&self, agent: &AgentId) -> Result<(), ShareError> {
        let mut command = redis::cmd("DEL");
        command.arg(agent_key(agent)).arg(log_key(agent)).exec_async(&mut self.connection.get()).await?;
        Ok(())
    }

    pub(crate) async fn log(&self, agent: &AgentId) -> Result<Option<LogPart>, ShareError> {
        let mut call = self.scripts.log.prepare_invoke();
        call.key(agent_key(agent)).key(log_key(agent));
        read_log(call.invoke_async(&mut self.connection.get()).await?)
    }

    pub(crate) async fn status(&self, agent: &AgentId) -> Result<Option<AgentStatus>, ShareError> {
        let mut command = redis::cmd("HMGET");
        command.arg(agent_key(agent)).arg(&["epoch", "killed", "killed_at", "settings"]);
        Ok(read_status(agent, command.query_async(&mut self.connection.get()).await?))
    }

    pub(crate) async fn changes(&self, since: Timestamp) -> Result<(Vec<AgentStatus>, Timestamp), ShareError> {
        let now = self.now().await?;
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(CHANGES).arg(since.as_millis()).arg("+inf");
        let names: Vec<String> = command.query_async(&mut self.connection.get()).await?;
        let mut changed = Vec::with_capacity(names.len());
        for agent in names.iter().filter_map(|name| AgentId::parse(name).ok()) {
            changed.extend(self.status(&agent).await?);
        }
        Ok((changed, now))
    }

    pub(crate) async fn beat(&self, replica: ReplicaId) -> Result<Heartbeat, ShareError> {
        let answer = self.connection.expect_answer();
        let now = self.now().await?.as_millis();
        let oldest = now - DEAD_AFTER.as_millis() as i64;
        let mut beat = redis::pipe();
        beat.cmd("ZADD").arg(REPLICAS).arg(now).arg(replica.0.to_string());
        beat.cmd("ZREMRANGEBYSCORE").arg(CHANGES).arg("-inf").arg(now - CHANGES_LIFE_MS).ignore();
        beat.cmd("ZCOUNT").arg(REPLICAS).arg(format!("({oldest}")).arg("+inf");
        let (is_new, alive) = beat.query_async(&mut self.connection.get()).await?;
        answer.arrived();
        Ok(Heartbeat { alive, is_new })
    }

    pub(crate) async fn leave(&self, replica: ReplicaId) -> Result<(), ShareError> {
        // It stays listed as dead until its tickets are settled.
        let mut command = redis::cmd("ZADD");
        command.arg(REPLICAS).arg(0).arg(replica.0.to_string()).exec_async(&mut self.connection.get()).await?;
        Ok(())
    }

    pub(crate) async fn expired(&self) -> Result<Vec<Expired>, ShareError> {
        let (now, mut connection) = (self.now().await?.as_millis(), self.connection.get());
        let mut command = redis::cmd("ZRANGE");
        command.arg(REPLICAS).arg(0).arg(-1).arg("WITHSCORES");
        let replicas: Vec<(String, i64)> = command.query_async(&mut connection).await?;
        let mut expired = Vec::new();
        for (name, beat) in replicas {
            let Ok(replica) = Uuid::try_parse(&name).map(ReplicaId) else { continue };
            let is_dead = now - beat >= DEAD_AFTER.as_millis() as i64;
            let mut command = redis::cmd("ZRANGEBYSCORE");
            command.arg(due_key(replica)).arg("-inf");
            command.arg(if is_dead { "+inf".to_owned() } else { now.to_string() });
            command.arg("LIMIT").arg(0).arg(EXPIRED_AT_ONCE);
            let due: Vec<String> = command.query_async(&mut connection).await?;
            if is_dead && due.is_empty() {
                redis::cmd("ZREM").arg(REPLICAS).arg(&name).exec_async(&mut connection).await?;
            }
            for member in due {
                expired.extend(self.expired_ticket(replica, &member).await?);
            }
        }
        Ok(expired)
    }

    async fn expired_ticket(&self, replica: ReplicaId, member: &str) -> Result<Option<Expired>, ShareError> {
        let Some((agent, call)) = member.split_once(' ') else { return Ok(None) };
        let Ok(agent) = AgentId::parse(agent) else { return Ok(None) };
        let mut connection = self.connection.get();
        let mut command = redis::cmd("HGET");
        let ticket: Option<String> = command.arg(tickets_key(&agent)).arg(call).query_async(&mut connection).await?;
        let expired = ticket.and_then(|ticket| read_expired(replica, agent, call, &ticket));
        if expired.is_none() {
            redis::cmd("ZREM").arg(due_key(replica)).arg(member).exec_async(&mut connection).await?;
        }
        Ok(expired)
    }

    pub(crate) async fn watch(&self, changed: &Notify) -> Result<Infallible, ShareError> {
        let mut subscription = self.connection.client().get_async_pubsub().await?;
        subscription.subscribe(CHANNEL).await?;
        let mut messages = subscription.on_message();
        changed.notify_one();
        while messages.next().await.is_some() {
            changed.notify_one();
        }
        Err(ShareError::Setup("the connection for messages ended".to_owned()))
    }

    async fn now(&self) -> Result<Timestamp, ShareError> {
        let (seconds, micros): (i64, i64) = redis::cmd("TIME").query_async(&mut self.connection.get()).await?;
        Ok(Timestamp::from_millis(seconds * 1000 + micros / 1000))
    }
}

impl fmt::Debug for Valkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Valkey")
    }
}

const CHANGES: &str = "ag:{share}:changes";
const REPLICAS: &str = "ag:{share}:replicas";
/// The version of who may call.
const ACCESS: &str = "ag:{share}:access";
const CHANNEL: &str = "ag:{share}:changed";
/// How long changes are listed. Replicas query the last seconds.
const CHANGES_LIFE_MS: i64 = 3_600_000;

fn agent_key(agent: &AgentId) -> String {
    format!("ag:{{share}}:s:{}", agent.as_str())
}

fn log_key(agent: &AgentId) -> String {
    format!("ag:{{share}}:w:{}", agent.as_str())
}

fn tickets_key(agent: &AgentId) -> String {
    format!("ag:{{share}}:t:{}", agent.as_str())
}

fn scope_key(scope: &str) -> String {
    format!("ag:{{share}}:b:{scope}")
}

/// The tickets of a replica by expiry.
fn due_key(replica: ReplicaId) -> String {
    format!("ag:{{share}}:due:{}", replica.0)
}

fn due_member(agent: &AgentId, call: Uuid) -> String {
    format!("{} {call}", agent.as_str())
}

/// The incident, or zeros for a deactivation by hand.
fn incident_code(killed: Killed) -> String {
    killed.incident.map_or(Uuid::nil(), |incident| incident.0).to_string()
}
