//! The actions of a person on an agent: activate, deactivate, name, label, record, delete. Each is
//! a form, and redirects back to the page.

use axum::extract::State;
use serde::Deserialize;

use crate::api::labels::parse_labels;
use crate::api::recording;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Fields, Reason};
use crate::pages::{PageResult, see_other, words_in};

/// A name for people.
#[derive(Deserialize)]
pub(crate) struct NameForm {
    name: String,
}

/// Activates the agent.
pub(crate) async fn activate(
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Reason(reason): Reason,
) -> PageResult {
    commands.because(reason)?.activate(agent.clone()).await?;
    Ok(see_other(&format!("/agents/{agent}?done=activated")))
}

/// Deactivates the agent by hand.
pub(crate) async fn deactivate(
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Reason(reason): Reason,
) -> PageResult {
    commands.because(reason)?.deactivate(agent.clone()).await?;
    Ok(see_other(&format!("/agents/{agent}?done=deactivated")))
}

/// Names the agent; an empty name removes it.
pub(crate) async fn rename(
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Fields(form): Fields<NameForm>,
) -> PageResult {
    let name = form.name.trim();
    let name = (!name.is_empty()).then(|| name.to_owned());
    commands.rename(agent.clone(), name).await?;
    Ok(see_other(&format!("/agents/{agent}?done=renamed")))
}

/// Labels, separated by commas or spaces.
#[derive(Deserialize)]
pub(crate) struct LabelsForm {
    labels: String,
}

/// Replaces the labels of the agent.
pub(crate) async fn label(
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Fields(form): Fields<LabelsForm>,
) -> PageResult {
    commands.set_labels(agent.clone(), parse_labels(words_in(&form.labels))?).await?;
    Ok(see_other(&format!("/agents/{agent}?done=labelled")))
}

/// Whether to record; an absent field goes back to the configuration.
#[derive(Deserialize)]
pub(crate) struct RecordingForm {
    enabled: Option<bool>,
}

/// Switches the recording of the agent.
pub(crate) async fn record(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    AgentPath(agent): AgentPath,
    Fields(form): Fields<RecordingForm>,
) -> PageResult {
    recording::switch(&app, &commands, agent.clone(), form.enabled).await?;
    let done = if recording::read(&app, &agent).await?.enabled { "recorded" } else { "not-recorded" };
    Ok(see_other(&format!("/agents/{agent}?done={done}#recording")))
}

/// Deletes the agent with all its data.
pub(crate) async fn delete(ByCaller(commands): ByCaller, AgentPath(agent): AgentPath) -> PageResult {
    commands.delete_agent(agent).await?;
    Ok(see_other("/agents?done=deleted"))
}
