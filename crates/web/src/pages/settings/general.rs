//! The forms of the settings for all agents. They override the configuration.

use axum::extract::State;
use axum::response::Response;
use control::Commands;
use serde::Deserialize;
use store::{Retention, RetentionChange, SettingsChange};

use super::{FormResult, draw_with};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::Fields;
use crate::pages::agent::settings::{SettingsFields, SettingsForm};
use crate::pages::frame::Frame;
use crate::pages::words::problem::explanation;
use crate::pages::{PageResult, see_other};
use crate::problem::Problem;

/// The retention, as the form holds and submits it.
#[derive(Clone, Deserialize)]
pub(crate) struct RetentionForm {
    pub(super) event_days: String,
    pub(super) incident_days: String,
    pub(super) statistics_days: String,
}

impl From<Retention> for RetentionForm {
    fn from(retention: Retention) -> RetentionForm {
        RetentionForm {
            event_days: retention.event_days.to_string(),
            incident_days: retention.incident_days.to_string(),
            statistics_days: retention.statistics_days.to_string(),
        }
    }
}

impl RetentionForm {
    fn change(&self) -> RetentionChange {
        // A text that is not a number is refused like a number out of range, with the field's name.
        let days = |text: &str| Some(text.trim().parse().unwrap_or(0));
        RetentionChange {
            event_days: days(&self.event_days),
            incident_days: days(&self.incident_days),
            statistics_days: days(&self.statistics_days),
        }
    }
}

/// Saves the settings of new agents, or draws the form again with the error.
pub(crate) async fn save_defaults(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(fields): Fields<SettingsFields>,
) -> PageResult {
    let fields = fields.with_preset();
    let saved = match fields.change() {
        Ok(kill_switch) => save(&commands, SettingsChange { kill_switch, ..SettingsChange::default() }).await,
        Err(error) => Err(Problem::from(error)),
    };
    let form_result =
        |error| FormResult { error, defaults: Some(SettingsForm::sent(&fields)), ..FormResult::default() };
    answer(&app, frame, saved, form_result).await
}

/// Saves the retention, or draws the form again with the error.
pub(crate) async fn save_retention(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(form): Fields<RetentionForm>,
) -> PageResult {
    let saved = save(&commands, SettingsChange { retention: form.change(), ..SettingsChange::default() }).await;
    let form_result = |retention_error| FormResult { retention_error, retention: Some(form), ..FormResult::default() };
    answer(&app, frame, saved, form_result).await
}

/// Goes back to the settings of the configuration.
pub(crate) async fn reset(ByCaller(commands): ByCaller) -> PageResult {
    commands.reset_settings().await?;
    Ok(see_other("/settings?done=as-configured"))
}

async fn save(commands: &Commands, change: SettingsChange) -> Result<(), Problem> {
    Ok(commands.change_settings(change).await?)
}

/// Redirects back, or draws the page with the error in the submitted form. Any other problem has a
/// page of its own.
async fn answer(
    app: &App,
    frame: Frame,
    saved: Result<(), Problem>,
    form_result: impl FnOnce(Option<String>) -> FormResult,
) -> Result<Response, Problem> {
    match saved {
        Ok(()) => Ok(see_other("/settings?done=settings")),
        Err(problem) if problem.status().is_client_error() => {
            draw_with(app, frame, form_result(Some(explanation(&problem)))).await
        }
        Err(problem) => Err(problem),
    }
}
