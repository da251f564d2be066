//! What every handler shares.

use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use control::Control;

use crate::Web;
use crate::api::stream::Feed;
use crate::gate::{AccountLimit, FailedLogins, GuessLimit, Sessions};
use crate::pages::live::RecentPages;

/// The state of the router. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    web: Web,
    pub(crate) sessions: Sessions,
    pub(crate) guesses: GuessLimit,
    pub(crate) accounts: AccountLimit,
    pub(crate) failed_logins: FailedLogins,
    pub(crate) feed: Feed,
    pub(crate) recent_pages: RecentPages,
}

impl App {
    pub(crate) fn new(web: Web) -> App {
        let (sessions, guesses) = (Sessions::restore(web.sessions.clone()), GuessLimit::default());
        let (feed, recent_pages) = (Feed::new(), RecentPages::default());
        let (accounts, failed_logins) = (AccountLimit::default(), FailedLogins::default());
        App(Arc::new(Inner { web, sessions, guesses, accounts, failed_logins, feed, recent_pages }))
    }

    /// The state that a task has kept.
    pub(crate) fn of(inner: Arc<Inner>) -> App {
        App(inner)
    }

    /// The state, for a task that must not keep it.
    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    /// The parts that the server was built with.
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
