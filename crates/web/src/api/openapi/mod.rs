//! The description of this API, generated from the handlers.

mod limits;
pub(super) mod schemas;

use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::problem::{ProblemBody, WrongField};

/// The description without its operations.
#[derive(OpenApi)]
#[openapi(
    info(title = "AgentGazer", description = "The kill switch for AI agents: its API on the dashboard's port."),
    components(schemas(ProblemBody, WrongField)),
    modifiers(&Credentials),
    security(("token" = []), ("session" = []))
)]
pub(crate) struct Api;

struct Credentials;

impl Modify for Credentials {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let components = api.components.get_or_insert_default();
        let token =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("The token of the data directory"));
        components.add_security_scheme("token", SecurityScheme::Http(token.build()));
        let session = ApiKeyValue::with_description("agentgazer_session", "The session of the dashboard");
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
    }
}

/// The description as text, with limits.
pub(crate) fn to_text(description: &utoipa::openapi::OpenApi) -> String {
    let mut api = serde_json::to_value(description).unwrap_or_default();
    limits::describe(&mut api);
    serde_json::to_string_pretty(&api).unwrap_or_default()
}
