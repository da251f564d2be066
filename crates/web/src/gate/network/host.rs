//! Refuses requests for other host names: a web page that rebinds its own name to this address must
//! not reach the server.

use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::Problem;

/// Refuses a request whose `Host` is not one of ours.
pub(crate) async fn only_our_hosts(State(app): State<App>, request: Request, next: Next) -> Response {
    // An absolute request target overrides the header (RFC 9112, 3.2.2), so both must be ours.
    let target = request.uri().authority().is_none_or(|authority| app.web().hosts.allows(authority.as_str()));
    let mut headers = request.headers().get_all(HOST).iter();
    let header = headers.next().and_then(|host| host.to_str().ok()).is_some_and(|host| app.web().hosts.allows(host));
    if !target || !header || headers.next().is_some() {
        return Problem::misdirected().into_response();
    }
    next.run(request).await
}
