//! Targets that the server calls on its own. One parser is used both to check and to call them, so
//! that no URL is checked as one host and called as another.

use std::net::IpAddr;

use url::{Host, Url};

use crate::{FieldError, is_global};

/// A URL that the server may be configured to call.
#[derive(Clone, PartialEq, Eq)]
pub struct Target(Url);

/// The host to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetHost {
    /// An IP address in any spelling.
    Address(IpAddr),
    /// A name to resolve.
    Name(String),
}

impl Target {
    const MAX_LENGTH: usize = 2048;

    /// Parses a URL. An error says what is wrong.
    pub fn parse(text: &str) -> Result<Target, FieldError> {
        let wrong = |message: &str| Err(FieldError::new("url", message));
        if text.len() > Self::MAX_LENGTH {
            return wrong("must have at most 2048 characters");
        }
        // The parser drops them, as browsers do, so the URL would change silently.
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return wrong("must have no spaces and no line ends");
        }
        let Ok(url) = Url::parse(text) else { return wrong("must be a URL such as https://example.com/hook") };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("must start with http:// or https://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("must not have a user or password in it");
        }
        if url.port() == Some(0) {
            return wrong("must have a port from 1 to 65535");
        }
        match url.host() {
            None | Some(Host::Domain("")) => wrong("must name a host"),
            Some(_) => Ok(Target(url)),
        }
    }

    /// Refuses private addresses, unless `allow_private`.
    pub fn check(&self, allow_private: bool) -> Result<(), FieldError> {
        let private = match self.host() {
            TargetHost::Address(address) => !is_global(address),
            TargetHost::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        };
        if private && !allow_private {
            let message = "must not be a private address (the server allows them with --allow-private-targets)";
            return Err(FieldError::new("url", message));
        }
        Ok(())
    }

    /// The host to connect to. A name is in lower case and without a trailing dot.
    pub fn host(&self) -> TargetHost {
        match self.0.host() {
            Some(Host::Ipv4(address)) => TargetHost::Address(address.into()),
            Some(Host::Ipv6(address)) => TargetHost::Address(address.into()),
            Some(Host::Domain(name)) => TargetHost::Name(name.trim_end_matches('.').to_owned()),
            None => TargetHost::Name(String::new()),
        }
    }

    /// The port, explicit or the default of the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The value of the `Host` header.
    pub fn authority(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Path and query.
    pub fn path_and_query(&self) -> String {
        let query = self.0.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.0.path())
    }

    /// Scheme and host: the part of a secret URL that may be shown.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.0.scheme(), self.authority())
    }

    /// The target at `path` below this one.
    pub fn join(&self, path: &str) -> Target {
        let mut url = self.0.clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        Target(url)
    }
}

/// Omits path and query, which are often secrets.
impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({})", self.origin())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// No spelling of a private address passes the check.
    #[test]
    fn private_targets_are_refused_however_they_are_spelled() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://127.0.0.1./",
            "http://127.0.0.1:80/",
            "http://127.0.0.1:65535/",
            "http://0/",
            "http://0.0.0.0/",
            "http://00000000/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://169.254.43518/",
            "http://100.64.0.1/",
            "http://100.100.100.200/",
            "http://198.18.0.1/",
            "http://192.0.0.192/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
            "http://[::]/",
            "http://[::1]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::1]:8080/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[64:ff9b:1::1]/",
            "http://[2002:a9fe:a9fe::]/",
            "http://[2002:7f00:1::]/",
            "http://[2001::1]/",
            "http://[2001:db8::1]/",
            "http://[fe80::1]/",
            "http://[fec0::1]/",
            "http://[fc00::1]/",
            "http://[fd00:ec2::254]/",
            "http://[ff02::1]/",
            "http://localhost/",
            "http://LOCALHOST/",
            "http://localhost./",
            "http://localhost:18880/",
            "http://a.localhost/",
            "https://localhost/",
            "http://127。0。0。1/",
            "http://①②⑦.⓪.⓪.①/",
            "http://ⓛocalhost/",
            "http://%31%32%37.0.0.1/",
            "http://%6cocalhost/",
            "http://127.0.0.1\\@example.com/",
            "http:127.0.0.1/",
            "http:/127.0.0.1/",
            "http:////127.0.0.1/",
        ] {
            let target = Target::parse(url).unwrap_or_else(|error| panic!("{url} should be read: {error}"));
            assert!(target.check(false).is_err(), "{url} is private: {:?}", target.host());
            assert!(target.check(true).is_ok(), "{url} is allowed on demand");
        }
    }

    #[test]
    fn urls_other_than_plain_http_are_refused() {
        for url in [
            "",
            "example.com",
            "//example.com/",
            "/etc/passwd",
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://x/",
            "data:text/plain,x",
            "javascript:alert(1)",
            "ws://example.com/",
            "dict://127.0.0.1:11211/",
            "unix:/run/x.sock",
            "http://",
            "https://",
            "http://user@example.com/",
            "http://user:pass@example.com/",
            "http://:pass@example.com/",
            "http://127.0.0.1@example.com/",
            "http://example.com@127.0.0.1/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://example.com:x/",
            "http://[::1",
            "http://[fe80::1%25eth0]/",
            "http://[fe80::1%eth0]/",
            "http://exa mple.com/",
            "http://example.com/\r\nX: y",
            "http://example.com/\ta",
            " http://example.com/",
            "http://256.256.256.256/",
            "http://1.2.3.4.5/",
            "http://0x100000000/",
            "http://a%00b/",
            "http://exam<ple.com/",
        ] {
            let parsed = Target::parse(url);
            assert_eq!(parsed.as_ref().err().map(|error| error.field), Some("url"), "{url:?}: {parsed:?}");
        }
        assert!(Target::parse(&format!("https://example.com/{}", "x".repeat(2048))).is_err());
    }

    #[test]
    fn target_has_host_port_and_path() {
        let target = Target::parse("https://Example.com.:8443/hook/a?b=c#d").unwrap();
        assert!(target.check(false).is_ok());
        assert_eq!(target.host(), TargetHost::Name("example.com".to_owned()));
        assert_eq!((target.port(), target.is_https()), (8443, true));
        assert_eq!(
            (target.authority().as_str(), target.path_and_query().as_str()),
            ("example.com.:8443", "/hook/a?b=c")
        );
        assert_eq!(format!("{target:?}"), "Target(https://example.com.:8443)");
        let bot = Target::parse("http://tg.test/base/").unwrap().join("/bot1:a/sendMessage");
        assert_eq!(bot.path_and_query(), "/base/bot1:a/sendMessage");
        assert_eq!(bot.port(), 80);
    }
}
