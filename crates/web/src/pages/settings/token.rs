//! Replaces the token. The new one is shown once, on a page that needs no session, because all
//! sessions have ended.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use secrecy::ExposeSecret;

use crate::api::token::replaced;
use crate::app::App;
use crate::gate::ByCaller;
use crate::logins::clear_cookie;
use crate::pages::frame::Theme;
use crate::pages::{PageResult, assets, draw, with_cookie};

#[derive(Template)]
#[template(path = "token.html")]
struct TokenPage<'a> {
    theme: Theme,
    token: &'a str,
}

/// Replaces the token.
pub(crate) async fn replace(State(app): State<App>, ByCaller(commands): ByCaller, headers: HeaderMap) -> PageResult {
    let token = replaced(&app, &commands).await?;
    let page = draw(&TokenPage { theme: Theme::of(&headers), token: token.expose_secret() })?;
    Ok(with_cookie(page, &clear_cookie()))
}
