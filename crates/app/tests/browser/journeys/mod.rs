//! Ways through the dashboard that a person takes.

mod connection;
mod finding;
mod headline;
pub(crate) mod journey;
mod start;
mod telling;
