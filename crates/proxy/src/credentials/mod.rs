//! Credentials that a request carries for this proxy and not for its provider: agent keys, tokens
//! that name an agent, and the token of the first start.

pub(crate) mod agent_key;
pub(crate) mod agent_token;
mod own_tokens;

pub use own_tokens::OwnTokens;
