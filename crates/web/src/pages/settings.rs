//! What holds for all agents: providers and their keys, what new agents start with, how long things are kept, who is
//! logged in.

use askama::Template;
use axum::extract::State;
use model::{Format, KillSwitch};
use serde::Deserialize;
use store::Retention;

use super::frame::Frame;
use super::{Drawn, assets, draw, see_other, words};
use crate::api::providers::{self, ProviderView};
use crate::app::App;
use crate::input::{Fields, ProviderPath};

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    providers: Vec<ProviderView>,
    defaults: KillSwitch,
    /// The policy of agents that have none of their own, in sentences.
    default_policy: Vec<String>,
    retention: Retention,
    sessions: usize,
}

/// What the form of a provider sends. An empty field keeps its value.
#[derive(Deserialize)]
pub(crate) struct ProviderForm {
    name: String,
    base_url: String,
    format: Format,
    key: String,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> Drawn {
    let policy = app.web().guard.policies().default_policy();
    draw(&SettingsPage {
        frame,
        providers: app.web().providers.all().iter().map(|provider| provider.as_ref().into()).collect(),
        defaults: app.web().guard.defaults(),
        default_policy: [words::policy::budgets(&policy), words::policy::other_limits(&policy)].concat(),
        retention: app.web().store.retention(),
        sessions: app.sessions.count(app.web().clock.now()),
    })
}

/// Adds or changes a provider.
pub(crate) async fn save_provider(State(app): State<App>, Fields(form): Fields<ProviderForm>) -> Drawn {
    let given = |text: String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let change =
        providers::ChangeBody { base_url: given(form.base_url), format: Some(form.format), key: given(form.key) };
    let name = form.name.trim().to_owned();
    app.alone(providers::put_in_turn(app.clone(), name, change)).await?;
    Ok(see_other("/settings?done=provider"))
}

/// Takes back what was stored of a provider.
pub(crate) async fn remove_provider(State(app): State<App>, ProviderPath(name): ProviderPath) -> Drawn {
    app.alone(crate::changes::remove_provider(app.clone(), name)).await?;
    Ok(see_other("/settings?done=provider-removed"))
}
