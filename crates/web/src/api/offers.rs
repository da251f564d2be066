//! What could be exempt after a false alarm, narrowest first, and what each would have let through: told by the same
//! detector, over the window of the incident and over what is on record.

use axum::Json;
use axum::extract::State;
use model::{Exempt, ExemptKind, Exemption, ExemptionId, Fingerprint, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::incidents::IncidentView;
use super::{List, incidents, words};
use crate::app::App;
use crate::input::IncidentPath;
use crate::problem::{Problem, Refusals};

/// How many of the agent's newest calls are looked at.
const CALLS: u32 = 2_000;
/// How much is kept of a text.
const TEXT_LENGTH: u32 = 200;
/// Tool calls first: they are less than all work on a prompt.
const KINDS: [ExemptKind; 2] = [ExemptKind::ToolCall, ExemptKind::Prompt];
const FOR_EVER: Timestamp = Timestamp::from_millis(i64::MAX);

/// Something that could be exempt, and what that would have let through.
#[derive(Serialize, ToSchema)]
#[schema(as = ExemptionOffer)]
pub(crate) struct OfferView {
    #[schema(schema_with = words::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// The beginning of it.
    pub(crate) text: String,
    /// What the stopped call would have scored with it.
    pub(crate) score: f64,
    /// Whether it would have gone through.
    pub(crate) would_have_passed: bool,
    /// How many of the agent's newest calls on record have it.
    pub(crate) covered_calls: usize,
    /// How many calls that are, at most 2000.
    pub(crate) of_calls: usize,
}

/// What can be exempt, with its beginning for people.
pub(crate) struct Candidate {
    pub(crate) exempt: Exempt,
    pub(crate) text: String,
}

/// What could be exempt after a false alarm, narrowest first, and what each would have let through.
#[utoipa::path(get, path = "/api/incidents/{id}/exemptions", tag = "incidents", operation_id = "list_exemption_offers",
    params(("id" = String, Path, description = "The incident")),
    responses((status = 200, body = List<OfferView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    IncidentPath(id): IncidentPath,
) -> Result<Json<List<OfferView>>, Problem> {
    let incident = incidents::read(&app, id).await?;
    Ok(Json(List::whole(read(&app, &incident).await?)))
}

/// What could be exempt. Nothing, if the window of the incident was not kept.
pub(crate) async fn read(app: &App, incident: &IncidentView) -> Result<Vec<OfferView>, Problem> {
    let window = app.web().store.incident_window(incident.id).await?;
    let recorded = app.web().store.newest_fingerprints(&incident.agent_id, CALLS).await?;
    let mut offers = Vec::new();
    for kind in KINDS {
        if let Some(candidate) = of_window(app, incident, &window, kind).await? {
            offers.push(offer(incident, &window, &recorded, candidate));
        }
    }
    Ok(offers)
}

/// What the stopped call has of this kind.
pub(crate) async fn candidate(
    app: &App,
    incident: &IncidentView,
    kind: ExemptKind,
) -> Result<Option<Candidate>, Problem> {
    let window = app.web().store.incident_window(incident.id).await?;
    of_window(app, incident, &window, kind).await
}

async fn of_window(
    app: &App,
    incident: &IncidentView,
    window: &[Fingerprint],
    kind: ExemptKind,
) -> Result<Option<Candidate>, Problem> {
    let stopped = window.last();
    let exempt = stopped
        .and_then(|stopped| Exempt::of(stopped, kind).filter(|exempt| exempt.covers(stopped, incident.counting)));
    let Some(exempt) = exempt else { return Ok(None) };
    let evidence = app.web().store.evidence_heads(incident.id, TEXT_LENGTH).await?.pop();
    let text = evidence.and_then(|stopped| match kind {
        ExemptKind::Prompt => stopped.prompt,
        ExemptKind::ToolCall => stopped.tool_calls,
    });
    Ok(Some(Candidate { exempt, text: text.unwrap_or_default() }))
}

fn offer(
    incident: &IncidentView,
    window: &[Fingerprint],
    recorded: &[Fingerprint],
    Candidate { exempt, text }: Candidate,
) -> OfferView {
    let exemption = Exemption { id: ExemptionId::new(), exempt, until: FOR_EVER };
    let score = guard::rescore(window, incident.counting, &[exemption]).score();
    OfferView {
        what: exempt.kind(),
        text,
        score,
        would_have_passed: score <= incident.threshold,
        covered_calls: recorded.iter().filter(|call| exempt.covers(call, incident.counting)).count(),
        of_calls: recorded.len(),
    }
}
