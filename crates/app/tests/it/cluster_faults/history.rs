//! What clients sent, were told and changed, and what the provider saw, in the order in which it
//! happened; and what must hold of it whatever failed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

/// The header by which the provider knows a call.
pub(crate) const CALL: &str = "x-test-call";

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A client sent a call.
    Asked {
        agent: String,
        call: u64,
        request: Value,
    },
    /// The provider received it.
    Dialled {
        call: u64,
    },
    /// The client was answered; null if its call was refused for another reason than a kill.
    Answered {
        call: u64,
        id: String,
        is_degraded: bool,
        response: Value,
    },
    /// The response said that the agent is inactive.
    Refused {
        call: u64,
        id: String,
        incident: String,
        is_degraded: bool,
    },
    /// Somebody asked to activate an agent, and goes on asking until that is acknowledged.
    Activating {
        agent: String,
    },
    /// Somebody asked for a threshold.
    Changing {
        agent: String,
        threshold: f64,
    },
    Changed {
        agent: String,
        threshold: f64,
    },
}

/// The history of a run. Its lock is the order of what happened.
#[derive(Clone, Default)]
pub(crate) struct History(Arc<Mutex<Vec<Happening>>>);

impl History {
    pub(crate) fn add(&self, happening: Happening) {
        self.0.lock().push(happening);
    }

    /// A client is about to send a call; returns its number.
    pub(crate) fn ask(&self, agent: &str, request: &Value) -> u64 {
        let mut happenings = self.0.lock();
        let call = happenings.len() as u64;
        happenings.push(Happening::Asked { agent: agent.to_owned(), call, request: request.clone() });
        call
    }

    pub(crate) fn all(&self) -> Vec<Happening> {
        self.0.lock().clone()
    }

    /// The agents of all calls.
    pub(crate) fn agents(&self) -> BTreeMap<u64, String> {
        let agent = |happening: Happening| match happening {
            Happening::Asked { agent, call, .. } => Some((call, agent)),
            _ => None,
        };
        self.all().into_iter().filter_map(agent).collect()
    }

    /// Incidents that responses named between two activations without a call that a replica decided
    /// by itself: with one, replicas may have made several, of which one is stored.
    pub(crate) fn told_incidents(&self) -> BTreeSet<String> {
        let (agents, modes) = (self.agents(), self.modes());
        let mut epochs: BTreeMap<String, (bool, BTreeSet<String>)> = BTreeMap::new();
        let mut told = BTreeSet::new();
        let mut keep = |(is_exact, incidents): (bool, BTreeSet<String>)| {
            if is_exact {
                told.extend(incidents);
            }
        };
        for happening in self.all() {
            match happening {
                Happening::Asked { agent, call, .. } => {
                    epochs.entry(agent).or_insert((true, BTreeSet::new())).0 &= modes.get(&call) == Some(&false);
                }
                Happening::Refused { call, incident, .. } => {
                    if let Some((_, incidents)) = epochs.get_mut(&agents[&call]) {
                        incidents.insert(incident);
                    }
                }
                Happening::Activating { agent } => epochs.remove(&agent).into_iter().for_each(&mut keep),
                _ => {}
            }
        }
        epochs.into_values().for_each(&mut keep);
        told
    }

    /// Calls whose client was answered in exact mode.
    pub(crate) fn exact_calls(&self) -> BTreeSet<String> {
        let id = |happening: Happening| match happening {
            Happening::Answered { id, is_degraded: false, .. } | Happening::Refused { id, is_degraded: false, .. } => {
                Some(id)
            }
            _ => None,
        };
        self.all().into_iter().filter_map(id).collect()
    }

    /// For each agent the thresholds that may be in force: the last that was acknowledged, and
    /// those that were asked for after it.
    pub(crate) fn thresholds(&self) -> BTreeMap<String, Vec<f64>> {
        let mut thresholds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for happening in self.all() {
            match happening {
                Happening::Changing { agent, threshold } => thresholds.entry(agent).or_default().push(threshold),
                Happening::Changed { agent, threshold } => drop(thresholds.insert(agent, vec![threshold])),
                _ => {}
            }
        }
        thresholds
    }

    /// How often an agent was activated, attempts in doubt included.
    pub(crate) fn activations(&self, agent: &str) -> usize {
        self.all().iter().filter(|it| matches!(it, Happening::Activating { agent: of } if of == agent)).count()
    }

    /// The mode in which each call was answered, by whichever replica.
    fn modes(&self) -> BTreeMap<u64, bool> {
        let mode = |happening: Happening| match happening {
            Happening::Answered { call, is_degraded, .. } | Happening::Refused { call, is_degraded, .. } => {
                Some((call, is_degraded))
            }
            _ => None,
        };
        self.all().into_iter().filter_map(mode).collect()
    }

    /// What happened to an agent shortly before and after `place`.
    fn about(&self, agent: &str, place: usize) -> Vec<String> {
        let agents = self.agents();
        let is_own = |it: &Happening| match it {
            Happening::Asked { call, .. } | Happening::Dialled { call } => agents[call] == agent,
            Happening::Answered { call, .. } | Happening::Refused { call, .. } => agents[call] == agent,
            Happening::Activating { agent: of } => of == agent,
            Happening::Changing { agent: of, .. } | Happening::Changed { agent: of, .. } => of == agent,
        };
        let all = self.all();
        let near = place.saturating_sub(60)..(place + 20).min(all.len());
        let line = |place: usize| format!("{place} {:?}", all[place]).chars().take(240).collect();
        near.filter(|place| is_own(&all[*place])).map(line).collect()
    }

    /// How many calls of `agent` were decided by a replica alone, or may have been: no
    /// client was answered.
    pub(crate) fn degraded(&self, agent: &str) -> usize {
        let (agents, modes) = (self.agents(), self.modes());
        agents.iter().filter(|(call, of)| *of == agent && modes.get(call) != Some(&false)).count()
    }

    /// Nothing is dialled that was sent after a kill was acknowledged, and a kill has one incident.
    /// A replica that decides by itself may not have heard of the kill, and others may not have
    /// heard of one that it made: it says so in its answers.
    pub(crate) fn check_kills(&self) {
        let modes = self.modes();
        let mut agents: BTreeMap<String, Standing> = BTreeMap::new();
        let mut calls: BTreeMap<u64, (String, bool)> = BTreeMap::new();
        for (place, happening) in self.all().into_iter().enumerate() {
            match happening {
                Happening::Asked { agent, call, .. } => {
                    let was_killed = agents.entry(agent.clone()).or_default().is_killed();
                    calls.insert(call, (agent, was_killed));
                }
                Happening::Dialled { call } => {
                    let (agent, was_killed) = &calls[&call];
                    let is_exact = modes.get(&call) == Some(&false) && !agents[agent].is_degraded;
                    let is_late = *was_killed && agents[agent].is_killed() && is_exact;
                    assert!(
                        !is_late,
                        "call {call} was sent after its kill and dialled: {:#?}",
                        self.about(agent, place)
                    );
                }
                Happening::Refused { call, incident, is_degraded, .. } => {
                    let (agent, _) = &calls[&call];
                    agents.entry(agent.clone()).or_default().refuse(agent, incident, is_degraded);
                }
                Happening::Activating { agent } => agents.entry(agent).or_default().activate(),
                _ => {}
            }
        }
    }
}

/// What is known of an agent at one moment of the history.
#[derive(Default)]
struct Standing {
    /// The incidents of the kill that holds: one, unless replicas decided by themselves.
    incidents: BTreeSet<String>,
    /// Incidents of kills that were lifted. A replica that has not heard of the activation may
    /// still name them.
    lifted: BTreeSet<String>,
    is_degraded: bool,
}

impl Standing {
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
