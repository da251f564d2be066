//! The first steps of somebody new: they stay on the first page until each of them is done.

use store::{AgentFilter, PageRequest};

use crate::api::agents;
use crate::app::App;
use crate::problem::Problem;

/// How many agents are looked at.
const READ: u32 = 100;

/// Which of the steps are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartList {
    /// An agent has called.
    pub(super) has_called: bool,
    /// A kill switch is on.
    pub(super) is_guarded: bool,
    /// A channel is on.
    pub(super) is_told: bool,
}

impl StartList {
    pub(super) async fn read(app: &App) -> Result<StartList, Problem> {
        let page = PageRequest { limit: READ, cursor: None };
        let agents = agents::read_page(app, &AgentFilter::default(), &page).await?.items;
        let channels = app.web().store.channels().await?;
        Ok(StartList {
            has_called: agents.iter().any(|agent| agent.last_seen.is_some()),
            is_guarded: agents.iter().any(|agent| agent.kill_switch.enabled),
            is_told: channels.iter().any(|channel| channel.enabled),
        })
    }

    /// Whether nothing is left to do.
    pub(super) fn is_done(self) -> bool {
        self.has_called && self.is_guarded && self.is_told
    }
}
