//! Agent keys: a client sends one in place of a provider's key, and it names the agent. Only a hash
//! of a key is kept.

mod book;
mod refused_callers;
mod text;

use crate::{AgentKeyId, AgentPattern, Timestamp};

pub use book::{AgentKeys, KeyInForce, KeyRefusal};
pub use refused_callers::RefusedCaller;
pub use text::{KeyHash, KeyText};

/// An agent key as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentKey {
    /// Its id.
    pub id: AgentKeyId,
    /// Its display name.
    pub name: Option<String>,
    /// The agent it authenticates, or the pattern that the agent's name must match.
    pub agents: AgentPattern,
    /// The hash of its text.
    pub hash: KeyHash,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl AgentKey {
    /// The most keys: all of them are in memory.
    pub const MOST: usize = 10_000;
}
