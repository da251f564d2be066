//! What needs a person, for the headline of Overview and Agents: each with what to look at and the
//! button that answers it.

use model::{Action, AgentId, DeactivatedBy, DeliveryState, IncidentId, Role, Timestamp};
use store::{AgentCounts, AgentFilter, DeliveryFilter, DeliveryRow, PageRequest, Period, Tally};

use super::alerts::health::{self, FailingChannel};
use super::words::needs as words;
use crate::api::agents::{self, AgentView};
use crate::api::kill_switch::SettingsView;
use crate::api::status;
use crate::app::App;
use crate::problem::Problem;

/// How many of a kind are listed; all are counted.
const SHOWN: usize = 5;
/// How many stopped agents are looked at, whether somebody was told.
const STOPPED_READ: u32 = 20;
/// How many agents nearest to their threshold are looked at.
const NEAREST_READ: usize = 200;
/// How many agents with calls are looked at.
const CALLERS_READ: u32 = 500;
/// A loop that made no call for so long is over.
const LOOP_MS: u64 = 60 * 60 * 1000;
/// The hour that runs and the one before it.
const FAILING_HOURS: u32 = 2;
/// Fewer calls say nothing about an agent.
const FAILING_CALLS: u64 = 10;

/// How many there are of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NeedCounts {
    pub(super) agents: AgentCounts,
    /// Agents that loop while their kill switch is off or only observes.
    pub(super) unguarded: usize,
    /// Agents most of whose calls fail or are refused.
    pub(super) failing: usize,
    /// Agents whose budget is spent.
    pub(super) spent: usize,
    /// Channels whose newest alert did not arrive.
    pub(super) channels: usize,
    /// Kills that no one was told of.
    pub(super) untold: usize,
    /// Whether nothing can be recorded.
    pub(super) not_recording: bool,
}

impl NeedCounts {
    /// Whether anything needs somebody.
    pub(super) fn is_alarming(&self) -> bool {
        let counted = [self.unguarded, self.failing, self.spent, self.channels, self.untold];
        self.agents.stopped > 0 || self.not_recording || counted.iter().any(|count| *count > 0)
    }
}

/// One thing that needs somebody.
pub(super) struct Need {
    /// What the sentence is about: an agent or a channel.
    pub(super) who: String,
    /// The rest of the sentence.
    pub(super) what: String,
    /// Where to look.
    pub(super) link: Option<(String, &'static str)>,
    /// What to do about it.
    pub(super) button: Option<Button>,
}

/// A form with one button.
pub(super) struct Button {
    pub(super) action: String,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) label: &'static str,
    /// What is said before it is done, where it should not happen by a slip.
    pub(super) warning: Option<&'static str>,
    /// Who may do it.
    pub(super) needs: Role,
}

/// What needs somebody, and the sentence that says it.
pub(super) struct Needs {
    pub(super) counts: NeedCounts,
    pub(super) summary: String,
    pub(super) lines: Vec<Need>,
}

/// Collects everything that needs somebody now.
pub(super) async fn collect(app: &App) -> Result<Needs, Problem> {
    let now = app.web().clock.now();
    let (stopped, untold) = stopped(app).await?;
    let unguarded = unguarded(app, now);
    let failing = failing(app, now).await?;
    let spent = spent(app, now);
    let channels = health::failing_channels(app).await?;
    let trouble = status::read(app).database_trouble;
    let counts = NeedCounts {
        agents: app.web().store.agent_counts().await?,
        unguarded: unguarded.len(),
        failing: failing.len(),
        spent: spent.len(),
        channels: channels.len(),
        untold: untold.len(),
        not_recording: trouble.is_some(),
    };
    let mut lines: Vec<Need> = trouble.iter().map(|trouble| not_recording_need(trouble)).collect();
    lines.extend(unguarded.iter().take(SHOWN).map(|(id, settings)| unguarded_need(id, settings)));
    lines.extend(stopped.iter().take(SHOWN).map(|agent| stopped_need(agent, &untold)));
    lines.extend(failing.iter().take(SHOWN).map(|(id, tally)| failing_need(id, tally)));
    lines.extend(spent.iter().take(SHOWN).map(spent_need));
    lines.extend(channels.iter().take(SHOWN).map(channel_need));
    lines.extend((!untold.is_empty()).then(untold_need));
    Ok(Needs { summary: words::summary(&counts), counts, lines })
}

/// The agents that the kill switch stopped, and those of their incidents that no one was told of.
async fn stopped(app: &App) -> Result<(Vec<AgentView>, Vec<IncidentId>), Problem> {
    let by_switch = AgentFilter { deactivated_by: Some(DeactivatedBy::KillSwitch), ..AgentFilter::default() };
    let agents = agents::read_page(app, &by_switch, &PageRequest { limit: STOPPED_READ, cursor: None }).await?.items;
    let mut untold = Vec::new();
    for incident in agents.iter().filter_map(|agent| agent.incident_id) {
        if !is_told(app, incident).await? {
            untold.push(incident);
        }
    }
    Ok((agents, untold))
}

/// Whether somebody was told of an incident, or the alert is just on its way.
async fn is_told(app: &App, incident: IncidentId) -> Result<bool, Problem> {
    let filter = DeliveryFilter { incident: Some(incident), ..DeliveryFilter::default() };
    let sent = app.web().store.deliveries(&filter, &PageRequest { limit: 50, cursor: None }).await?;
    for delivery in sent.items {
        let arrives = match (delivery.digest, delivery.state) {
            // An alert in a digest arrives with the digest, or not.
            (Some(digest), _) => app.web().store.delivery(digest).await?.is_some_and(|digest| may_arrive(&digest)),
            (None, DeliveryState::Digested) => true,
            (None, _) => may_arrive(&delivery),
        };
        if arrives {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an alert was delivered, or is on its way for the first time.
fn may_arrive(delivery: &DeliveryRow) -> bool {
    match delivery.state {
        DeliveryState::Delivered => true,
        DeliveryState::Queued => delivery.attempts.is_empty(),
        DeliveryState::Failed | DeliveryState::Digested => false,
    }
}

/// Active agents that loop while nothing would stop them.
fn unguarded(app: &App, now: Timestamp) -> Vec<(AgentId, SettingsView)> {
    let guard = &app.web().guard;
    let mut found = Vec::new();
    for id in guard.nearest(NEAREST_READ) {
        let Some(agent) = guard.agent(&id) else { continue };
        if agent.current_score.value <= agent.kill_switch.threshold {
            // The nearest come first: no other is above its threshold.
            break;
        }
        let is_recent = agent.last_seen.is_some_and(|seen| now.millis_since(seen) < LOOP_MS);
        if is_recent && (!agent.kill_switch.enabled || agent.kill_switch.action == Action::Observe) {
            found.push((id, agent.kill_switch.into()));
        }
    }
    found
}

/// Active agents most of whose calls fail or are refused, those with a spent budget apart.
async fn failing(app: &App, now: Timestamp) -> Result<Vec<(AgentId, Tally)>, Problem> {
    let period = Period::last_hours(FAILING_HOURS, now);
    let figures = app.web().store.agent_figures(period, CALLERS_READ).await?;
    let active = |id: &AgentId| app.web().guard.agent(id).is_some_and(|agent| agent.deactivation.is_none());
    let of_budget = |id: &AgentId| app.web().guard.policies().counted(id).is_some_and(|limits| limits.is_spent(now));
    let found = figures.into_iter().filter(|(id, tally)| is_failing(tally) && active(id) && !of_budget(id));
    Ok(found.collect())
}

/// Whether most of these calls failed or were refused.
pub(super) fn is_failing(tally: &Tally) -> bool {
    let calls = tally.requests + tally.blocked;
    calls >= FAILING_CALLS && 2 * (tally.errors + tally.blocked) > calls
}

/// Active agents whose calls are refused because a budget is spent.
fn spent(app: &App, now: Timestamp) -> Vec<AgentId> {
    let guard = &app.web().guard;
    let active = |id: &AgentId| guard.agent(id).is_some_and(|agent| agent.deactivation.is_none());
    let spent = guard.policies().all().into_iter().filter(|(id, limits)| limits.is_spent(now) && active(id));
    let mut agents: Vec<AgentId> = spent.map(|(id, _)| id).collect();
    agents.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    agents
}

fn unguarded_need(id: &AgentId, settings: &SettingsView) -> Need {
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
            fields,
            label: words::GUARD,
            warning: None,
            needs: Role::Admin,
        }),
    }
}

fn stopped_need(agent: &AgentView, untold: &[IncidentId]) -> Need {
    let id = &agent.agent_id;
    let is_untold = agent.incident_id.is_some_and(|incident| untold.contains(&incident));
    let link = match agent.incident_id {
        Some(incident) => (format!("/incidents/{incident}"), words::SEE_INCIDENT),
        None => (format!("/agents/{id}"), words::SEE_AGENT),
    };
    let (action, warning) = (format!("/agents/{id}/activate"), Some(words::ACTIVATION));
    let button = Button { action, fields: Vec::new(), label: words::ACTIVATE, warning, needs: Role::Operator };
    Need { who: id.to_string(), what: words::stopped(is_untold), link: Some(link), button: Some(button) }
}

/// A server that records nothing: calls go through, but nobody will know of them.
fn not_recording_need(trouble: &str) -> Need {
    Need {
        who: words::SERVER.to_owned(),
        what: words::not_recording(trouble),
        link: Some(("/settings#health".to_owned(), words::SEE_SERVER)),
        button: None,
    }
}

fn untold_need() -> Need {
    Need {
        who: words::KILLS.to_owned(),
        what: words::UNTOLD.to_owned(),
        link: Some(("/alerts".to_owned(), words::SET_ALERTS)),
        button: None,
    }
}

fn failing_need(id: &AgentId, tally: &Tally) -> Need {
    let which = if tally.errors > tally.blocked { "failed" } else { "blocked" };
    let link = Some((format!("/requests?agent={id}&show={which}&range=24h"), words::SEE_REQUESTS));
    Need { who: id.to_string(), what: words::failing(tally), link, button: None }
}

fn spent_need(id: &AgentId) -> Need {
    let link = Some((format!("/agents/{id}#policy"), words::SEE_BUDGET));
    Need { who: id.to_string(), what: words::SPENT.to_owned(), link, button: None }
}

fn channel_need(channel: &FailingChannel) -> Need {
    let action = format!("/alerts/channels/{}/test", channel.id);
    Need {
        who: channel.name.clone(),
        what: words::channel(&channel.why),
        link: Some(("/alerts".to_owned(), words::SEE_ALERTS)),
        button: channel.enabled.then(|| Button {
            action,
            fields: Vec::new(),
            label: words::TEST,
            warning: None,
            needs: Role::Operator,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_fails_if_most_of_enough_calls_do() {
        let tally = |requests, errors, blocked| Tally { requests, errors, blocked, ..Tally::default() };
        for (tally, expected) in [
            (tally(10, 6, 0), true),
            (tally(10, 5, 0), false),
            (tally(9, 9, 0), false),
            (tally(0, 0, 10), true),
            (tally(50, 0, 10), false),
        ] {
            assert_eq!(is_failing(&tally), expected, "{tally:?}");
        }
    }
}
