//! The redirect to the login, and back to the page that was asked for.

use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};

/// The longest path to open after a login.
const MAX_PATH: usize = 2048;

/// Redirects to the login, which redirects back to `uri`. The browser keeps the fragment, which may
/// carry the token.
pub(super) fn to_login(uri: &Uri) -> Response {
    let next = local_path(uri.path_and_query().map_or("/", |path| path.as_str()));
    let target = if next == "/" { "/login".to_owned() } else { format!("/login?next={}", encoded(next)) };
    Redirect::to(&target).into_response()
}

/// A local path as the value of a query, whose own query must not mix with it.
pub(crate) fn encoded(path: &str) -> String {
    path.chars().fold(String::with_capacity(path.len()), |mut text, character| {
        match character {
            '%' | '&' | '+' | '?' | '=' | ';' => text.push_str(&format!("%{:02X}", u32::from(character))),
            plain => text.push(plain),
        }
        text
    })
}

/// Returns `path`, which may have a query, if it is on this server, and `/` otherwise: a login must
/// not redirect anywhere else.
pub(crate) fn local_path(path: &str) -> &str {
    // Browsers read a backslash like a slash: two of them begin the name of a host.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:@?=&%+,~*!$'();".contains(&byte);
    let local = path.starts_with('/') && !path.starts_with("//") && path.len() <= MAX_PATH;
    if local && path.bytes().all(is_plain) { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_this_server_only() {
        for local in ["/", "/incidents/0192-ab", "/agents/a.b:c@d", "/requests?agent=a&text=b%20c", "/a?b=//evil"] {
            assert_eq!(local_path(local), local);
        }
        for foreign in
            ["", "//evil.test", "https://evil.test", "/\\evil.test", "evil", "/a b", "/a\r\nx: y", "/a#b", "/\t/evil"]
        {
            assert_eq!(local_path(foreign), "/", "{foreign}");
        }
    }
}
