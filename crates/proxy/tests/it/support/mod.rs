//! A proxy on a real socket, and the provider behind it.

pub mod provider;
pub mod test_proxy;
