//! The things that need a person, for the headline of Overview and Agents and for the page of one
//! agent: each with a link and the button that deals with it.

mod failing;
mod lines;
mod replicas;

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use model::{Action, AgentId, DeactivatedBy, DeliveryState, IncidentId, Role, Timestamp};
use store::{AgentCounts, AgentFilter, DeliveryFilter, DeliveryRow, PageRequest};

use self::failing::FailingAgent;
pub(in crate::pages) use self::failing::{Cause, Loss};
use self::lines::{
    channel_need, failing_need, more_need, not_recording_need, replica_need, spent_group_need, spent_need,
    stopped_need, unguarded_need, untold_need,
};
use self::replicas::ReplicaTrouble;
use crate::api::agents::{self, AgentView};
use crate::api::channels;
use crate::api::kill_switch::SettingsView;
use crate::api::status;
use crate::app::App;
use crate::event_reader::EventReader;
use crate::pages::alerts::health::{self, FailingChannel};
use crate::pages::words::needs as words;
use crate::problem::Problem;

/// The most lines of a kind; all are counted.
const SHOWN: usize = 5;
/// The most stopped agents for which the notification is checked.
pub(in crate::pages) const STOPPED_READ: u32 = 20;
/// The most agents nearest to their threshold that are checked.
const NEAREST_READ: usize = 200;
/// A loop counts as over if it made no call for this long.
const LOOP_MS: u64 = 60 * 60 * 1000;

/// The number of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pages) struct NeedCounts {
    pub(in crate::pages) agents: AgentCounts,
    /// Agents that loop while their kill switch is off or only observes.
    pub(in crate::pages) unguarded: usize,
    /// Agents most of whose calls fail or are refused.
    pub(in crate::pages) failing: usize,
    /// Agents and groups whose budget is spent.
    pub(in crate::pages) spent: usize,
    /// Channels whose newest alert did not arrive.
    pub(in crate::pages) channels: usize,
    /// Kills that no one was notified of, among those that were checked.
    pub(in crate::pages) untold: usize,
    /// Replicas that went silent without leaving.
    pub(in crate::pages) silent_replicas: usize,
    /// Replicas that decide alone because the shared engine is unreachable.
    pub(in crate::pages) lone_replicas: usize,
    /// Whether nothing can be recorded.
    pub(in crate::pages) not_recording: bool,
}

impl NeedCounts {
    /// Whether anything needs attention.
    pub(in crate::pages) fn is_alarming(&self) -> bool {
        let of_agents = [self.unguarded, self.failing, self.spent];
        let counted = [self.channels, self.untold, self.silent_replicas, self.lone_replicas];
        self.agents.stopped > 0 || self.not_recording || of_agents.iter().chain(&counted).any(|count| *count > 0)
    }
}

/// One thing that needs a person.
pub(in crate::pages) struct Need {
    /// The subject of the sentence: an agent or a channel.
    pub(in crate::pages) who: String,
    /// The rest of the sentence.
    pub(in crate::pages) what: String,
    /// The page with more about it.
    pub(in crate::pages) link: Option<(String, &'static str)>,
    /// The button that deals with it.
    pub(in crate::pages) button: Option<Button>,
}

/// A form with one button.
pub(in crate::pages) struct Button {
    pub(in crate::pages) action: String,
    /// The path of the page that answers.
    pub(in crate::pages) page: String,
    pub(in crate::pages) fields: Vec<(&'static str, String)>,
    pub(in crate::pages) label: &'static str,
    /// The question before it is done, if it should not happen by accident. Such a form also asks
    /// for a reason.
    pub(in crate::pages) warning: Option<&'static str>,
    /// Whether it can wait, so that it is not a primary action.
    pub(in crate::pages) is_quiet: bool,
    /// The role that it needs.
    pub(in crate::pages) needs: Role,
}

/// The things that need a person, and the sentence that sums them up.
pub(in crate::pages) struct Needs {
    pub(in crate::pages) counts: NeedCounts,
    /// The sentences of the headline, the most urgent first.
    pub(in crate::pages) summary: Vec<String>,
    pub(in crate::pages) lines: Vec<Need>,
    /// The agents most of whose calls fail or are refused, and which of the two.
    pub(in crate::pages) failing: HashMap<AgentId, Loss>,
}

/// Everything that needs attention, by its kind.
struct Found {
    /// Why nothing is recorded.
    trouble: Option<String>,
    replicas: Vec<ReplicaTrouble>,
    unguarded: Vec<(AgentId, SettingsView)>,
    /// The first of the stopped agents.
    stopped: Vec<AgentView>,
    /// The incidents among theirs that no one was notified of.
    untold: Vec<IncidentId>,
    failing: Vec<FailingAgent>,
    spent: Vec<AgentId>,
    /// The groups that have spent the budget of all their agents.
    spent_groups: Vec<String>,
    channels: Vec<FailingChannel>,
}

/// Collects everything that needs attention now.
pub(in crate::pages) async fn collect(app: &App, events: &EventReader) -> Result<Needs, Problem> {
    let now = app.web().clock.now();
    let (stopped, untold) = stopped(app).await?;
    let Json(channels) = channels::list(State(app.clone())).await?;
    let found = Found {
        trouble: status::read(app).database_trouble,
        replicas: replicas::of_all(app, now).await?,
        unguarded: unguarded(app, now),
        stopped,
        untold,
        failing: failing::of_all(app, events, now).await?,
        spent: spent(app, now),
        spent_groups: spent_groups(app, now),
        channels: health::failing(&channels.items),
    };
    let counts = found.counts(app.web().store.agent_counts().await?);
    let mut lines = found.lines(counts.agents.stopped);
    let no_one_is_told = counts.untold > 0 && !health::reaches_anyone(app, &channels.items).await?;
    lines.extend(no_one_is_told.then(untold_need));
    let failing = found.failing.into_iter().map(|it| (it.id, it.loss)).collect();
    Ok(Needs { summary: words::summary(&counts), counts, lines, failing })
}

impl Found {
    fn counts(&self, agents: AgentCounts) -> NeedCounts {
        let silent_replicas = self.replicas.iter().filter(|it| it.silent_since.is_some()).count();
        NeedCounts {
            agents,
            unguarded: self.unguarded.len(),
            failing: self.failing.len(),
            spent: self.spent.len() + self.spent_groups.len(),
            channels: self.channels.len(),
            untold: self.untold.len(),
            silent_replicas,
            lone_replicas: self.replicas.len() - silent_replicas,
            not_recording: self.trouble.is_some(),
        }
    }

    /// A line for the first of each kind, and one that counts the others.
    fn lines(&self, stopped: u64) -> Vec<Need> {
        let mut lines: Vec<Need> = self.trouble.iter().map(|trouble| not_recording_need(trouble)).collect();
        lines.extend(self.replicas.iter().take(SHOWN).map(replica_need));
        lines.extend(self.unguarded.iter().take(SHOWN).map(|(id, settings)| unguarded_need(id, settings)));
        lines.extend(more_need(self.unguarded.len() as u64, words::MORE_UNGUARDED, "/agents"));
        lines.extend(self.stopped.iter().take(SHOWN).map(|agent| stopped_need(agent, &self.untold)));
        lines.extend(more_need(stopped, words::MORE_STOPPED, "/agents?state=stopped"));
        lines.extend(self.failing.iter().take(SHOWN).map(failing_need));
        lines.extend(more_need(self.failing.len() as u64, words::MORE_FAILING, "/agents"));
        lines.extend(self.spent.iter().take(SHOWN).map(spent_need));
        lines.extend(more_need(self.spent.len() as u64, words::MORE_SPENT, "/agents"));
        lines.extend(self.spent_groups.iter().map(|group| spent_group_need(group)));
        lines.extend(self.channels.iter().take(SHOWN).map(channel_need));
        lines
    }
}

/// The things that need a person on the page of one agent. The page itself reports a stop by the
/// kill switch.
pub(in crate::pages) struct AgentNeeds {
    pub(in crate::pages) lines: Vec<Need>,
}

/// Collects the things about one agent that need a person.
pub(in crate::pages) async fn of_agent(app: &App, events: &EventReader, id: &AgentId) -> Result<AgentNeeds, Problem> {
    let now = app.web().clock.now();
    let mut lines = Vec::new();
    if let Some(settings) = unguarded_settings(app, id, now) {
        // The line needs no link, because this is the page that it would link to.
        lines.push(Need { link: None, ..unguarded_need(id, &settings) });
    }
    if is_active(app, id) {
        lines.extend(own_budget_is_spent(app, id, now).then(|| spent_need(id)));
        lines.extend(spent_groups_of(app, id, now).iter().map(|group| spent_group_need(group)));
    }
    lines.extend(failing::of_agent(app, events, id, now).await?.iter().map(failing_need));
    Ok(AgentNeeds { lines })
}

/// The agents that the kill switch stopped, and their incidents that no one was notified of.
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

/// Whether someone was notified of an incident, or the alert may still arrive.
pub(in crate::pages) async fn is_told(app: &App, incident: IncidentId) -> Result<bool, Problem> {
    let filter = DeliveryFilter { incident: Some(incident), ..DeliveryFilter::default() };
    let sent = app.web().store.deliveries(&filter, &PageRequest { limit: 50, cursor: None }).await?;
    for delivery in sent.items {
        let arrives = match (delivery.digest, delivery.state) {
            // An alert in a digest arrives if the digest does.
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

/// Whether an alert was delivered, or has not failed yet.
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
            // The nearest come first, so no other agent is above its threshold.
            break;
        }
        if let Some(settings) = unguarded_settings(app, &id, now) {
            found.push((id, settings));
        }
    }
    // They are sorted by name: equal scores come in any order, and the lines must not jump.
    found.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    found
}

/// The settings of an active agent that loops although they stop nothing.
fn unguarded_settings(app: &App, id: &AgentId, now: Timestamp) -> Option<SettingsView> {
    let agent = app.web().guard.agent(id).filter(|agent| agent.deactivation.is_none())?;
    let is_looping = agent.current_score.value > agent.kill_switch.threshold;
    let is_recent = agent.last_seen.is_some_and(|seen| now.millis_since(seen) < LOOP_MS);
    let stops_nothing = !agent.kill_switch.enabled || agent.kill_switch.action == Action::Observe;
    (is_looping && is_recent && stops_nothing).then(|| agent.kill_switch.into())
}

/// Whether an agent is active. An agent that is not in memory is, because inactive agents stay in
/// memory.
fn is_active(app: &App, id: &AgentId) -> bool {
    app.web().guard.agent(id).is_none_or(|agent| agent.deactivation.is_none())
}

/// Whether the calls of an active agent are refused because a budget is spent: its own, or that of
/// one of its groups.
fn is_spent(app: &App, id: &AgentId, now: Timestamp) -> bool {
    is_active(app, id) && (own_budget_is_spent(app, id, now) || !spent_groups_of(app, id, now).is_empty())
}

fn own_budget_is_spent(app: &App, id: &AgentId, now: Timestamp) -> bool {
    app.web().guard.policies().counted(id).is_some_and(|limits| limits.is_spent(now))
}

/// The groups of an agent whose budget is spent.
fn spent_groups_of(app: &App, id: &AgentId, now: Timestamp) -> Vec<String> {
    let groups = app.web().guard.policies().groups_of(id).into_iter();
    groups.filter(|group| group.limits.is_spent(now)).map(|group| group.group.name.clone()).collect()
}

/// The groups whose budget is spent. The calls of a stopped group are refused anyway.
fn spent_groups(app: &App, now: Timestamp) -> Vec<String> {
    let policies = app.web().guard.policies();
    let is_spent = |name: &str| policies.group(name).is_some_and(|group| group.limits.is_spent(now));
    let groups = app.web().store.groups().all().into_iter();
    groups.filter(|group| group.stopped_at.is_none() && is_spent(&group.name)).map(|group| group.name.clone()).collect()
}

/// Active agents whose calls are refused because a budget is spent.
fn spent(app: &App, now: Timestamp) -> Vec<AgentId> {
    let policies = app.web().guard.policies().all();
    let spent = policies.into_iter().filter(|(id, limits)| limits.is_spent(now) && is_active(app, id));
    let mut agents: Vec<AgentId> = spent.map(|(id, _)| id).collect();
    agents.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    agents
}
