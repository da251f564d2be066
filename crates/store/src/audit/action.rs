//! The name and the target of each change in the audit log. The match has no catch-all, so a new
//! change does not compile until it has both.

use model::{AgentId, AgentKeyId, ChannelId, DeliveryId, ExemptionId, IncidentId, RuleId};
use serde_json::Value;

use crate::{AccessChange, AlertChange, Change, PeopleChange};

/// A change as the audit log calls it.
pub(super) struct Audited<'a> {
    pub(super) action: &'static str,
    pub(super) target: Target<'a>,
    /// The secret field that it sets, if any, and the word that stands in the log for its value.
    pub(super) secret: Option<(&'static str, &'static str)>,
    /// Details of a note: no row in the database holds them.
    pub(super) details: Option<&'a Value>,
}

/// What a change is about.
pub(super) enum Target<'a> {
    Agent(&'a AgentId),
    Policy(&'a AgentId),
    DefaultPolicy,
    Provider(&'a str),
    Incident(IncidentId),
    Exemption(ExemptionId),
    Settings,
    /// The mail server.
    Mail,
    /// Whether an agent is recorded.
    Recording(&'a AgentId),
    Channel(ChannelId),
    Rule(RuleId),
    Delivery(DeliveryId),
    AgentKey(AgentKeyId),
    Group(&'a str),
    User(&'a str),
    Token(&'a str),
    /// Something without a row of its own.
    Other(Option<&'a str>),
}

impl Target<'_> {
    /// Its kind and id, as the log stores them.
    pub(super) fn name(&self) -> Option<String> {
        Some(match self {
            Target::Agent(id) | Target::Policy(id) | Target::Recording(id) => format!("agent:{id}"),
            Target::DefaultPolicy | Target::Settings | Target::Mail => "settings".to_owned(),
            Target::Provider(name) => format!("provider:{name}"),
            Target::Incident(id) => format!("incident:{id}"),
            Target::Exemption(id) => format!("exemption:{id}"),
            Target::Channel(id) => format!("channel:{id}"),
            Target::Rule(id) => format!("rule:{id}"),
            Target::Delivery(id) => format!("alert:{id}"),
            Target::AgentKey(id) => format!("agent_key:{id}"),
            Target::Group(name) => format!("group:{name}"),
            Target::User(id) => format!("user:{id}"),
            Target::Token(id) => format!("token:{id}"),
            Target::Other(name) => return name.map(str::to_owned),
        })
    }
}

/// The entry for `change`; `None` if only the program itself makes it.
pub(super) fn of(change: &Change) -> Option<Audited<'_>> {
    let audited = |action, target| Some(Audited { action, target, secret: None, details: None });
    match change {
        Change::Configure { agent, .. } => audited("agent.kill_switch", Target::Agent(agent)),
        Change::SetPolicy { agent, .. } => audited("agent.policy", Target::Policy(agent)),
        Change::ResetPolicy { agent } => audited("agent.policy.reset", Target::Policy(agent)),
        Change::SetDefaultPolicy { .. } => audited("settings.policy", Target::DefaultPolicy),
        Change::Activate { agent, .. } => audited("agent.activate", Target::Agent(agent)),
        Change::Deactivate { agent, .. } => audited("agent.deactivate", Target::Agent(agent)),
        Change::Rename { agent, .. } => audited("agent.rename", Target::Agent(agent)),
        Change::DeleteAgent { agent } => audited("agent.delete", Target::Agent(agent)),
        Change::PutProvider { provider } => Some(Audited {
            action: "provider.change",
            target: Target::Provider(&provider.name),
            secret: provider.key.as_ref().map(|_| ("key", "new")),
            details: None,
        }),
        Change::RemoveProvider { name } => audited("provider.remove", Target::Provider(name)),
        Change::SetFeedback { incident, .. } => audited("incident.feedback", Target::Incident(*incident)),
        Change::DeleteIncident { incident } => audited("incident.delete", Target::Incident(*incident)),
        Change::AddExemption { row } => audited("exemption.create", Target::Exemption(row.exemption.id)),
        Change::RemoveExemption { id, .. } => audited("exemption.revoke", Target::Exemption(*id)),
        Change::PutSmtpServer { server } => Some(Audited {
            action: "settings.mail",
            target: Target::Mail,
            secret: server.as_ref().and_then(|server| server.password.as_ref()).map(|_| ("password", "stored")),
            details: None,
        }),
        Change::SetRecording { agent, .. } => audited("agent.recording", Target::Recording(agent)),
        Change::PutSettings { .. } => audited("settings.change", Target::Settings),
        Change::Access(change) => of_access(change),
        Change::Alerts(change) => of_alerts(change),
        Change::People(change) => of_people(change),
        Change::Note(note) => Some(Audited {
            action: note.action,
            target: Target::Other(note.target.as_deref()),
            secret: None,
            details: note.details.as_ref(),
        }),
    }
}

fn of_alerts(change: &AlertChange) -> Option<Audited<'_>> {
    let audited = |action, target| Some(Audited { action, target, secret: None, details: None });
    match change {
        AlertChange::PutChannel { channel } => Some(Audited {
            action: "channel.change",
            target: Target::Channel(channel.id),
            secret: channel.settings.as_ref().map(|_| ("target", "stored")),
            details: None,
        }),
        AlertChange::RemoveChannel { channel, .. } => audited("channel.delete", Target::Channel(*channel)),
        AlertChange::PutRule { rule } => audited("rule.change", Target::Rule(rule.id)),
        AlertChange::RemoveRule { rule } => audited("rule.delete", Target::Rule(*rule)),
        AlertChange::Test { channel, .. } => audited("channel.test", Target::Channel(*channel)),
        AlertChange::Retry { delivery, .. } => audited("alert.retry", Target::Delivery(*delivery)),
        AlertChange::Attempted { .. }
        | AlertChange::Digest { .. }
        | AlertChange::ClockSetBack { .. }
        | AlertChange::Transitions { .. } => None,
    }
}

fn of_access(change: &AccessChange) -> Option<Audited<'_>> {
    let audited = |action, target| Some(Audited { action, target, secret: None, details: None });
    match change {
        AccessChange::AddKey { key } => audited("agent_key.create", Target::AgentKey(key.id)),
        AccessChange::RemoveKey { id } => audited("agent_key.revoke", Target::AgentKey(*id)),
        AccessChange::NoteKeyUses { .. } => None,
        AccessChange::PutGroup { group } => audited("group.change", Target::Group(&group.name)),
        AccessChange::StopGroup { name, .. } => audited("group.stop", Target::Group(name)),
        AccessChange::ActivateGroup { name } => audited("group.activate", Target::Group(name)),
        AccessChange::SetLabels { agent, .. } => audited("agent.labels", Target::Agent(agent)),
        AccessChange::RemoveGroup { name } => audited("group.delete", Target::Group(name)),
    }
}

fn of_people(change: &PeopleChange) -> Option<Audited<'_>> {
    let audited = |action, target| Some(Audited { action, target, secret: None, details: None });
    match change {
        PeopleChange::PutUser { user, is_new, has_new_password } => Some(Audited {
            action: if *is_new { "user.create" } else { "user.change" },
            target: Target::User(&user.id),
            secret: has_new_password.then_some(("password", "new")),
            details: None,
        }),
        PeopleChange::RemoveUser { id } => audited("user.delete", Target::User(id)),
        PeopleChange::AddToken { token } => audited("token.create", Target::Token(&token.id)),
        PeopleChange::RemoveToken { id } => audited("token.revoke", Target::Token(id)),
        PeopleChange::TokenUsed { .. } | PeopleChange::LoggedIn { .. } => None,
    }
}
