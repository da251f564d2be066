//! What every handler shares.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use control::Control;

use crate::Web;
use crate::logins::{AccountLimit, FailedLogins, GuessLimit, Sessions};

/// The state that every handler shares. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    web: Web,
    pub(crate) sessions: Sessions,
    pub(crate) guesses: GuessLimit,
    pub(crate) accounts: AccountLimit,
    pub(crate) failed_logins: FailedLogins,
}

impl App {
    pub(crate) fn new(web: Web) -> App {
        App(Arc::new(Inner {
            sessions: Sessions::restore(web.sessions.clone()),
            guesses: GuessLimit::default(),
            accounts: AccountLimit::default(),
            failed_logins: FailedLogins::new(web.control.clone()),
            web,
        }))
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
