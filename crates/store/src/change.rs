//! Changes that people make. Each is one transaction of the writer, and is on disk when it is
//! acknowledged.

use model::{
    ActivatedBy, AgentId, AgentKey, AgentKeyId, Epoch, ExemptionId, Group, IncidentId, KillSwitch, Label, Policy,
    Provider, Timestamp,
};
use serde_json::Value;

use crate::Feedback;

/// A change that a person makes.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum Change {
    /// Sets the kill switch of an agent, which is created if it is unknown.
    Configure { agent: AgentId, kill_switch: KillSwitch, window_floor: u64, at: Timestamp },
    /// Sets the policy of an agent, which is created with `kill_switch` if it is unknown.
    SetPolicy { agent: AgentId, policy: Box<Policy>, kill_switch: KillSwitch, at: Timestamp },
    /// Sets the policy of agents without their own; `None` restores the configured one.
    SetDefaultPolicy { policy: Option<Box<Policy>> },
    /// Removes the policy of an agent: the default applies again.
    ResetPolicy { agent: AgentId },
    /// Starts the epoch after `epoch`. `Conflict` unless the agent is stored as inactive in
    /// `epoch`: its kill may not be written yet.
    Activate { agent: AgentId, epoch: Epoch, by: ActivatedBy, at: Timestamp },
    /// Deactivates by hand.
    Deactivate { agent: AgentId, at: Timestamp },
    /// Sets the display name.
    Rename { agent: AgentId, name: Option<String> },
    /// Deletes an agent with its events, incidents and evidence.
    DeleteAgent { agent: AgentId },
    /// Adds or replaces a provider; its key is encrypted. `key: None` keeps the stored one.
    PutProvider { provider: Provider },
    /// Removes a provider with its key; a built-in provider becomes as it was before.
    RemoveProvider { name: String },
    /// Sets a person's verdict on an incident.
    SetFeedback { incident: IncidentId, feedback: Feedback },
    /// Deletes an incident with its evidence.
    DeleteIncident { incident: IncidentId },
    /// Adds an exemption. `Conflict` if the agent has reached the limit.
    AddExemption { row: crate::ExemptionRow },
    /// Revokes an exemption.
    RemoveExemption { agent: AgentId, id: ExemptionId },
    /// Changes agent keys or groups.
    Access(AccessChange),
    /// Replaces what people have set for all agents.
    PutSettings { settings: crate::SettingsChange },
    /// Replaces the SMTP server that people have set; `None` is the configured one. The password is
    /// encrypted.
    PutSmtpServer { server: Option<Box<model::SmtpServer>> },
    /// Switches the recording of an agent on or off; `None` leaves it as configured.
    SetRecording { agent: AgentId, enabled: Option<bool> },
    /// Changes channels, rules or deliveries.
    Alerts(crate::AlertChange),
    /// Changes users or API tokens.
    People(crate::PeopleChange),
    /// Adds a row to the audit log and changes nothing else.
    Note(AuditNote),
}

/// A change of agent keys or groups.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum AccessChange {
    /// Adds an agent key.
    AddKey { key: Box<AgentKey> },
    /// Revokes an agent key.
    RemoveKey { id: AgentKeyId },
    /// Records when agent keys were last used.
    NoteKeyUses { uses: Vec<(AgentKeyId, Timestamp)> },
    /// Adds a group or replaces the one with its name, which stays stopped if it is.
    PutGroup { group: Box<Group> },
    /// Stops a group: none of its agents may call from now on.
    StopGroup { name: String, at: Timestamp },
    /// Lets the agents of a group call again.
    ActivateGroup { name: String },
    /// Replaces the labels of an agent.
    SetLabels { agent: AgentId, labels: Vec<Label> },
    /// Removes a group.
    RemoveGroup { name: String },
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Done.
    Done,
    /// Activated: the epoch that began.
    Activated(Epoch),
}

/// An entry that changes nothing else in the database, like a login.
#[derive(Clone, Debug)]
pub struct AuditNote {
    /// The action, like `session.open`.
    pub action: &'static str,
    /// The target.
    pub target: Option<String>,
    /// Further details, as fields of JSON.
    pub details: Option<Value>,
}
