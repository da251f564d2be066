//! Tells public internet addresses from all others. Only ranges known to be public count: lists of
//! private ranges have always missed one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether `address` is a public internet address.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match a {
        // This network, private, loopback, multicast, reserved and broadcast.
        0 | 10 | 127 | 224..=255 => true,
        // Shared address space of carriers.
        100 => (64..128).contains(&b),
        // Link-local, where clouds serve their metadata.
        169 => b == 254,
        172 => (16..32).contains(&b),
        // Protocol assignments, documentation, the old 6to4 relay, private.
        192 => (b == 0 && (c == 0 || c == 2)) || (b == 88 && c == 99) || b == 168,
        // Benchmarks and documentation.
        198 => b == 18 || b == 19 || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    };
    !special
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_global_v4(inner);
    }
    let segments = address.segments();
    // NAT64 carries an IPv4 address, which decides.
    if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = segments {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        return is_global_v4(Ipv4Addr::new(a, b, c, d));
    }
    // Only 2000::/3 is allocated, without the protocol assignments (Teredo, ORCHID), documentation
    // and 6to4.
    let is_allocated = segments[0] & 0xe000 == 0x2000;
    let special = match segments[0] {
        0x2001 => segments[1] < 0x200 || segments[1] == 0xdb8,
        0x2002 => true,
        0x3fff => segments[1] < 0x1000,
        _ => false,
    };
    is_allocated && !special
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_public_addresses_are_global() {
        for good in
            ["1.1.1.1", "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1"]
        {
            assert!(is_global(good.parse().unwrap()), "{good}");
        }
        for good in ["2606:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00::1"] {
            assert!(is_global(good.parse().unwrap()), "{good}");
        }
        for bad in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
        ] {
            assert!(!is_global(bad.parse().unwrap()), "{bad}");
        }
        for bad in [
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:1::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:a9fe:a9fe::",
            "2002:808:808::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_global(bad.parse().unwrap()), "{bad}");
        }
    }
}
