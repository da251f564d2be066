//! One agent: whether it is active and why not, its kill switch, how near it is to its threshold,
//! and what it did lately.

pub(crate) mod actions;
pub(crate) mod policy;
pub(crate) mod settings;
mod what_if;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use model::{AgentId, DeactivatedBy, EventType, Timestamp, Unscored};
use store::{ConversationRow, EventFilter, EventRow, IncidentFilter, IncidentRow, PageRequest, Period};

use self::policy::PolicySection;
use self::settings::SettingsForm;
use self::what_if::{WhatIf, WhatIfQuery};
use super::agents::AgentLine;
use super::chart::Chart;
use super::exemptions::ExemptionLine;
use super::frame::Frame;
use super::incidents::IncidentLine;
use super::number::{Count, Moment, Money};
use super::plain::cut;
use super::requests::{self, RequestLine};
use super::{Drawn, assets, draw_as, figures, words};
use crate::api::Signals;
use crate::api::agents::{self, AgentView};
use crate::app::App;
use crate::input::{AgentPath, Filters};
use crate::problem::Problem;

const REQUESTS_SHOWN: usize = 20;
/// A storm of refusals, a row a minute, becomes one row; so more are read than are shown.
const REQUESTS_READ: u32 = 200;
const INCIDENTS_SHOWN: u32 = 5;
/// The most expensive conversations of the last seven days are shown.
const CONVERSATION_HOURS: u32 = 7 * 24;
const CONVERSATIONS_SHOWN: u32 = 10;
/// Ids of clients are long, and people know a conversation by its time.
const CONVERSATION_LENGTH: usize = 12;
/// Calls that were not scored are counted over the last seven days.
const UNSCORED_HOURS: u32 = 7 * 24;

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage {
    frame: Frame,
    agent: AgentLine,
    is_active: bool,
    today: Today,
    since: Option<Moment>,
    stop: Option<Stop>,
    signals: Signals,
    why: String,
    /// Whether the score is older than something that does not count any more.
    was_scored_before: bool,
    /// The settings as they hold.
    saved: SettingsForm,
    /// The settings in the form: what was sent, if something is wrong with it.
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
    proxy_url: String,
}

/// What it did today.
struct Today {
    calls: Count,
    errors: Count,
    refused: Count,
    cost: Money,
}

/// What the kill switch did to the agent.
struct Stop {
    incident: Option<StopIncident>,
    refused: Count,
}

/// The incident, while it is kept.
struct StopIncident {
    id: String,
    score: String,
    why: String,
}

struct ConversationLine {
    /// As it is stored, for the link.
    key: String,
    /// The beginning of the same, to tell apart those of one hour.
    name: String,
    began: Moment,
    calls: Count,
    errors: Count,
    cost: Money,
}

/// Calls that were not scored, for one reason.
struct UnscoredLine {
    why: &'static str,
    calls: Count,
    /// Whether a loop may hide among them.
    may_hide_a_loop: bool,
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    AgentPath(id): AgentPath,
    Filters(query): Filters<WhatIfQuery>,
) -> Drawn {
    let agent = agents::read(&app, id).await?;
    draw_with(&app, frame, agent, Forms { what_if: query, ..Forms::default() }).await
}

/// The forms of the page that hold something else than what is so: what was just sent, or is tried.
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
    // At the same time: there are several readers, and the what-if reads more than all others.
    let ((what_if, exemptions), stop, policy, charts, conversations, lists) = tokio::try_join!(
        what_if::read(app, &agent, forms.what_if),
        stop(app, &agent),
        PolicySection::sent_or_read(forms.policy, app, id),
        figures::charts(app, Some(id)),
        conversations(app, id, now),
        lists(app, id, now),
    )?;
    let tally =
        app.web().store.figures_of(std::iter::once(id), frame.day.today()).await?.remove(id).unwrap_or_default();
    Ok(AgentPage {
        frame,
        today: Today {
            calls: tally.requests.into(),
            errors: tally.errors.into(),
            refused: tally.blocked.into(),
            cost: Money::spent(&tally),
        },
        is_active: agent.active,
        since: agent.deactivated_at.map(|at| Moment::new(at, now)),
        stop,
        signals: agent.signals,
        why: words::why(&agent.signals),
        was_scored_before: agent.last_seen.is_some_and(|seen| exemptions.iter().any(|it| seen <= it.created_at)),
        saved: SettingsForm::new(&agent.kill_switch),
        form: forms.settings.unwrap_or_else(|| SettingsForm::new(&agent.kill_switch)),
        policy,
        what_if,
        charts,
        would_have_stopped: lists.would_have_stopped.into(),
        conversations,
        incidents: lists.incidents.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
        exemptions: exemptions.into_iter().map(|row| ExemptionLine::new(&row.into())).collect(),
        requests: requests::lines(&lists.events, now),
        unscored: lists.unscored,
        agent: AgentLine::new(&agent, now),
        proxy_url: app.web().proxy_url.clone(),
    })
}

/// What is listed of the agent.
struct Lists {
    events: Vec<EventRow>,
    incidents: Vec<IncidentRow>,
    would_have_stopped: u64,
    unscored: Vec<UnscoredLine>,
}

async fn lists(app: &App, agent: &AgentId, now: Timestamp) -> Result<Lists, Problem> {
    let store = &app.web().store;
    let events = EventFilter { agent: Some(agent.clone()), ..EventFilter::default() };
    let incidents = IncidentFilter { agent: Some(agent.clone()), ..IncidentFilter::default() };
    let (requests_page, incidents_page) = (first(REQUESTS_READ), first(INCIDENTS_SHOWN));
    let (events, incidents, would_have_stopped, unscored) = tokio::try_join!(
        store.events(&events, &requests_page),
        store.incidents(&incidents, &incidents_page),
        store.would_have_stopped(agent),
        store.unscored(agent, Period::last_hours(UNSCORED_HOURS, now)),
    )?;
    let line = |(reason, calls): (Unscored, u64)| UnscoredLine {
        why: words::unscored(reason),
        calls: calls.into(),
        may_hide_a_loop: reason.may_hide_a_loop(),
    };
    let unscored = unscored.into_iter().map(line).collect();
    let mut events = fold_refusals(events.items);
    events.truncate(REQUESTS_SHOWN);
    Ok(Lists { events, incidents: incidents.items, would_have_stopped, unscored })
}

/// Makes refusals for the same reason that follow each other one row.
fn fold_refusals(events: Vec<EventRow>) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::with_capacity(events.len());
    for row in events {
        let is_same = |last: &EventRow| {
            let is_refusal = row.event.event_type == EventType::Blocked && last.event.event_type == EventType::Blocked;
            is_refusal && last.event.block_reason == row.event.block_reason
        };
        match rows.last_mut().filter(|last| is_same(last)) {
            Some(last) => last.count += row.count,
            None => rows.push(row),
        }
    }
    rows
}

/// What the kill switch did to the agent, if it did.
async fn stop(app: &App, agent: &AgentView) -> Result<Option<Stop>, Problem> {
    if agent.deactivated_by != Some(DeactivatedBy::KillSwitch) {
        return Ok(None);
    }
    let incident = match agent.incident_id {
        Some(id) => app.web().store.incident(id).await?,
        None => None,
    };
    let incident = incident.map(|row| StopIncident {
        id: row.id.to_string(),
        score: format!("{:.1} / {}", row.score.value, row.kill_switch.threshold),
        why: words::why(&row.score.signals.into()),
    });
    Ok(Some(Stop { incident, refused: app.web().store.refused(&agent.agent_id).await?.into() }))
}

async fn conversations(app: &App, agent: &AgentId, now: Timestamp) -> Result<Vec<ConversationLine>, Problem> {
    let period = Period::last_hours(CONVERSATION_HOURS, now);
    let rows = app.web().store.conversation_figures(agent, period, CONVERSATIONS_SHOWN).await?;
    let line = |row: ConversationRow| ConversationLine {
        name: cut(&row.conversation, CONVERSATION_LENGTH),
        key: row.conversation,
        began: Moment::new(row.first_hour, now),
        calls: row.tally.requests.into(),
        errors: row.tally.errors.into(),
        cost: row.tally.cost.into(),
    };
    Ok(rows.into_iter().map(line).collect())
}

fn first(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{BlockReason, CallId, Epoch, Event};

    use super::*;

    #[test]
    fn refusals_that_follow_each_other_are_one_row() {
        let row = |event_type, reason: Option<BlockReason>, count| {
            let agent = AgentId::parse("a").unwrap();
            let mut event = Event::new(CallId::new(), agent, Epoch::default(), event_type, Timestamp::default());
            event.block_reason = reason;
            EventRow { event, count, prompt: None }
        };
        let (inactive, spent) = (Some(BlockReason::Inactive), Some(BlockReason::BudgetExceeded));
        let events = vec![
            row(EventType::Blocked, inactive, 40),
            row(EventType::Blocked, inactive, 60),
            row(EventType::Blocked, spent, 2),
            row(EventType::LlmCall, None, 1),
            row(EventType::LlmCall, None, 1),
            row(EventType::Blocked, inactive, 3),
        ];
        let counts: Vec<u64> = fold_refusals(events).iter().map(|row| row.count).collect();
        assert_eq!(counts, [100, 2, 1, 1, 3]);
    }
}
