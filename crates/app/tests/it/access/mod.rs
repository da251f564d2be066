//! Who may call and who may log in: agent keys, tokens, groups, users, identity providers.

mod agent_keys;
mod agent_tokens;
mod behind_proxy;
mod groups;
mod guesses;
mod oidc;
mod people;
mod upgrade;
mod viewers;
