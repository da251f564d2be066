//! The state of the router.

use axum::extract::FromRef;

use crate::api::stream::Feed;
use crate::app::App;

/// The state of the router. A handler extracts the part that it needs.
#[derive(Clone)]
pub(super) struct RouterState {
    app: App,
    feed: Feed,
}

impl RouterState {
    pub(super) fn new(app: App) -> RouterState {
        RouterState { app, feed: Feed::new() }
    }
}

impl FromRef<RouterState> for App {
    fn from_ref(state: &RouterState) -> App {
        state.app.clone()
    }
}

impl FromRef<RouterState> for Feed {
    fn from_ref(state: &RouterState) -> Feed {
        state.feed.clone()
    }
}
