//! The possible exemptions after a false alarm, narrowest first, each with the effect that it would
//! have had.

use axum::Json;
use axum::extract::State;
use control::ExemptionOffer;
use model::{ExemptKind, IncidentId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{List, schemas};
use crate::app::App;
use crate::input::IncidentPath;
use crate::problem::{Problem, Refusals};

/// A possible exemption, and the effect that it would have had.
#[derive(Serialize, ToSchema)]
#[schema(as = ExemptionOffer)]
pub(crate) struct OfferView {
    #[schema(schema_with = schemas::exempt_kind)]
    pub(crate) what: ExemptKind,
    /// The beginning of it.
    pub(crate) text: String,
    /// The score that the stopped call would have had with it.
    pub(crate) score: f64,
    /// Whether the stopped call would have been forwarded.
    pub(crate) would_have_passed: bool,
    /// How many of the agent's newest recorded calls it covers.
    pub(crate) covered_calls: usize,
    /// How many recorded calls were checked, at most 2000.
    pub(crate) of_calls: usize,
}

impl From<ExemptionOffer> for OfferView {
    fn from(offer: ExemptionOffer) -> OfferView {
        let ExemptionOffer { what, text, score, would_have_passed, covered_calls, of_calls } = offer;
        OfferView { what, text, score, would_have_passed, covered_calls, of_calls }
    }
}

/// The possible exemptions after a false alarm, narrowest first, each with the effect that it would
/// have had.
#[utoipa::path(get, path = "/api/incidents/{id}/exemptions", tag = "incidents", operation_id = "list_exemption_offers",
    params(("id" = String, Path, description = "The incident")),
    responses((status = 200, body = List<OfferView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    IncidentPath(id): IncidentPath,
) -> Result<Json<List<OfferView>>, Problem> {
    Ok(Json(List::whole(read(&app, id).await?)))
}

/// The possible exemptions; empty if the window of the incident was not kept.
pub(crate) async fn read(app: &App, incident: IncidentId) -> Result<Vec<OfferView>, Problem> {
    let offers = app.control().exemption_offers(incident).await?;
    Ok(offers.into_iter().map(OfferView::from).collect())
}
