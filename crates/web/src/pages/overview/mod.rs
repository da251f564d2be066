//! The first page: what needs a person, which agents are near their threshold, and what was stopped
//! recently.

pub(in crate::pages) mod needs;
mod start_list;
pub(crate) mod wall;

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use model::Timestamp;
use store::{IncidentFilter, PageRequest};

use self::needs::Needs;
use self::start_list::StartList;
use super::agents::AgentLine;
use super::chart::Chart;
use super::figures::{self, Compared, Day};
use super::frame::Frame;
use super::incidents::IncidentLine;
use super::{PageResult, assets, draw};
use crate::api::agents;
use crate::api::status::{self, StatusView};
use crate::app::App;
use crate::problem::Problem;

const NEAREST_SHOWN: usize = 5;
const INCIDENTS_SHOWN: u32 = 5;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    needs: Needs,
    start: StartList,
    today: [Compared; 4],
    charts: Vec<Chart>,
    nearest: Vec<AgentLine>,
    incidents: Vec<IncidentLine>,
    status: StatusView,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, headers: HeaderMap) -> PageResult {
    let now = app.web().clock.now();
    let first = |limit| PageRequest { limit, cursor: None };
    let needs = needs::collect(&app, &frame.events).await?;
    let incidents = app.web().store.incidents(&IncidentFilter::default(), &first(INCIDENTS_SHOWN)).await?;
    draw(&OverviewPage {
        frame,
        needs,
        start: StartList::read(&app).await?,
        today: figures::today(&app, Day::new(&headers, now)).await?,
        charts: figures::charts(&app, None).await?,
        nearest: nearest(&app, now).await?,
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
        status: status::read(&app),
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
