//! What a person does with an incident: says whether it was a loop, activates the agent, takes a body, deletes it.

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;
use model::{ActivatedBy, CallId, IncidentId};
use serde::Deserialize;
use store::{EvidenceBody, Feedback};

use crate::api::incidents;
use crate::app::App;
use crate::input::{Fields, Filters, IncidentPath};
use crate::pages::indented::indented;
use crate::pages::number::grouped;
use crate::pages::plain::plain;
use crate::pages::words::incident::body_cut;
use crate::pages::words::problem::NO_BODY;
use crate::pages::{Drawn, see_other};
use crate::problem::Problem;

/// Whether it was a loop.
#[derive(Deserialize)]
pub(crate) struct FeedbackForm {
    feedback: Feedback,
}

/// Keeps what the person says.
pub(crate) async fn feedback(
    State(app): State<App>,
    IncidentPath(id): IncidentPath,
    Fields(form): Fields<FeedbackForm>,
) -> Drawn {
    app.control().set_feedback(id, form.feedback).await?;
    Ok(see_other(&format!("/incidents/{id}?done=thanks")))
}

/// Activates the agent of the incident.
pub(crate) async fn activate(State(app): State<App>, IncidentPath(id): IncidentPath) -> Drawn {
    let incident = incidents::read(&app, id).await?;
    app.control().activate(incident.agent_id, ActivatedBy::Dashboard).await?;
    Ok(see_other(&format!("/incidents/{id}?done=activated")))
}

/// Deletes the incident with its evidence.
pub(crate) async fn delete(State(app): State<App>, IncidentPath(id): IncidentPath) -> Drawn {
    app.control().delete_incident(id).await?;
    Ok(see_other("/incidents?done=deleted"))
}

/// How a body is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyQuery {
    /// To be read in the browser, indented and not too long; else as a file, as it came.
    #[serde(default)]
    show: bool,
}

/// How much of a body is shown in the browser.
const SHOWN_CHARACTERS: usize = 500_000;

/// One whole body as plain text: a browser shows or saves it, and never runs it.
pub(crate) async fn body(
    State(app): State<App>,
    Path((incident, call, which)): Path<(String, String, String)>,
    Filters(query): Filters<BodyQuery>,
) -> Drawn {
    let gone = || Problem::not_found(NO_BODY);
    let incident = IncidentId::parse(&incident).ok_or_else(gone)?;
    let call = CallId::parse(&call).ok_or_else(gone)?;
    let which_body = match which.as_str() {
        "request" => EvidenceBody::Request,
        "response" => EvidenceBody::Response,
        _ => return Err(gone()),
    };
    let body = app.web().store.evidence_body(incident, call, which_body).await?.ok_or_else(gone)?;
    if query.show {
        return Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], shown(&body)).into_response());
    }
    let headers = [
        (CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{call}-{which}.txt\"")),
    ];
    Ok((headers, body).into_response())
}

/// The body as people read it.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        None => plain(&indented(text.into_owned())),
        Some((end, _)) => plain(&indented(text[..end].to_owned())) + &body_cut(&grouped(SHOWN_CHARACTERS as u64)),
    }
}
