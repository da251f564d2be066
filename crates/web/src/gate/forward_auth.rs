//! People whom a reverse proxy has logged in. It names them in a header, which is trusted only if
//! the request comes from a trusted proxy.

use axum::http::header::{AUTHORIZATION, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Method};
use model::{ActivatedBy, Actor, ActorKind, Grant};

use super::network::Client;
use super::role_map::RoleMap;
use crate::app::App;

/// The longest name of a person.
const MAX_NAME: usize = 128;

/// The headers of a reverse proxy that logs people in.
#[derive(Clone, Debug)]
pub struct ForwardAuth {
    /// Holds the name of the person.
    pub user_header: HeaderName,
    /// Holds the person's groups, separated by commas.
    pub groups_header: Option<HeaderName>,
    /// The roles of groups.
    pub roles: RoleMap,
}

/// The person that a trusted proxy names.
pub(super) fn identify(app: &App, headers: &HeaderMap, client: &Client) -> Option<Actor> {
    let forward = app.web().access.forward.as_ref()?;
    // A token that is sent must be right.
    if !client.is_behind_proxy() || headers.contains_key(AUTHORIZATION) {
        return None;
    }
    let name = only_value(headers, &forward.user_header)?;
    let groups = forward.groups_header.as_ref().and_then(|header| only_value(headers, header)).unwrap_or_default();
    let is_name = !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control);
    let Grant { role, groups } = forward.roles.grant(groups.split(',').map(str::trim)).filter(|_| is_name)?;
    let (address, via) = (Some(client.address()), ActivatedBy::Dashboard);
    Some(Actor { kind: ActorKind::User, id: None, name: name.to_owned(), role, groups, address, via })
}

/// Whether a change may come from a page of another site: browsers send the origin with every
/// change, and the proxy authenticates whatever they send.
pub(super) fn lacks_origin(method: &Method, headers: &HeaderMap, actor: &Actor) -> bool {
    let is_forwarded = actor.kind == ActorKind::User && actor.id.is_none();
    is_forwarded && !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) && !headers.contains_key(ORIGIN)
}

/// The value of a header that occurs once. A second one could be the client's own.
fn only_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    std::str::from_utf8(value.as_bytes()).ok().map(str::trim)
}
