//! Access: people with roles, and agents with keys.

mod actor;
mod agent_key;
mod key_requirement;

pub use actor::{Actor, ActorKind, Cause, Grant, Role};
pub use agent_key::{AgentKey, AgentKeys, KeyHash, KeyInForce, KeyRefusal, KeyText, RefusedCaller};
pub use key_requirement::{KeyRequirement, RequireKey};
