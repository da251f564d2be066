//! The dashboard: pages drawn by the server, live through `/api/stream`. Text of agents and models
//! is shown as text: every value goes through the templates' escaping, and no page may run anything
//! but our own files.

pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod alerts;
pub(crate) mod assets;
pub(crate) mod components;
pub(crate) mod costs;
pub(crate) mod drill;
pub(crate) mod groups;
pub(crate) mod incident;
pub(crate) mod incidents;
pub(crate) mod keys;
pub(crate) mod live;
pub(crate) mod login;
pub(crate) mod login_provider;
pub(crate) mod overview;
pub(crate) mod requests;
pub(crate) mod search;
pub(crate) mod settings;
mod text;
pub(crate) mod theme;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

pub(crate) use self::components::exemptions;
use self::components::{budget_bar, chart, figures, frame, pager, policy_fields, score_bar, undo, whole_body};
use self::frame::{Frame, Head};
use self::overview::needs;
use self::text::{diff, indented, link, number, plain, words};
use crate::app::App;
use crate::gate::PAGE_POLICY;
use crate::problem::Problem;

/// The result of a page's handler: the page, or the problem that [`say_on_a_page`] draws.
type PageResult = Result<Response, Problem>;

/// A page that shows a problem.
#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    title: &'static str,
    detail: String,
}

impl ProblemPage {
    fn new(frame: Frame, problem: &Problem) -> ProblemPage {
        ProblemPage {
            frame,
            title: words::problem::title(problem.status()),
            detail: words::problem::explanation(problem),
        }
    }
}

/// Draws a page.
fn draw(template: &impl Template) -> PageResult {
    draw_as(StatusCode::OK, template)
}

fn draw_as(status: StatusCode, template: &impl Template) -> PageResult {
    let html = template.render().map_err(Problem::internal)?;
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    // With `no-referrer` browsers send `Origin: null` with our own forms, which we would refuse.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}

/// Draws a problem as a page: everything that a page or an action of the dashboard refuses ends
/// here.
pub(crate) async fn say_on_a_page(State(app): State<App>, request: Request, next: Next) -> Response {
    let head = Head::of(&request);
    let mut response = next.run(request).await;
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let frame = Frame::new(&app, &head).await;
    draw_as(problem.status(), &ProblemPage::new(frame, &problem)).unwrap_or(response)
}

/// Answers an unknown path: with a page or, under the API, with a problem.
pub(crate) async fn not_found(frame: Frame, uri: Uri) -> Response {
    let problem = Problem::not_found(words::problem::nothing_at(uri.path()));
    if uri.path().starts_with("/api/") {
        return problem.into_response();
    }
    draw_as(problem.status(), &ProblemPage::new(frame, &problem)).unwrap_or_else(IntoResponse::into_response)
}

/// The words of a field that takes several, separated by commas or spaces.
fn words_in(text: &str) -> Vec<String> {
    text.split([',', ' ', '\n', '\r']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn see_other(target: &str) -> Response {
    let location = HeaderValue::from_str(target).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}
