//! Engines that the contract runs against, and what its cases share.

use std::str::FromStr;
use std::sync::LazyLock;

use model::shared_log::{EndedCall, LogRecord, ReplicaId};
use model::{AgentId, CallId, Clock, ConversationId, Epoch, Fingerprint, Outcome, Timestamp};
use share::{
    Admission, Admitted, Charge, ChargeKind, Grant, Local, Opening, Postgres, Settlement, Share, Valkey, ValkeyServer,
};
use sqlx::postgres::PgConnectOptions;

use crate::postgres_server::PostgresServer;
use crate::redis_server::RedisServer;

pub(crate) static POSTGRES: LazyLock<(PostgresServer, String)> = LazyLock::new(|| {
    let server = PostgresServer::start();
    let url = server.create_database();
    (server, url)
});
static REDIS: LazyLock<RedisServer> = LazyLock::new(RedisServer::start);

pub(crate) enum Engine {
    Local,
    Postgres,
    Valkey,
}

/// An engine with an agent and scopes that no other case uses.
pub(crate) struct Case {
    pub(crate) share: Share,
    pub(crate) agent: AgentId,
    pub(crate) replica: ReplicaId,
}

impl Engine {
    pub(crate) async fn open(&self, case: &str) -> Case {
        let share = match self {
            Engine::Local => Share::Local(Local::new(Clock::System)),
            Engine::Postgres => {
                let url = tokio::task::spawn_blocking(|| POSTGRES.1.clone()).await.unwrap();
                Share::Postgres(Postgres::connect(PgConnectOptions::from_str(&url).unwrap()).await.unwrap())
            }
            Engine::Valkey => {
                let url = tokio::task::spawn_blocking(|| REDIS.url()).await.unwrap();
                Share::Valkey(Box::new(Valkey::connect(&ValkeyServer::new(url.into())).await.unwrap()))
            }
        };
        let case = Case { share, agent: AgentId::parse(case).unwrap(), replica: ReplicaId::new() };
        case.share.beat(case.replica).await.unwrap();
        case
    }
}

impl Case {
    pub(crate) async fn open_agent(&self, epoch: u64) -> bool {
        self.share.open(&self.opening(epoch)).await.unwrap()
    }

    pub(crate) fn opening(&self, epoch: u64) -> Opening {
        Opening { agent: self.agent.clone(), epoch: Epoch(epoch), killed: None, newest: 0, calls: Vec::new() }
    }

    /// A call of epoch 0 without charges.
    pub(crate) fn admission(&self, seen: u64) -> Admission {
        let call = CallId::new();
        Admission {
            agent: self.agent.clone(),
            epoch: Epoch(0),
            seen,
            call,
            replica: self.replica,
            record: Some(LogRecord::Arrived(self.replica, print(call))),
            charges: Vec::new(),
        }
    }

    pub(crate) fn charged(&self, charges: &[Charge]) -> Admission {
        Admission { charges: charges.to_vec(), record: None, ..self.admission(0) }
    }

    pub(crate) async fn grant(&self, admission: &Admission) -> Grant {
        match self.share.admit(admission).await.unwrap() {
            Admitted::Granted(grant) => grant,
            refused => panic!("{refused:?}"),
        }
    }

    /// The end of an admitted call, which took `actual` of each charge.
    pub(crate) fn settlement(&self, admission: &Admission, actual: &[u64]) -> Settlement {
        let (call, conversation) = (admission.call, ConversationId(1));
        let ended = LogRecord::Ended(EndedCall { call, conversation, outcome: Outcome::Answered, response: None });
        Settlement {
            agent: admission.agent.clone(),
            epoch: admission.epoch,
            call,
            replica: admission.replica,
            record: admission.record.map(|_| ended),
            charges: admission.charges.iter().cloned().zip(actual.iter().copied()).collect(),
            was_alone: false,
            is_repeated: false,
        }
    }

    pub(crate) fn budget(&self, name: &str, limit: u64, amount: u64) -> Charge {
        Charge { scope: format!("{}:{name}", self.agent), kind: ChargeKind::Budget, limit, amount, known: 0 }
    }

    pub(crate) fn rate(&self, name: &str, limit: u64, amount: u64) -> Charge {
        Charge { kind: ChargeKind::Rate, ..self.budget(name, limit, amount) }
    }
}

/// A plain fingerprint.
pub(crate) fn print(call: CallId) -> Fingerprint {
    Fingerprint::new(call, 0, Timestamp::from_millis(0))
}
