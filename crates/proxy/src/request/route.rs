//! The route of a call, read from the path: `/agents/{agent}/{provider}/{rest…}`, or
//! `/{provider}/{rest…}` with an agent key that names the agent. The path below the provider is
//! forwarded unchanged.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use model::{AgentId, AllowedHosts, CallId, Format, Provider};
use wire::{Endpoint, percent_decoded};

use super::caller;
use super::cors::{self, Caller};
use super::dot_segments::has_dot_segments;
use crate::call::Call;
use crate::core::Core;
use crate::credentials::{OwnTokens, agent_key};
use crate::error::Stop;

/// The expected form, for error messages.
const FORM: &str = "call /agents/{agent}/{provider}/{path}, for example /agents/my-agent/openai/v1/chat/completions";

/// The parts of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// `None` if the agent key names it.
    agent: Option<&'a str>,
    /// The provider's name.
    pub(crate) provider: &'a str,
    /// The rest of the path, from its slash on.
    pub(crate) rest: Option<&'a str>,
    /// The query.
    pub(crate) query: Option<&'a str>,
}

impl<'a> Route<'a> {
    fn read(uri: &'a Uri) -> Option<Route<'a>> {
        let (agent, below) = match uri.path().strip_prefix("/agents/") {
            Some(named) => slash(named).map(|slash| (Some(&named[..slash]), &named[slash + 1..]))?,
            None => (None, uri.path().strip_prefix('/')?),
        };
        let (provider, rest) = match slash(below) {
            Some(slash) => (&below[..slash], Some(&below[slash..])),
            None => (below, None),
        };
        (!provider.is_empty()).then_some(Route { agent, provider, rest, query: uri.query() })
    }

    /// Parses a request target. An error names the expected form.
    pub(crate) fn parse(uri: &'a Uri) -> Result<Route<'a>, Stop> {
        Route::read(uri).ok_or_else(nothing_here)
    }

    /// The agent in the path, if any.
    pub(crate) fn agent(&self) -> Result<Option<AgentId>, Stop> {
        let Some(segment) = self.agent else { return Ok(None) };
        let agent = AgentId::parse(&percent_decoded(segment))
            .map_err(|rule| Stop::Client(StatusCode::BAD_REQUEST, rule.to_string()))?;
        Ok(Some(agent))
    }

    /// The route, unless it is a short one without a known provider: those paths do not exist.
    fn known(self, has_provider: bool) -> Result<Route<'a>, Stop> {
        if self.agent.is_none() && !has_provider { Err(nothing_here()) } else { Ok(self) }
    }

    /// The path below the provider's base URL. A call that names only the provider goes to its chat
    /// endpoint.
    pub(crate) fn path(&self, method: &Method, format: Format) -> Result<&'a str, Stop> {
        match self.rest {
            None | Some("/") if method == Method::POST => Ok(wire::chat_path(self.provider, format)),
            Some(rest) => Ok(rest),
            None => Err(nothing_here()),
        }
    }
}

fn nothing_here() -> Stop {
    Stop::Client(StatusCode::NOT_FOUND, format!("nothing is here: {FORM}"))
}

/// The position of the first slash. Names are short, so a plain loop is faster than a vectorised
/// search.
fn slash(path: &str) -> Option<usize> {
    path.bytes().position(|byte| byte == b'/')
}

/// Why a request does not begin a call.
pub(crate) enum Unrouted {
    /// The browser of an allowed page asks what the page may send.
    Preflight,
    /// It is refused, in the caller's format if that is known.
    Refused(Format, Stop),
}

/// A call whose agent and provider are known.
pub(crate) struct Identified {
    pub(crate) call: Box<Call>,
    /// `None` if no provider has this name.
    pub(crate) provider: Option<Arc<Provider>>,
    /// The format of the provider.
    pub(crate) format: Format,
}

/// The call that a request from a client at `from` begins, or why it begins none. A request that is
/// refused here creates no agent and no event.
pub(crate) fn identify(
    core: &Arc<Core>,
    call: CallId,
    uri: &Uri,
    (parts, from): (&Parts, IpAddr),
) -> Result<Identified, Unrouted> {
    let route = Route::parse(uri);
    let provider = route.as_ref().ok().and_then(|route| core.destinations.provider(route.provider));
    let format = provider.as_ref().map_or(Format::Openai, |provider| provider.format);
    // A client that calls an endpoint of another format than the provider's own expects errors in
    // that format.
    let path = route.as_ref().ok().and_then(|route| route.rest);
    let endpoint = path.and_then(|path| Endpoint::of(format, &parts.method, path));
    let caller_format = endpoint.map_or(format, |endpoint| endpoint.dialect.format());
    let refused = |stop| Unrouted::Refused(caller_format, stop);

    check_host(&core.config.hosts, uri, &parts.headers).map_err(refused)?;
    if cors::check_caller(&core.config.allow_origins, parts).map_err(refused)? == Caller::Preflight {
        return Err(Unrouted::Preflight);
    }
    check_method(&parts.method).map_err(refused)?;
    let route = route.and_then(|route| route.known(provider.is_some())).map_err(refused)?;
    check_path(path.unwrap_or_default()).map_err(refused)?;
    check_secrets(uri.path(), &core.config.own_tokens).map_err(refused)?;
    let caller = caller::authenticate(core, &route, parts, from).map_err(refused)?;
    let mut call = Call::new(core, call, caller.agent, caller_format);
    call.event.key = caller.key.as_ref().map(|key| key.key.id);
    (call.key, call.event.token_subject) = (caller.key, caller.token_subject);
    Ok(Identified { call, provider, format })
}

/// The methods that are forwarded. `TRACE` is not: a provider that echoes the request would reveal
/// the stored key.
fn check_method(method: &Method) -> Result<(), Stop> {
    let name = method.as_str();
    if ["TRACE", "TRACK", "CONNECT"].iter().any(|refused| name.eq_ignore_ascii_case(refused)) {
        return Err(Stop::Client(StatusCode::METHOD_NOT_ALLOWED, format!("{name} is not forwarded: use GET or POST")));
    }
    Ok(())
}

fn check_path(path: &str) -> Result<(), Stop> {
    if has_dot_segments(path) {
        let message = "the path must not have the segments . or .., encoded or not: write the path that they lead to";
        return Err(Stop::Client(StatusCode::BAD_REQUEST, message.to_owned()));
    }
    Ok(())
}

/// A secret of ours in a path would be sent to the provider, or stored and shown as the name of an
/// agent.
fn check_secrets(path: &str, tokens: &OwnTokens) -> Result<(), Stop> {
    if agent_key::is_in_path(path, tokens) {
        let message =
            "the path has an agent key or a token in it: put it where this client has the key of its provider";
        return Err(Stop::Client(StatusCode::BAD_REQUEST, message.to_owned()));
    }
    Ok(())
}

/// Only requests to an allowed `Host` are answered; the same holds for the host of an absolute
/// target.
fn check_host(hosts: &AllowedHosts, uri: &Uri, headers: &HeaderMap) -> Result<(), Stop> {
    let mut named = headers.get_all(header::HOST).iter();
    let header_allowed = named.next().and_then(|host| host.to_str().ok()).is_some_and(|host| hosts.allows(host));
    let target_allowed = uri.authority().is_none_or(|authority| hosts.allows(authority.as_str()));
    // Reject a duplicate Host: parsers disagree about which one counts.
    if header_allowed && target_allowed && named.next().is_none() {
        return Ok(());
    }
    let message = "this host name is not one of this proxy's; allow it with --allow-host NAME".to_owned();
    Err(Stop::Client(StatusCode::MISDIRECTED_REQUEST, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_agent_provider_and_rest() {
        type Read<'a> = (Option<&'a str>, &'a str, Option<&'a str>, Option<&'a str>);
        let check = |target: &'static str, expected: Option<Read<'_>>| {
            let uri = Uri::from_static(target);
            let route = Route::read(&uri).map(|route| (route.agent, route.provider, route.rest, route.query));
            assert_eq!(route, expected, "{target}");
        };
        let a = Some("a");
        check("/agents/a/openai/v1/models?x=1&y=%20", Some((a, "openai", Some("/v1/models"), Some("x=1&y=%20"))));
        check("/agents/a/openai", Some((a, "openai", None, None)));
        check("/agents/a/openai/", Some((a, "openai", Some("/"), None)));
        check("/agents/a/openai//v1/%2e/x", Some((a, "openai", Some("//v1/%2e/x"), None)));
        check("/openai/v1/models?x=1", Some((None, "openai", Some("/v1/models"), Some("x=1"))));
        check("/openai", Some((None, "openai", None, None)));
        check("/v1/chat/completions", Some((None, "v1", Some("/chat/completions"), None)));
        check("//openai", None);
        check("/agents/a/", None);
        check("/agents/a", None);
        check("/", None);
        check("*", None);
    }

    #[test]
    fn agent_segments_are_percent_decoded() {
        let check = |segment: &str, expected: &str| assert_eq!(percent_decoded(segment), expected);
        check("my-agent", "my-agent");
        check("team%3Abot%40host", "team:bot@host");
        check("a%2Fb", "a/b");
        check("a%", "a%");
        check("a%4", "a%4");
        check("a%zz", "a%zz");
    }
}
