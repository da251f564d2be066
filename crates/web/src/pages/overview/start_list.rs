//! The first steps after a start, which the first page lists until all of them are done.

use store::{AgentFilter, PageRequest};

use crate::api::agents;
use crate::app::App;
use crate::pages::words::snippets::{Snippet, snippets};
use crate::problem::Problem;

/// The most agents that are read.
const READ: u32 = 500;

/// Which steps are done.
pub(in crate::pages) struct StartList {
    /// Whether an agent has called.
    pub(in crate::pages) has_called: bool,
    /// Whether a kill switch is on.
    pub(in crate::pages) is_guarded: bool,
    /// Whether a channel is on.
    pub(in crate::pages) is_told: bool,
    /// The active agent that called last.
    pub(in crate::pages) newest: Option<String>,
    /// The texts to paste into each client.
    pub(in crate::pages) snippets: Vec<Snippet>,
}

impl StartList {
    pub(in crate::pages) async fn read(app: &App) -> Result<StartList, Problem> {
        let page = PageRequest { limit: READ, cursor: None };
        let agents = agents::read_page(app, &AgentFilter::default(), &page).await?.items;
        let channels = app.web().store.channels().await?;
        let callers = agents.iter().filter(|agent| agent.active && agent.last_seen.is_some());
        Ok(StartList {
            has_called: agents.iter().any(|agent| agent.last_seen.is_some()),
            is_guarded: agents.iter().any(|agent| agent.kill_switch.enabled),
            is_told: channels.iter().any(|channel| channel.enabled),
            newest: callers.max_by_key(|agent| agent.last_seen).map(|agent| agent.agent_id.to_string()),
            snippets: snippets(&app.web().proxy_url),
        })
    }

    /// Whether nothing is left to do.
    pub(in crate::pages) fn is_done(&self) -> bool {
        self.has_called && self.is_guarded && self.is_told
    }
}
