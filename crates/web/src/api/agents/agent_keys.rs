//! Agent keys: a client sends one in place of a provider's key, and it names the agent.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use control::{Commands, NewAgentKey};
use model::{AgentKeyId, AgentPattern, KeyInForce, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::List;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentKeyPath, Body};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// An agent key. The key itself is not kept.
#[derive(Serialize, ToSchema)]
#[schema(as = AgentKey)]
pub(crate) struct AgentKeyView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: AgentKeyId,
    /// The agent that the key identifies, or a pattern such as `team-a/*` that the agent in the
    /// path must match.
    #[schema(value_type = String)]
    pub(crate) agent: AgentPattern,
    /// Its display name.
    pub(crate) name: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// The key is refused from this time on; `null` means never.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// When it was last used; `null` means never. After a restart it may be a minute old.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) last_used_at: Option<Timestamp>,
    /// How many calls with it were refused since the start, because it had expired or was used for
    /// another agent.
    pub(crate) refused: u64,
}

impl From<&KeyInForce> for AgentKeyView {
    fn from(it: &KeyInForce) -> AgentKeyView {
        AgentKeyView {
            id: it.key.id,
            agent: it.key.agents.clone(),
            name: it.key.name.clone(),
            created_at: it.key.created_at,
            expires_at: it.key.expires_at,
            last_used_at: it.last_used_at(),
            refused: it.refused(),
        }
    }
}

/// An agent key that was just made.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedAgentKey)]
pub(crate) struct CreatedKeyView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) id: AgentKeyId,
    /// The key. It is shown only in this answer and stored nowhere.
    #[schema(pattern = "^agk_[0-9A-Za-z]{49}$")]
    pub(crate) key: String,
    #[schema(value_type = String)]
    pub(crate) agent: AgentPattern,
    pub(crate) name: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
}

/// A new agent key.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewAgentKey)]
pub(crate) struct NewKeyBody {
    /// One agent, or a prefix of names followed by `*`, such as `bot-*`. In the prefix, `/` stands
    /// for one of the separators `.`, `:` and `@`: `team-a/*` matches `team-a:bot`.
    #[schema(pattern = "^(\\*|[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}|[A-Za-z0-9][A-Za-z0-9._:@/-]{0,126}\\*)$")]
    pub(crate) agent: String,
    /// Its display name; `null` or absent means none.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    pub(crate) name: Option<String>,
    /// The key is refused from this time on; `null` or absent means never.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
}

/// All agent keys, oldest first, in one page.
#[utoipa::path(get, path = "/api/agent-keys", tag = "agents", operation_id = "list_agent_keys",
    responses((status = 200, body = List<AgentKeyView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Json<List<AgentKeyView>> {
    Json(List::whole(read(&app)))
}

/// One agent key.
#[utoipa::path(get, path = "/api/agent-keys/{id}", tag = "agents", operation_id = "get_agent_key",
    params(("id" = String, Path, description = "The agent key")),
    responses((status = 200, body = AgentKeyView), Refusals))]
pub(crate) async fn get(State(app): State<App>, AgentKeyPath(id): AgentKeyPath) -> Result<Json<AgentKeyView>, Problem> {
    let key = app.control().agent_keys().into_iter().find(|it| it.key.id == id);
    Ok(Json(key.ok_or_else(|| Problem::not_found("There is no such agent key."))?.as_ref().into()))
}

/// Creates an agent key. The answer holds the key, which is shown only then.
#[utoipa::path(post, path = "/api/agent-keys", tag = "agents", operation_id = "create_agent_key", request_body = NewKeyBody,
    responses((status = 201, body = CreatedKeyView), Refusals, BodyRefusals))]
pub(crate) async fn create(
    ByCaller(commands): ByCaller,
    Body(body): Body<NewKeyBody>,
) -> Result<(StatusCode, Json<CreatedKeyView>), Problem> {
    let made = make(&commands, body).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revokes an agent key: the next call with it is refused.
#[utoipa::path(delete, path = "/api/agent-keys/{id}", tag = "agents", operation_id = "delete_agent_key",
    params(("id" = String, Path, description = "The agent key")),
    responses((status = 204, description = "It is revoked"), Refusals))]
pub(crate) async fn delete(
    ByCaller(commands): ByCaller,
    AgentKeyPath(id): AgentKeyPath,
) -> Result<StatusCode, Problem> {
    commands.revoke_agent_key(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All agent keys, oldest first.
pub(crate) fn read(app: &App) -> Vec<AgentKeyView> {
    app.control().agent_keys().iter().map(|it| it.as_ref().into()).collect()
}

/// Makes an agent key.
pub(crate) async fn make(commands: &Commands, body: NewKeyBody) -> Result<CreatedKeyView, Problem> {
    let NewKeyBody { agent, name, expires_at } = body;
    let agents = AgentPattern::parse(&agent).map_err(|error| Problem::field("agent", error.to_string()))?;
    let (key, text) = commands.create_agent_key(NewAgentKey { agents, name, expires_at }).await?;
    Ok(CreatedKeyView {
        id: key.id,
        key: text.expose().to_owned(),
        agent: key.agents,
        name: key.name,
        created_at: key.created_at,
        expires_at: key.expires_at,
    })
}
