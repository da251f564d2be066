//! The settings for all agents: providers and their keys, the settings of new agents, retention,
//! and open sessions.

pub(crate) mod audit;
pub(crate) mod general;
pub(crate) mod mail;
pub(crate) mod password;
pub(crate) mod people;
pub(crate) mod policy;
pub(crate) mod replicas;
pub(crate) mod token;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use control::ProviderChange;
use model::Format;
use serde::Deserialize;
use store::SettingsChange;

use self::general::RetentionForm;
use self::mail::{MailForm, MailSection, Tested};
use self::policy::DefaultPolicy;
use super::agent::settings::SettingsForm;
use super::frame::Frame;
use super::policy_fields::PolicyFields;
use super::{PageResult, assets, draw_as, see_other};
use crate::api::providers::ProviderView;
use crate::api::status::{self, StatusView};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, ProviderPath};

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    providers: Vec<ProviderView>,
    defaults: SettingsForm,
    /// The policy of agents that have none of their own.
    policy: DefaultPolicy,
    retention: RetentionForm,
    /// Whether any setting was set here instead of by the configuration.
    is_set_here: bool,
    error: Option<String>,
    retention_error: Option<String>,
    mail: MailSection,
    mail_error: Option<String>,
    tested: Option<Tested>,
    sessions: usize,
    /// Whether the token was generated, not configured.
    has_own_token: bool,
    status: StatusView,
    /// Whether other servers use the same database.
    is_shared: bool,
}

/// The result of a form, to be shown on the page.
#[derive(Default)]
struct FormResult {
    /// The error in the submitted form.
    error: Option<String>,
    retention_error: Option<String>,
    mail_error: Option<String>,
    /// The result of a test mail.
    tested: Option<Tested>,
    /// The submitted form, if it has an error.
    defaults: Option<SettingsForm>,
    retention: Option<RetentionForm>,
    policy: Option<PolicyFields>,
    mail: Option<MailForm>,
}

/// The fields of a provider's form. An empty field keeps its value.
#[derive(Deserialize)]
pub(crate) struct ProviderForm {
    name: String,
    base_url: String,
    format: Format,
    key: String,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> PageResult {
    draw_with(&app, frame, FormResult::default()).await
}

/// Draws the page with the result of a form.
async fn draw_with(app: &App, frame: Frame, form_result: FormResult) -> PageResult {
    let (web, settings) = (app.web(), app.web().store.settings());
    let is_wrong =
        form_result.error.is_some() || form_result.retention_error.is_some() || form_result.mail_error.is_some();
    let status = if is_wrong { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    app.sessions.refresh_all().await;
    let policy = DefaultPolicy::read(app, form_result.policy).await?;
    let status = status.max(policy.fields.status());
    let page = SettingsPage {
        frame,
        providers: web.providers.all().iter().map(|provider| provider.as_ref().into()).collect(),
        defaults: form_result.defaults.unwrap_or_else(|| SettingsForm::new(&settings.kill_switch.into())),
        policy,
        retention: form_result.retention.unwrap_or_else(|| settings.retention.into()),
        is_set_here: web.store.settings_change() != SettingsChange::default(),
        error: form_result.error,
        retention_error: form_result.retention_error,
        mail: MailSection::read(app, form_result.mail).await?,
        mail_error: form_result.mail_error,
        tested: form_result.tested,
        sessions: app.sessions.list(web.clock.now()).len(),
        has_own_token: web.token.is_replaceable(),
        status: status::read(app),
        is_shared: app.web().store.is_shared(),
    };
    draw_as(status, &page)
}

/// Adds or changes a provider.
pub(crate) async fn save_provider(ByCaller(commands): ByCaller, Fields(form): Fields<ProviderForm>) -> PageResult {
    let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let key = given(form.key).map(Into::into);
    let change = ProviderChange { base_url: given(form.base_url), format: Some(form.format), key };
    let name = form.name.trim().to_owned();
    commands.put_provider(name, change).await?;
    Ok(see_other("/settings?done=provider"))
}

/// Removes the stored part of a provider.
pub(crate) async fn remove_provider(ByCaller(commands): ByCaller, ProviderPath(name): ProviderPath) -> PageResult {
    commands.remove_provider(name).await?;
    Ok(see_other("/settings?done=provider-removed"))
}
