//! Calls to providers: destination, connection and sending.

pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod destination;
