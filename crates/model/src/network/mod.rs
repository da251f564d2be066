//! Hosts and addresses: the names that the listeners answer to, and the targets that the server may
//! call.

mod address;
mod host;
mod target;

pub use address::is_global;
pub use host::AllowedHosts;
pub use target::{Target, TargetHost};
