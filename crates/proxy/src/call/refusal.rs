//! Refusals of a call: an inactive agent, and every end without the provider's answer.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::{
    AgreedKill, BlockReason, DeactivatedBy, Deactivation, EventType, Group, IncidentId, KeyRefusal, Outcome, Timestamp,
};
use wire::RefusalKind;

use super::Call;
use crate::error::Stop;

impl Call {
    /// Refuses a call of an inactive agent, once the kill that deactivated it is on disk.
    pub(crate) async fn check_active(&self) -> Result<(), Stop> {
        let (guard, agent) = (&self.core.guard, &self.event.agent);
        match (guard.refuses(agent), guard.stopped_group(agent)) {
            (None, None) => Ok(()),
            // A kill names its incident, also in a stopped group.
            (Some(kill), Some(_)) if kill.incident.is_some() => Err(self.inactive(kill).await),
            (_, Some(group)) => Err(self.stopped_with(&group)),
            (Some(_), None) if self.is_activated_elsewhere().await => Ok(()),
            (Some(deactivation), None) => Err(self.inactive(deactivation).await),
        }
    }

    /// Refuses a call that may no longer be sent: its agent was stopped or its key was revoked
    /// while it was read.
    pub(crate) async fn check_again(&self) -> Result<(), Stop> {
        if self.key.as_ref().is_some_and(|key| key.is_revoked()) {
            let kind = RefusalKind::Unauthorized { why: KeyRefusal::Unknown, agents: None };
            return Err(Stop::Policy(BlockReason::Unauthorized, Box::new(kind)));
        }
        self.check_active().await
    }

    /// The refusal of an agent whose group is stopped.
    fn stopped_with(&self, group: &Group) -> Stop {
        let at = group.stopped_at.unwrap_or(self.event.time);
        let deactivation = Deactivation { by: DeactivatedBy::Manual, at, incident: None };
        let kind =
            RefusalKind::Inactive { deactivation, group: Some(group.name.clone()), status: self.refusal_status() };
        Stop::Policy(BlockReason::Inactive, Box::new(kind))
    }

    /// Whether a person activated the agent on another replica.
    async fn is_activated_elsewhere(&self) -> bool {
        let (core, agent) = (&self.core, &self.event.agent);
        let Some(shared) = &core.config.shared else { return false };
        let Some(status) = Box::pin(shared.replica.status(agent)).await else { return false };
        if status.killed.is_none() {
            core.guard.activate(agent, status.epoch);
        }
        core.guard.refuses(agent).is_none()
    }

    /// The refusal for a deactivation, once that is on disk or the wait has timed out.
    pub(crate) async fn inactive(&self, deactivation: Deactivation) -> Stop {
        let core = &self.core;
        let Some(incident) = deactivation.incident else {
            return Stop::Inactive(deactivation, self.refusal_status());
        };
        self.expect_commit(incident, deactivation.at);
        // Boxed, because calls rarely wait for it: otherwise it would enlarge the future of every
        // call.
        let stored = Box::pin(core.kills.wait(incident, core.config.kill_commit_timeout)).await;
        Stop::Inactive(Deactivation { incident: Some(stored), ..deactivation }, self.refusal_status())
    }

    /// Makes refusals wait for a kill that another replica may still have to store.
    fn expect_commit(&self, incident: IncidentId, at: Timestamp) {
        let (core, agent) = (&self.core, &self.event.agent);
        let (Some(shared), Some(view)) = (&core.config.shared, core.guard.agent(agent)) else { return };
        // If the agent was activated meanwhile, this epoch is not the one that the kill ended.
        if view.deactivation.is_some_and(|held| held.incident == Some(incident)) {
            let kill = AgreedKill { agent: agent.clone(), epoch: view.epoch, incident, at };
            shared.expect_commit(&core.kills, kill);
        }
    }

    /// The status of refusals in the caller's format.
    pub(crate) fn refusal_status(&self) -> StatusCode {
        self.core.config.refusal_status.of(self.caller_format)
    }

    /// Ends the call without its provider's answer.
    pub(crate) async fn stop(mut self: Box<Self>, stop: Stop) -> Response<Bytes> {
        self.event.status = Some(stop.status().as_u16());
        match &stop {
            Stop::Inactive(deactivation, _) => self.block(BlockReason::Inactive, deactivation.incident),
            Stop::Policy(reason, _) => self.block(*reason, None),
            Stop::LoopDetected => self.block(BlockReason::LoopDetected, None),
            Stop::Client(..) | Stop::Upstream(..) | Stop::Us(..) => {
                if let Stop::Upstream(StatusCode::GATEWAY_TIMEOUT, _) = stop {
                    self.note_usage_of_unanswered();
                }
                self.event.error = stop.error().map(str::to_owned);
                self.fail();
            }
        }
        let mut response = stop.answer(self.caller_format, self.event.id, Some(&self.event.agent));
        self.show_score(response.headers_mut());
        self.record();
        std::mem::take(&mut self.settlement).wait().await;
        response
    }

    fn block(&mut self, reason: BlockReason, incident: Option<IncidentId>) {
        if self.event.score.is_none() {
            // The call was refused before the guard knew of it.
            self.event.epoch = self.core.guard.agent(&self.event.agent).map(|agent| agent.epoch).unwrap_or_default();
        }
        // The guard refused it itself, or has ended this epoch: it waits for no outcome.
        self.ticket = None;
        self.set_outcome(Outcome::Refused);
        self.event.event_type = EventType::Blocked;
        self.event.block_reason = Some(reason);
        self.event.incident = incident;
    }
}
