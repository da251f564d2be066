//! Keeps open pages up to date at little cost: a page that asks for itself again gets only the
//! differences.

mod delta;
mod recent;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub(crate) use self::recent::RecentPages;
use self::recent::Version;
use crate::problem::Problem;

/// The version of the page that the browser has; in the answer, the version that it then has.
const VERSION: HeaderName = HeaderName::from_static("x-agentgazer-page");

/// More than any page of ours.
const MAX_PAGE: usize = 8 * 1024 * 1024;

/// Answers a page that asks for itself again with the differences: nothing (204), the new lines
/// (JSON), or the whole page if the version of the browser is no longer known.
pub(crate) async fn answer_with_changes(
    State(recent_pages): State<RecentPages>,
    request: Request,
    next: Next,
) -> Response {
    let base = request.headers().get(VERSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let is_get = request.method() == Method::GET;
    let response = next.run(request).await;
    match base {
        Some(base) if is_get && is_page(&response) => {
            changes(&recent_pages, &base, response).await.unwrap_or_else(IntoResponse::into_response)
        }
        _ => response,
    }
}

fn is_page(response: &Response) -> bool {
    let content = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    response.status() == StatusCode::OK && content.starts_with(b"text/html")
}

async fn changes(recent_pages: &RecentPages, base: &str, response: Response) -> Result<Response, Problem> {
    let (mut head, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_PAGE).await.map_err(Problem::internal)?;
    let text = delta::without_relative_times(&String::from_utf8_lossy(&bytes));
    let version = Version::of(&text);
    let known = recent_pages.get(base);
    recent_pages.insert(&version, &text);
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(VERSION, version.header());
    let delta = known.map(|known| delta::between(&known, &text)).filter(|delta| delta.len() < text.len());
    let body = match delta {
        _ if version.is(base) => {
            head.status = StatusCode::NO_CONTENT;
            head.headers.remove(CONTENT_TYPE);
            Body::empty()
        }
        Some(delta) => {
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Body::from(delta)
        }
        None => Body::from(text),
    };
    Ok(Response::from_parts(head, body))
}
