//! The dashboard: pages drawn by the server, live through `/api/stream`. Text of agents and models is shown as text: every
//! value goes through the templates' escaping, and no page may run anything but our own files.

pub(crate) mod assets;
pub(crate) mod incident;
pub(crate) mod login;
pub(crate) mod overview;
mod score_bar;
mod speak;

use askama::Template;
use axum::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Response};

use crate::gate::PAGE_POLICY;
use crate::problem::Problem;

/// A page that says what is wrong.
#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    title: &'static str,
    detail: String,
}

/// Draws a page.
fn page(status: StatusCode, template: &impl Template) -> Response {
    let Ok(html) = template.render() else { return Problem::internal().into_response() };
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    // With `no-referrer` browsers send `Origin: null` with our own forms, which we would refuse.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Says on a page what is wrong.
fn problem_page(problem: &Problem) -> Response {
    let title = problem.status().canonical_reason().unwrap_or_default();
    page(problem.status(), &ProblemPage { title, detail: problem.detail() })
}

/// Nothing is here: said as a page or, under the API, as a problem.
pub(crate) async fn not_found(uri: Uri) -> Response {
    let problem = Problem::not_found(format!("There is nothing at {}.", uri.path()));
    if uri.path().starts_with("/api/") {
        return problem.into_response();
    }
    problem_page(&problem)
}

/// Leads to the login, and from there back to `uri`. The fragment, which may carry the token, follows by itself.
pub(crate) fn to_login(uri: &Uri) -> Response {
    let next = login::local_path(uri.path());
    let target = if next == "/" { "/login".to_owned() } else { format!("/login?next={next}") };
    see_other(&target)
}

fn see_other(target: &str) -> Response {
    let location = HeaderValue::from_str(target).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}
