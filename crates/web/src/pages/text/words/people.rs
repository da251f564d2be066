//! The words for people and their actions.

use model::ActorKind;

/// The name of an actor.
pub(in crate::pages) fn holder(kind: ActorKind, name: &str) -> String {
    match kind {
        ActorKind::User => name.to_owned(),
        ActorKind::Token => format!("API token {name}"),
        ActorKind::FirstToken => "First token".to_owned(),
        ActorKind::CommandLine => "Command line".to_owned(),
        ActorKind::Anonymous => "Unknown".to_owned(),
    }
}

/// The actions that the filter offers.
pub(in crate::pages) const ACTIONS: &[(&str, &str)] = &[
    ("agent.activate", "Activations"),
    ("agent.deactivate", "Deactivations"),
    ("agent.", "Agents"),
    ("incident.", "Incidents"),
    ("exemption.", "Exemptions"),
    ("settings.", "Settings"),
    ("provider.", "Providers"),
    ("channel.", "Channels"),
    ("rule.", "Alert rules"),
    ("user.", "Users"),
    ("token.", "API tokens"),
    ("agent_key.", "Agent keys"),
    ("group.", "Groups"),
    ("session.", "Sessions"),
    ("session.refuse", "Failed logins"),
];

/// The target of an audit row: `user ann` for `user:0190…`, if the name is known.
pub(in crate::pages) fn target(target: &str, named: Option<&str>) -> String {
    let Some((kind, id)) = target.split_once(':') else { return target.to_owned() };
    let (kind, takes_name) = match kind {
        "agent_key" => ("agent key", true),
        "token" => ("API token", true),
        "user" | "channel" => (kind, true),
        kind => (kind, false),
    };
    format!("{kind} {}", named.filter(|_| takes_name).unwrap_or(id))
}

/// The name of an action.
pub(in crate::pages) fn action(word: &str) -> String {
    let text = match word {
        "agent.kill_switch" => "Changed the kill switch",
        "agent.policy" => "Changed the policy",
        "agent.policy.reset" => "Went back to the default policy",
        "agent.activate" => "Activated",
        "agent.deactivate" => "Deactivated",
        "agent.rename" => "Renamed",
        "agent.labels" => "Changed the labels",
        "agent.delete" => "Deleted the agent",
        "provider.change" => "Changed the provider",
        "provider.remove" => "Removed the provider",
        "incident.feedback" => "Gave feedback",
        "incident.delete" => "Deleted the incident",
        "exemption.create" => "Made an exemption",
        "exemption.revoke" => "Revoked an exemption",
        "settings.change" => "Changed the settings",
        "settings.mail" => "Changed the mail server",
        "agent.recording" => "Switched its recording",
        "settings.policy" => "Changed the default policy",
        "channel.change" => "Changed the channel",
        "channel.delete" => "Deleted the channel",
        "channel.test" => "Tested the channel",
        "rule.change" => "Changed the alert rule",
        "rule.delete" => "Deleted the alert rule",
        "alert.retry" => "Sent an alert again",
        "agent_key.create" => "Made an agent key",
        "agent_key.revoke" => "Revoked an agent key",
        "group.change" => "Changed the group",
        "group.delete" => "Deleted the group",
        "group.stop" => "Stopped the group",
        "group.activate" => "Activated the group",
        "user.create" => "Added the user",
        "user.change" => "Changed the user",
        "user.password" => "Changed their own password",
        "user.delete" => "Deleted the user",
        "token.create" => "Made an API token",
        "token.revoke" => "Revoked an API token",
        "first_token.replace" => "Replaced the first token",
        "session.open" => "Logged in",
        "session.refuse" => "Failed to log in",
        "session.close" => "Logged out",
        "session.close_all" => "Logged out everywhere",
        "session.end" => "Ended a session",
        other => return other.to_owned(),
    };
    text.to_owned()
}
