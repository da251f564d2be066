//! The actions of a person on an incident: give feedback, activate the agent, open a body, delete
//! it.

use axum::extract::{Path, State};
use model::{CallId, IncidentId};
use serde::Deserialize;
use store::Feedback;

use crate::api::incidents;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, Filters, IncidentPath, Reason};
use crate::pages::whole_body::{BodyQuery, which_body};
use crate::pages::words::problem::NO_BODY;
use crate::pages::{PageResult, see_other};
use crate::problem::Problem;

/// Whether it was a loop.
#[derive(Deserialize)]
pub(crate) struct FeedbackForm {
    feedback: Feedback,
}

/// Records the feedback.
pub(crate) async fn feedback(
    ByCaller(commands): ByCaller,
    IncidentPath(id): IncidentPath,
    Fields(form): Fields<FeedbackForm>,
) -> PageResult {
    commands.set_feedback(id, form.feedback).await?;
    Ok(see_other(&format!("/incidents/{id}?done=thanks")))
}

/// Activates the agent of the incident.
pub(crate) async fn activate(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    IncidentPath(id): IncidentPath,
    Reason(reason): Reason,
) -> PageResult {
    let incident = incidents::read(&app, id).await?;
    commands.because(reason)?.activate(incident.agent_id).await?;
    Ok(see_other(&format!("/incidents/{id}?done=activated")))
}

/// Deletes the incident with its evidence.
pub(crate) async fn delete(ByCaller(commands): ByCaller, IncidentPath(id): IncidentPath) -> PageResult {
    commands.delete_incident(id).await?;
    Ok(see_other("/incidents?done=deleted"))
}

/// One whole body of the evidence.
pub(crate) async fn body(
    State(app): State<App>,
    Path((incident, call, which)): Path<(String, String, String)>,
    Filters(query): Filters<BodyQuery>,
) -> PageResult {
    let gone = || Problem::not_found(NO_BODY);
    let incident = IncidentId::parse(&incident).ok_or_else(gone)?;
    let (call, which_body) = CallId::parse(&call).zip(which_body(&which)).ok_or_else(gone)?;
    let body = app.web().store.evidence_body(incident, call, which_body).await?.ok_or_else(gone)?;
    Ok(query.answer(call, &which, body))
}
