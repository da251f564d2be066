//! Providers: their URL, their format, and a key that is stored and never shown.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{ProviderChange, has_key};
use model::{Format, Provider};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::{List, schemas};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, ProviderPath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// An upstream LLM API.
#[derive(Serialize, ToSchema)]
#[schema(as = Provider)]
pub(crate) struct ProviderView {
    /// Its name in the proxy's paths.
    pub(crate) name: String,
    pub(crate) base_url: String,
    #[schema(schema_with = schemas::format)]
    pub(crate) format: Format,
    /// Whether a key is stored, which replaces the client's own.
    pub(crate) has_key: bool,
}

impl From<&Provider> for ProviderView {
    fn from(provider: &Provider) -> ProviderView {
        ProviderView {
            name: provider.name.clone(),
            base_url: provider.base_url.clone(),
            format: provider.format,
            has_key: has_key(provider),
        }
    }
}

/// A change of a provider: an absent field keeps its value; a new provider needs `base_url` and
/// `format`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ProviderChange)]
pub(crate) struct ChangeBody {
    /// `http` or `https`, without user, query and fragment.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, format = "uri", pattern = "^https?://")]
    pub(crate) base_url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::format)]
    pub(crate) format: Option<Format>,
    /// Replaces the client's own credential. Encrypted at rest; never shown again.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, write_only, min_length = 1, max_length = 4096, pattern = "^[!-~]+$")]
    pub(crate) key: Option<String>,
}

impl From<ChangeBody> for ProviderChange {
    fn from(ChangeBody { base_url, format, key }: ChangeBody) -> ProviderChange {
        ProviderChange { base_url, format, key: key.map(Into::into) }
    }
}

/// All providers, by name.
#[utoipa::path(get, path = "/api/providers", tag = "providers", operation_id = "list_providers",
    responses((status = 200, body = List<ProviderView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Json<List<ProviderView>> {
    let providers = app.web().providers.all();
    Json(List::whole(providers.iter().map(|provider| provider.as_ref().into()).collect()))
}

/// One provider.
#[utoipa::path(get, path = "/api/providers/{name}", tag = "providers", operation_id = "get_provider",
    params(("name" = String, Path, description = "The provider")),
    responses((status = 200, body = ProviderView), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    ProviderPath(name): ProviderPath,
) -> Result<Json<ProviderView>, Problem> {
    show(&app, &name).map(Json)
}

/// Adds or changes a provider. The change takes effect with the next call.
#[utoipa::path(put, path = "/api/providers/{name}", tag = "providers", operation_id = "put_provider",
    params(("name" = String, Path, description = "The provider")), request_body = ChangeBody,
    responses((status = 200, body = ProviderView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    ProviderPath(name): ProviderPath,
    Body(body): Body<ChangeBody>,
) -> Result<Json<ProviderView>, Problem> {
    commands.put_provider(name.clone(), body.into()).await?;
    show(&app, &name).map(Json)
}

/// Deletes what was stored about a provider, including its key. A built-in or configured provider
/// is again as built in or configured.
#[utoipa::path(delete, path = "/api/providers/{name}", tag = "providers", operation_id = "delete_provider",
    params(("name" = String, Path, description = "The provider")),
    responses((status = 204, description = "What was stored is deleted"), Refusals))]
pub(crate) async fn delete(
    ByCaller(commands): ByCaller,
    ProviderPath(name): ProviderPath,
) -> Result<StatusCode, Problem> {
    commands.remove_provider(name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(app: &App, name: &str) -> Result<ProviderView, Problem> {
    let provider = app.web().providers.get(name);
    provider.map(|provider| provider.as_ref().into()).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Problem {
    Problem::not_found(format!("There is no provider {name}."))
}
