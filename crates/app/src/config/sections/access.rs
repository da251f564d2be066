//! Settings about reverse proxies in front of the server.

use http::HeaderName;
use model::{Grant, Role};
use web::{Access, AddressRange, ForwardAuth, RoleMap, TrustedProxies};

use crate::config::contradictions::Contradiction;
use crate::config::value::{self, Read};

const ROLES: &str = "viewer, operator, admin";

/// Addresses of reverse proxies.
pub(in crate::config) fn trusted_proxies(values: &[String]) -> Read<TrustedProxies> {
    let range = |text: &String| {
        let expected = || format!("must be addresses like 10.0.0.7 or networks like 10.0.0.0/8, not {text:?}");
        AddressRange::parse(text).ok_or_else(expected)
    };
    values.iter().map(range).collect::<Read<_>>().map(TrustedProxies::new)
}

/// The settings of forward auth, created with the first of them. Without a header no one is logged
/// in.
pub(in crate::config) fn forward(access: &mut Access) -> &mut ForwardAuth {
    let unset = || ForwardAuth { user_header: UNSET, groups_header: None, roles: RoleMap::default() };
    access.forward.get_or_insert_with(unset)
}

/// Stands for a header that is not set; a server does not start with it.
const UNSET: HeaderName = HeaderName::from_static("x-agentgazer-unset");

pub(in crate::config) fn header(text: &str) -> Read<HeaderName> {
    value::parsed(text, "the name of a header like remote-user")
}

/// `GROUP=ROLE` or `GROUP=operator@GROUP-OF-AGENTS`.
pub(in crate::config) fn group_role(text: &str) -> Read<(String, Grant)> {
    let expected =
        || format!("must be groups with roles like ops=operator (one of {ROLES}) or ops=operator@team-a, not {text:?}");
    let (group, role) = text.rsplit_once('=').ok_or_else(expected)?;
    let (role, agents) = role.trim().split_once('@').map_or((role.trim(), None), |(role, it)| (role, Some(it)));
    let role = Role::parse(role).ok_or_else(expected)?;
    let grant = Grant { role, groups: agents.map(|agents| vec![agents.to_owned()]) };
    let is_good = grant.check().is_ok() && !group.trim().is_empty() && !group.contains(',');
    if is_good { Ok((group.trim().to_owned(), grant)) } else { Err(expected()) }
}

/// A role, or `none`.
pub(in crate::config) fn default_role(text: &str) -> Read<Option<Role>> {
    match text.trim() {
        "none" => Ok(None),
        word => value::word(word, Role::parse, "none, viewer, operator, admin").map(Some),
    }
}

/// Contradictions between settings.
pub(in crate::config) fn contradictions(access: &Access) -> Vec<Contradiction> {
    const USER: &str = "auth.forward.user_header";
    let Some(forward) = &access.forward else { return Vec::new() };
    let mut found = Vec::new();
    let mut add = |key: &'static str, other: &'static str, message: &str| {
        found.push(Contradiction { key, other, message: message.to_owned() });
    };
    if forward.user_header == UNSET {
        add(USER, "auth.forward.roles", "must be set: it names the people that a proxy has logged in");
    } else if access.proxies.is_empty() {
        let message = "must be set: without it anyone could send the header of auth.forward.user_header";
        add("auth.trusted_proxies", USER, message);
    }
    if access.proxies.trust_every_address() {
        let message = "must name the proxies and not all addresses: anyone could send the header of \
                       auth.forward.user_header";
        add("auth.trusted_proxies", USER, message);
    }
    if !forward.roles.groups.is_empty() && forward.groups_header.is_none() {
        add("auth.forward.groups_header", "auth.forward.roles", "must be set: it names the groups of a person");
    }
    if forward.roles.is_empty() {
        let message = "must be set, or auth.forward.default_role: without a role no one can log in";
        add("auth.forward.roles", USER, message);
    }
    found
}
