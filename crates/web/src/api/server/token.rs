//! Replacing the token, which ends all sessions.

use axum::Json;
use axum::extract::State;
use control::Commands;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::gate::ByCaller;
use crate::problem::{Problem, Refusals};

/// The new token.
#[derive(Serialize, ToSchema)]
#[schema(as = Token)]
pub(crate) struct TokenView {
    /// Shown only in this answer; `agentgazer token` prints it on the machine that runs the server.
    token: String,
}

/// Replaces the token of the first start. The old one stops working at once, and its sessions end;
/// users and API tokens stay. A token that the configuration sets can only be changed there (409).
#[utoipa::path(post, path = "/api/token", tag = "settings", operation_id = "replace_token",
    responses((status = 200, body = TokenView), Refusals))]
pub(crate) async fn replace(State(app): State<App>, ByCaller(commands): ByCaller) -> Result<Json<TokenView>, Problem> {
    let token = replaced(&app, &commands).await?;
    Ok(Json(TokenView { token: token.expose_secret().to_owned() }))
}

/// Replaces the token and ends all sessions.
pub(crate) async fn replaced(app: &App, commands: &Commands) -> Result<SecretString, Problem> {
    let token = commands.replace_token().await?;
    app.sessions.close_of_first_token().await;
    tracing::info!("the token was replaced and its sessions were ended");
    Ok(token)
}
