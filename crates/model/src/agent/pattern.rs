//! Patterns for the agents of a key or a group: one name, or a common prefix.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::AgentId;

/// One agent's name, or a prefix of names followed by `*`. In a prefix, `/` stands for one of the
/// separators `.`, `:` and `@`, so that `team-a/*` matches `team-a:bot` and `team-a.bot` but
/// neither `team-ab` nor `team-a-b:bot`. `*` alone matches all agents.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentPattern(String);

/// The error for a text that is neither an agent's name nor a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an agent's name, or the beginning of names with * at the end, such as bot-* or team-a/*")]
pub struct InvalidAgentPattern;

impl AgentPattern {
    /// Validates `text`.
    pub fn parse(text: &str) -> Result<AgentPattern, InvalidAgentPattern> {
        let is_valid = match text.strip_suffix('*') {
            Some("") => true,
            Some(beginning) => {
                // A name with this prefix must be possible.
                beginning.len() < AgentId::MAX_LENGTH && AgentId::parse(&beginning.replace('/', ":")).is_ok()
            }
            None => AgentId::parse(text).is_ok(),
        };
        if is_valid { Ok(AgentPattern(text.to_owned())) } else { Err(InvalidAgentPattern) }
    }

    /// The pattern as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The agent, if the pattern is a single name.
    pub fn single(&self) -> Option<AgentId> {
        AgentId::parse(&self.0).ok()
    }

    /// Whether it matches `agent`.
    pub fn matches(&self, agent: &AgentId) -> bool {
        let name = agent.as_str().as_bytes();
        let Some(beginning) = self.0.strip_suffix('*') else { return self.0 == agent.as_str() };
        let alike = |(pattern, byte): (u8, &u8)| match pattern {
            b'/' => b".:@".contains(byte),
            pattern => pattern == *byte,
        };
        beginning.len() <= name.len() && beginning.bytes().zip(name).all(alike)
    }
}

impl fmt::Display for AgentPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for AgentPattern {
    type Error = InvalidAgentPattern;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        AgentPattern::parse(&text)
    }
}

impl From<AgentPattern> for String {
    fn from(pattern: AgentPattern) -> String {
        pattern.0
    }
}

impl From<&AgentId> for AgentPattern {
    fn from(agent: &AgentId) -> AgentPattern {
        AgentPattern(agent.as_str().to_owned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names_or_their_beginning() {
        for (pattern, matching, others) in [
            ("bot", &["bot"][..], &["bot2", "Bot", "bo", "b:bot"][..]),
            ("bot-*", &["bot-1", "bot-", "bot-a:b"], &["bot", "bot1", "Bot-1", "a-bot-1"]),
            (
                "team-a/*",
                &["team-a:x", "team-a.x", "team-a@x", "team-a:"],
                &["team-a", "team-ab", "team-a-b", "team-b:x"],
            ),
            ("org/team/*", &["org:team.x"], &["org-team:x", "org:team", "org:teams:x"]),
            ("*", &["a", "anything"], &[]),
        ] {
            let parsed = AgentPattern::parse(pattern).unwrap();
            for name in matching {
                assert!(parsed.matches(&AgentId::parse(name).unwrap()), "{pattern} {name}");
            }
            for name in others {
                assert!(!parsed.matches(&AgentId::parse(name).unwrap()), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn patterns_have_one_star_at_the_end() {
        for bad in
            ["", "a/b", "a*b", "**", "*a", "/", "/*", "-*", "a b", "ä*", "a/b*c", &format!("{}*", "x".repeat(128))]
        {
            assert_eq!(AgentPattern::parse(bad), Err(InvalidAgentPattern), "{bad}");
        }
        assert_eq!(AgentPattern::parse("bot").unwrap().single(), AgentId::parse("bot").ok());
        assert_eq!(AgentPattern::parse("bot*").unwrap().single(), None);
    }
}
