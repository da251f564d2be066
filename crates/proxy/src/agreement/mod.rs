//! Agreement with other replicas on a call, if there are any: its place among the calls of its
//! agent, whether the agent is active, and what is left of rates and budgets. One round trip to the
//! engine, and the handling of every answer but a plain yes.

mod changes;
mod unrecorded_kills;

use std::collections::HashSet;
use std::sync::Arc;

use guard::{Decision, Followed, Limits, PreparedCall, Refused};
use http::StatusCode;
use model::shared_log::{LogPosition, LogRecord};
use model::{Action, CallId, Deactivation, Fingerprint, Kill};
use share::{Admission, Admitted, Grant, Killed, Opening, Takeover};
use tokio::time::{Instant, timeout};

use crate::call::{Call, EngineTicket};
use crate::core::Core;
use crate::error::Stop;
use crate::policy::{CHECK_EVERY, CallPolicy, MAX_WAIT};
use crate::shared::{LOAD_TIMEOUT, Shared, charge_of, deactivation_of};

pub(crate) use changes::follow_changes;

/// How often a call retries because something changed between request and answer.
const ATTEMPTS: usize = 8;

/// The result of an agreement between replicas.
pub(crate) enum Agreed {
    /// There is none: this replica decides alone.
    Alone,
    /// The call passes; it is not scored.
    Admitted,
    /// The detector has decided.
    Decided(Decision),
    /// The call passes without a decision: the log could not be followed.
    Undecided,
}

/// Agrees with other replicas on a call. `prepared` is `None` for a call that is not scored.
pub(crate) async fn agree(
    call: &mut Call,
    policy: &CallPolicy,
    prepared: Option<PreparedCall<'_>>,
) -> Result<Agreed, Stop> {
    let core = Arc::clone(&call.core);
    let Some(shared) = &core.config.shared else { return Ok(Agreed::Alone) };
    if !needs_agreement(call) || (prepared.is_none() && !call.spending.is_charged()) {
        return Ok(Agreed::Alone);
    }
    let record = prepared.map(|prepared| prepared.log_record(shared.replica.id()));
    let agreement = Agreement { core: &core, shared, policy, record, deadline: Instant::now() + MAX_WAIT };
    // Boxed, because most servers have no replicas: otherwise it would enlarge the future of every
    // call.
    let agreed = Box::pin(agreement.reach(call)).await;
    if agreed.is_err() {
        call.spending.cancel();
    }
    agreed
}

/// Reports a kill to other replicas. Returns a deactivation if the agent is inactive for another
/// reason.
pub(crate) async fn kill(core: &Core, kill: &Kill) -> Option<Deactivation> {
    let replica = &core.config.shared.as_ref()?.replica;
    let killed = Killed { incident: Some(kill.incident), at: kill.at };
    match replica.kill(&kill.agent, kill.epoch, killed).await? {
        Takeover::Lost(earlier) if earlier != killed => {
            let deactivation = deactivation_of(earlier);
            core.guard.adopt_deactivation(&kill.agent, kill.epoch, deactivation);
            Some(deactivation)
        }
        _ => None,
    }
}

struct Agreement<'a> {
    core: &'a Arc<Core>,
    shared: &'a Shared,
    policy: &'a CallPolicy,
    record: Option<LogRecord>,
    deadline: Instant,
}

impl Agreement<'_> {
    async fn reach(&self, call: &mut Call) -> Result<Agreed, Stop> {
        let agent = call.event.agent.clone();
        let mut attempts = 0;
        while attempts < ATTEMPTS {
            let position = self.position(call).await;
            let Some(answer) = self.shared.replica.admit(&self.admission(call, position)).await else {
                return self.decide_alone(call, position);
            };
            attempts += 1;
            match answer {
                Admitted::Granted(grant) => {
                    if let Some(agreed) = self.follow(call, position, grant).await {
                        return Ok(agreed);
                    }
                }
                Admitted::Epoch(epoch) if epoch > position.epoch => self.core.guard.activate(&agent, epoch),
                Admitted::Unknown | Admitted::Epoch(_) => {
                    if self.open(call).await.is_none() {
                        return self.decide_alone(call, position);
                    }
                }
                Admitted::Killed(killed) => {
                    let deactivation = deactivation_of(killed);
                    self.core.guard.adopt_deactivation(&agent, position.epoch, deactivation);
                    return Ok(Agreed::Decided(Decision::Inactive(deactivation)));
                }
                Admitted::RateLimited { charge, wait_seconds } => {
                    return Err(self.rate_refusal(call, charge, wait_seconds));
                }
                Admitted::OverBudget(spent) => {
                    self.wait_for_budget(call, &spent).await?;
                    attempts -= 1;
                }
            }
        }
        Ok(Agreed::Undecided)
    }

    /// Decides alone, because the engine is unreachable.
    fn decide_alone(&self, call: &mut Call, position: LogPosition) -> Result<Agreed, Stop> {
        if self.shared.replica.refuses_degraded() {
            let message = "the state that replicas share is out of reach, and shared.on_failure is \"refuse\"";
            return Err(Stop::Us(StatusCode::SERVICE_UNAVAILABLE, message.to_owned()));
        }
        tracing::debug!(call = %call.event.id, "this replica decides by itself");
        call.is_degraded = true;
        // Other replicas may be alone, too, and have the same left.
        self.policy.reserve_share(call, self.shared.replica.alive())?;
        call.unreported = Some(EngineTicket { epoch: position.epoch });
        Ok(Agreed::Alone)
    }

    /// The log position of memory, once calls that came without the log are added to it.
    async fn position(&self, call: &mut Call) -> LogPosition {
        let (guard, agent) = (&self.core.guard, &call.event.agent);
        let position = guard.log_position(agent);
        if let Some(earlier) = call.engine_ticket.take_if(|ticket| ticket.epoch != position.epoch) {
            // It was admitted in an epoch that has ended.
            earlier.drop_reservation(call);
        }
        let agent = &call.event.agent;
        let Some(unshared) = guard.unshared_calls(agent) else { return position };
        let records: Vec<LogRecord> = unshared.iter().copied().map(LogRecord::Restored).collect();
        if self.shared.replica.append(agent, position.epoch, &records).await.is_some() {
            guard.leave_log(agent, &unshared);
        }
        guard.log_position(agent)
    }

    fn admission(&self, call: &Call, position: LogPosition) -> Admission {
        Admission {
            agent: call.event.agent.clone(),
            epoch: position.epoch,
            seen: position.seen,
            call: call.event.id,
            replica: self.shared.replica.id(),
            record: self.record,
            charges: call.spending.charges().iter().map(charge_of).collect(),
        }
    }

    /// Registers the agent with the engine, with its known window.
    async fn open(&self, call: &Call) -> Option<bool> {
        let (guard, agent) = (&self.core.guard, &call.event.agent);
        // An engine that lost its data may have held a kill that this replica does not know.
        if !timeout(LOAD_TIMEOUT, (self.shared.stored.reload)(agent.clone())).await.unwrap_or(false) {
            return None;
        }
        let epoch = guard.log_position(agent).epoch;
        let (held, newest) = guard.held_calls(agent);
        // Stored calls have ended, even if memory does not know it.
        let mut calls: Vec<Fingerprint> = self.stored_calls(call).await;
        let stored: HashSet<CallId> = calls.iter().map(|call| call.call).collect();
        calls.extend(held.into_iter().filter(|call| !stored.contains(&call.call)));
        calls.sort_by_key(|call| (call.number, call.time));
        let newest = calls.last().map_or(0, |call| call.number).max(newest);
        let killed = guard.refuses(agent).map(|it| Killed { incident: it.incident, at: it.at });
        self.shared.replica.open(&Opening { agent: agent.clone(), epoch, killed, newest, calls }).await
    }

    async fn stored_calls(&self, call: &Call) -> Vec<Fingerprint> {
        let loading = (self.shared.stored.calls)(call.event.agent.clone());
        timeout(LOAD_TIMEOUT, loading).await.unwrap_or_default()
    }

    /// Applies the log up to this call. `None` if it has to be requested again.
    async fn follow(&self, call: &mut Call, position: LogPosition, grant: Grant) -> Option<Agreed> {
        call.engine_ticket = Some(EngineTicket { epoch: position.epoch });
        call.spending.note_shared(&grant.spent);
        self.shared.refresh(&call.event.agent, grant.settings).await;
        self.shared.refresh_access(grant.access).await;
        if self.record.is_none() {
            return Some(Agreed::Admitted);
        }
        let mut followed = self.apply(call, &grant, None)?;
        if matches!(followed, Followed::Trimmed) {
            let stored = self.stored_calls(call).await;
            followed = self.apply(call, &grant, Some(&stored))?;
        }
        match followed {
            Followed::Decided(decision) => {
                self.repeat_kill(call, position, &decision).await;
                Some(Agreed::Decided(decision))
            }
            Followed::NotFound => {
                self.core.guard.leave_log(&call.event.agent, &[]);
                None
            }
            Followed::Behind | Followed::Trimmed => None,
        }
    }

    fn apply(&self, call: &Call, grant: &Grant, stored: Option<&[Fingerprint]>) -> Option<Followed> {
        let (core, own) = (self.core, (self.shared.replica.id(), call.event.id));
        let follow = || core.guard.follow(&call.event.agent, &grant.log, own, stored);
        core.catch_panic.run(|| core.kills.follow(follow))
    }

    /// Carries out the kill of an earlier call, whose replica may have died before it did.
    async fn repeat_kill(&self, call: &Call, position: LogPosition, decision: &Decision) {
        if let Decision::Inactive(Deactivation { incident: Some(incident), at, .. }) = decision {
            let killed = Killed { incident: Some(*incident), at: *at };
            self.shared.replica.kill(&call.event.agent, position.epoch, killed).await;
        }
    }

    fn rate_refusal(&self, call: &Call, charge: usize, retry_after_seconds: u64) -> Stop {
        let position = call.spending.charges().get(charge).map_or(0, |charge| charge.position);
        self.policy.refusal(call, position, Refused::RateLimited { retry_after_seconds })
    }

    /// Waits for calls that have reserved the rest of a budget; refuses if it is spent.
    async fn wait_for_budget(&self, call: &mut Call, spent: &[(u64, u64)]) -> Result<(), Stop> {
        call.spending.note_shared(spent);
        let (limits, now) = (self.policy.all(), self.core.clock.now());
        match Limits::shared_refusal(&limits, call.spending.charges(), spent, now) {
            Some((_, Refused::BudgetHeld { .. })) if Instant::now() < self.deadline => {}
            Some((position, refused)) => return Err(self.policy.refusal(call, position, refused)),
            None => return Ok(()),
        }
        let settled = self.core.budget_waiters.of(&call.event.agent).notified();
        let _ = timeout(CHECK_EVERY, settled).await;
        call.check_active().await
    }
}

/// Whether a call needs an exact answer: its agent can be stopped, or it has limits. Each replica
/// judges other calls by itself.
fn needs_agreement(call: &Call) -> bool {
    let (guard, agent) = (&call.core.guard, &call.event.agent);
    let kill_switch = guard.agent(agent).map_or_else(|| guard.defaults_of(agent), |agent| agent.kill_switch);
    (kill_switch.enabled && kill_switch.action != Action::Observe) || call.spending.is_charged()
}
