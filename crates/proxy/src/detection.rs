//! Lets the detector decide on a request before it is sent on. A fault in here lets the call
//! through.

use std::sync::Arc;

use guard::{Decision, NewCall, Verdict};
use model::{DeactivatedBy, Deactivation, Kill, Unscored};
use wire::Dialect;

use crate::call::Call;
use crate::error::Stop;
use crate::evidence::cached_body::CachedCall;
use crate::evidence::incident;
use crate::request::read::ReadRequest;
use crate::runtime::fault_injection::panic_if_requested;
use crate::truncate;

/// Scores a conversation in `dialect` and carries out the verdict.
pub(crate) async fn judge(call: &mut Call, dialect: Dialect, request: ReadRequest<'_>) -> Result<(), Stop> {
    let (core, plain) = (Arc::clone(&call.core), request.plain);
    let decide = || core.catch_panic.run(|| decide(call, request));
    let Some(decision) = core.blocking.run(plain.len(), decide).await else {
        call.note_unscored(Unscored::DetectionFailed);
        return Ok(());
    };
    let scored = match decision {
        Decision::Inactive(deactivation) => return Err(call.inactive(deactivation).await),
        Decision::Scored(scored) => scored,
    };
    // Apart from the decision: a kill that was decided holds, even if its evidence cannot be kept.
    core.catch_panic.run(|| {
        panic_if_requested("evidence");
        core.evidence.put(call.event.id, CachedCall::new(call.event.time, dialect, plain), &scored.left);
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

/// Lets the guard decide, and notes the request and its score in the event.
fn decide(call: &mut Call, request: ReadRequest<'_>) -> Decision {
    let ReadRequest { plain, asked, conversation, .. } = request;
    let event = &mut call.event;
    // The path, if it names a model, names the one that answers.
    event.model = event.model.take().or_else(|| asked.model.as_deref().map(truncate::model_name));
    event.streamed |= asked.streamed;
    let new_call =
        NewCall { agent: &event.agent, call: event.id, conversation: &conversation, body: plain, asked: &asked };
    // Before the lock on decisions, which calls that ask for a kill wait for.
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
    let event = call.kill_event(kill.incident);
    incident::record_kill(&call.core, kill, event);
    call.inactive(deactivation).await
}
