//! The `Host` names that both listeners answer to, so that a web page that rebinds its name to this
//! machine gets nothing.

use std::net::IpAddr;

/// The names allowed in a `Host` header: loopback names, the bound address, `host.docker.internal`
/// and those set by the operator.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    bound: Option<IpAddr>,
    names: Vec<String>,
}

impl AllowedHosts {
    /// The names for a listener on `bound`: the loopback names and `names`, in any case.
    pub fn new(bound: IpAddr, names: impl IntoIterator<Item = String>) -> AllowedHosts {
        AllowedHosts { bound: Some(bound), names: names.into_iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// Whether a `Host` header (a name or an address, with or without a port) is allowed.
    pub fn allows(&self, header: &str) -> bool {
        let host = without_port(header);
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if let Ok(address) = address {
            return address.is_loopback() || Some(address) == self.bound || self.has_name(host);
        }
        host.eq_ignore_ascii_case("localhost")
            || host.eq_ignore_ascii_case("host.docker.internal")
            || self.has_name(host)
    }

    fn has_name(&self, host: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// `header` without its port; the brackets of an IPv6 address stay.
fn without_port(header: &str) -> &str {
    match header.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && balanced(host) => host,
        _ => header,
    }
}

/// Whether `host` is not the middle of a bracketed IPv6 address.
fn balanced(host: &str) -> bool {
    host.starts_with('[') == host.ends_with(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let hosts = AllowedHosts::new(IpAddr::from([10, 0, 0, 7]), ["Gazer.example".to_owned()]);
        for good in [
            "localhost",
            "LOCALHOST:18900",
            "127.0.0.1:1",
            "127.3.2.1",
            "[::1]:80",
            "[::1]",
            "host.docker.internal:18900",
            "10.0.0.7:18900",
            "gazer.example",
            "GAZER.example:443",
        ] {
            assert!(hosts.allows(good), "{good}");
        }
        for bad in
            ["", "evil.test", "evil.test:18900", "10.0.0.8", "localhost.evil.test", "127.0.0.1.evil.test", "[::2]"]
        {
            assert!(!hosts.allows(bad), "{bad}");
        }
    }
}
