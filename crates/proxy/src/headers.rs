//! Headers: hop-by-hop ones, credentials, and our own.

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE,
    TRANSFER_ENCODING, UPGRADE,
};
use model::{CallId, Score};

/// The id of the call, on every response.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-agentgazer-request-id");
/// Score and threshold, on the response to a scored call.
pub(crate) const LOOP_SCORE: HeaderName = HeaderName::from_static("x-agentgazer-loop-score");

/// Set while this replica decides alone, because the shared engine is unreachable.
pub(crate) const MODE: HeaderName = HeaderName::from_static("x-agentgazer-mode");
pub(crate) const DEGRADED: HeaderValue = HeaderValue::from_static("degraded");

/// The methods that are forwarded.
pub(crate) const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");

/// The headers in which clients send their credential for a provider.
pub(crate) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
pub(crate) const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
const API_KEY: HeaderName = HeaderName::from_static("api-key");
pub(crate) const CREDENTIALS: [HeaderName; 4] = [AUTHORIZATION, X_API_KEY, X_GOOG_API_KEY, API_KEY];

/// Whether a reverse proxy or a tunnel has passed the request on: they name the client.
pub(crate) fn is_relayed(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip"].iter().any(|name| headers.contains_key(*name))
}

/// Drops hop-by-hop headers: `Connection` with all headers that it names, and the others of RFC
/// 9110, 7.6.1.
pub(crate) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    // Found in one pass: most messages have one of them, or none.
    let mut ending: Vec<HeaderName> =
        headers.iter().filter(|(name, value)| is_hop_by_hop(name, value)).map(|(name, _)| name.clone()).collect();
    if ending.contains(&CONNECTION) {
        ending.extend(headers.get_all(CONNECTION).iter().flat_map(names_in));
    }
    for name in &ending {
        headers.remove(name);
    }
}

/// Whether a header is always hop-by-hop. `Expect` is, because the body has been requested by then;
/// `TE` is, unless it only accepts trailers.
fn is_hop_by_hop(name: &HeaderName, value: &HeaderValue) -> bool {
    match name.as_str() {
        "connection" | "transfer-encoding" | "upgrade" | "expect" => true,
        "keep-alive" | "proxy-connection" | "proxy-authenticate" | "proxy-authorization" => true,
        "te" => !value.as_bytes().eq_ignore_ascii_case(b"trailers"),
        _ => false,
    }
}

/// The names in one `Connection` header that must be dropped; `keep-alive` and `close` name no
/// other header, and `TE` has its own rule.
fn names_in(connection: &HeaderValue) -> impl Iterator<Item = HeaderName> + '_ {
    let names = connection.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    names
        .filter(|name| {
            !name.eq_ignore_ascii_case(b"keep-alive")
                && !name.eq_ignore_ascii_case(b"close")
                && !name.eq_ignore_ascii_case(b"te")
        })
        .filter_map(|name| HeaderName::from_bytes(name).ok())
}

/// Drops headers that only this proxy may send: a provider could impersonate it, or set the cookies
/// of the dashboard.
pub(crate) fn drop_own(headers: &mut HeaderMap) {
    let own = |name: &&HeaderName| name.as_str().starts_with("x-agentgazer-");
    // There are rarely any, and an empty list costs no allocation.
    for name in headers.keys().filter(own).cloned().collect::<Vec<_>>() {
        headers.remove(name);
    }
    keep_values(headers, SET_COOKIE, |value| (!is_own_cookie(value.as_bytes())).then(|| value.clone()));
}

/// Drops the cookies of the dashboard: a browser sends them to every port of a host, and a provider
/// could use the session.
pub(crate) fn drop_own_cookies(headers: &mut HeaderMap) {
    keep_values(headers, COOKIE, |value| {
        let cookies = value.as_bytes().split(|byte| *byte == b';');
        let foreign: Vec<&[u8]> = cookies.filter(|cookie| !is_own_cookie(cookie)).map(<[u8]>::trim_ascii).collect();
        HeaderValue::from_bytes(&foreign.join(&b"; "[..])).ok().filter(|value| !value.is_empty())
    });
}

/// Replaces the values of `name` if one of them has a cookie of the dashboard; otherwise they stay
/// unchanged.
fn keep_values(headers: &mut HeaderMap, name: HeaderName, kept: impl FnMut(&HeaderValue) -> Option<HeaderValue>) {
    let has_own = |value: &HeaderValue| value.as_bytes().split(|byte| *byte == b';').any(is_own_cookie);
    if !headers.get_all(&name).iter().any(has_own) {
        return;
    }
    let values: Vec<HeaderValue> = headers.get_all(&name).iter().filter_map(kept).collect();
    headers.remove(&name);
    for value in values {
        headers.append(name.clone(), value);
    }
}

fn is_own_cookie(cookie: &[u8]) -> bool {
    cookie.trim_ascii().starts_with(b"agentgazer_")
}

/// Replaces the client's credential by the stored one.
pub(crate) fn replace_credential(headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
    for credential in &CREDENTIALS {
        if credential != name {
            headers.remove(credential);
        }
    }
    headers.insert(name, value.clone());
}

/// Whether the client asks for a WebSocket, possibly among other upgrades.
pub(crate) fn wants_websocket(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(UPGRADE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut protocols = offers.filter_map(|offer| offer.split(|byte| *byte == b'/').next());
    protocols.any(|protocol| protocol.trim_ascii().eq_ignore_ascii_case(b"websocket"))
}

/// Whether the body has a transfer coding besides `chunked`. It would be removed here, and its
/// content forwarded as if it were the body.
pub(crate) fn has_foreign_transfer_coding(headers: &HeaderMap) -> bool {
    headers.get_all(TRANSFER_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"chunked"))
}

/// Drops a `Content-Length` beside chunks: only the chunks delimit the body (RFC 9112, 6.3).
pub(crate) fn drop_ignored_length(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
}

/// `call` as a header value.
pub(crate) fn request_id(call: CallId) -> HeaderValue {
    let mut buffer = [0; 36];
    let text = call.0.hyphenated().encode_lower(&mut buffer);
    HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static(""))
}

/// `4.0/10.0`: the score and the threshold. Whole numbers are formatted, because formatting an
/// `f64` takes several times as long.
pub(crate) fn loop_score(score: Score, threshold: f64) -> HeaderValue {
    let [score, threshold] = [score.value, threshold].map(|value| (value * 10.0).round() as u64);
    let text = format!("{}.{}/{}.{}", score / 10, score % 10, threshold / 10, threshold % 10);
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn map(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn check(before: &[(&str, &str)], after: &[(&str, &str)]) {
        let mut headers = map(before);
        drop_hop_by_hop(&mut headers);
        assert_eq!(headers, map(after));
    }

    #[test]
    fn hop_by_hop_headers_are_dropped() {
        check(
            &[
                ("connection", "keep-alive, X-Private"),
                ("connection", "x-other"),
                ("keep-alive", "timeout=5"),
                ("proxy-connection", "keep-alive"),
                ("proxy-authorization", "Basic xyz"),
                ("proxy-authenticate", "Basic"),
                ("transfer-encoding", "chunked"),
                ("upgrade", "h2c"),
                ("x-private", "1"),
                ("x-other", "2"),
                ("x-kept", "3"),
            ],
            &[("x-kept", "3")],
        );
    }

    #[test]
    fn a_websocket_is_seen_among_other_offers() {
        for (lines, expected) in [
            (&[("upgrade", "websocket")][..], true),
            (&[("upgrade", "h2c, WebSocket/13")], true),
            (&[("upgrade", "h2c"), ("upgrade", "websocket")], true),
            (&[("upgrade", "h2c"), ("connection", "upgrade")], false),
            (&[], false),
        ] {
            assert_eq!(wants_websocket(&map(lines)), expected, "{lines:?}");
        }
    }

    #[test]
    fn duplicates_keep_their_order() {
        check(&[("a", "1"), ("connection", "close"), ("a", "2"), ("a", "1")], &[("a", "1"), ("a", "2"), ("a", "1")]);
    }

    #[test]
    fn te_trailers_is_kept() {
        check(&[("te", "trailers"), ("connection", "TE")], &[("te", "trailers")]);
        check(&[("te", "gzip, trailers")], &[]);
        check(&[("te", "trailers"), ("te", "gzip")], &[]);
    }

    #[test]
    fn own_headers_are_dropped() {
        let mut headers = map(&[("x-agentgazer-blocked", "inactive"), ("a", "1"), ("X-AgentGazer-Loop-Score", "9/1")]);
        drop_own(&mut headers);
        assert_eq!(headers, map(&[("a", "1")]));
    }

    #[test]
    fn dashboard_cookies_are_dropped_both_ways() {
        let mut asked = map(&[("cookie", "a=1;agentgazer_session=secret; b=2"), ("cookie", "agentgazer_theme=dark")]);
        drop_own_cookies(&mut asked);
        assert_eq!(asked, map(&[("cookie", "a=1; b=2")]));
        let foreign = map(&[("cookie", "a=1;b=my agentgazer_session"), ("x", "agentgazer_session=1")]);
        let mut untouched = foreign.clone();
        drop_own_cookies(&mut untouched);
        assert_eq!(untouched, foreign);
        let mut answer = map(&[("set-cookie", "a=1; Path=/"), ("set-cookie", "agentgazer_session=x; Path=/")]);
        drop_own(&mut answer);
        assert_eq!(answer, map(&[("set-cookie", "a=1; Path=/")]));
    }

    #[test]
    fn the_stored_credential_is_the_only_one() {
        let mut headers = map(&[("authorization", "Bearer theirs"), ("x-api-key", "theirs"), ("a", "1")]);
        replace_credential(&mut headers, &X_API_KEY, &HeaderValue::from_static("ours"));
        assert_eq!(headers, map(&[("x-api-key", "ours"), ("a", "1")]));
    }

    #[test]
    fn a_score_has_one_decimal() {
        let check = |value: f64, threshold: f64, expected: &str| {
            assert_eq!(loop_score(Score { value, ..Default::default() }, threshold), expected);
        };
        check(4.0, 10.0, "4.0/10.0");
        check(0.0, 10_000.0, "0.0/10000.0");
        check(17.5, 0.04, "17.5/0.0");
        check(123.0, f64::MAX, "123.0/1844674407370955161.5");
    }
}
