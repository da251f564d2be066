//! Refuses changes that a browser sends on behalf of another site. Our own pages and programs may
//! make changes.

use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::client::Client;
use crate::app::App;
use crate::gate::session_id;
use crate::problem::Problem;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a change that comes from another site.
pub(crate) async fn refuse_other_sites(State(app): State<App>, request: Request, next: Next) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let is_https = app.web().is_https || Client::of(request.extensions()).is_over_tls();
    if changes && !is_ours(request.headers(), is_https) {
        return Problem::cross_site().into_response();
    }
    next.run(request).await
}

/// Whether the request comes from our own pages, or from a program: programs send a token and no
/// origin.
fn is_ours(headers: &HeaderMap, is_https: bool) -> bool {
    if headers.get(SEC_FETCH_SITE).is_some_and(|site| site.as_bytes() == b"cross-site") {
        return false;
    }
    // Browsers send the origin with every form, so a session without one is not our page. SameSite
    // does not replace this check: another port of this host is the same site.
    let Some(origin) = headers.get(ORIGIN) else { return session_id(headers).is_none() };
    let (Ok(origin), Some(Ok(host))) = (origin.to_str(), headers.get(HOST).map(|host| host.to_str())) else {
        return false;
    };
    // An untrusted proxy that terminates TLS does not tell us, so https is always accepted. Over
    // TLS a page of plain http is foreign: anyone on the path could have written it.
    let plain = origin.strip_prefix("http://").filter(|_| !is_https);
    let site = plain.or_else(|| origin.strip_prefix("https://"));
    site.is_some_and(|site| site.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(origin: Option<&'static str>, site: Option<&'static str>, ours: bool) {
        let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost:18880"))]);
        headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin))));
        headers.extend(site.map(|site| (SEC_FETCH_SITE, HeaderValue::from_static(site))));
        assert_eq!(is_ours(&headers, false), ours, "{origin:?} {site:?}");
    }

    #[test]
    fn page_of_plain_http_changes_nothing_over_tls() {
        let host = (HOST, HeaderValue::from_static("gazer.example"));
        let from = |origin| HeaderMap::from_iter([host.clone(), (ORIGIN, HeaderValue::from_static(origin))]);
        assert!(is_ours(&from("https://gazer.example"), true) && !is_ours(&from("http://gazer.example"), true));
    }

    #[test]
    fn changes_are_accepted_from_own_pages_and_programs_only() {
        check(None, None, true);
        check(None, Some("none"), true);
        check(Some("http://localhost:18880"), Some("same-origin"), true);
        check(Some("https://localhost:18880"), None, true);
        check(Some("http://localhost:3000"), Some("same-site"), false);
        check(Some("http://localhost:18880.evil.test"), None, false);
        check(Some("http://evil.test"), None, false);
        check(Some("null"), None, false);
        check(None, Some("cross-site"), false);
        check(Some("http://localhost:18880"), Some("cross-site"), false);
    }
}
