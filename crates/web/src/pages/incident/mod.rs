//! The page of one incident: how the score came about, the window, and the calls of the evidence as
//! text.

pub(crate) mod actions;
pub(crate) mod comparison;
mod course;
mod evidence;
pub(crate) mod false_alarm;
mod notifications;
mod timeline;

use askama::Template;
use axum::extract::State;
use model::{CallId, IncidentId, IncidentState};
use store::Feedback;

use self::comparison::{Comparison, ComparisonQuery};
use self::course::Course;
use self::evidence::EvidenceLine;
use self::false_alarm::FalseAlarm;
use self::notifications::NotificationLine;
use self::timeline::Timeline;
use super::frame::Frame;
use super::number::Moment;
use super::plain::plain;
use super::score_bar::ScoreBar;
use super::words::incident::setting;
use super::words::labels::signal;
use super::{PageResult, assets, draw, words};
use crate::api::Signal;
use crate::api::agents;
use crate::api::incidents::{self, IncidentView};
use crate::app::App;
use crate::input::{Filters, IncidentPath};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "incident.html")]
struct IncidentPage {
    frame: Frame,
    id: String,
    agent: String,
    at: Moment,
    story: &'static str,
    /// The name of the call that it is about.
    trigger: &'static str,
    is_observed: bool,
    why: String,
    state: &'static str,
    course: Course,
    notifications: Vec<NotificationLine>,
    /// Whether the agent is inactive because of this incident.
    holds: bool,
    feedback: Option<Feedback>,
    false_alarm: Option<FalseAlarm>,
    settings: Vec<(&'static str, String)>,
    bar: ScoreBar,
    signals: [SignalLine; 3],
    total: String,
    timeline: Timeline,
    evidence: Vec<EvidenceLine>,
    /// The address of the whole bodies of its calls.
    bodies_at: String,
    comparison: Option<Comparison>,
}

struct SignalLine {
    name: &'static str,
    count: u32,
    weight: String,
    score: String,
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    IncidentPath(id): IncidentPath,
    Filters(query): Filters<ComparisonQuery>,
) -> PageResult {
    draw(&read(&app, frame, id, &query).await?)
}

async fn read(app: &App, frame: Frame, id: IncidentId, query: &ComparisonQuery) -> Result<IncidentPage, Problem> {
    let incident = incidents::read(app, id).await?;
    let now = app.web().clock.now();
    let heads = evidence::read(app, &incident).await?;
    let trigger: Option<CallId> = heads.last().map(|head| head.call);
    let timeline = timeline::read(app, &incident, trigger, &heads).await?;
    let signals = &incident.signals;
    // A viewer may not see bodies, so the page has none, not even hidden ones.
    let heads = if frame.may_operate() { heads } else { Vec::new() };
    let evidence = evidence::lines(heads, &timeline, incident.state, now);
    let false_alarm = match frame.may_operate() {
        true => false_alarm::read(app, &incident, now).await?,
        false => None,
    };
    Ok(IncidentPage {
        frame,
        id: incident.id.to_string(),
        agent: incident.agent_id.to_string(),
        at: Moment::new(incident.timestamp, now),
        story: words::incident::story(incident.state),
        trigger: words::incident::trigger(incident.state),
        is_observed: incident.state == IncidentState::Observed,
        why: words::why(signals),
        state: words::incident::state(incident.state),
        course: Course::new(&incident, now),
        notifications: notifications::read(app, id, now).await?,
        holds: incident.state == IncidentState::Open && holds(app, &incident).await,
        feedback: incident.feedback,
        false_alarm,
        settings: settings(&incident),
        bar: ScoreBar::new(incident.score, incident.threshold, signals),
        signals: [
            signal_line(signal::PROMPTS, signals.similar_prompts),
            signal_line(signal::RESPONSES, signals.similar_responses),
            signal_line(signal::TOOL_CALLS, signals.repeated_tool_calls),
        ],
        total: format!("{:.1}", incident.score),
        comparison: comparison::read(app, id, &evidence, query).await?,
        evidence,
        bodies_at: format!("/incidents/{id}/evidence"),
        timeline,
    })
}

/// Whether the agent is still inactive because of this incident. `false` if the agent was deleted
/// or cannot be read, so that no button offers to activate it.
async fn holds(app: &App, incident: &IncidentView) -> bool {
    agents::read(app, incident.agent_id.clone()).await.is_ok_and(|agent| !agent.active)
}

fn settings(incident: &IncidentView) -> Vec<(&'static str, String)> {
    let optional = |text: &Option<String>| text.as_deref().map(plain);
    let settings = [
        (setting::PROVIDER, Some(plain(&incident.provider))),
        (setting::MODEL, optional(&incident.model)),
        (setting::CONVERSATION, optional(&incident.conversation)),
        (setting::WINDOW, Some(words::incident::window_of(incident.window_size, incident.window))),
        (setting::THRESHOLD, Some(incident.threshold.to_string())),
        (setting::ACTION, Some(words::action(incident.action).to_owned())),
        (setting::COUNTING, Some(words::counting(incident.counting).to_owned())),
    ];
    settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn signal_line((_, name): (&str, &'static str), signal: Signal) -> SignalLine {
    SignalLine {
        name,
        count: signal.count,
        weight: format!("×{:.1}", signal.weight),
        score: format!("{:.1}", signal.score),
    }
}
