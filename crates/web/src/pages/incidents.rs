//! All incidents, newest first, as a table with filters.

use askama::Template;
use axum::extract::State;
use axum::http::Uri;
use model::{AgentId, IncidentState, Timestamp};
use serde::Deserialize;
use store::IncidentFilter;

use super::frame::Frame;
use super::number::{Count, Moment, Money};
use super::pager::Pager;
use super::plain::plain;
use super::score_bar::ScoreBar;
use super::words::units::span;
use super::{PageResult, assets, draw, words};
use crate::api::Signals;
use crate::api::incidents::IncidentView;
use crate::app::App;
use crate::input::{Filters, Paging};
use crate::problem::Problem;

const SHOWN: u32 = 50;

#[derive(Template)]
#[template(path = "incidents.html")]
struct IncidentsPage {
    frame: Frame,
    /// What is searched for: a text, or the name of the only agent.
    search: String,
    state: Option<IncidentState>,
    incidents: Vec<IncidentLine>,
    pager: Pager,
}

/// One incident in a table.
pub(super) struct IncidentLine {
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) at: Moment,
    pub(super) provider: String,
    /// The time from the first call of the loop to the stopped one.
    pub(super) lasted: Option<String>,
    pub(super) calls: Count,
    pub(super) cost: Option<Money>,
    pub(super) bar: ScoreBar,
    pub(super) signals: Signals,
    pub(super) state: &'static str,
    pub(super) is_open: bool,
}

/// The filters of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncidentsQuery {
    /// Any part of an agent's name, a provider, a model or a conversation.
    text: Option<String>,
    agent: Option<AgentId>,
    state: Option<IncidentState>,
    cursor: Option<String>,
}

impl Paging for IncidentsQuery {
    fn limit(&self) -> Option<u32> {
        Some(SHOWN)
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    uri: Uri,
    Filters(query): Filters<IncidentsQuery>,
) -> PageResult {
    let page = query.page()?;
    let filter = IncidentFilter { agent: query.agent.clone(), state: query.state, text: query.text.clone() };
    let incidents = app.web().store.incidents(&filter, &page).await.map_err(Problem::of_page)?;
    let now = app.web().clock.now();
    draw(&IncidentsPage {
        frame,
        search: query.text.or(query.agent.map(String::from)).unwrap_or_default(),
        state: query.state,
        pager: Pager::new("/incidents", uri.query().unwrap_or_default(), incidents.next.map(|cursor| cursor.0)),
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
    })
}

impl IncidentLine {
    pub(super) fn new(incident: &IncidentView, now: Timestamp) -> IncidentLine {
        IncidentLine {
            id: incident.id.to_string(),
            agent: incident.agent_id.to_string(),
            at: Moment::new(incident.timestamp, now),
            provider: plain(&incident.provider),
            lasted: incident.stuck_since.map(|since| span(incident.timestamp.millis_since(since))),
            calls: incident.stuck_calls.into(),
            cost: incident.loop_cost_usd.map(Money::from),
            bar: ScoreBar::new(incident.score, incident.threshold, &incident.signals),
            signals: incident.signals,
            state: words::incident::state(incident.state),
            is_open: incident.state == IncidentState::Open,
        }
    }
}
