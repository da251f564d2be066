//! Headers of every answer that restrict a browser to showing it, and over TLS to asking over TLS.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, REFERRER_POLICY, SET_COOKIE, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::network::Client;
use crate::app::App;

/// The content security policy of API answers: nothing is allowed.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// The content security policy of pages: our own style and script, requests and forms to this
/// server.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agentgazer";

/// A year: browsers must remember it longer than a holiday.
const ONLY_TLS: &str = "max-age=31536000";

/// Adds the headers that the handler did not set.
pub(crate) async fn answer_safely(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_https = app.web().is_https || Client::of(request.extensions()).is_over_tls();
    let has_name = is_https && is_public_name(request.headers());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if is_https {
        secure_cookies(headers);
    }
    if has_name {
        set(headers, STRICT_TRANSPORT_SECURITY, ONLY_TLS);
    }
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, REFERRER_POLICY, "no-referrer");
    set(headers, CONTENT_SECURITY_POLICY, NOTHING);
    set(headers, CACHE_CONTROL, "no-store");
    set(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

/// Whether the server was called by its own public name. `localhost` also reaches other servers,
/// most of them without TLS, and browsers do not remember addresses.
fn is_public_name(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_address = name.starts_with('[') || name.parse::<IpAddr>().is_ok();
    !is_address && !name.is_empty() && name != "localhost" && !name.ends_with(".localhost")
}

/// Restricts the cookies of this answer to TLS.
fn secure_cookies(headers: &mut HeaderMap) {
    if !headers.contains_key(SET_COOKIE) {
        return;
    }
    let cookies: Vec<HeaderValue> = headers.get_all(SET_COOKIE).iter().cloned().collect();
    headers.remove(SET_COOKIE);
    for cookie in cookies {
        let secure = HeaderValue::from_bytes(&[cookie.as_bytes(), b"; Secure"].concat());
        headers.append(SET_COOKIE, secure.unwrap_or(cookie));
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_are_remembered_as_tls_only() {
        let check = |host: &'static str, expected: bool| {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            assert_eq!(is_public_name(&headers), expected, "{host}");
        };
        check("gazer.example:18880", true);
        check("gazer.example", true);
        for other in
            ["localhost:18880", "LOCALHOST", "a.localhost", "127.0.0.1:18880", "10.0.0.7", "[::1]:1", "[::1]", ""]
        {
            check(other, false);
        }
    }

    #[test]
    fn every_cookie_is_for_tls_only() {
        let cookies = ["a=1; Path=/", "b=2"].map(|cookie| (SET_COOKIE, HeaderValue::from_static(cookie)));
        let mut headers = HeaderMap::from_iter(cookies);
        secure_cookies(&mut headers);
        let cookies: Vec<_> = headers.get_all(SET_COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; Path=/; Secure", "b=2; Secure"]);
    }
}
