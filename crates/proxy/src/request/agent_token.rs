//! What a signed token says about the agent of a request. The program that runs the proxy verifies
//! it, because that may need keys from another server.

use model::AgentId;

/// The token of a request, in its extensions. The token itself is removed from the request, so that
/// no provider gets it.
#[derive(Clone, Debug)]
pub enum AgentToken {
    /// It is good, and names this agent.
    Verified(AgentId),
    /// It is refused, and this says why.
    Refused(String),
}

/// The agent that a token names, or why it is refused. The path may name it too. A key beside the
/// token is refused: either could be the one that counts, and the key would reach the provider.
pub(crate) fn agent(token: &AgentToken, named: Option<&AgentId>, has_key: bool) -> Result<AgentId, String> {
    match token {
        AgentToken::Refused(why) => Err(why.clone()),
        AgentToken::Verified(_) if has_key => {
            Err("it comes with a token and an agent key: send one of them".to_owned())
        }
        AgentToken::Verified(agent) if named.is_some_and(|named| named != agent) => {
            Err("the token is for another agent than the one in the path".to_owned())
        }
        AgentToken::Verified(agent) => Ok(agent.clone()),
    }
}
