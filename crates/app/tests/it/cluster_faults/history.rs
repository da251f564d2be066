//! The history of a run: what clients sent, received and changed, and what the provider received,
//! in order; and the checks that it must pass whatever failed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

/// The header that names a call to the provider.
pub(crate) const CALL: &str = "x-test-call";

/// One event of a run.
#[derive(Clone, Debug)]
pub(crate) enum HistoryEvent {
    /// A client sent a call.
    CallSent {
        agent: String,
        call: u64,
        request: Value,
    },
    /// The provider received it.
    CallReceived {
        call: u64,
    },
    /// The client got an answer; the response is null if the call was refused, but not for a kill.
    CallAnswered {
        call: u64,
        id: String,
        is_degraded: bool,
        response: Value,
    },
    /// The response said that the agent is inactive.
    CallRefused {
        call: u64,
        id: String,
        incident: String,
        is_degraded: bool,
    },
    /// A person asked to activate an agent, and repeats that until it is acknowledged.
    ActivationRequested {
        agent: String,
    },
    /// A person asked for a threshold.
    ThresholdRequested {
        agent: String,
        threshold: f64,
    },
    ThresholdAcknowledged {
        agent: String,
        threshold: f64,
    },
}

/// The history of a run. Its lock decides the order of events.
#[derive(Clone, Default)]
pub(crate) struct History(Arc<Mutex<Vec<HistoryEvent>>>);

impl History {
    pub(crate) fn add(&self, event: HistoryEvent) {
        self.0.lock().push(event);
    }

    /// A client is about to send a call; returns its number.
    pub(crate) fn ask(&self, agent: &str, request: &Value) -> u64 {
        let mut events = self.0.lock();
        let call = events.len() as u64;
        events.push(HistoryEvent::CallSent { agent: agent.to_owned(), call, request: request.clone() });
        call
    }

    pub(crate) fn all(&self) -> Vec<HistoryEvent> {
        self.0.lock().clone()
    }

    /// The agents of all calls.
    pub(crate) fn agents(&self) -> BTreeMap<u64, String> {
        let agent = |event: HistoryEvent| match event {
            HistoryEvent::CallSent { agent, call, .. } => Some((call, agent)),
            _ => None,
        };
        self.all().into_iter().filter_map(agent).collect()
    }

    /// Incidents that responses named in epochs in which no replica decided a call alone. In other
    /// epochs replicas may have made several incidents, of which one is stored.
    pub(crate) fn named_incidents(&self) -> BTreeSet<String> {
        let (agents, modes) = (self.agents(), self.modes());
        let mut epochs: BTreeMap<String, (bool, BTreeSet<String>)> = BTreeMap::new();
        let mut told = BTreeSet::new();
        let mut keep = |(is_exact, incidents): (bool, BTreeSet<String>)| {
            if is_exact {
                told.extend(incidents);
            }
        };
        for event in self.all() {
            match event {
                HistoryEvent::CallSent { agent, call, .. } => {
                    epochs.entry(agent).or_insert((true, BTreeSet::new())).0 &= modes.get(&call) == Some(&false);
                }
                HistoryEvent::CallRefused { call, incident, .. } => {
                    if let Some((_, incidents)) = epochs.get_mut(&agents[&call]) {
                        incidents.insert(incident);
                    }
                }
                HistoryEvent::ActivationRequested { agent } => epochs.remove(&agent).into_iter().for_each(&mut keep),
                _ => {}
            }
        }
        epochs.into_values().for_each(&mut keep);
        told
    }

    /// Calls whose client was answered in exact mode.
    pub(crate) fn exact_calls(&self) -> BTreeSet<String> {
        let id = |event: HistoryEvent| match event {
            HistoryEvent::CallAnswered { id, is_degraded: false, .. }
            | HistoryEvent::CallRefused { id, is_degraded: false, .. } => Some(id),
            _ => None,
        };
        self.all().into_iter().filter_map(id).collect()
    }

    /// For each agent the thresholds that may be in force: the last one that was acknowledged, and
    /// later ones that were requested.
    pub(crate) fn thresholds(&self) -> BTreeMap<String, Vec<f64>> {
        let mut thresholds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for event in self.all() {
            match event {
                HistoryEvent::ThresholdRequested { agent, threshold } => {
                    thresholds.entry(agent).or_default().push(threshold)
                }
                HistoryEvent::ThresholdAcknowledged { agent, threshold } => {
                    drop(thresholds.insert(agent, vec![threshold]))
                }
                _ => {}
            }
        }
        thresholds
    }

    /// How often an agent was activated, including attempts whose outcome is unknown.
    pub(crate) fn activations(&self, agent: &str) -> usize {
        self.all()
            .iter()
            .filter(|it| matches!(it, HistoryEvent::ActivationRequested { agent: of } if of == agent))
            .count()
    }

    /// Whether the replica that answered a call was degraded.
    fn modes(&self) -> BTreeMap<u64, bool> {
        let mode = |event: HistoryEvent| match event {
            HistoryEvent::CallAnswered { call, is_degraded, .. }
            | HistoryEvent::CallRefused { call, is_degraded, .. } => Some((call, is_degraded)),
            _ => None,
        };
        self.all().into_iter().filter_map(mode).collect()
    }

    /// The events of an agent around `place`.
    fn about(&self, agent: &str, place: usize) -> Vec<String> {
        let agents = self.agents();
        let is_own = |it: &HistoryEvent| match it {
            HistoryEvent::CallSent { call, .. } | HistoryEvent::CallReceived { call } => agents[call] == agent,
            HistoryEvent::CallAnswered { call, .. } | HistoryEvent::CallRefused { call, .. } => agents[call] == agent,
            HistoryEvent::ActivationRequested { agent: of } => of == agent,
            HistoryEvent::ThresholdRequested { agent: of, .. }
            | HistoryEvent::ThresholdAcknowledged { agent: of, .. } => of == agent,
        };
        let all = self.all();
        let near = place.saturating_sub(60)..(place + 20).min(all.len());
        let line = |place: usize| format!("{place} {:?}", all[place]).chars().take(240).collect();
        near.filter(|place| is_own(&all[*place])).map(line).collect()
    }

    /// How many calls of `agent` a replica decided alone. Calls without an answer count, because a
    /// replica may have decided them alone.
    pub(crate) fn degraded(&self, agent: &str) -> usize {
        let (agents, modes) = (self.agents(), self.modes());
        agents.iter().filter(|(call, of)| *of == agent && modes.get(call) != Some(&false)).count()
    }

    /// Checks that no call that was sent after the acknowledgement of a kill reached the provider,
    /// and that a kill has one incident. A degraded replica, whose answers say so, may not know of
    /// the kill, and others may not know of a kill that it made.
    pub(crate) fn check_kills(&self) {
        let modes = self.modes();
        let mut agents: BTreeMap<String, AgentState> = BTreeMap::new();
        let mut calls: BTreeMap<u64, (String, bool)> = BTreeMap::new();
        for (place, event) in self.all().into_iter().enumerate() {
            match event {
                HistoryEvent::CallSent { agent, call, .. } => {
                    let was_killed = agents.entry(agent.clone()).or_default().is_killed();
                    calls.insert(call, (agent, was_killed));
                }
                HistoryEvent::CallReceived { call } => {
                    let (agent, was_killed) = &calls[&call];
                    let is_exact = modes.get(&call) == Some(&false) && !agents[agent].is_degraded;
                    let is_late = *was_killed && agents[agent].is_killed() && is_exact;
                    assert!(
                        !is_late,
                        "call {call} was sent after its kill and dialled: {:#?}",
                        self.about(agent, place)
                    );
                }
                HistoryEvent::CallRefused { call, incident, is_degraded, .. } => {
                    let (agent, _) = &calls[&call];
                    agents.entry(agent.clone()).or_default().refuse(agent, incident, is_degraded);
                }
                HistoryEvent::ActivationRequested { agent } => agents.entry(agent).or_default().activate(),
                _ => {}
            }
        }
    }
}

/// The state of an agent at one moment of the history.
#[derive(Default)]
struct AgentState {
    /// The incidents of the current kill: one, unless replicas decided alone.
    incidents: BTreeSet<String>,
    /// Incidents of earlier kills. A replica that does not know of the activation yet may still
    /// name them.
    lifted: BTreeSet<String>,
    is_degraded: bool,
}

impl AgentState {
    fn is_killed(&self) -> bool {
        !self.incidents.is_empty()
    }

    fn activate(&mut self) {
        self.lifted.append(&mut self.incidents);
        self.is_degraded = false;
    }

    fn refuse(&mut self, agent: &str, incident: String, is_degraded: bool) {
        if !self.lifted.contains(&incident) {
            self.is_degraded |= is_degraded;
            self.incidents.insert(incident);
        }
        let is_once = self.incidents.len() <= 1 || self.is_degraded;
        assert!(is_once, "{agent} was killed several times in one epoch: {:?}", self.incidents);
    }
}
