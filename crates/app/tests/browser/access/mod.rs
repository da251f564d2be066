//! Logins, keys and people, and pages and texts that try to get around them.

mod agent_access;
pub(crate) mod foreign_page;
mod getting_in;
mod hostile;
mod people;
