//! Operators that are limited to groups: for other agents they are viewers. This is decided once
//! per request, from the target in its path, before the route checks the role.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use model::{Actor, AgentId, CallId, IncidentId, Role};

use super::auth::Caller;
use crate::app::App;

/// Marks the request of an actor that is limited to groups.
#[derive(Clone)]
pub(super) struct LimitedCaller(pub(super) App);

/// Pages of many agents, where each action is checked separately.
const PAGES_OF_MANY: [&str; 3] = ["/", "/agents", "/groups"];

/// Makes the caller a viewer, unless the target of the request is in one of the caller's groups.
pub(super) async fn limit_caller(parts: &mut Parts) {
    let Some(LimitedCaller(app)) = parts.extensions.get().cloned() else { return };
    let Some(Caller(actor)) = parts.extensions.get().cloned() else { return };
    if !is_about_own(&app, &actor, parts).await {
        parts.extensions.insert(Caller(Actor { role: actor.role.min(Role::Viewer), ..actor }));
    }
}

async fn is_about_own(app: &App, actor: &Actor, parts: &mut Parts) -> bool {
    let path = parts.uri.path().to_owned();
    if PAGES_OF_MANY.contains(&path.as_str()) {
        return true;
    }
    let Ok(named) = RawPathParams::from_request_parts(parts, &()).await else { return false };
    let named = |key: &str| named.iter().find(|(name, _)| *name == key).map(|(_, value)| value.to_owned());
    // Routes are matched before anything is decoded, so the first segment is one of these words.
    let kind = path.strip_prefix("/api").unwrap_or(&path).split('/').nth(1).unwrap_or_default();
    match (kind, named("id"), named("name")) {
        ("agents", Some(id), _) => AgentId::parse(&id).is_ok_and(|agent| app.control().may_act_on(actor, &agent)),
        ("groups", _, Some(name)) => actor.groups.as_ref().is_none_or(|groups| groups.contains(&name)),
        ("incidents", Some(id), _) => match IncidentId::parse(&id) {
            Some(id) => {
                let incident = app.web().store.incident(id).await.ok().flatten();
                incident.is_some_and(|incident| app.control().may_act_on(actor, &incident.agent))
            }
            None => false,
        },
        ("requests" | "events", Some(id), _) => match CallId::parse(&id) {
            Some(id) => {
                let event = app.web().store.event(id).await.ok().flatten();
                event.is_some_and(|event| app.control().may_act_on(actor, &event.event.agent))
            }
            None => false,
        },
        _ => false,
    }
}
