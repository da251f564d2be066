//! What every handler shares.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use control::Control;

use crate::Web;
use crate::api::stream::Feed;
use crate::gate::{AccountLimit, GuessLimit, Sessions};
use crate::pages::live::RecentPages;

/// The state of the router. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    web: Web,
    pub(crate) sessions: Sessions,
    pub(crate) guesses: GuessLimit,
    pub(crate) accounts: AccountLimit,
    pub(crate) feed: Feed,
    pub(crate) recent_pages: RecentPages,
}

impl App {
    pub(crate) fn new(web: Web) -> App {
        let (sessions, guesses) = (Sessions::restore(web.sessions.clone()), GuessLimit::default());
        let (feed, recent_pages) = (Feed::new(), RecentPages::default());
        App(Arc::new(Inner { web, sessions, guesses, accounts: AccountLimit::default(), feed, recent_pages }))
    }

    /// What the server was built with.
    pub(crate) fn web(&self) -> &Web {
        &self.0.web
    }

    /// Carries out every command.
    pub(crate) fn control(&self) -> &Control {
        &self.web().control
    }

    /// Whether the server is stopping.
    pub(crate) fn is_draining(&self) -> bool {
        self.web().draining.load(Ordering::Relaxed)
    }
}

impl Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}
