//! The theme, light or dark, chosen by hand. It is kept in a cookie, so that the server draws the
//! page in it and nothing flashes.

use axum::Form;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{THEME_COOKIE, Theme};
use super::words::problem::takes;
use super::{see_other, with_cookie};
use crate::gate::local_path;
use crate::problem::Problem;

/// The fields of the theme's button.
#[derive(Deserialize)]
pub(crate) struct ThemeForm {
    theme: String,
    #[serde(default)]
    next: String,
}

/// Stores the theme and redirects back.
pub(crate) async fn submit(Form(form): Form<ThemeForm>) -> Result<Response, Problem> {
    let theme = Theme::parse(&form.theme);
    let theme = theme.ok_or_else(|| Problem::field("theme", takes::THEME))?;
    let cookie = format!("{THEME_COOKIE}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000", theme.as_str());
    Ok(with_cookie(see_other(local_path(&form.next)), &cookie))
}
