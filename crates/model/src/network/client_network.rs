//! The network of a client, for limits by address.

use std::net::IpAddr;

/// The addresses that count as one client: one of IPv4, a /64 of IPv6, which is what a single site
/// is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// An IPv4 address.
    V4(u32),
    /// The upper half of an IPv6 address.
    V6(u64),
}

impl Network {
    /// The network of `address`.
    pub fn of(address: IpAddr) -> Network {
        match address.to_canonical() {
            IpAddr::V4(address) => Network::V4(address.to_bits()),
            IpAddr::V6(address) => Network::V6((address.to_bits() >> 64) as u64),
        }
    }
}
