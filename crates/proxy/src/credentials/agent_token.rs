//! The agent that a signed token names. The program that runs the proxy verifies the token, because
//! that may need keys from another server.

use model::AgentId;

/// The token of a request, in its extensions. The token itself is removed from the request, so that
/// no provider gets it.
#[derive(Clone, Debug)]
pub enum AgentToken {
    /// It is valid, and names this agent.
    Verified {
        /// The agent that calls.
        agent: AgentId,
        /// Its subject, for the event.
        subject: Option<String>,
    },
    /// It is refused, with the reason.
    Refused(String),
}

/// The longest subject that is recorded.
const MAX_SUBJECT: usize = 200;

impl AgentToken {
    /// Its subject as it is recorded.
    pub(crate) fn subject(&self) -> Option<Box<str>> {
        let AgentToken::Verified { subject: Some(subject), .. } = self else { return None };
        let is_shown = |c: &char| !c.is_control();
        Some(subject.chars().filter(is_shown).take(MAX_SUBJECT).collect::<String>().into())
    }
}

/// The agent that a token names, or the refusal. The path may name it too. A key beside the token
/// is refused: it is ambiguous which one counts, and the key would reach the provider.
pub(crate) fn agent(token: &AgentToken, named: Option<&AgentId>, has_key: bool) -> Result<AgentId, String> {
    match token {
        AgentToken::Refused(why) => Err(why.clone()),
        AgentToken::Verified { .. } if has_key => {
            Err("it comes with a token and an agent key: send one of them".to_owned())
        }
        AgentToken::Verified { agent, .. } if named.is_some_and(|named| named != agent) => {
            Err("the token is for another agent than the one in the path".to_owned())
        }
        AgentToken::Verified { agent, .. } => Ok(agent.clone()),
    }
}
