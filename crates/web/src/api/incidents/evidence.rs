//! The evidence of an incident: what was asked and answered, as text.

use axum::Json;
use axum::extract::State;
use model::{CallId, IncidentId, Likeness, Matched, MissingBodies, Timestamp};
use serde::Serialize;
use store::EvidenceRow;
use utoipa::ToSchema;

use crate::api::{List, incidents, schemas};
use crate::app::App;
use crate::input::IncidentPath;
use crate::problem::{Problem, Refusals};

/// One call of the evidence.
#[derive(Serialize, ToSchema)]
#[schema(as = Evidence)]
pub(crate) struct EvidenceView {
    #[schema(value_type = String, format = "uuid")]
    pub(crate) call_id: CallId,
    /// When it arrived; `null` if only its fingerprint is known.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) timestamp: Option<Timestamp>,
    /// Why it is part of the evidence.
    #[schema(schema_with = schemas::matched)]
    pub(crate) matched: Vec<Matched>,
    /// The later calls that it is similar to, and by which signal.
    pub(crate) alike: Vec<LikenessView>,
    /// The text of its prompt.
    pub(crate) prompt: Option<String>,
    /// The tool calls whose results it reports, one per line.
    pub(crate) tool_calls: Option<String>,
    /// The results of those tool calls, one after the other.
    pub(crate) tool_results: Option<String>,
    /// The text of its response.
    pub(crate) response: Option<String>,
    /// The request body; bytes that are not UTF-8 are replaced. `null` if it was no longer in
    /// memory.
    pub(crate) request_body: Option<String>,
    /// The response body; `null` if there is none.
    pub(crate) response_body: Option<String>,
    pub(crate) request_chars: u64,
    pub(crate) response_chars: u64,
    /// Whether a body is missing or cut.
    pub(crate) truncated: bool,
    /// Why its bodies are missing: `restart` (they were in memory only) or `budget` (they did not
    /// fit); else `null`.
    #[schema(value_type = Option<String>)]
    pub(crate) missing: Option<MissingBodies>,
}

/// Says that a call is similar to a later one.
#[derive(Serialize, ToSchema)]
#[schema(as = Likeness)]
pub(crate) struct LikenessView {
    /// By which signal.
    #[schema(schema_with = schemas::signal)]
    by: Matched,
    /// The later call: the one that was stopped, or the one with the newest response.
    #[schema(value_type = String, format = "uuid")]
    call_id: CallId,
    /// In how many of 64 bits the hashes differ, below 3; `null` for tool calls, which are
    /// identical.
    distance: Option<u32>,
}

impl From<Likeness> for LikenessView {
    fn from(likeness: Likeness) -> LikenessView {
        LikenessView { by: likeness.by, call_id: likeness.with, distance: likeness.distance }
    }
}

impl From<EvidenceRow> for EvidenceView {
    fn from(row: EvidenceRow) -> EvidenceView {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        EvidenceView {
            call_id: row.evidence.call,
            timestamp: row.evidence.time,
            matched: row.evidence.matched,
            alike: row.evidence.alike.into_iter().map(LikenessView::from).collect(),
            prompt: row.evidence.prompt,
            tool_calls: row.evidence.tool_calls,
            tool_results: row.evidence.tool_results,
            response: row.evidence.response,
            request_body: row.evidence.request_body.map(text),
            response_body: row.evidence.response_body.map(text),
            request_chars: row.request_chars,
            response_chars: row.response_chars,
            truncated: row.evidence.truncated,
            missing: row.evidence.missing,
        }
    }
}

/// The evidence of an incident, oldest first.
#[utoipa::path(get, path = "/api/incidents/{id}/evidence", tag = "incidents", operation_id = "get_evidence",
    params(("id" = String, Path, description = "The incident")),
    responses((status = 200, body = List<EvidenceView>), Refusals))]
pub(crate) async fn get(
    State(app): State<App>,
    IncidentPath(id): IncidentPath,
) -> Result<Json<List<EvidenceView>>, Problem> {
    incidents::read(&app, id).await?;
    Ok(Json(List::whole(read(&app, id).await?)))
}

/// The evidence of an incident, oldest first.
pub(crate) async fn read(app: &App, id: IncidentId) -> Result<Vec<EvidenceView>, Problem> {
    let rows = app.web().store.evidence(id).await?;
    Ok(rows.into_iter().map(EvidenceView::from).collect())
}
