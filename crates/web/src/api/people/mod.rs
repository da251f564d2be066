//! Users, API tokens and sessions, and the audit log of what they did.

pub(crate) mod audit;
pub(crate) mod password;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod users;
