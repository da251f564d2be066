//! The agent that a call comes from, and whether its caller may use that name. Everything that can
//! name an agent is decided here: the path, agent keys and tokens.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use model::{AgentId, BlockReason, KeyHash, KeyInForce, KeyRefusal, KeyText};
use wire::RefusalKind;

use super::route::Route;
use crate::core::Core;
use crate::credentials::agent_key;
use crate::credentials::agent_token::{self, AgentToken};
use crate::error::Stop;
use crate::headers;

/// The agent that a call comes from.
pub(crate) struct Caller {
    pub(crate) agent: AgentId,
    /// The agent key that authenticates it; `None` if none is required and none was sent.
    pub(crate) key: Option<Arc<KeyInForce>>,
    /// The subject of the token that authenticates it.
    pub(crate) token_subject: Option<Box<str>>,
}

/// Determines the agent of a call. A call that is refused here creates no agent and no event; it is
/// counted.
pub(crate) fn authenticate(core: &Core, route: &Route<'_>, parts: &Parts, from: IpAddr) -> Result<Caller, Stop> {
    let named = route.agent()?;
    if let Some(token) = parts.extensions.get::<AgentToken>() {
        let has_key = agent_key::find(&parts.headers, route.query).map_or(true, |key| key.is_some());
        return match agent_token::agent(token, named.as_ref(), has_key) {
            Ok(agent) => Ok(Caller { agent, key: None, token_subject: token.subject() }),
            Err(why) => Err(refuse_token(core, from, why)),
        };
    }
    let key = find_key(core, route, parts).map_err(|why| refuse(core, from, why, None))?;
    let Some(key) = key else {
        let (is_relayed, have_keys) = (|| headers::is_relayed(&parts.headers), || core.destinations.have_keys());
        let is_required = core.config.key_requirement.requires_key(is_relayed, have_keys);
        return match named {
            Some(agent) if !is_required => Ok(Caller { agent, key: None, token_subject: None }),
            _ => Err(refuse(core, from, KeyRefusal::Missing, None)),
        };
    };
    let now = core.clock.now();
    match caller_of(&key, named, key.is_expired(now)) {
        Ok(agent) => {
            key.note_use(now);
            Ok(Caller { agent, key: Some(key), token_subject: None })
        }
        Err(why) => Err(refuse(core, from, why, Some(&key))),
    }
}

/// The key of a call. A mistyped key differs from an unknown one only in the counts: the caller
/// gets the same answer.
fn find_key(core: &Core, route: &Route<'_>, parts: &Parts) -> Result<Option<Arc<KeyInForce>>, KeyRefusal> {
    let Some(text) = agent_key::find(&parts.headers, route.query)? else { return Ok(None) };
    match core.config.keys.find(&KeyHash::of(&text)) {
        Some(key) => Ok(Some(key)),
        None if KeyText::is_well_formed(&text) => Err(KeyRefusal::Unknown),
        None => Err(KeyRefusal::Malformed),
    }
}

/// The agent that `key` authenticates. The path may name it, and must if the key is for several.
fn caller_of(key: &KeyInForce, named: Option<AgentId>, is_expired: bool) -> Result<AgentId, KeyRefusal> {
    if is_expired {
        return Err(KeyRefusal::Expired);
    }
    match named {
        Some(agent) if key.key.agents.matches(&agent) => Ok(agent),
        Some(_) => Err(KeyRefusal::OtherAgent),
        None => key.key.agents.single().ok_or(KeyRefusal::NoAgent),
    }
}

fn refuse_token(core: &Core, from: IpAddr, why: String) -> Stop {
    count(core, from, KeyRefusal::BadToken);
    let kind = RefusalKind::Unauthorized { why: KeyRefusal::BadToken, agents: Some(why) };
    Stop::Policy(BlockReason::Unauthorized, Box::new(kind))
}

fn refuse(core: &Core, from: IpAddr, why: KeyRefusal, key: Option<&KeyInForce>) -> Stop {
    count(core, from, why);
    if let Some(key) = key {
        key.note_refusal();
    }
    let agents = key.map(|key| key.key.agents.to_string());
    Stop::Policy(BlockReason::Unauthorized, Box::new(RefusalKind::Unauthorized { why, agents }))
}

/// Counts a refused call, also by address. The answer stays the same however many come: 256 bits
/// cannot be guessed, a right key from the same address must pass, and clients would retry a 429.
fn count(core: &Core, from: IpAddr, why: KeyRefusal) {
    if let Some(count) = core.config.keys.note_refusal(why, from, core.clock.now()) {
        tracing::warn!(address = %from, count, "this address sends agent keys that are wrong, revoked or another agent's");
    }
}
