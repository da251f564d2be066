//! The page for a screen on a wall: state, scores, spending and the latest incidents in turn,
//! without menus.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use store::{IncidentFilter, PageRequest};

use super::agents::{self, AgentLine};
use super::figures::{self, Compared, Day};
use super::frame::Frame;
use super::incidents::IncidentLine;
use super::needs::{self, Needs};
use super::{Drawn, assets, draw};
use crate::app::App;

/// How many agents are shown, those that need somebody first.
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

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, headers: HeaderMap) -> Drawn {
    let now = app.web().clock.now();
    let day = Day::new(&headers, now);
    let page = PageRequest { limit: INCIDENTS_SHOWN, cursor: None };
    let incidents = app.web().store.incidents(&IncidentFilter::default(), &page).await?;
    draw(&WallPage {
        frame,
        needs: needs::collect(&app).await?,
        today: figures::today(&app, day).await?,
        agents: agents::most_needing(&app, day, AGENTS_SHOWN).await?,
        incidents: incidents.items.into_iter().map(|row| IncidentLine::new(&row.into(), now)).collect(),
    })
}
