//! Identity providers: which agent a token names, and who has logged in. Every signature is checked
//! with the keys that the provider publishes, and all calls go through the egress client.

mod agent_token;
mod key_set;
mod oidc;
mod refusal;
mod signed_token;

pub use agent_token::{AgentTokenConfig, AgentTokens, NamedAgent, find_token};
pub use oidc::{AuthorizationAnswer, FinishedLogin, LoginAttempt, OidcClient, OidcConfig, OidcError, Person};
pub use refusal::TokenRefusal;

use model::{Target, TargetHost};

/// Whether no one on the path can change the answer of `target`: it is called over TLS, or it is on
/// this machine.
pub fn is_safe_from_changes(target: &Target) -> bool {
    let is_local = matches!(target.host(), TargetHost::Address(address) if address.is_loopback());
    target.is_https() || is_local
}
