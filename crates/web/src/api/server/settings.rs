//! Settings of all agents: what new agents start with, and how long data is kept. What is set here
//! overrides the configuration.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use store::{Retention, RetentionChange, Settings, SettingsChange};
use utoipa::ToSchema;

use crate::api::kill_switch::{ChangeBody as KillSwitchBody, SettingsView as KillSwitchView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Body, present};
use crate::problem::{BodyRefusals, Problem, Refusals};

/// The settings of all agents.
#[derive(Serialize, ToSchema)]
#[schema(as = Settings)]
pub(crate) struct AllSettings {
    #[serde(flatten)]
    in_force: GeneralView,
    /// The settings of the file, the environment and the flags, without those that were set here.
    configured: GeneralView,
}

/// Settings of all agents.
#[derive(Serialize, ToSchema)]
#[schema(as = GeneralSettings)]
pub(crate) struct GeneralView {
    /// The settings that new agents start with.
    kill_switch: KillSwitchView,
    retention: RetentionView,
}

/// For how many days data is kept.
#[derive(Serialize, ToSchema)]
#[schema(as = Retention)]
pub(crate) struct RetentionView {
    /// Events.
    event_days: u32,
    /// Incidents with their evidence (open ones stay), and the history of alerts.
    incident_days: u32,
    /// Sums by day; sums by hour and by conversation are kept for 62 days at most.
    statistics_days: u32,
}

impl From<Settings> for GeneralView {
    fn from(settings: Settings) -> GeneralView {
        let Retention { event_days, incident_days, statistics_days } = settings.retention;
        GeneralView {
            kill_switch: settings.kill_switch.into(),
            retention: RetentionView { event_days, incident_days, statistics_days },
        }
    }
}

/// A change of the settings of all agents: an absent field keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SettingsChange)]
pub(crate) struct ChangeBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    kill_switch: Option<KillSwitchBody>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    retention: Option<RetentionBody>,
}

/// A change of how long data is kept: an absent field keeps its value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RetentionChange)]
pub(crate) struct RetentionBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 36500)]
    event_days: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 36500)]
    incident_days: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 36500)]
    statistics_days: Option<u64>,
}

impl From<ChangeBody> for SettingsChange {
    fn from(body: ChangeBody) -> SettingsChange {
        let retention = body.retention.map(|RetentionBody { event_days, incident_days, statistics_days }| {
            RetentionChange { event_days, incident_days, statistics_days }
        });
        SettingsChange {
            kill_switch: body.kill_switch.map(Into::into).unwrap_or_default(),
            retention: retention.unwrap_or_default(),
        }
    }
}

/// The settings of all agents, and those of the configuration.
#[utoipa::path(get, path = "/api/settings", tag = "settings", operation_id = "get_settings",
    responses((status = 200, body = AllSettings), Refusals))]
pub(crate) async fn get(State(app): State<App>) -> Json<AllSettings> {
    let store = &app.web().store;
    Json(AllSettings { in_force: store.settings().into(), configured: store.configured_settings().into() })
}

/// Changes the settings of all agents: the kill switch of new agents, and how long data is kept,
/// from the next hour on. They override the configuration, also after a restart.
#[utoipa::path(put, path = "/api/settings", tag = "settings", operation_id = "put_settings", request_body = ChangeBody,
    responses((status = 200, body = AllSettings), Refusals, BodyRefusals))]
pub(crate) async fn put(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    Body(body): Body<ChangeBody>,
) -> Result<Json<AllSettings>, Problem> {
    commands.change_settings(body.into()).await?;
    Ok(get(State(app)).await)
}

/// Goes back to the settings of the configuration.
#[utoipa::path(delete, path = "/api/settings", tag = "settings", operation_id = "delete_settings",
    responses((status = 200, body = AllSettings), Refusals))]
pub(crate) async fn delete(State(app): State<App>, ByCaller(commands): ByCaller) -> Result<Json<AllSettings>, Problem> {
    commands.reset_settings().await?;
    Ok(get(State(app)).await)
}
