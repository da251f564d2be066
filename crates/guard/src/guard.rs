//! The state of all agents, and the one atomic step per agent: record, score, decide.

use std::collections::HashSet;
use std::sync::Arc;

use model::{
    AgentId, Answered, CallId, Deactivation, Epoch, Exemption, Fingerprint, Group, Groups, KillSwitch, Outcome, Policy,
    SavedAgent, Timestamp,
};

use crate::config::GuardConfig;
use crate::decision::{AgentView, Configured, Decision, NewCall, PreparedCall, Ticket};
use crate::fingerprint;
use crate::policies::Policies;
use crate::registry::{Arrival, Ended, Registry};

/// The state of all agents. Shared by reference; every method locks only the agent it is about.
#[derive(Debug)]
pub struct Guard {
    pub(crate) registry: Registry,
    policies: Policies,
}

impl Guard {
    /// A guard that knows no agent.
    pub fn new(config: GuardConfig) -> Guard {
        Guard::with_policy(config, Policy::default())
    }

    /// As [`new`](Guard::new), with a policy for agents that have none of their own.
    pub fn with_policy(config: GuardConfig, default: Policy) -> Guard {
        let policies = Policies::new(default, config.max_agents);
        Guard { registry: Registry::new(config), policies }
    }

    /// Uses these groups, also those that are added to them later.
    pub fn with_groups(mut self, groups: Groups) -> Guard {
        self.registry.groups = groups;
        self
    }

    /// The policies of all agents.
    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    /// Restores one agent. Call it before the first call is accepted. The newest
    /// [`RECALL`](SavedAgent::RECALL) fingerprints restore the windows; calls that had not ended
    /// are lost.
    pub fn restore(&self, saved: SavedAgent) {
        self.registry.with(&saved.id.clone(), |agent| agent.restore(saved));
    }

    /// Restores one agent while calls already come in, unless it has called since.
    pub fn restore_unless_known(&self, saved: SavedAgent) {
        let defaults = self.registry.defaults_of(&saved.id);
        self.registry.with(&saved.id.clone(), |agent| {
            if agent.state.is_new(defaults) {
                agent.restore(saved);
            }
        });
    }

    /// Why the agent is refused right now, if it is. Cheap: it is checked before a body is read and
    /// again before the provider is dialled.
    pub fn refuses(&self, agent: &AgentId) -> Option<Deactivation> {
        self.registry.refuses(agent)
    }

    /// The stopped group that an agent is in, if any. Its agents may not call, also those that are
    /// not known yet. As cheap as [`refuses`](Guard::refuses).
    pub fn stopped_group(&self, agent: &AgentId) -> Option<Arc<Group>> {
        self.registry.groups.stopped(agent)
    }

    /// Records a call that is passed through unread and not scored: the agent was seen.
    pub fn on_unscored_call(&self, agent: &AgentId, now: Timestamp) -> Epoch {
        self.registry.with(agent, |agent| {
            agent.state.on_sight(now);
            agent.state.epoch()
        })
    }

    /// Records a call, scores it and decides, in one atomic step.
    pub fn on_call(&self, call: &NewCall<'_>, now: Timestamp) -> Decision {
        self.on_prepared_call(call.prepare(), now)
    }

    /// As [`on_call`](Guard::on_call), for callers that make the fingerprint before they take a
    /// lock of their own.
    pub fn on_prepared_call(&self, call: PreparedCall<'_>, now: Timestamp) -> Decision {
        let PreparedCall { agent, call, print } = call;
        let mut decision =
            self.registry.with(agent, |state| state.on_call(Arrival { agent, call, print, now, number: None }));
        self.add_released_calls(&mut decision);
        decision
    }

    /// Adds the calls of evicted agents to those that a decision tells its caller to drop.
    pub(crate) fn add_released_calls(&self, decision: &mut Decision) {
        if !self.registry.released_calls.is_empty()
            && let Decision::Scored(scored) = decision
        {
            scored.released.extend(self.registry.released_calls.take());
        }
    }

    /// Records the answer to a call, received at `now`, and returns the fingerprint to store.
    /// `None` if the call has ended before, has left the windows or belongs to an older epoch: then
    /// the fingerprint in its [`crate::Scored`] is the one to store.
    pub fn on_answer(&self, ticket: &Ticket, answered: &Answered, now: Timestamp) -> Option<Fingerprint> {
        let ended = Ended { outcome: Outcome::Answered, response: fingerprint::of_answer(answered), at: now };
        self.registry.with_known(&ticket.agent, |agent| agent.on_end(ticket, ended))?
    }

    /// Records that a call got no answer.
    pub fn on_failure(&self, ticket: &Ticket, now: Timestamp) -> Option<Fingerprint> {
        let ended = Ended { outcome: Outcome::Failed, response: None, at: now };
        self.registry.with_known(&ticket.agent, |agent| agent.on_end(ticket, ended))?
    }

    /// Deactivates an agent by hand. `None` if it was inactive before; its reason stays.
    pub fn deactivate(&self, agent: &AgentId, now: Timestamp) -> Option<Deactivation> {
        self.registry.with(agent, |agent| agent.deactivate(now))
    }

    /// Starts `epoch` with empty windows. Call it once the activation is stored. Does nothing if
    /// that epoch has already begun.
    pub fn activate(&self, agent: &AgentId, epoch: Epoch) {
        self.registry.with(agent, |agent| agent.activate(epoch));
    }

    /// Adopts what another server on the same database has stored: the epoch, and the deactivation
    /// if there is one. A later epoch begins with empty windows. A deactivation that this server
    /// decided in the same epoch is never lifted: its kill may not be stored yet.
    pub fn adopt(&self, agent: &AgentId, epoch: Epoch, deactivation: Option<Deactivation>) {
        self.registry.with(agent, |agent| agent.adopt(epoch, deactivation));
    }

    /// Changes the settings of an agent from the next call on; an unknown agent is created.
    pub fn configure(&self, agent: &AgentId, kill_switch: KillSwitch) -> Configured {
        self.registry.with(agent, |agent| {
            let window_floor = agent.window_floor_after(kill_switch);
            agent.configure(kill_switch, window_floor)
        })
    }

    /// The floor of an agent's windows after a change to `kill_switch`. Changes nothing: it is
    /// stored with the settings before [`configure_above`](Guard::configure_above) applies them.
    pub fn window_floor_after(&self, agent: &AgentId, kill_switch: KillSwitch) -> u64 {
        self.registry.with_known(agent, |agent| agent.window_floor_after(kill_switch)).unwrap_or_default()
    }

    /// Changes the settings of an agent as they were stored, with the floor of
    /// [`window_floor_after`](Guard::window_floor_after); an unknown agent is created. A window
    /// that grows does not regain calls that left it between the two.
    pub fn configure_above(&self, agent: &AgentId, kill_switch: KillSwitch, window_floor: u64) {
        self.registry.with(agent, |agent| agent.configure(kill_switch, window_floor));
    }

    /// Replaces the exemptions of an agent from the next call on.
    pub fn exempt(&self, agent: &AgentId, exemptions: Vec<Exemption>) {
        self.registry.with(agent, |agent| agent.exempt(exemptions));
    }

    /// Suspends kills of an agent while its data is deleted: a kill that is recorded after that
    /// would bring it back.
    pub fn suspend_kills(&self, agent: &AgentId, suspended: bool) {
        self.registry.with_known(agent, |agent| agent.suspend_kills(suspended));
    }

    /// Forgets everything about an agent.
    pub fn forget(&self, agent: &AgentId) {
        self.registry.remove(agent);
        self.policies.forget(agent);
    }

    /// Those of `calls` that are in a window of any agent.
    pub fn calls_in_windows(&self, calls: &HashSet<CallId>) -> HashSet<CallId> {
        let mut found = HashSet::new();
        self.registry
            .for_each(|_, agent| found.extend(agent.windows.calls().into_iter().filter(|it| calls.contains(it))));
        found
    }

    /// The calls of agents that were forgotten or evicted since this was last asked, or since the
    /// last call of any agent.
    pub fn take_released_calls(&self) -> Vec<CallId> {
        self.registry.released_calls.take()
    }

    /// The current state of an agent, if it is known.
    pub fn agent(&self, agent: &AgentId) -> Option<AgentView> {
        self.registry.view(agent)
    }

    /// Every inactive agent with its current state and without its windows, to be written to a
    /// database that has lost it.
    pub fn inactive_agents(&self) -> Vec<SavedAgent> {
        let mut inactive = Vec::new();
        self.registry.for_each(|id, agent| {
            let AgentView { deactivation, epoch, kill_switch, last_seen, .. } = agent.state.view();
            if deactivation.is_some() {
                inactive.push(SavedAgent {
                    id: id.clone(),
                    deactivation,
                    epoch,
                    kill_switch,
                    window_floor: 0,
                    last_seen,
                    exemptions: Vec::new(),
                    fingerprints: Vec::new(),
                });
            }
        });
        inactive
    }

    /// The active agents whose score is nearest to their threshold, at most `limit`, the nearest
    /// first. Agents without a score are left out.
    pub fn nearest(&self, limit: usize) -> Vec<AgentId> {
        let mut nearest: Vec<(f64, AgentId)> = Vec::new();
        self.registry.for_each(|id, agent| {
            let AgentView { deactivation: None, kill_switch, current_score, .. } = agent.state.view() else { return };
            let share = current_score.value / kill_switch.threshold;
            if share > 0.0 {
                let place = nearest.partition_point(|(other, _)| *other >= share);
                if place < limit {
                    nearest.insert(place, (share, id.clone()));
                    nearest.truncate(limit);
                }
            }
        });
        nearest.into_iter().map(|(_, id)| id).collect()
    }

    /// Changes the settings of agents not yet seen. Known agents keep theirs. A stored agent that
    /// has left memory must be [configured](Guard::configure) before, or it would come back with
    /// the new settings.
    pub fn set_defaults(&self, defaults: KillSwitch) {
        self.registry.set_defaults(defaults);
    }

    /// The settings of agents not yet seen.
    pub fn defaults(&self) -> KillSwitch {
        self.registry.config().defaults
    }

    /// The settings that `agent` has when it is first seen: its groups may override the defaults.
    pub fn defaults_of(&self, agent: &AgentId) -> KillSwitch {
        self.registry.defaults_of(agent)
    }
}
