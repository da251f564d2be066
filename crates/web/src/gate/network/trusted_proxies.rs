//! Finds the client behind a reverse proxy. Anyone can send the headers that name it, so they are
//! read only if the peer is a proxy that the configuration trusts.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{FORWARDED, HeaderName};
use axum::middleware::Next;
use axum::response::Response;

use super::client::Client;
use crate::app::App;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// An address, or a range with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    bits: u8,
}

impl AddressRange {
    /// Parses `10.0.0.7`, `10.0.0.0/8` or `2001:db8::/32`.
    pub fn parse(text: &str) -> Option<AddressRange> {
        let (address, bits) = match text.trim().split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().ok()?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(all), |bits| bits.parse().ok().filter(|bits| *bits <= all))?;
        Some(AddressRange { address, bits })
    }

    fn contains(&self, address: IpAddr) -> bool {
        let differing = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros(),
            _ => return false,
        };
        differing >= u32::from(self.bits)
    }

    /// The first and the last address.
    fn bounds(&self) -> (u128, u128) {
        let (address, highest) = match self.address {
            IpAddr::V4(address) => (u128::from(address.to_bits()), u128::from(u32::MAX)),
            IpAddr::V6(address) => (address.to_bits(), u128::MAX),
        };
        let varying = highest.checked_shr(u32::from(self.bits)).unwrap_or(0);
        (address & !varying, address | varying)
    }
}

/// The reverse proxies whose headers are trusted. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[AddressRange]>);

impl TrustedProxies {
    /// The proxies at these addresses.
    pub fn new(ranges: Vec<AddressRange>) -> TrustedProxies {
        TrustedProxies(ranges.into())
    }

    /// Whether no proxy is trusted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the ranges together hold all addresses of IPv4 or all of IPv6, so that every client
    /// counts as a proxy.
    pub fn trust_every_address(&self) -> bool {
        let bounds = |is_v4| self.0.iter().filter(move |it| it.address.is_ipv4() == is_v4).map(AddressRange::bounds);
        leave_none_out(bounds(true).collect(), u128::from(u32::MAX))
            || leave_none_out(bounds(false).collect(), u128::MAX)
    }

    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(address))
    }

    /// The client of a request that came from `peer`.
    pub fn client_of(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if self.trusts(peer) { self.client_behind(peer, headers) } else { peer }
    }

    /// The client of a request that the trusted proxy at `peer` sent. If the two headers disagree,
    /// one of them is the client's own, and the proxy's address counts.
    fn client_behind(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let named = |name: &HeaderName, read: fn(&str) -> Option<IpAddr>| {
            let lines = || headers.get_all(name).iter();
            lines().next()?;
            let text: Vec<&str> = lines().map(|line| line.to_str().unwrap_or_default()).collect();
            Some(self.first_untrusted(peer, &text.join(","), read))
        };
        match (named(&X_FORWARDED_FOR, address_of), named(&FORWARDED, forwarded_for)) {
            (Some(one), Some(other)) if one != other => peer,
            (one, other) => one.or(other).unwrap_or(peer),
        }
    }

    /// Each proxy appends the address it was called from. The last one that is not a trusted proxy
    /// is the client; the addresses before it are unverified.
    fn first_untrusted(&self, peer: IpAddr, hops: &str, read: fn(&str) -> Option<IpAddr>) -> IpAddr {
        let mut nearest = peer;
        for hop in hops.rsplit(',') {
            let Some(address) = read(hop.trim()) else { return nearest };
            nearest = address;
            if !self.trusts(address) {
                break;
            }
        }
        nearest
    }
}

/// Whether `ranges`, each with its first and last address, hold all addresses up to `highest`.
fn leave_none_out(mut ranges: Vec<(u128, u128)>, highest: u128) -> bool {
    ranges.sort_unstable();
    let mut missing = 0;
    for (first, last) in ranges {
        if first > missing {
            return false;
        }
        if last == highest {
            return true;
        }
        missing = missing.max(last + 1);
    }
    false
}

/// An address with or without a port, as proxies write it.
fn address_of(text: &str) -> Option<IpAddr> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(address, _)| address);
    let address = match bracketed {
        Some(address) => address.parse(),
        // A port follows the only colon of an IPv4 address.
        None if text.matches(':').count() == 1 => text.split(':').next().unwrap_or_default().parse(),
        None => text.parse(),
    };
    address.ok().map(|address: IpAddr| address.to_canonical())
}

/// The address in one element of `Forwarded` (RFC 7239).
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let mut named = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    address_of(named.next()?.1.trim().trim_matches('"'))
}

/// Whether the last proxy was called over TLS.
fn is_over_tls(headers: &HeaderMap) -> bool {
    let last = headers.get_all(X_FORWARDED_PROTO).iter().next_back().and_then(|value| value.to_str().ok());
    last.and_then(|value| value.rsplit(',').next()).is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// Passes the real client to the inner layers.
pub(crate) async fn find_client(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let proxies = &app.web().access.proxies;
    let peer = Client::of(request.extensions());
    if proxies.trusts(peer.address()) {
        let address = proxies.client_behind(peer.address(), request.headers());
        let is_over_tls = is_over_tls(request.headers());
        request.extensions_mut().insert(peer.behind_proxy(address, is_over_tls));
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use axum::http::HeaderValue;

    use super::*;

    fn proxies() -> TrustedProxies {
        let ranges = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"];
        TrustedProxies::new(ranges.iter().map(|range| AddressRange::parse(range).unwrap()).collect())
    }

    fn check(lines: &[(&'static str, &'static str)], expected: &str) {
        let lines = lines.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        let headers = lines.fold(HeaderMap::new(), |mut headers, (name, value): (HeaderName, _)| {
            headers.append(name, value);
            headers
        });
        let found = proxies().client_behind("10.0.0.1".parse().unwrap(), &headers);
        assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{headers:?}");
    }

    #[test]
    fn ranges_hold_addresses_with_the_same_begin() {
        for (address, is_trusted) in [
            ("10.255.0.1", true),
            ("::ffff:10.1.2.3", true),
            ("11.0.0.1", false),
            ("192.0.2.1", true),
            ("192.0.2.2", false),
            ("2001:db8:ffff::1", true),
            ("2001:db9::1", false),
        ] {
            assert_eq!(proxies().trusts(address.parse().unwrap()), is_trusted, "{address}");
        }
        for wrong in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "example.com", "10.0.0.1/", "10.0.0.1/-1"] {
            assert_eq!(AddressRange::parse(wrong), None, "{wrong}");
        }
        let all = TrustedProxies::new(vec![AddressRange::parse("0.0.0.0/0").unwrap()]);
        assert!(all.trusts("8.8.8.8".parse().unwrap()) && !all.trusts("2001:db8::1".parse().unwrap()));
    }

    #[test]
    fn ranges_that_together_hold_all_addresses_are_found() {
        let everybody = |ranges: &[&str]| {
            TrustedProxies::new(ranges.iter().map(|range| AddressRange::parse(range).unwrap()).collect())
                .trust_every_address()
        };
        for all in [
            &["0.0.0.0/0"][..],
            &["::/0"],
            &["10.0.0.0/8", "7.7.7.7/0"],
            &["0.0.0.0/1", "128.0.0.0/1"],
            &["128.0.0.0/1", "64.0.0.0/2", "10.0.0.0/8", "0.0.0.0/2", "2001:db8::1"],
            &["8000::/1", "::/1", "10.0.0.0/8"],
        ] {
            assert!(everybody(all), "{all:?}");
        }
        for some in [
            &[][..],
            &["0.0.0.0/1"],
            &["0.0.0.0/1", "8000::/1"],
            &["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/3"],
            &["0.0.0.1/32", "128.0.0.0/1"],
            &["::/1", "c000::/2"],
        ] {
            assert!(!everybody(some), "{some:?}");
        }
    }

    #[test]
    fn last_address_that_is_no_proxy_is_the_client() {
        check(&[], "10.0.0.1");
        check(&[("x-forwarded-for", "203.0.113.9")], "203.0.113.9");
        check(&[("x-forwarded-for", "1.1.1.1, 203.0.113.9, 192.0.2.1")], "203.0.113.9");
        check(&[("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.9:4711")], "203.0.113.9");
        check(&[("x-forwarded-for", "[2001:db9::1]:443")], "2001:db9::1");
        check(&[("x-forwarded-for", "10.0.0.9, 10.0.0.8")], "10.0.0.9");
        check(&[("forwarded", "for=1.1.1.1;proto=http, For=\"[2001:db9::7]:1\";by=x")], "2001:db9::7");
    }

    #[test]
    fn malformed_or_contradictory_headers_are_ignored() {
        check(&[("x-forwarded-for", "203.0.113.9, unknown")], "10.0.0.1");
        check(&[("x-forwarded-for", "203.0.113.9, nonsense, 192.0.2.1")], "192.0.2.1");
        check(&[("forwarded", "for=_hidden")], "10.0.0.1");
        check(&[("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=1.1.1.1")], "10.0.0.1");
        check(&[("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9")], "203.0.113.9");
    }
}
