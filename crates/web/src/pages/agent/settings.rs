//! The forms of an agent's kill switch: the switch itself, which takes effect at once, and its
//! settings. Turning it on while no one would be notified of a kill requires one confirmation.

use axum::extract::State;
use axum::http::StatusCode;
use model::{Action, Counting, FieldError, KillSwitchChange};
use serde::Deserialize;

use super::{Forms, draw_with};
use crate::api::agents;
use crate::api::kill_switch::{SettingsView, notifications_configured};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Fields};
use crate::pages::frame::Frame;
use crate::pages::words::labels::preset;
use crate::pages::words::problem::{self, takes};
use crate::pages::{PageResult, see_other, undo};

/// The form of the page.
pub(in crate::pages) struct SettingsForm {
    pub(in crate::pages) enabled: bool,
    pub(in crate::pages) window_size: String,
    pub(in crate::pages) threshold: String,
    pub(in crate::pages) action: Action,
    pub(in crate::pages) counting: Counting,
    /// The error in the submitted form.
    pub(in crate::pages) error: Option<String>,
    /// Whether to ask for confirmation, because no one would be notified of a kill.
    pub(in crate::pages) asks: bool,
}

/// A recommended combination of settings.
pub(in crate::pages) struct Preset {
    pub(in crate::pages) key: &'static str,
    pub(in crate::pages) name: &'static str,
    pub(in crate::pages) window_size: u16,
    pub(in crate::pages) threshold: f64,
}

/// The recommendations of the guide.
pub(super) const PRESETS: [Preset; 3] = [
    Preset { key: "tight", name: preset::TIGHT, window_size: 10, threshold: 5.0 },
    Preset { key: "balanced", name: preset::BALANCED, window_size: 20, threshold: 10.0 },
    Preset { key: "tolerant", name: preset::TOLERANT, window_size: 50, threshold: 20.0 },
];

/// The fields of the form.
#[derive(Deserialize)]
pub(crate) struct SettingsFields {
    /// A checkbox is sent only if it is on.
    enabled: Option<String>,
    /// Sent by forms that leave the switch as it is, even if it has changed meanwhile.
    switch: Option<String>,
    window_size: String,
    threshold: String,
    action: Action,
    counting: Counting,
    preset: Option<String>,
    /// “Enable anyway.”
    anyway: Option<String>,
}

impl SettingsForm {
    /// The form with the stored settings.
    pub(in crate::pages) fn new(settings: &SettingsView) -> SettingsForm {
        SettingsForm {
            enabled: settings.enabled,
            window_size: settings.window_size.to_string(),
            threshold: settings.threshold.to_string(),
            action: settings.action,
            counting: settings.counting,
            error: None,
            asks: false,
        }
    }

    /// The form with the submitted settings.
    pub(in crate::pages) fn sent(fields: &SettingsFields) -> SettingsForm {
        SettingsForm {
            enabled: fields.enabled.is_some(),
            window_size: fields.window_size.clone(),
            threshold: fields.threshold.clone(),
            action: fields.action,
            counting: fields.counting,
            error: None,
            asks: false,
        }
    }

    pub(in crate::pages) fn presets(&self) -> &'static [Preset] {
        &PRESETS
    }

    /// Whether the form holds the settings of `preset`.
    pub(in crate::pages) fn is(&self, preset: &Preset) -> bool {
        self.window_size.parse() == Ok(preset.window_size) && self.threshold.parse() == Ok(preset.threshold)
    }

    pub(in crate::pages) fn has_action(&self, word: &str) -> bool {
        self.action.as_str() == word
    }

    pub(in crate::pages) fn has_counting(&self, word: &str) -> bool {
        self.counting.as_str() == word
    }

    /// The status of a page with this form.
    pub(super) fn status(&self) -> StatusCode {
        match (&self.error, self.asks) {
            (Some(_), _) => StatusCode::BAD_REQUEST,
            (None, true) => StatusCode::CONFLICT,
            (None, false) => StatusCode::OK,
        }
    }
}

impl SettingsFields {
    /// These fields with the settings of the chosen preset, if one was chosen.
    pub(in crate::pages) fn with_preset(mut self) -> SettingsFields {
        let chosen = PRESETS.iter().find(|preset| self.preset.as_deref() == Some(preset.key));
        if let Some(preset) = chosen {
            self.window_size = preset.window_size.to_string();
            self.threshold = preset.threshold.to_string();
        }
        self
    }

    /// These fields with the current switch, if the form leaves it unchanged.
    fn with_switch(mut self, enabled: bool) -> SettingsFields {
        if self.switch.is_some() {
            self.enabled = enabled.then(String::new);
        }
        self
    }

    pub(in crate::pages) fn change(&self) -> Result<KillSwitchChange, FieldError> {
        let window_size = self.window_size.trim().parse();
        let threshold = self.threshold.trim().parse();
        Ok(KillSwitchChange {
            enabled: Some(self.enabled.is_some()),
            window_size: Some(window_size.map_err(|_| FieldError::new("window_size", takes::WINDOW_SIZE))?),
            threshold: Some(threshold.map_err(|_| FieldError::new("threshold", takes::THRESHOLD))?),
            action: Some(self.action),
            counting: Some(self.counting),
        })
    }
}

/// Saves the settings, or draws the form again with the error or the request for confirmation.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    AgentPath(id): AgentPath,
    Fields(fields): Fields<SettingsFields>,
) -> PageResult {
    let agent = agents::read(&app, id.clone()).await?;
    let fields = fields.with_preset().with_switch(agent.kill_switch.enabled);
    let checked = fields.change().and_then(|change| change.apply(agent.kill_switch.into()).map(|_| change));
    let change = match checked {
        Ok(change) => change,
        Err(error) => {
            let form = SettingsForm { error: Some(problem::wrong(&error)), ..SettingsForm::sent(&fields) };
            return draw_with(&app, frame, agent, Forms { settings: Some(form), ..Forms::default() }).await;
        }
    };
    let turns_on = fields.enabled.is_some() && !agent.kill_switch.enabled;
    if turns_on && fields.anyway.is_none() && !notifications_configured(&app, &id).await? {
        let form = SettingsForm { asks: true, ..SettingsForm::sent(&fields) };
        return draw_with(&app, frame, agent, Forms { settings: Some(form), ..Forms::default() }).await;
    }
    commands.configure(id.clone(), change).await?;
    let before = undo::settings_before(agent.kill_switch.into());
    let done = match (agent.kill_switch.enabled, fields.enabled.is_some()) {
        (true, true) => "saved",
        (false, false) => "saved-off",
        (false, true) => "switched-on",
        (true, false) => "switched-off",
    };
    Ok(see_other(&format!("/agents/{id}?done={done}&undo={before}")))
}
