//! The first page: does anything need me, which agents are near their threshold, what was stopped lately.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use model::{DeactivatedBy, Timestamp};
use store::{AgentCounts, AgentFilter, IncidentFilter, PageRequest};

use super::agents::AgentLine;
use super::chart::Chart;
use super::figures::{self, Compared, Day};
use super::frame::Frame;
use super::incidents::IncidentLine;
use super::{Drawn, assets, draw, words};
use crate::api::agents;
use crate::api::status::{self, StatusView};
use crate::app::App;
use crate::problem::Problem;

const STOPPED_SHOWN: u32 = 10;
const NEAREST_SHOWN: usize = 5;
const INCIDENTS_SHOWN: u32 = 5;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    summary: String,
    counts: AgentCounts,
    today: [Compared; 4],
    charts: Vec<Chart>,
    stopped: Vec<AgentLine>,
    nearest: Vec<AgentLine>,
    incidents: Vec<IncidentLine>,
    status: StatusView,
    proxy_url: String,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, headers: HeaderMap) -> Drawn {
    let now = app.web().clock.now();
    let counts = app.web().store.agent_counts().await?;
    let first = |limit| PageRequest { limit, cursor: None };
    let by_switch = AgentFilter { deactivated_by: Some(DeactivatedBy::KillSwitch), ..AgentFilter::default() };
    let stopped = agents::read_page(&app, &by_switch, &first(STOPPED_SHOWN)).await?;
    let incidents = app.web().store.incidents(&IncidentFilter::default(), &first(INCIDENTS_SHOWN)).await?;
    draw(&OverviewPage {
        frame,
        summary: words::summary(counts),
        counts,
        today: figures::today(&app, Day::new(&headers, now)).await?,
        charts: figures::charts(&app, None).await?,
        stopped: stopped.items.iter().map(|agent| AgentLine::new(agent, now)).collect(),
        nearest: nearest(&app, now).await?,
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
        status: status::read(&app),
        proxy_url: app.web().proxy_url.clone(),
    })
}

/// The active agents that are nearest to their threshold right now.
async fn nearest(app: &App, now: Timestamp) -> Result<Vec<AgentLine>, Problem> {
    let mut lines = Vec::new();
    for id in app.web().guard.nearest(NEAREST_SHOWN) {
        let agent = agents::read(app, id).await?;
        lines.push(AgentLine::new(&agent, now));
    }
    Ok(lines)
}
