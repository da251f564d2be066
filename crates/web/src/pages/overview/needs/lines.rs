//! The sentence, link and button of each thing that needs attention.

use model::{Action, AgentId, IncidentId, Role};

use super::failing::FailingAgent;
use super::replicas::ReplicaTrouble;
use super::{Button, Need, SHOWN};
use crate::api::agents::AgentView;
use crate::api::kill_switch::SettingsView;
use crate::pages::alerts::health::FailingChannel;
use crate::pages::words::needs as words;

pub(super) fn unguarded_need(id: &AgentId, settings: &SettingsView) -> Need {
    let fields = vec![
        ("enabled", "on".to_owned()),
        ("window_size", settings.window_size.to_string()),
        ("threshold", settings.threshold.to_string()),
        ("action", Action::Deactivate.as_str().to_owned()),
        ("counting", settings.counting.as_str().to_owned()),
    ];
    Need {
        who: id.to_string(),
        what: words::unguarded(settings.enabled),
        link: Some((format!("/agents/{id}"), words::SEE_AGENT)),
        button: Some(Button {
            action: format!("/agents/{id}/kill-switch"),
            page: format!("/agents/{id}"),
            fields,
            label: words::guard(settings.enabled),
            warning: None,
            is_quiet: false,
            needs: Role::Admin,
        }),
    }
}

pub(super) fn stopped_need(agent: &AgentView, untold: &[IncidentId]) -> Need {
    let id = &agent.agent_id;
    let is_untold = agent.incident_id.is_some_and(|incident| untold.contains(&incident));
    let link = match agent.incident_id {
        Some(incident) => (format!("/incidents/{incident}"), words::SEE_INCIDENT),
        None => (format!("/agents/{id}"), words::SEE_AGENT),
    };
    let (action, warning) = (format!("/agents/{id}/activate"), Some(words::ACTIVATION));
    let (label, needs) = (words::ACTIVATE, Role::Operator);
    let page = format!("/agents/{id}");
    let button = Button { action, page, fields: Vec::new(), label, warning, is_quiet: false, needs };
    Need { who: id.to_string(), what: words::stopped(is_untold), link: Some(link), button: Some(button) }
}

/// A server that records nothing. It still forwards calls.
pub(super) fn not_recording_need(trouble: &str) -> Need {
    Need {
        who: words::SERVER.to_owned(),
        what: words::not_recording(trouble),
        link: Some(("/settings#health".to_owned(), words::SEE_SERVER)),
        button: None,
    }
}

pub(super) fn untold_need() -> Need {
    Need {
        who: words::KILLS.to_owned(),
        what: words::UNTOLD.to_owned(),
        link: Some(("/alerts".to_owned(), words::SET_ALERTS)),
        button: None,
    }
}

pub(super) fn failing_need(agent: &FailingAgent) -> Need {
    let FailingAgent { id, totals, loss, cause } = agent;
    let link = Some((format!("/requests?agent={id}&show={}&range=24h", loss.filter()), words::SEE_REQUESTS));
    Need { who: id.to_string(), what: words::failing(totals, cause), link, button: None }
}

pub(super) fn replica_need(replica: &ReplicaTrouble) -> Need {
    let what = match &replica.silent_since {
        Some(since) => words::silent(&since.ago),
        None => words::ALONE.to_owned(),
    };
    let link = Some(("/settings/replicas".to_owned(), words::SEE_REPLICAS));
    Need { who: replica.address.clone(), what, link, button: None }
}

/// A line for the further agents of a kind, of which `all` exist and only the first have a line.
pub(super) fn more_need(all: u64, what: (&'static str, &'static str), page: &str) -> Option<Need> {
    let more = all.checked_sub(SHOWN as u64).filter(|more| *more > 0)?;
    let what = if more == 1 { what.0 } else { what.1 }.to_owned();
    Some(Need { who: words::more_agents(more), what, link: Some((page.to_owned(), words::SEE_AGENTS)), button: None })
}

pub(super) fn spent_need(id: &AgentId) -> Need {
    let link = Some((format!("/agents/{id}#policy"), words::SEE_BUDGET));
    Need { who: id.to_string(), what: words::SPENT.to_owned(), link, button: None }
}

/// A group that has spent the budget that its agents share.
pub(super) fn spent_group_need(group: &str) -> Need {
    let link = Some(("/groups".to_owned(), words::SEE_GROUP));
    Need { who: words::group(group), what: words::SPENT_GROUP.to_owned(), link, button: None }
}

pub(super) fn channel_need(channel: &FailingChannel) -> Need {
    let action = format!("/alerts/channels/{}/test", channel.id);
    Need {
        who: channel.name.clone(),
        what: words::channel(&channel.why),
        link: Some(("/alerts".to_owned(), words::SEE_ALERTS)),
        button: channel.enabled.then(|| Button {
            action,
            page: "/alerts".to_owned(),
            fields: Vec::new(),
            label: words::TEST,
            warning: None,
            is_quiet: true,
            needs: Role::Operator,
        }),
    }
}
