//! Headers of every answer that restrict a browser to showing it.

use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// The content security policy of API answers: nothing is allowed.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

/// The content security policy of pages: our own style and script, requests and forms to this
/// server.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agentgazer";

/// Adds those headers that the handler did not set.
pub(crate) async fn answer_safely(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, REFERRER_POLICY, "no-referrer");
    set(headers, CONTENT_SECURITY_POLICY, NOTHING);
    set(headers, CACHE_CONTROL, "no-store");
    set(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
