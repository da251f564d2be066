//! The kill switch of one agent: its settings, and what it would have done.

use axum::Json;
use axum::extract::State;
use model::{Action, AgentId, Counting, KillSwitch, KillSwitchChange};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::schemas;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Body, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The settings of a kill switch.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[schema(as = KillSwitchSettings)]
pub(crate) struct SettingsView {
    /// Whether anything is stopped. Detection runs either way.
    pub(crate) enabled: bool,
    /// How many calls are compared, the current one included.
    #[schema(minimum = 2, maximum = 500)]
    pub(crate) window_size: u16,
    /// The score that must be exceeded.
    pub(crate) threshold: f64,
    /// What happens then.
    #[schema(schema_with = schemas::action)]
    pub(crate) action: Action,
    /// What counts as a repetition.
    #[schema(schema_with = schemas::counting)]
    pub(crate) counting: Counting,
}

impl From<KillSwitch> for SettingsView {
    fn from(settings: KillSwitch) -> SettingsView {
        let KillSwitch { enabled, window_size, threshold, action, counting } = settings;
        SettingsView { enabled, window_size, threshold, action, counting }
    }
}

impl From<SettingsView> for KillSwitch {
    fn from(settings: SettingsView) -> KillSwitch {
        let SettingsView { enabled, window_size, threshold, action, counting } = settings;
        KillSwitch { enabled, window_size, threshold, action, counting }
    }
}

/// A kill switch: its settings and its state.
#[derive(Serialize, ToSchema)]
#[schema(as = KillSwitch)]
pub(crate) struct KillSwitchView {
    #[serde(flatten)]
    settings: SettingsView,
    /// Whether anyone is notified of a kill.
    notifications_configured: bool,
    /// The score of the agent's newest call.
    current_score: f64,
    /// How many calls since the last activation the switch would have stopped if it were on.
    would_have_stopped: u64,
}

/// A change of the settings: an absent field keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KillSwitchChange)]
pub(crate) struct ChangeBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    enabled: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 2, maximum = 500)]
    window_size: Option<u64>,
    /// Above 0, at most 10000.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, exclusive_minimum = 0.0, maximum = 10000.0)]
    threshold: Option<f64>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::action)]
    action: Option<Action>,
    #[serde(default, deserialize_with = "present")]
    #[schema(schema_with = schemas::counting)]
    counting: Option<Counting>,
}

impl From<ChangeBody> for KillSwitchChange {
    fn from(body: ChangeBody) -> KillSwitchChange {
        let ChangeBody { enabled, window_size, threshold, action, counting } = body;
        KillSwitchChange { enabled, window_size, threshold, action, counting }
    }
}

/// The kill switch of an agent.
#[utoipa::path(get, path = "/api/agents/{id}/kill-switch", tag = "agents", operation_id = "get_kill_switch",
    params(("id" = String, Path, description = "The agent")),
    responses((status = 200, body = KillSwitchView), Refusals))]
pub(crate) async fn get(State(app): State<App>, AgentPath(agent): AgentPath) -> Result<Json<KillSwitchView>, Problem> {
    show(&app, &agent).await.map(Json)
}

/// Changes the kill switch of an agent and creates an unknown agent. The change takes effect with
/// the next call.
#[utoipa::path(put, path = "/api/agents/{id}/kill-switch", tag = "agents", operation_id = "put_kill_switch",
    params(("id" = String, Path, description = "The agent")), request_body = ChangeBody,
    responses((status = 200, body = KillSwitchView), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Body(body): Body<ChangeBody>,
) -> Result<Json<KillSwitchView>, Problem> {
    commands.configure(agent.clone(), body.into()).await?;
    show(&app, &agent).await.map(Json)
}

/// Whether anyone is notified of a kill.
pub(crate) async fn notifications_configured(app: &App, agent: &AgentId) -> Result<bool, Problem> {
    Ok(app.web().store.notifies_of_kills(agent).await?)
}

async fn show(app: &App, agent: &AgentId) -> Result<KillSwitchView, Problem> {
    let status = app.control().kill_switch(agent).await?;
    Ok(KillSwitchView {
        settings: status.settings.into(),
        notifications_configured: status.notifies,
        current_score: status.score.value,
        would_have_stopped: status.would_have_stopped,
    })
}
