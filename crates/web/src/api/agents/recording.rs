//! Whether the requests and responses of an agent are recorded.

use axum::Json;
use axum::extract::State;
use control::Commands;
use model::AgentId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// Whether the requests and responses of an agent are recorded.
#[derive(Serialize, ToSchema)]
#[schema(as = Recording)]
pub(crate) struct RecordingView {
    pub(crate) enabled: bool,
    /// What the configuration (`recording.agents`) says.
    pub(crate) configured: bool,
    /// How many days a recorded call is kept at most.
    pub(crate) keep_days: f64,
    /// How many bytes all recorded calls may take; the oldest are deleted first.
    pub(crate) max_size: u64,
}

/// Whether to record.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RecordingChange)]
pub(crate) struct RecordingBody {
    enabled: bool,
}

/// Whether the agent is recorded now.
pub(crate) async fn read(app: &App, agent: &AgentId) -> Result<RecordingView, Problem> {
    let recording = &app.web().recording;
    let state = recording.state(&app.web().store, agent).await?;
    Ok(RecordingView {
        enabled: state.enabled,
        configured: state.configured,
        keep_days: recording.keep.as_secs_f64() / 86_400.0,
        max_size: recording.max_size,
    })
}

/// Switches the recording of an agent, if this server can record.
pub(crate) async fn switch(
    app: &App,
    commands: &Commands,
    agent: AgentId,
    enabled: Option<bool>,
) -> Result<(), Problem> {
    if !app.web().recording.is_possible && enabled == Some(true) {
        let text = "Nothing can be recorded: set evidence.keep_on_disk or recording.agents in the configuration.";
        return Err(Problem::conflict(text));
    }
    Ok(commands.set_recording(agent, enabled).await?)
}

/// Whether the requests and responses of an agent are recorded.
#[utoipa::path(get, path = "/api/agents/{id}/recording", tag = "agents", operation_id = "get_recording",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = RecordingView), Refusals))]
pub(crate) async fn get(State(app): State<App>, AgentPath(id): AgentPath) -> Result<Json<RecordingView>, Problem> {
    super::read(&app, id.clone()).await?;
    read(&app, &id).await.map(Json)
}

/// Switches the recording of an agent on or off, for calls that end at least about a second later.
/// It overrides the configuration.
#[utoipa::path(put, path = "/api/agents/{id}/recording", tag = "agents", operation_id = "put_recording",
    params(("id" = String, Path, description = "The agent")), request_body = RecordingBody,
    responses((status = 200, body = RecordingView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(id): AgentPath,
    Body(body): Body<RecordingBody>,
) -> Result<Json<RecordingView>, Problem> {
    switch(&app, &commands, id.clone(), Some(body.enabled)).await?;
    read(&app, &id).await.map(Json)
}

/// Removes that switch, so that the configuration decides whether the agent is recorded.
#[utoipa::path(delete, path = "/api/agents/{id}/recording", tag = "agents", operation_id = "delete_recording",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = RecordingView), Refusals))]
pub(crate) async fn delete(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(id): AgentPath,
) -> Result<Json<RecordingView>, Problem> {
    switch(&app, &commands, id.clone(), None).await?;
    read(&app, &id).await.map(Json)
}
