//! The page for a screen on a wall: it shows state, scores, spending and the latest incidents in
//! turn, without menus.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use store::{IncidentFilter, PageRequest};

use super::needs::{self, Needs};
use crate::app::App;
use crate::pages::agents::{self, AgentLine, Reading};
use crate::pages::figures::{self, Compared, Day};
use crate::pages::frame::Frame;
use crate::pages::incidents::IncidentLine;
use crate::pages::{PageResult, assets, draw};

/// The most agents that are shown, those that need attention first.
const AGENTS_SHOWN: usize = 12;
const INCIDENTS_SHOWN: u32 = 5;

#[derive(Template)]
#[template(path = "wall.html")]
struct WallPage {
    frame: Frame,
    needs: Needs,
    today: [Compared; 4],
    agents: Vec<AgentLine>,
    incidents: Vec<IncidentLine>,
}

impl WallPage {
    /// How many agents are not shown.
    fn left_out(&self) -> u64 {
        self.needs.counts.agents.all.saturating_sub(self.agents.len() as u64)
    }
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, headers: HeaderMap) -> PageResult {
    let now = app.web().clock.now();
    let day = Day::new(&headers, now);
    let page = PageRequest { limit: INCIDENTS_SHOWN, cursor: None };
    let needs = needs::collect(&app, &frame.events).await?;
    let incidents = app.web().store.incidents(&IncidentFilter::default(), &page).await?;
    draw(&WallPage {
        frame,
        today: figures::today(&app, day).await?,
        agents: agents::most_needing(&app, Reading { day, needs: &needs }, AGENTS_SHOWN).await?,
        needs,
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
    })
}
