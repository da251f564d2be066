//! Providers: where they are, how they speak, and a key that goes in and never comes out.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{Format, Provider};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{List, words};
use crate::app::App;
use crate::changes;
use crate::input::{Body, ProviderPath, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

const MAX_KEY_LENGTH: usize = 4096;

/// An upstream LLM API.
#[derive(Serialize, ToSchema)]
#[schema(as = Provider)]
pub(crate) struct ProviderView {
    /// Its name in the proxy's paths.
    pub(crate) name: String,
    pub(crate) base_url: String,
    #[schema(schema_with = words::format)]
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

/// A change of a provider: an absent field keeps its value; a new provider needs `base_url` and `format`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ProviderChange)]
pub(crate) struct ChangeBody {
    /// `http` or `https`, without user, query and fragment.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, format = "uri", pattern = "^https?://")]
    pub(crate) base_url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = words::format)]
    pub(crate) format: Option<Format>,
    /// Replaces the client's own credential. Encrypted at rest; never shown again.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, write_only, min_length = 1, max_length = 4096, pattern = "^[!-~]+$")]
    pub(crate) key: Option<String>,
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

/// Adds or changes a provider. It holds from the next call.
#[utoipa::path(put, path = "/api/providers/{name}", tag = "providers", operation_id = "put_provider",
    params(("name" = String, Path, description = "The provider")), request_body = ChangeBody,
    responses((status = 200, body = ProviderView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ProviderPath(name): ProviderPath,
    Body(body): Body<ChangeBody>,
) -> Result<Json<ProviderView>, Problem> {
    let change = put_in_turn(app.clone(), name.clone(), body);
    app.alone(change).await?;
    show(&app, &name).map(Json)
}

/// Takes back what was stored of a provider, its key with it: a built-in or configured one is used as it was.
#[utoipa::path(delete, path = "/api/providers/{name}", tag = "providers", operation_id = "delete_provider",
    params(("name" = String, Path, description = "The provider")),
    responses((status = 204, description = "It is as it was without what was stored"), Refusals))]
pub(crate) async fn delete(State(app): State<App>, ProviderPath(name): ProviderPath) -> Result<StatusCode, Problem> {
    app.alone(changes::remove_provider(app.clone(), name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn show(app: &App, name: &str) -> Result<ProviderView, Problem> {
    let provider = app.web().providers.get(name);
    provider.map(|provider| provider.as_ref().into()).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Problem {
    Problem::not_found(format!("There is no provider {name}."))
}

/// Works out the provider only when it is its turn: what is absent keeps the value that it has then.
pub(crate) async fn put_in_turn(app: App, name: String, body: ChangeBody) -> Result<(), Problem> {
    let current = app.web().providers.get(&name);
    let provider = changed(&name, current.as_deref(), body)?;
    changes::put_provider(app, provider).await
}

/// The provider after the change, or the field that is wrong.
fn changed(name: &str, current: Option<&Provider>, body: ChangeBody) -> Result<Provider, Problem> {
    let missing = |field| Problem::field(field, "must be given for a new provider");
    let base_url = body.base_url.or_else(|| current.map(|current| current.base_url.clone()));
    let format = body.format.or_else(|| current.map(|current| current.format));
    let base_url = base_url.ok_or_else(|| missing("base_url"))?;
    let mut provider = Provider::new(name, &base_url, format.ok_or_else(|| missing("format"))?)?;

    provider.key = match (body.key, current) {
        (Some(key), _) => Some(checked_key(key)?),
        // Or a key that never comes out could be sent to a host of one's own.
        (None, Some(current)) if has_key(current) && current.base_url != provider.base_url => {
            return Err(Problem::field("key", "must be given again when base_url changes"));
        }
        (None, current) => {
            provider.key_is_lost = current.is_some_and(|current| current.key_is_lost);
            current.and_then(|current| current.key.clone())
        }
    };
    Ok(provider)
}

/// Whether a key is stored, be it one that cannot be read at the moment.
fn has_key(provider: &Provider) -> bool {
    provider.key.is_some() || provider.key_is_lost
}

fn checked_key(key: String) -> Result<SecretString, Problem> {
    let fits = !key.is_empty() && key.len() <= MAX_KEY_LENGTH;
    if !fits || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::field("key", "must have 1 to 4096 visible ASCII characters, no spaces"));
    }
    Ok(key.into())
}
