//! What every handler shares. Changes run here one at a time and to their end, whether or not the client waits for it.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::Mutex;

use crate::Web;
use crate::api::stream::Feed;
use crate::gate::{GuessLimit, Sessions};
use crate::problem::Problem;

/// The state of the router. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    web: Web,
    changes: Mutex<()>,
    pub(crate) sessions: Sessions,
    pub(crate) guesses: GuessLimit,
    pub(crate) feed: Feed,
}

impl App {
    pub(crate) fn new(web: Web) -> App {
        let (sessions, guesses) = (Sessions::default(), GuessLimit::default());
        App(Arc::new(Inner { web, changes: Mutex::default(), sessions, guesses, feed: Feed::new() }))
    }

    /// The part that was handed in.
    pub(crate) fn web(&self) -> &Web {
        &self.0.web
    }

    /// Whether the server is stopping.
    pub(crate) fn is_draining(&self) -> bool {
        self.web().draining.load(Ordering::Relaxed)
    }

    /// Runs `change` when no other runs. In a task of its own, since a change touches memory and disk: a client that goes
    /// away between the two must not leave them apart.
    pub(crate) async fn alone<T, F>(&self, change: F) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>> + Send + 'static,
        T: Send + 'static,
    {
        let app = self.clone();
        let task = tokio::spawn(async move {
            let _turn = app.0.changes.lock().await;
            change.await
        });
        task.await.unwrap_or_else(|error| Err(Problem::internal(error)))
    }
}

impl Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}
