//! All agents: who is active, who is near its threshold, who was stopped.

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use model::{DeactivatedBy, Timestamp};
use serde::Deserialize;
use store::{AgentFilter, PageRequest};

use super::figures::Day;
use super::frame::Frame;
use super::number::{Count, Moment, Money};
use super::pager::Pager;
use super::plain::plain;
use super::score_bar::ScoreBar;
use super::{Drawn, assets, draw, words};
use crate::api::agents::{self, AgentView};
use crate::app::App;
use crate::input::{Filters, Paging};

/// How many agents a page shows.
const SHOWN: u32 = 100;

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsPage {
    frame: Frame,
    summary: String,
    search: String,
    state: Option<StateWord>,
    agents: Vec<AgentLine>,
    pager: Pager,
    proxy_url: String,
}

/// One agent in a table.
pub(super) struct AgentLine {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) state: &'static str,
    pub(super) colour: &'static str,
    /// What its kill switch does.
    pub(super) switch: &'static str,
    /// Whether that is nothing.
    pub(super) is_watched_only: bool,
    pub(super) bar: ScoreBar,
    pub(super) seen: Option<Moment>,
    pub(super) incident: Option<String>,
    /// Calls and cost of today, where they are shown.
    pub(super) today: Option<(Count, Money)>,
    /// Whether its calls are refused because a budget is spent, where that is shown.
    pub(super) budget_is_spent: bool,
}

/// What the filters of the page are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsQuery {
    search: Option<String>,
    state: Option<StateWord>,
    cursor: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateWord {
    Active,
    Inactive,
    Stopped,
}

impl Paging for AgentsQuery {
    fn limit(&self) -> Option<u32> {
        Some(SHOWN)
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

impl AgentsQuery {
    fn filter(&self) -> AgentFilter {
        AgentFilter {
            search: self.search.clone(),
            active: self.state.map(|state| state == StateWord::Active),
            deactivated_by: (self.state == Some(StateWord::Stopped)).then_some(DeactivatedBy::KillSwitch),
        }
    }
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    headers: HeaderMap,
    uri: Uri,
    Filters(query): Filters<AgentsQuery>,
) -> Drawn {
    let page: PageRequest = query.page()?;
    let list = agents::read_page(&app, &query.filter(), &page).await?;
    let now = app.web().clock.now();
    let mut lines: Vec<_> = list.items.iter().map(|agent| AgentLine::new(agent, now)).collect();
    let listed = list.items.iter().map(|agent| &agent.agent_id);
    let mut today = app.web().store.figures_of(listed, Day::new(&headers, now).today()).await?;
    for (line, agent) in lines.iter_mut().zip(&list.items) {
        let limits = app.web().guard.policies().counted(&agent.agent_id);
        line.budget_is_spent = agent.active && limits.is_some_and(|limits| limits.is_spent(now));
        let tally = today.remove(&agent.agent_id).unwrap_or_default();
        line.today = Some((tally.requests.into(), tally.cost.into()));
    }
    draw(&AgentsPage {
        frame,
        summary: words::summary(app.web().store.agent_counts().await?),
        agents: lines,
        pager: Pager::new("/agents", uri.query().unwrap_or_default(), list.next_cursor),
        search: query.search.unwrap_or_default(),
        state: query.state,
        proxy_url: app.web().proxy_url.clone(),
    })
}

impl AgentLine {
    pub(super) fn new(agent: &AgentView, now: Timestamp) -> AgentLine {
        let (state, colour) = words::state(agent);
        AgentLine {
            id: agent.agent_id.to_string(),
            name: agent.name.as_deref().map(plain),
            state,
            colour,
            switch: words::switch(agent.kill_switch.enabled, agent.kill_switch.action),
            is_watched_only: !agent.kill_switch.enabled,
            bar: ScoreBar::new(agent.current_score, agent.kill_switch.threshold, &agent.signals),
            seen: agent.last_seen.map(|seen| Moment::new(seen, now)),
            incident: agent.incident_id.map(|id| id.to_string()),
            today: None,
            budget_is_spent: false,
        }
    }
}
