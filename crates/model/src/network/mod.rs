//! Hosts and addresses: the names that the listeners answer to, the networks of clients, and the
//! targets that the server may call.

mod address;
mod client_network;
mod host;
mod target;

pub use address::is_global;
pub use client_network::Network;
pub use host::AllowedHosts;
pub use target::{Target, TargetHost};
