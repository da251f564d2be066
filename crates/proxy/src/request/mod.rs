//! The request side of a call: its route, its caller, its body and its content.

pub(crate) mod agent_key;
pub(crate) mod agent_token;
pub(crate) mod body_budget;
mod caller;
pub(crate) mod conversation;
pub(crate) mod cors;
pub(crate) mod decode;
pub(crate) mod dot_segments;
pub(crate) mod origin;
pub(crate) mod read;
pub(crate) mod route;
pub(crate) mod upload;
