//! Masked addresses: the whole address of a webhook is often enough to post there.

use model::Target;

use crate::problem::Problem;

/// Replaces the hidden part. No address contains it: the parser would encode it.
const MASK: char = '…';

/// A last part of at least this many characters ends in a hint, so that people can tell two
/// addresses of a host apart. Of a shorter secret the hint would give away too much.
const HINTED_LENGTH: usize = 16;
const HINT_LENGTH: usize = 4;

/// Scheme, host and, if the last part is long, its last characters. An address without a path is
/// shown whole.
pub(super) fn mask(url: &str) -> Option<String> {
    let target = Target::parse(url).ok()?;
    let (origin, path) = (target.origin(), target.path_and_query());
    if path == "/" {
        return Some(origin);
    }
    let last_part = path.rsplit(['/', '?', '&', '=']).next().unwrap_or_default();
    // The parser leaves only ASCII in paths and queries.
    let hint_start = last_part.len().saturating_sub(HINT_LENGTH);
    let hint = if last_part.len() < HINTED_LENGTH { "" } else { last_part.get(hint_start..).unwrap_or_default() };
    Some(format!("{origin}/{MASK}{hint}"))
}

/// Drops an address that equals the masked form of `stored`, so that sending it back keeps the
/// stored one.
pub(super) fn unmask(given: Option<String>, stored: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(url) = given.filter(|url| stored.and_then(mask).as_ref() != Some(url)) else { return Ok(None) };
    if url.contains(MASK) {
        return Err(Problem::field("url", "must be the whole address: this one is shortened; leave it out to keep it"));
    }
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_host_and_hint_are_shown() {
        for (url, shown) in [
            ("https://example.com", "https://example.com"),
            ("https://example.com:8443/#canary", "https://example.com:8443"),
            ("https://example.com/hook", "https://example.com/…"),
            ("https://example.com/?key=canary", "https://example.com/…"),
            ("https://hooks.example.com/services/T1/B1/canary-canary-1234", "https://hooks.example.com/…1234"),
            ("https://hooks.example.com/services/T1/B1/?token=canary", "https://hooks.example.com/…"),
            ("https://example.com/ä-very-long-path-with-ü", "https://example.com/…3%BC"),
        ] {
            assert_eq!(mask(url).unwrap(), shown, "{url}");
        }
    }

    #[test]
    fn masked_address_keeps_the_stored_one() {
        let stored = "https://example.com/services/0123456789abcdef";
        let given = |url: &str| unmask(Some(url.to_owned()), Some(stored));
        assert_eq!(given("https://example.com/…cdef").unwrap(), None);
        assert_eq!(given("https://example.com/other").unwrap().as_deref(), Some("https://example.com/other"));
        assert_eq!(given("https://example.com/…ffff").unwrap_err().wrong_field().unwrap().0, "url");
        assert!(unmask(Some("https://example.com/…".to_owned()), None).is_err());
        assert_eq!(unmask(None, Some(stored)).unwrap(), None);
    }
}
