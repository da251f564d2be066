//! Bodies that were missing when an incident was recorded, because another server saw those calls.

use model::{CallId, Evidence, IncidentId};

use crate::columns::signed;
use crate::database::{self, Row};
use crate::evidence::{self, PackedEvidence};
use crate::{Store, StoreError};

impl Store {
    /// The calls of an incident whose bodies are missing, oldest first.
    pub async fn missing_evidence(&self, incident: IncidentId) -> Result<Vec<CallId>, StoreError> {
        let query = database::query(
            "select call_id from evidence where incident_id = $1 and missing is not null order by position",
        );
        let query = query.bind(incident.to_string());
        let ids = query.try_map(|row: Row| row.try_get::<String, _>("call_id")).fetch_all(&self.readers).await?;
        Ok(ids.iter().filter_map(|id| CallId::parse(id)).collect())
    }

    /// Adds missing bodies and keeps existing ones. Returns the number of calls that were
    /// completed.
    pub async fn fill_evidence(&self, incident: IncidentId, found: Vec<Evidence>) -> Result<u64, StoreError> {
        let packed = tokio::task::spawn_blocking(|| evidence::pack(found)).await.unwrap_or_default();
        let mut filled = 0;
        for call in &packed {
            filled += self.fill_one(incident, call).await?;
        }
        Ok(filled)
    }

    async fn fill_one(&self, incident: IncidentId, packed: &PackedEvidence) -> Result<u64, StoreError> {
        let found = &packed.evidence;
        let query = database::query(
            "update evidence set prompt = $1, tool_calls = $2, response = $3, request_body = $4, response_body = $5,
                request_chars = $6, response_chars = $7, truncated = $8, tool_results = $9, missing = null
             where incident_id = $10 and call_id = $11 and missing is not null",
        );
        let query = query.bind(found.prompt.as_deref()).bind(found.tool_calls.as_deref());
        let query = query.bind(found.response.as_deref()).bind(packed.request_body.as_deref());
        let query = query.bind(packed.response_body.as_deref()).bind(signed(packed.request_chars));
        let query = query.bind(signed(packed.response_chars)).bind(found.truncated);
        let query = query.bind(found.tool_results.as_deref());
        let query = query.bind(incident.to_string()).bind(found.call.to_string());
        Ok(query.execute(&self.readers).await?.rows_affected())
    }
}
