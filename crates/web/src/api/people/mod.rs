//! Who may come in, and who did what: users, API tokens, sessions and the audit log.

pub(crate) mod audit;
pub(crate) mod password;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod users;
