//! Distinguishes web pages from programs. A browser lets any page send requests to this machine, so
//! a page may use the proxy only if its origin is allowed. Programs send neither `Origin` nor
//! `Sec-Fetch-Site`, and pages cannot omit them.

use std::sync::Once;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use crate::config::Origin;
use crate::error::Stop;
use crate::headers;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Ten minutes: no preflight before every call, and a changed setting takes effect soon.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The sender of a request that is not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A program, a page of the proxy's own origin, or a page whose origin is allowed.
    Admitted,
    /// A browser that asks on behalf of an allowed page what the page may send.
    Preflight,
}

/// Refuses a request that a page of a foreign origin sends.
pub(crate) fn check_caller(allowed: &[Origin], parts: &Parts) -> Result<Caller, Stop> {
    let headers = &parts.headers;
    let is_preflight = parts.method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    if allowed_origin(allowed, headers).is_some() {
        return Ok(if is_preflight { Caller::Preflight } else { Caller::Admitted });
    }
    // Browsers send no preflight to a page's own origin, so any other preflight is for a foreign
    // one.
    if is_preflight || !is_own_origin(headers) || !is_own_site(headers) {
        return Err(refused(headers.get(ORIGIN)));
    }
    if is_opened_as_page(headers) {
        let message = "a browser may not open this address, because any page can lead it here: call it from a program";
        return Err(Stop::Client(StatusCode::FORBIDDEN, message.to_owned()));
    }
    Ok(Caller::Admitted)
}

/// The origin of the page that sent a request, if it is one of `allowed`.
pub(crate) fn allowed_origin<'a>(allowed: &[Origin], headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
    if allowed.is_empty() {
        return None;
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next()?;
    (origins.next().is_none() && allowed.iter().any(|it| it.matches(origin.as_bytes()))).then_some(origin)
}

/// Whether there is no `Origin`, or one that matches the request's own `Host`. Behind a reverse
/// proxy that ends TLS the page uses https: the host must match, the scheme may differ.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let Some(origin) = origins.next().map(HeaderValue::as_bytes) else { return true };
    let host = headers.get(HOST).map_or(&b""[..], HeaderValue::as_bytes);
    let name = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    origins.next().is_none() && !host.is_empty() && name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// Whether the browser says that the page has this origin, or that no page sends the request. An
/// unknown value counts as foreign.
fn is_own_site(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_FETCH_SITE).iter().all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

/// Whether a browser opens the address as a page, or prefetches it. After a redirect, and for the
/// speculation rules of any page, that looks as if a person had typed the address.
fn is_opened_as_page(headers: &HeaderMap) -> bool {
    let mut modes = headers.get_all(SEC_FETCH_MODE).iter();
    modes.any(|mode| mode.as_bytes().eq_ignore_ascii_case(b"navigate")) || headers.contains_key(SEC_PURPOSE)
}

fn refused(origin: Option<&HeaderValue>) -> Stop {
    static LOGGED: Once = Once::new();
    // A page can send any number of these, so they must not fill the log.
    LOGGED.call_once(|| {
        tracing::warn!(
            ?origin,
            "refused a call from a web page; if the page may call, add its origin to proxy.allow_origins"
        );
    });
    let message = "web pages of other origins may not call this proxy. If this page may, add its origin to the setting \
                   proxy.allow_origins (flag --allow-origin)";
    Stop::Client(StatusCode::FORBIDDEN, message.to_owned())
}

/// The answer to a preflight of an allowed page: it may send what it asked for.
pub(crate) fn answer_preflight(asked: &HeaderMap) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let said = response.headers_mut();
    said.insert(ACCESS_CONTROL_ALLOW_METHODS, headers::METHODS);
    said.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    // Listed one by one, because `*` does not cover `authorization`.
    for names in asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS) {
        said.append(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    if asked.contains_key(REQUEST_PRIVATE_NETWORK) {
        said.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    said.append(VARY, HeaderValue::from_static("access-control-request-method, access-control-request-headers"));
    response
}

/// Lets the page of `origin` read a response, whatever the provider's headers say.
pub(crate) fn allow_reading(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use http::Request;

    use super::*;

    fn check(method: Method, lines: &[(&str, &str)]) -> Option<Caller> {
        let allowed = ["https://app.example", "http://localhost:3000"].map(|origin| Origin::parse(origin).unwrap());
        let mut request = Request::builder().method(method).uri("/").header("host", "127.0.0.1:18900");
        for (name, value) in lines {
            request = request.header(*name, *value);
        }
        check_caller(&allowed, &request.body(()).unwrap().into_parts().0).ok()
    }

    #[test]
    fn programs_and_pages_of_the_own_origin_are_admitted() {
        for lines in [
            &[][..],
            &[("sec-fetch-mode", "cors")],
            &[("sec-fetch-site", "none")],
            // Programs in Electron.
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "empty")],
            &[("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:18900")],
            &[("origin", "https://127.0.0.1:18900")],
        ] {
            assert_eq!(check(Method::POST, lines), Some(Caller::Admitted), "{lines:?}");
        }
        assert_eq!(check(Method::OPTIONS, &[]), Some(Caller::Admitted));
    }

    #[test]
    fn pages_of_foreign_origins_are_refused() {
        for lines in [
            &[("origin", "https://evil.test")][..],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://127.0.0.1:18901")],
            &[("origin", "http://localhost:18900")],
            &[("origin", "127.0.0.1:18900")],
            &[("origin", "http://127.0.0.1:18900.evil.test")],
            &[("origin", "http://127.0.0.1:18900/")],
            &[("origin", "http://127.0.0.1:18900, https://evil.test")],
            &[("origin", "https://app.example, https://evil.test")],
            &[("origin", "https://app.example https://evil.test")],
            &[("origin", "https://app.example.evil.test")],
            &[("origin", "http://app.example")],
            &[("origin", "http://127.0.0.1:18900"), ("origin", "https://evil.test")],
            &[("origin", "https://evil.test"), ("origin", "https://app.example")],
            &[("origin", "https://app.example"), ("origin", "https://app.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "Cross-Site")],
            &[("sec-fetch-site", "from-the-future")],
            &[("sec-fetch-site", "")],
            &[("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "none, cross-site")],
            &[("sec-fetch-site", "cross-site"), ("origin", "http://127.0.0.1:18900")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-fetch-user", "?1")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("sec-purpose", "prefetch")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "no-cors"), ("sec-purpose", "prefetch;prerender")],
            &[("sec-fetch-mode", "Navigate")],
        ] {
            assert_eq!(check(Method::POST, lines), None, "{lines:?}");
            assert_eq!(check(Method::GET, lines), None, "{lines:?}");
        }
    }

    #[test]
    fn preflights_are_only_for_allowed_origins() {
        let asked = ("access-control-request-method", "POST");
        for origin in ["https://evil.test", "null", "http://127.0.0.1:18900"] {
            assert_eq!(check(Method::OPTIONS, &[asked, ("origin", origin)]), None, "{origin}");
        }
        assert_eq!(check(Method::OPTIONS, &[asked]), None);
        assert_eq!(check(Method::OPTIONS, &[asked, ("origin", "https://app.example")]), Some(Caller::Preflight));
        assert_eq!(check(Method::POST, &[asked, ("origin", "https://app.example")]), Some(Caller::Admitted));
    }

    #[test]
    fn pages_of_allowed_origins_are_admitted() {
        for origin in ["https://app.example", "HTTPS://App.Example", "http://localhost:3000"] {
            let lines = [("origin", origin), ("sec-fetch-site", "cross-site")];
            assert_eq!(check(Method::POST, &lines), Some(Caller::Admitted), "{origin}");
        }
    }
}
