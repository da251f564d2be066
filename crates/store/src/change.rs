//! Changes that people make. Each is one transaction of the writer, and is on disk when it is acknowledged.

use model::{ActivatedBy, AgentId, Epoch, ExemptionId, IncidentId, KillSwitch, Policy, Provider, Timestamp};
use serde::{Deserialize, Serialize};

/// What a person said of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// It was a loop.
    Loop,
    /// It was not.
    FalseAlarm,
}

impl Feedback {
    /// The word for it in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Feedback::Loop => "loop",
            Feedback::FalseAlarm => "false_alarm",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Feedback> {
        [Feedback::Loop, Feedback::FalseAlarm].into_iter().find(|feedback| feedback.as_str() == word)
    }
}

/// A change that a person makes.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Change {
    /// Settings of an agent, which is created if it is unknown.
    Configure { agent: AgentId, kill_switch: KillSwitch, window_floor: u64, at: Timestamp },
    /// The policy of an agent, which is created with `kill_switch` if it is unknown.
    SetPolicy { agent: AgentId, policy: Box<Policy>, kill_switch: KillSwitch, at: Timestamp },
    /// The policy of agents that have none of their own; none: as configured.
    SetDefaultPolicy { policy: Option<Box<Policy>> },
    /// The agent has the default policy again.
    ResetPolicy { agent: AgentId },
    /// `epoch` is the one that ends. `Conflict` unless the agent is stored as inactive in it (a kill may be on its way).
    Activate { agent: AgentId, epoch: Epoch, by: ActivatedBy, at: Timestamp },
    /// By hand.
    Deactivate { agent: AgentId, at: Timestamp },
    /// A name for people.
    Rename { agent: AgentId, name: Option<String> },
    /// With its events, incidents and evidence.
    DeleteAgent { agent: AgentId },
    /// Adds or replaces; the key is encrypted. `key: None` keeps the stored one.
    PutProvider { provider: Provider },
    /// Back to the built-in one, or gone; the key with it.
    RemoveProvider { name: String },
    /// What a person says of an incident.
    SetFeedback { incident: IncidentId, feedback: Feedback },
    /// With its evidence.
    DeleteIncident { incident: IncidentId },
    /// Something counts no longer. `Conflict` if the agent has as many of these as there can be.
    AddExemption { row: crate::ExemptionRow },
    /// Something counts again.
    RemoveExemption { agent: AgentId, id: ExemptionId },
    /// All that people have set for all agents; it replaces what was set before.
    PutSettings { settings: crate::SettingsChange },
    /// Of channels, rules and deliveries.
    Alerts(crate::AlertChange),
}

/// What a change gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Done.
    Done,
    /// Activated: the epoch that began.
    Activated(Epoch),
}
