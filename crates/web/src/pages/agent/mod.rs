//! The page of one agent: whether it is active and why not, its kill switch, how near it is to its
//! threshold, and its recent activity.

pub(crate) mod actions;
mod activity;
pub(crate) mod policy;
pub(crate) mod settings;
mod what_if;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use model::DeactivatedBy;

pub(super) use self::activity::fold_refusals;
use self::activity::{ConversationLine, UnscoredLine};
use self::policy::PolicySection;
use self::settings::SettingsForm;
use self::what_if::{WhatIf, WhatIfQuery};
use super::agents::AgentLine;
use super::chart::Chart;
use super::exemptions::ExemptionLine;
use super::frame::Frame;
use super::incidents::IncidentLine;
use super::needs::{self, AgentNeeds};
use super::number::{Count, Moment, Money};
use super::requests::{self, RequestLine};
use super::{PageResult, assets, draw_as, figures, words};
use crate::api::Signals;
use crate::api::agents::{self, AgentView};
use crate::api::recording::{self, RecordingView};
use crate::app::App;
use crate::input::{AgentPath, Filters};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage {
    frame: Frame,
    agent: AgentLine,
    is_active: bool,
    /// Its labels, separated by commas.
    labels: String,
    /// The groups that it is in.
    groups: Vec<String>,
    /// The group that is stopped, if one of them is.
    stopped_group: Option<String>,
    today: Today,
    since: Option<Moment>,
    stop: Option<Stop>,
    needs: AgentNeeds,
    signals: Signals,
    why: String,
    /// Whether the score is so old that it no longer counts.
    was_scored_before: bool,
    /// The stored settings.
    saved: SettingsForm,
    /// The settings in the form: the submitted ones, if they have an error.
    form: SettingsForm,
    policy: PolicySection,
    would_have_stopped: Count,
    what_if: WhatIf,
    charts: Vec<Chart>,
    conversations: Vec<ConversationLine>,
    incidents: Vec<IncidentLine>,
    exemptions: Vec<ExemptionLine>,
    requests: Vec<RequestLine>,
    unscored: Vec<UnscoredLine>,
    recording: RecordingView,
    can_record: bool,
    /// The limits on the age and size of recorded calls.
    recording_limits: String,
    proxy_url: String,
}

/// The calls and costs of today.
struct Today {
    calls: Count,
    errors: Count,
    refused: Count,
    cost: Money,
}

/// A stop of the agent by the kill switch.
struct Stop {
    incident: Option<StopIncident>,
    /// Whether no one was notified of it.
    is_untold: bool,
    refused: Count,
}

/// The incident of the stop, while it is kept.
struct StopIncident {
    id: String,
    score: String,
    why: String,
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    AgentPath(id): AgentPath,
    Filters(query): Filters<WhatIfQuery>,
) -> PageResult {
    let agent = agents::read(&app, id).await?;
    draw_with(&app, frame, agent, Forms { what_if: query, ..Forms::default() }).await
}

/// Forms of the page that differ from the stored state: just submitted, or tried out.
#[derive(Default)]
struct Forms {
    settings: Option<SettingsForm>,
    policy: Option<PolicySection>,
    what_if: WhatIfQuery,
}

/// Draws the page with these forms.
async fn draw_with(app: &App, frame: Frame, agent: AgentView, forms: Forms) -> Result<Response, Problem> {
    let page = read(app, frame, agent, forms).await?;
    draw_as(page.form.status().max(page.policy.fields.status()), &page)
}

async fn read(app: &App, frame: Frame, agent: AgentView, forms: Forms) -> Result<AgentPage, Problem> {
    let (now, id) = (app.web().clock.now(), &agent.agent_id);
    app.web().recorder.catch_up().await;
    // These run at the same time: there are several readers, and the what-if reads the most.
    let ((what_if, exemptions), stop, needs, policy, charts, activity, recording) = tokio::try_join!(
        what_if::read(app, &agent, forms.what_if),
        Box::pin(stop(app, &agent)),
        Box::pin(needs::of_agent(app, &frame.events, id)),
        PolicySection::sent_or_read(forms.policy, app, id),
        figures::charts(app, Some(id)),
        activity::read(app, &frame, id, now),
        recording::read(app, id),
    )?;
    let totals =
        app.web().store.figures_of(std::iter::once(id), frame.day.today()).await?.remove(id).unwrap_or_default();
    let groups = app.web().store.groups();
    Ok(AgentPage {
        frame,
        today: Today {
            calls: totals.requests.into(),
            errors: totals.errors.into(),
            refused: totals.blocked.into(),
            cost: Money::spent(&totals),
        },
        is_active: agent.active,
        labels: words::joined(&agent.labels),
        groups: groups.all().iter().filter(|group| group.includes(id)).map(|group| group.name.clone()).collect(),
        stopped_group: groups.stopped(id).map(|group| group.name.clone()),
        since: agent.deactivated_at.map(|at| Moment::new(at, now)),
        stop,
        needs,
        signals: agent.signals,
        why: words::why(&agent.signals),
        was_scored_before: agent.last_seen.is_some_and(|seen| exemptions.iter().any(|it| seen <= it.created_at)),
        saved: SettingsForm::new(&agent.kill_switch),
        form: forms.settings.unwrap_or_else(|| SettingsForm::new(&agent.kill_switch)),
        policy,
        what_if,
        charts,
        would_have_stopped: activity.would_have_stopped.into(),
        conversations: activity.conversations,
        incidents: activity.incidents,
        exemptions: exemptions.into_iter().map(|row| ExemptionLine::new(&row.into())).collect(),
        requests: requests::lines(&activity.events, now),
        unscored: activity.unscored,
        can_record: app.web().recording.is_possible,
        recording_limits: words::recording_limits(app.web().recording.keep, app.web().recording.max_size),
        recording,
        agent: AgentLine::new(&agent, now),
        proxy_url: app.web().proxy_url.clone(),
    })
}

/// The stop of the agent by the kill switch, if there was one.
async fn stop(app: &App, agent: &AgentView) -> Result<Option<Stop>, Problem> {
    if agent.deactivated_by != Some(DeactivatedBy::KillSwitch) {
        return Ok(None);
    }
    let (incident, is_untold) = match agent.incident_id {
        Some(id) => (app.web().store.incident(id).await?, !needs::is_told(app, id).await?),
        None => (None, false),
    };
    let incident = incident.map(|row| StopIncident {
        id: row.id.to_string(),
        score: format!("{:.1} / {}", row.score.value, row.kill_switch.threshold),
        why: words::why(&row.score.signals.into()),
    });
    Ok(Some(Stop { incident, is_untold, refused: app.web().store.refused(&agent.agent_id).await?.into() }))
}
