//! Events as the actor of a request may read them. The error of a call may be the provider's own
//! message, which may repeat a part of the prompt: only those who may read the prompt see it.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use model::{ActivatedBy, Actor, CallId, Role};
use store::{EventFilter, EventRow, Page, PageRequest, StoreError};

use crate::app::App;
use crate::gate::Caller;
use crate::problem::Problem;

/// Reads events for one actor. Everything that shows events of the store reads them with it.
pub(crate) struct EventReader {
    app: App,
    actor: Actor,
}

impl EventReader {
    /// Reads for `actor`; for nobody in particular if there is none.
    pub(crate) fn new(app: App, actor: Option<Actor>) -> EventReader {
        EventReader { app, actor: actor.unwrap_or_else(|| Actor::anonymous(ActivatedBy::Dashboard, None)) }
    }

    /// One event.
    pub(crate) async fn event(&self, id: CallId) -> Result<Option<EventRow>, StoreError> {
        Ok(self.app.web().store.event(id).await?.map(|row| self.readable(row)))
    }

    /// A page of the events that match `filter`, newest first.
    pub(crate) async fn events(&self, filter: &EventFilter, page: &PageRequest) -> Result<Page<EventRow>, StoreError> {
        // Otherwise a search would tell which words an error holds that the actor may not read.
        let filter = EventFilter { text_in_errors: self.reads_all(), ..filter.clone() };
        let Page { items, next } = self.app.web().store.events(&filter, page).await?;
        Ok(Page { items: items.into_iter().map(|row| self.readable(row)).collect(), next })
    }

    /// Whether the actor may read the errors of all agents.
    pub(crate) fn reads_all(&self) -> bool {
        self.actor.may(Role::Operator) && self.actor.groups.is_none()
    }

    fn readable(&self, mut row: EventRow) -> EventRow {
        if !self.app.control().may_read_bodies(&self.actor, &row.event.agent) {
            row.event.hide_error();
        }
        row
    }
}

impl<S: Send + Sync> FromRequestParts<S> for EventReader
where
    App: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Caller(actor) = Caller::from_request_parts(parts, state).await?;
        Ok(EventReader::new(App::from_ref(state), Some(actor)))
    }
}
