//! What a person does to an agent: activate, deactivate, name, delete. Each is a form that leads
//! back to the page.

use axum::extract::State;
use model::ActivatedBy;
use serde::Deserialize;

use crate::app::App;
use crate::input::{AgentPath, Fields};
use crate::pages::{Drawn, see_other};

/// A name for people.
#[derive(Deserialize)]
pub(crate) struct NameForm {
    name: String,
}

/// Activates the agent.
pub(crate) async fn activate(State(app): State<App>, AgentPath(agent): AgentPath) -> Drawn {
    app.control().activate(agent.clone(), ActivatedBy::Dashboard).await?;
    Ok(see_other(&format!("/agents/{agent}?done=activated")))
}

/// Deactivates the agent by hand.
pub(crate) async fn deactivate(State(app): State<App>, AgentPath(agent): AgentPath) -> Drawn {
    app.control().deactivate(agent.clone()).await?;
    Ok(see_other(&format!("/agents/{agent}?done=deactivated")))
}

/// Names the agent; an empty name takes it away.
pub(crate) async fn rename(
    State(app): State<App>,
    AgentPath(agent): AgentPath,
    Fields(form): Fields<NameForm>,
) -> Drawn {
    let name = form.name.trim();
    let name = (!name.is_empty()).then(|| name.to_owned());
    app.control().rename(agent.clone(), name).await?;
    Ok(see_other(&format!("/agents/{agent}?done=renamed")))
}

/// Deletes the agent with all its data.
pub(crate) async fn delete(State(app): State<App>, AgentPath(agent): AgentPath) -> Drawn {
    app.control().delete_agent(agent).await?;
    Ok(see_other("/agents?done=deleted"))
}
