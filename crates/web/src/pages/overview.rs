//! The first page: does anything need me, which agents are there, what was stopped lately.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use model::Timestamp;
use store::{AgentFilter, IncidentFilter, PageRequest};

use super::score_bar::ScoreBar;
use super::{assets, page, problem_page, speak};
use crate::api::agents::{self, AgentView};
use crate::api::incidents::IncidentView;
use crate::app::App;
use crate::problem::Problem;

const AGENTS_SHOWN: u32 = 500;
const INCIDENTS_SHOWN: u32 = 10;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    summary: String,
    needs_you: bool,
    agents: Vec<AgentLine>,
    more_agents: bool,
    incidents: Vec<IncidentLine>,
}

struct AgentLine {
    id: String,
    name: Option<String>,
    state: &'static str,
    colour: &'static str,
    switch: &'static str,
    bar: ScoreBar,
    seen: String,
    seen_at: String,
    incident: Option<String>,
}

/// One incident in a table, also used by the page of the incident.
struct IncidentLine {
    id: String,
    agent: String,
    when: String,
    at: String,
    provider: String,
    window_size: u16,
    bar: ScoreBar,
    signals: String,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>) -> Response {
    match read(&app).await {
        Ok(overview) => page(StatusCode::OK, &overview),
        Err(problem) => problem_page(&problem),
    }
}

async fn read(app: &App) -> Result<OverviewPage, Problem> {
    let now = app.web().clock.now();
    let first = |limit| PageRequest { limit, cursor: None };
    let mut list = agents::read_page(app, &AgentFilter::default(), &first(AGENTS_SHOWN)).await?;
    let incidents = app.web().store.incidents(&IncidentFilter::default(), &first(INCIDENTS_SHOWN)).await?;

    let inactive = list.items.iter().filter(|agent| !agent.active).count();
    let stopped = list.items.iter().filter(|agent| speak::state(agent).1 == "killed").count();
    // What needs someone comes first; within that, by id as it came.
    list.items.sort_by_key(|agent| speak::state(agent).1 != "killed");
    Ok(OverviewPage {
        summary: speak::summary(stopped, inactive, list.items.len()),
        needs_you: stopped > 0,
        agents: list.items.iter().map(|agent| agent_line(agent, now)).collect(),
        more_agents: list.next_cursor.is_some(),
        incidents: incidents.items.into_iter().map(|row| incident_line(&row.into(), now)).collect(),
    })
}

fn agent_line(agent: &AgentView, now: Timestamp) -> AgentLine {
    let (state, colour) = speak::state(agent);
    AgentLine {
        id: agent.agent_id.to_string(),
        name: agent.name.clone(),
        state,
        colour,
        switch: if agent.kill_switch.enabled { "on" } else { "off" },
        bar: ScoreBar::new(agent.current_score, agent.kill_switch.threshold, &agent.signals),
        seen: agent.last_seen.map_or_else(|| "never".to_owned(), |seen| speak::ago(seen, now)),
        seen_at: agent.last_seen.map(|seen| seen.to_string()).unwrap_or_default(),
        incident: agent.incident_id.map(|id| id.to_string()),
    }
}

fn incident_line(incident: &IncidentView, now: Timestamp) -> IncidentLine {
    let signals = &incident.signals;
    IncidentLine {
        id: incident.id.to_string(),
        agent: incident.agent_id.to_string(),
        when: speak::ago(incident.timestamp, now),
        at: incident.timestamp.to_string(),
        provider: incident.provider.clone(),
        window_size: incident.window_size,
        bar: ScoreBar::new(incident.score, incident.threshold, signals),
        signals: format!(
            "P={} R={} T={}",
            signals.similar_prompts.count, signals.similar_responses.count, signals.repeated_tool_calls.count
        ),
    }
}
