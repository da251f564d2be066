//! Agent keys: a client sends one in place of a provider's key, and it names the agent. Only a hash
//! of a key is kept.

mod book;
mod refused_callers;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{AgentPattern, Timestamp};

pub use book::{AgentKeys, KeyInForce, KeyRefusal};
pub use refused_callers::RefusedCaller;
pub use text::{KeyHash, KeyText};

/// The id of an agent key. Sorts by creation time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentKeyId(pub Uuid);

impl AgentKeyId {
    /// A new id.
    #[allow(clippy::new_without_default, reason = "there is no usual id")]
    pub fn new() -> AgentKeyId {
        AgentKeyId(Uuid::now_v7())
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Option<AgentKeyId> {
        Uuid::try_parse(text).ok().map(AgentKeyId)
    }
}

impl fmt::Display for AgentKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

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
