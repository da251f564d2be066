//! This process as one of several replicas: calls the engine with a timeout, and tracks whether it
//! can be reached.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use model::shared_log::{EndedCall, LogRecord, ReplicaId};
use model::{AgentId, ConversationId, Epoch, Outcome};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::Share;
use crate::types::{Admission, Admitted, AgentStatus, Expired, Killed, Opening, Settlement, ShareError, Takeover};

/// The longest one operation may take: longer than an engine needs, too short for people to notice.
const TIMEOUT: Duration = Duration::from_millis(250);
/// This many failures within a second mean that the engine is unreachable.
const MOST_FAILURES: usize = 3;
const FAILURE_SPAN: Duration = Duration::from_secs(1);
/// How many settlements wait for an unreachable engine. Further tickets expire.
const MOST_UNSETTLED: usize = 20_000;

/// How long the settlement of expired tickets may delay the next heartbeat.
const EXPIRY_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a replica that stops waits for its last settlements.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// What happens to calls while the engine is unreachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// They pass; each replica judges its own calls and gets its share of rates and budgets.
    #[default]
    Degrade,
    /// They are refused.
    Refuse,
}

/// This process as one of several replicas. Cloning is cheap.
#[derive(Clone)]
pub struct Replica(Arc<Inner>);

struct Inner {
    id: ReplicaId,
    share: Share,
    on_failure: OnFailure,
    is_degraded: AtomicBool,
    /// Whether the last heartbeat arrived: a degraded replica reports what it did alone.
    is_recovering: AtomicBool,
    /// Whether the engine has listed this replica.
    was_listed: AtomicBool,
    failures: Mutex<VecDeque<Instant>>,
    /// How many times the engine was unreachable.
    degradations: AtomicU64,
    alive: AtomicU64,
    unsettled: Mutex<VecDeque<Settlement>>,
    /// Every settlement in progress holds a receiver, so that [`Replica::leave`] can wait for all.
    settling: watch::Sender<()>,
}

impl Replica {
    /// A replica that is not registered yet.
    pub fn new(share: Share, on_failure: OnFailure) -> Replica {
        Replica(Arc::new(Inner {
            id: ReplicaId::new(),
            share,
            on_failure,
            is_degraded: AtomicBool::new(false),
            is_recovering: AtomicBool::new(false),
            was_listed: AtomicBool::new(false),
            failures: Mutex::default(),
            degradations: AtomicU64::new(0),
            alive: AtomicU64::new(1),
            unsettled: Mutex::default(),
            settling: watch::Sender::new(()),
        }))
    }

    /// Its id.
    pub fn id(&self) -> ReplicaId {
        self.0.id
    }

    /// The name of the engine.
    pub fn engine(&self) -> &'static str {
        self.0.share.name()
    }

    /// Whether the engine is unreachable.
    pub fn is_degraded(&self) -> bool {
        self.0.is_degraded.load(Ordering::Relaxed)
    }

    /// Whether calls are refused while the engine is unreachable.
    pub fn refuses_degraded(&self) -> bool {
        self.0.on_failure == OnFailure::Refuse
    }

    /// How many times the engine was unreachable since the start.
    pub fn degradations(&self) -> u64 {
        self.0.degradations.load(Ordering::Relaxed)
    }

    /// The number of live replicas at the last heartbeat.
    pub fn alive(&self) -> u64 {
        self.0.alive.load(Ordering::Relaxed).max(1)
    }

    /// [`Share::admit`]; `None` if the engine is unreachable.
    pub async fn admit(&self, admission: &Admission) -> Option<Admitted> {
        self.attempt(self.0.share.admit(admission)).await
    }

    /// [`Share::settle`]. If the engine is unreachable, it is retried later.
    ///
    /// It counts as in progress from this call on, not from the first poll, so that
    /// [`leave`](Replica::leave) waits for it.
    pub fn settle(&self, settlement: Settlement) -> impl Future<Output = Option<Killed>> + Send + use<> {
        let (replica, under_way) = (self.clone(), self.0.settling.subscribe());
        async move {
            let _under_way = under_way;
            let is_sent = replica.may_settle();
            let settling =
                async { if is_sent { replica.send(replica.0.share.settle(&settlement)).await } else { None } };
            match settling.await {
                Some(killed) => killed,
                None => {
                    let is_repeated = settlement.is_repeated || is_sent;
                    let mut unsettled = replica.0.unsettled.lock();
                    if unsettled.len() < MOST_UNSETTLED {
                        unsettled.push_back(Settlement { is_repeated, ..settlement });
                    }
                    None
                }
            }
        }
    }

    /// Settles the tickets of calls that have ended, and removes this replica from the live ones.
    pub async fn leave(&self) {
        let leaving = async {
            self.0.settling.closed().await;
            self.settle_late(false).await;
            self.0.share.leave(self.0.id).await
        };
        match tokio::time::timeout(LEAVE_TIMEOUT, leaving).await {
            Ok(Ok(())) => {}
            // Other replicas settle its tickets after some seconds.
            Ok(Err(error)) => tracing::debug!(%error, "this replica is listed for some seconds more"),
            Err(_) => tracing::debug!("this replica is listed for some seconds more"),
        }
    }

    /// [`Share::kill`]; `None` if the engine is unreachable.
    pub async fn kill(&self, agent: &AgentId, epoch: Epoch, killed: Killed) -> Option<Takeover> {
        self.attempt(self.0.share.kill(agent, epoch, killed)).await
    }

    /// [`Share::open`]; `None` if the engine is unreachable.
    pub async fn open(&self, opening: &Opening) -> Option<bool> {
        self.attempt(self.0.share.open(opening)).await
    }

    /// [`Share::append`]; `None` if the engine is unreachable.
    pub async fn append(&self, agent: &AgentId, epoch: Epoch, records: &[LogRecord]) -> Option<()> {
        self.attempt(self.0.share.append(agent, epoch, records)).await
    }

    /// [`Share::status`]; `None` if the engine does not know the agent or is unreachable.
    pub async fn status(&self, agent: &AgentId) -> Option<AgentStatus> {
        self.attempt(self.0.share.status(agent)).await.flatten()
    }

    /// [`Share::touch`]; other replicas also learn of changes through the database.
    pub async fn touch(&self, agent: &AgentId) {
        self.attempt(self.0.share.touch(agent)).await;
    }

    /// [`Share::touch_access`]; other replicas also learn of changes through the database.
    pub async fn touch_access(&self) {
        self.attempt(self.0.share.touch_access()).await;
    }

    /// [`Share::forget`].
    pub async fn forget(&self, agent: &AgentId) {
        self.attempt(self.0.share.forget(agent)).await;
    }

    /// Sends a heartbeat, which also shows whether the engine can be reached again; then settles
    /// what is still unsettled, and the calls of dead replicas.
    pub async fn beat(&self) -> Result<(), ShareError> {
        let beating = tokio::time::timeout(TIMEOUT, self.0.share.beat(self.0.id)).await;
        let beat = beating.unwrap_or_else(|_| Err(ShareError::Setup("it does not answer".to_owned())));
        let beat = beat.inspect_err(|_| self.note_failure())?;
        self.0.alive.store(beat.alive, Ordering::Relaxed);
        let has_lost_data = self.0.was_listed.swap(true, Ordering::Relaxed) && beat.is_new;
        let was_recovering = self.0.is_recovering.swap(true, Ordering::Relaxed);
        self.settle_late(has_lost_data).await;
        // Not with the first heartbeat: the sums of the engine are complete when every replica has
        // reported what it spent alone, which takes a second.
        let is_well = was_recovering && self.0.is_recovering.load(Ordering::Relaxed);
        if is_well && self.0.is_degraded.swap(false, Ordering::Relaxed) {
            tracing::info!("what replicas share can be reached again");
        }
        // What was not settled is listed again the next time.
        tokio::time::timeout(EXPIRY_TIMEOUT, self.settle_expired()).await.unwrap_or(Ok(()))
    }

    async fn settle_expired(&self) -> Result<(), ShareError> {
        for expired in self.0.share.expired().await? {
            self.0.share.settle(&settlement_of(expired)).await?;
        }
        Ok(())
    }

    /// An engine that has lost its data has no ticket of these calls, although they are sent again.
    async fn settle_late(&self, has_lost_data: bool) {
        let late = std::mem::take(&mut *self.0.unsettled.lock());
        for settlement in late {
            let is_repeated = settlement.is_repeated && !has_lost_data;
            self.settle(Settlement { is_repeated, ..settlement }).await;
        }
    }

    /// The engine itself, for operations without a timeout.
    pub fn share(&self) -> &Share {
        &self.0.share
    }

    fn may_settle(&self) -> bool {
        !self.is_degraded() || self.0.is_recovering.load(Ordering::Relaxed)
    }

    async fn attempt<T>(&self, operation: impl Future<Output = Result<T, ShareError>>) -> Option<T> {
        if self.is_degraded() {
            return None;
        }
        self.send(operation).await
    }

    /// Sends an operation whatever is known of the engine.
    async fn send<T>(&self, operation: impl Future<Output = Result<T, ShareError>>) -> Option<T> {
        let error = match tokio::time::timeout(TIMEOUT, operation).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        tracing::debug!(%error, "what replicas share could not be reached");
        self.note_failure();
        None
    }

    fn note_failure(&self) {
        let now = Instant::now();
        self.0.is_recovering.store(false, Ordering::Relaxed);
        let mut failures = self.0.failures.lock();
        failures.retain(|failure| now.duration_since(*failure) < FAILURE_SPAN);
        failures.push_back(now);
        if failures.len() >= MOST_FAILURES && !self.0.is_degraded.swap(true, Ordering::Relaxed) {
            self.0.degradations.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("what replicas share is out of reach: this one decides by itself until it is back");
        }
    }
}

/// A call whose replica died counts as failed, and its cost is unknown.
fn settlement_of(expired: Expired) -> Settlement {
    let Expired { agent, epoch, call, replica, charges } = expired;
    let ended = EndedCall { call, conversation: ConversationId(0), outcome: Outcome::Failed, response: None };
    let charges = charges.into_iter().map(|charge| (charge, 0)).collect();
    let record = Some(LogRecord::Ended(ended));
    Settlement { agent, epoch, call, replica, record, charges, was_alone: false, is_repeated: true }
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica").field("share", &self.0.share).finish_non_exhaustive()
    }
}
