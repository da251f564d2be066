//! The way to the providers: where a call goes, over which connection, and how it is sent.

pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod destination;
