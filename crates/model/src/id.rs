//! Identifiers.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Timestamp;

/// The name of an agent: `1..=128` characters of `A-Z a-z 0-9 . _ - : @`, the first one
/// alphanumeric.
///
/// Cloning is cheap, because every call carries one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(Arc<str>);

/// The error for an invalid agent name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an agent name has 1 to 128 characters of A-Z a-z 0-9 . _ - : @ and starts with a letter or digit")]
pub struct InvalidAgentId;

impl AgentId {
    /// The longest name, in characters; all are ASCII.
    pub const MAX_LENGTH: usize = 128;

    /// Validates `name`.
    pub fn parse(name: &str) -> Result<AgentId, InvalidAgentId> {
        let bytes = name.as_bytes();
        let starts_well = bytes.first().is_some_and(u8::is_ascii_alphanumeric);
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-:@".contains(byte);
        if starts_well && bytes.len() <= Self::MAX_LENGTH && bytes.iter().all(allowed) {
            Ok(AgentId(name.into()))
        } else {
            Err(InvalidAgentId)
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for AgentId {
    type Error = InvalidAgentId;
    fn try_from(name: String) -> Result<Self, Self::Error> {
        AgentId::parse(&name)
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> String {
        id.0.as_ref().to_owned()
    }
}

/// The id of one call, also its request id and its event's id. Sorts by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Uuid);

impl CallId {
    /// A new id.
    pub fn new() -> CallId {
        CallId(Uuid::now_v7())
    }

    /// A new id for an event at `at`.
    pub fn at(at: Timestamp) -> CallId {
        CallId(version_7(at))
    }

    /// Its creation time; `None` if it was not made by this type.
    pub fn time(self) -> Option<Timestamp> {
        let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
        let millis = i64::try_from(seconds).ok()?.checked_mul(1000)? + i64::from(nanos / 1_000_000);
        Some(Timestamp::from_millis(millis))
    }

    /// The id that has these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> CallId {
        CallId(Uuid::from_bytes(bytes))
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Option<CallId> {
        Uuid::try_parse(text).ok().map(CallId)
    }
}

impl Default for CallId {
    fn default() -> Self {
        CallId::new()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The id of an incident. Sorts by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IncidentId(pub Uuid);

impl IncidentId {
    /// A new id for an incident at `at`.
    pub fn at(at: Timestamp) -> IncidentId {
        IncidentId(version_7(at))
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Option<IncidentId> {
        Uuid::try_parse(text).ok().map(IncidentId)
    }
}

/// A new UUIDv7 for `at`.
fn version_7(at: Timestamp) -> Uuid {
    let millis = at.as_millis().max(0).unsigned_abs();
    let time = uuid::Timestamp::from_unix(uuid::NoContext, millis / 1000, (millis % 1000) as u32 * 1_000_000);
    Uuid::new_v7(time)
}

impl fmt::Display for IncidentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// Identifies a conversation of an agent: a hash of what distinguishes conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConversationId(pub u64);

impl ConversationId {
    /// The prefix of a conversation that the client did not name; its first words identify it.
    pub const BY_FIRST_WORDS: &'static str = "first-";
}

/// Counts the activations of an agent. Windows never reach across an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch that the next activation starts.
    pub fn next(self) -> Epoch {
        Epoch(self.0 + 1)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_names_are_checked() {
        for good in ["a", "7", "my-agent", "a.b_c-d:e@f", &"x".repeat(128)] {
            assert!(AgentId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", ".a", "a b", "a/b", "ä", "a\n", &"x".repeat(129)] {
            assert!(AgentId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = CallId::at(Timestamp::from_millis(7));
        assert_eq!(CallId::parse(&id.to_string()), Some(id));
        assert_eq!(IncidentId::parse(&id.to_string()), Some(IncidentId(id.0)));
        assert_eq!(CallId::parse("no id"), None);
    }

    #[test]
    fn incident_ids_sort_by_time() {
        let earlier = IncidentId::at(Timestamp::from_millis(1_000));
        let later = IncidentId::at(Timestamp::from_millis(1_001));
        assert!(earlier < later);
    }
}
