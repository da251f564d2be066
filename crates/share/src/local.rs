//! The engine in the memory of one process. It is the plain reference that the other engines are
//! compared with.

mod limits;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use model::shared_log::{LogEntry, LogPart, LogRecord, ReplicaId};
use model::{AgentId, CallId, Clock, Epoch, Timestamp};
use parking_lot::Mutex;
use tokio::sync::Notify;

use self::limits::{BudgetSums, RateCounts, add, check, correct, reserve};
use crate::types::{
    Admission, Admitted, AgentStatus, Charge, Expired, Grant, Heartbeat, Killed, Opening, Settlement, ShareError,
    Takeover,
};
use crate::{DEAD_AFTER, EXCESS_RECORDS, KEPT_RECORDS, TICKET_LIFE};

/// The engine in memory.
#[derive(Clone, Debug)]
pub struct Local {
    clock: Clock,
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    agents: HashMap<AgentId, Known>,
    budgets: BudgetSums,
    rates: RateCounts,
    tickets: HashMap<(AgentId, CallId), Ticket>,
    replicas: HashMap<ReplicaId, Timestamp>,
    access: u64,
}

#[derive(Debug)]
struct Known {
    epoch: Epoch,
    floor: u64,
    is_trimmed: bool,
    newest: u64,
    killed: Option<Killed>,
    settings: u64,
    changed_at: Timestamp,
    entries: Vec<LogEntry>,
}

#[derive(Debug)]
struct Ticket {
    epoch: Epoch,
    replica: ReplicaId,
    admitted: Timestamp,
    charges: Vec<Charge>,
    /// Whether the call was settled without a ticket: this one keeps a repetition from counting.
    is_settled: bool,
}

impl Local {
    /// An empty engine.
    pub fn new(clock: Clock) -> Local {
        Local { clock, state: Arc::default(), changed: Arc::default() }
    }

    pub(crate) async fn admit(&self, admission: &Admission) -> Result<Admitted, ShareError> {
        let now = self.clock.now();
        let State { agents, budgets, rates, tickets, access, .. } = &mut *self.state.lock();
        let Some(known) = agents.get_mut(&admission.agent) else { return Ok(Admitted::Unknown) };
        if known.epoch != admission.epoch {
            return Ok(Admitted::Epoch(known.epoch));
        }
        if let Some(killed) = known.killed {
            return Ok(Admitted::Killed(killed));
        }
        let mut spent = vec![(0, 0); admission.charges.len()];
        let key = (admission.agent.clone(), admission.call);
        if tickets.get(&key).is_none_or(|ticket| ticket.epoch != admission.epoch) {
            if let Some(refused) = check(&admission.charges, budgets, rates, now, &mut spent) {
                return Ok(refused);
            }
            reserve(&admission.charges, budgets, rates, now);
            let charges = admission.charges.clone();
            let ticket = Ticket {
                epoch: admission.epoch,
                replica: admission.replica,
                admitted: now,
                charges,
                is_settled: false,
            };
            tickets.insert(key, ticket);
            admission.record.iter().for_each(|record| known.write(*record, Some(0), now));
        }
        let log = known.part(admission.seen);
        Ok(Admitted::Granted(Grant { log, settings: known.settings, access: *access, spent }))
    }

    pub(crate) async fn settle(&self, settlement: &Settlement) -> Result<Option<Killed>, ShareError> {
        let State { agents, budgets, rates, tickets, .. } = &mut *self.state.lock();
        let known = agents.get_mut(&settlement.agent).filter(|known| known.epoch == settlement.epoch);
        let (key, now) = ((settlement.agent.clone(), settlement.call), self.clock.now());
        let counts = settlement.counts_without_ticket() && !settlement.charges.is_empty();
        let of_epoch = tickets.get(&key).filter(|ticket| ticket.epoch == settlement.epoch);
        let is_open = of_epoch.is_some_and(|ticket| !(ticket.is_settled && counts));
        let ticket = if is_open { tickets.remove(&key) } else { None };
        if let Some(ticket) = &ticket {
            let actual = settlement.charges.iter().map(|(_, actual)| *actual).chain(std::iter::repeat(0));
            ticket.charges.iter().zip(actual).for_each(|(charge, actual)| {
                correct(charge, actual, ticket.admitted, budgets, rates);
            });
        } else if counts && !tickets.contains_key(&key) {
            settlement.charges.iter().for_each(|(charge, actual)| add(charge, *actual, now, budgets, rates));
            let (epoch, replica) = (settlement.epoch, settlement.replica);
            let ticket = Ticket { epoch, replica, admitted: now, charges: Vec::new(), is_settled: true };
            tickets.insert(key, ticket);
        }
        let Some(known) = known else { return Ok(None) };
        if let (Some(record), Some(_)) = (settlement.record, ticket.filter(|ticket| !ticket.is_settled)) {
            known.write(record, None, self.clock.now());
        }
        Ok(known.killed)
    }

    pub(crate) async fn kill(&self, agent: &AgentId, epoch: Epoch, killed: Killed) -> Result<Takeover, ShareError> {
        let mut state = self.state.lock();
        let Some(known) = state.agents.get_mut(agent) else { return Ok(Takeover::Unknown) };
        if known.epoch != epoch {
            return Ok(Takeover::Epoch(known.epoch));
        }
        if let Some(earlier) = known.killed {
            return Ok(Takeover::Lost(earlier));
        }
        known.killed = Some(killed);
        known.changed_at = self.clock.now();
        self.changed.notify_waiters();
        Ok(Takeover::Won)
    }

    pub(crate) async fn open(&self, opening: &Opening) -> Result<bool, ShareError> {
        let now = self.clock.now();
        let agents = &mut self.state.lock().agents;
        let earlier = agents.get(&opening.agent);
        if earlier.is_some_and(|known| known.epoch >= opening.epoch) {
            return Ok(false);
        }
        let position = earlier.map_or(now.as_millis().unsigned_abs() * 1024, Known::position);
        let mut known = Known {
            epoch: opening.epoch,
            floor: position,
            is_trimmed: false,
            newest: opening.newest,
            killed: opening.killed,
            settings: earlier.map_or(0, |known| known.settings),
            changed_at: now,
            entries: Vec::new(),
        };
        opening.calls.iter().for_each(|call| known.write(LogRecord::Restored(*call), Some(call.number), now));
        agents.insert(opening.agent.clone(), known);
        self.changed.notify_waiters();
        Ok(true)
    }

    pub(crate) async fn touch(&self, agent: &AgentId) -> Result<(), ShareError> {
        let now = self.clock.now();
        if let Some(known) = self.state.lock().agents.get_mut(agent) {
            known.settings = (known.settings + 1).max(now.as_millis().unsigned_abs());
            known.changed_at = now;
            self.changed.notify_waiters();
        }
        Ok(())
    }

    pub(crate) async fn touch_access(&self) -> Result<(), ShareError> {
        self.state.lock().access += 1;
        Ok(())
    }

    pub(crate) async fn append(&self, agent: &AgentId, epoch: Epoch, records: &[LogRecord]) -> Result<(), ShareError> {
        let now = self.clock.now();
        if let Some(known) = self.state.lock().agents.get_mut(agent).filter(|known| known.epoch == epoch) {
            records.iter().for_each(|record| known.write(*record, Some(0), now));
        }
        Ok(())
    }

    pub(crate) async fn forget(&self, agent: &AgentId) -> Result<(), ShareError> {
        self.state.lock().agents.remove(agent);
        Ok(())
    }

    pub(crate) async fn log(&self, agent: &AgentId) -> Result<Option<LogPart>, ShareError> {
        Ok(self.state.lock().agents.get(agent).map(|known| known.part(0)))
    }

    pub(crate) async fn status(&self, agent: &AgentId) -> Result<Option<AgentStatus>, ShareError> {
        Ok(self.state.lock().agents.get(agent).map(|known| known.status(agent)))
    }

    pub(crate) async fn changes(&self, since: Timestamp) -> Result<(Vec<AgentStatus>, Timestamp), ShareError> {
        let state = self.state.lock();
        let changed = state.agents.iter().filter(|(_, known)| known.changed_at >= since);
        Ok((changed.map(|(agent, known)| known.status(agent)).collect(), self.clock.now()))
    }

    pub(crate) async fn beat(&self, replica: ReplicaId) -> Result<Heartbeat, ShareError> {
        let now = self.clock.now();
        let replicas = &mut self.state.lock().replicas;
        let is_new = replicas.insert(replica, now).is_none();
        Ok(Heartbeat { alive: replicas.values().filter(|beat| is_alive(**beat, now)).count() as u64, is_new })
    }

    pub(crate) async fn leave(&self, replica: ReplicaId) -> Result<(), ShareError> {
        self.state.lock().replicas.remove(&replica);
        Ok(())
    }

    pub(crate) async fn expired(&self) -> Result<Vec<Expired>, ShareError> {
        let now = self.clock.now();
        let State { tickets, replicas, .. } = &*self.state.lock();
        let is_over = |ticket: &Ticket| {
            let age = now.as_millis() - ticket.admitted.as_millis();
            age > TICKET_LIFE.as_millis() as i64
                || !replicas.get(&ticket.replica).is_some_and(|beat| is_alive(*beat, now))
        };
        let over = tickets.iter().filter(|(_, ticket)| is_over(ticket));
        let expired = over.map(|((agent, call), ticket)| Expired {
            agent: agent.clone(),
            epoch: ticket.epoch,
            call: *call,
            replica: ticket.replica,
            charges: ticket.charges.clone(),
        });
        Ok(expired.collect())
    }

    pub(crate) async fn watch(&self, changed: &Notify) -> Result<Infallible, ShareError> {
        loop {
            let change = self.changed.notified();
            changed.notify_one();
            change.await;
        }
    }
}

impl Known {
    fn position(&self) -> u64 {
        self.entries.last().map_or(self.floor, |entry| entry.position)
    }

    /// Adds a record. Number 0 assigns the next one; `None` assigns none.
    fn write(&mut self, record: LogRecord, number: Option<u64>, now: Timestamp) {
        let number = match number {
            Some(0) if self.newest == 0 => now.as_millis().unsigned_abs(),
            Some(0) => self.newest + 1,
            number => number.unwrap_or(0),
        };
        self.newest = self.newest.max(number);
        self.entries.push(LogEntry { position: self.position() + 1, number, at: now, record });
        if self.entries.len() as u64 > KEPT_RECORDS + EXCESS_RECORDS {
            let excess = self.entries.len() - KEPT_RECORDS as usize;
            self.entries.drain(..excess);
            self.floor += excess as u64;
            self.is_trimmed = true;
        }
    }

    fn part(&self, seen: u64) -> LogPart {
        let seen = if seen > self.position() { 0 } else { seen };
        let entries = self.entries.iter().filter(|entry| entry.position > seen).copied().collect();
        LogPart { epoch: self.epoch, floor: self.floor, is_trimmed: self.is_trimmed, entries }
    }

    fn status(&self, agent: &AgentId) -> AgentStatus {
        AgentStatus { agent: agent.clone(), epoch: self.epoch, killed: self.killed, settings: self.settings }
    }
}

fn is_alive(beat: Timestamp, now: Timestamp) -> bool {
    now.as_millis() - beat.as_millis() < DEAD_AFTER.as_millis() as i64
}
