//! Asks the detector for a decision before a request is sent. A bug in detection lets the call
//! through.

use std::sync::Arc;

use guard::{Decision, NewCall, PreparedCall, Verdict};
use model::{AgentId, Asked, DeactivatedBy, Deactivation, Event, Kill, Unscored};
use wire::Dialect;

use crate::agreement::{self, Agreed};
use crate::call::Call;
use crate::error::Stop;
use crate::evidence::cached_body::CachedCall;
use crate::incident;
use crate::policy::CallPolicy;
use crate::request::read::ReadRequest;
use crate::runtime::fault_injection::panic_if_requested;
use crate::truncate;

/// Scores a conversation in `dialect` and carries out the verdict.
pub(crate) async fn judge(
    call: &mut Call,
    policy: &CallPolicy,
    dialect: Dialect,
    request: ReadRequest<'_>,
) -> Result<(), Stop> {
    let (core, plain) = (Arc::clone(&call.core), request.plain);
    let Some(decision) = decide(call, policy, request).await? else {
        call.note_unscored(Unscored::DetectionFailed);
        return Ok(());
    };
    let scored = match decision {
        Decision::Inactive(deactivation) => return Err(call.inactive(deactivation).await),
        Decision::Scored(scored) => scored,
    };
    // Separate from the decision: a decided kill holds even if its evidence cannot be kept.
    core.catch_panic.run(|| {
        panic_if_requested("evidence");
        core.evidence.put(call.event.id, CachedCall::new(call.event.time, dialect, plain), &scored.released);
    });
    match scored.verdict {
        Verdict::Pass | Verdict::Observe(None) => Ok(()),
        Verdict::WouldHaveStopped => {
            call.event.would_have_stopped = true;
            Ok(())
        }
        Verdict::Observe(Some(kill)) => {
            call.event.incident = Some(kill.incident);
            incident::record_observed(&core, kill, &call.event);
            Ok(())
        }
        Verdict::Block => Err(Stop::LoopDetected),
        Verdict::Kill(kill) => Err(carry_out(call, kill).await),
    }
}

/// Asks the guard, and records the request and its score in the event. `None` if that failed.
async fn decide(call: &mut Call, policy: &CallPolicy, request: ReadRequest<'_>) -> Result<Option<Decision>, Stop> {
    let core = Arc::clone(&call.core);
    let length = request.plain.len();
    if core.config.shared.is_none() {
        let decide = || core.catch_panic.run(|| decide_alone(call, request));
        return Ok(core.blocking.run(length, decide).await);
    }
    // Owned, because the call is changed while the fingerprint is in use.
    let agent = call.event.agent.clone();
    let prepare = || core.catch_panic.run(|| prepare(&mut call.event, &agent, request));
    let Some(prepared) = core.blocking.run(length, prepare).await else { return Ok(None) };
    let decision = match agreement::agree(call, policy, Some(prepared)).await? {
        Agreed::Decided(decision) => decision,
        Agreed::Alone => {
            let (guard, time) = (&core.guard, call.event.time);
            core.kills.decide(|| match call.is_degraded {
                true => guard.on_call_without_log(prepared, time),
                false => guard.on_prepared_call(prepared, time),
            })
        }
        Agreed::Admitted | Agreed::Undecided => return Ok(None),
    };
    if let Decision::Scored(scored) = &decision {
        call.note_scored(scored);
    }
    Ok(Some(decision))
}

/// Records the request in the event and computes its fingerprint.
fn prepare<'a>(event: &mut Event, agent: &'a AgentId, request: ReadRequest<'_>) -> PreparedCall<'a> {
    let ReadRequest { plain, asked, conversation, .. } = request;
    note_request(event, &asked);
    let new_call = NewCall { agent, call: event.id, conversation: &conversation, body: plain, asked: &asked };
    let prepared = new_call.prepare().of_agent(agent);
    panic_if_requested("scoring");
    event.conversation = Some(conversation);
    prepared
}

/// Records the model and the streaming of a request.
fn note_request(event: &mut Event, asked: &Asked<'_>) {
    // A model in the path takes precedence.
    event.model = event.model.take().or_else(|| asked.model.as_deref().map(truncate::model_name));
    event.streamed |= asked.streamed;
}

/// Asks the guard of this process.
fn decide_alone(call: &mut Call, request: ReadRequest<'_>) -> Decision {
    let ReadRequest { plain, asked, conversation, .. } = request;
    let event = &mut call.event;
    note_request(event, &asked);
    let new_call =
        NewCall { agent: &event.agent, call: event.id, conversation: &conversation, body: plain, asked: &asked };
    // Prepared outside the lock on decisions, because refused calls wait for that lock.
    let prepared = new_call.prepare();
    panic_if_requested("scoring");
    let decision = call.core.kills.decide(|| call.core.guard.on_prepared_call(prepared, event.time));
    event.conversation = Some(conversation);
    if let Decision::Scored(scored) = &decision {
        call.note_scored(scored);
    }
    decision
}

/// Records the kill and waits until it is on disk. The call is answered after that.
async fn carry_out(call: &mut Call, kill: Kill) -> Stop {
    let deactivation = Deactivation { by: DeactivatedBy::KillSwitch, at: kill.at, incident: Some(kill.incident) };
    let core = Arc::clone(&call.core);
    let mut pending = PendingKill { call, kill: Some(kill.clone()) };
    if let Some(earlier) = agreement::kill(&core, &kill).await {
        pending.kill = None;
        drop(pending);
        core.kills.finish(kill.incident);
        return call.inactive(earlier).await;
    }
    drop(pending);
    call.inactive(deactivation).await
}

/// A kill that is recorded when this is dropped, even if the client leaves while other replicas are
/// notified.
struct PendingKill<'a> {
    call: &'a mut Call,
    kill: Option<Kill>,
}

impl Drop for PendingKill<'_> {
    fn drop(&mut self) {
        if let Some(kill) = self.kill.take() {
            let event = self.call.kill_event(kill.incident);
            incident::record_kill(&self.call.core, kill, event);
        }
    }
}
