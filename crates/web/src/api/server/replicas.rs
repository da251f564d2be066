//! The servers that share a database.

use axum::Json;
use axum::extract::State;
use model::Timestamp;
use serde::Serialize;
use store::ReplicaRow;
use utoipa::ToSchema;

use crate::api::List;
use crate::app::App;
use crate::problem::{Problem, Refusals};

/// A server on a database that several share.
#[derive(Serialize, ToSchema)]
#[schema(as = Replica)]
pub(crate) struct ReplicaView {
    /// Its id, which is new at every start.
    pub(crate) id: String,
    /// Whether it is the server that answers this request.
    pub(crate) is_this: bool,
    /// The version of AgentGazer.
    pub(crate) version: String,
    /// The machine and the port of its dashboard.
    pub(crate) address: String,
    /// `shared`, or `degraded` while it cannot agree with the others.
    pub(crate) mode: String,
    /// When it was started.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) started_at: Timestamp,
    /// Whether it reported in the last ten seconds.
    pub(crate) is_alive: bool,
    /// Time since its last report, in milliseconds.
    pub(crate) silent_ms: u64,
    /// Time from its last read of other replicas' changes to that report, in milliseconds.
    pub(crate) lag_ms: u64,
}

/// The mode of a server that cannot agree with the others.
pub(crate) const DEGRADED: &str = "degraded";

impl ReplicaView {
    /// The time of its last report.
    pub(crate) fn last_report_at(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.as_millis().saturating_sub_unsigned(self.silent_ms))
    }

    /// Whether it is silent because it was started again: a newer server in `all` is alive and has
    /// its address.
    pub(crate) fn is_replaced(&self, all: &[ReplicaView]) -> bool {
        let replaces = |it: &ReplicaView| it.is_alive && it.address == self.address && it.started_at > self.started_at;
        !self.is_alive && all.iter().any(replaces)
    }
}

/// The servers on this database, oldest first. Empty unless it is shared.
#[utoipa::path(get, path = "/api/replicas", tag = "health", operation_id = "list_replicas",
    responses((status = 200, body = List<ReplicaView>), Refusals))]
pub(crate) async fn list(State(app): State<App>) -> Result<Json<List<ReplicaView>>, Problem> {
    Ok(Json(List::whole(read(&app).await?)))
}

/// The servers on this database.
pub(crate) async fn read(app: &App) -> Result<Vec<ReplicaView>, Problem> {
    let store = &app.web().store;
    let view = |row: ReplicaRow| ReplicaView {
        is_this: row.id == store.writer(),
        is_alive: row.is_alive(),
        id: row.id,
        version: row.version,
        address: row.address,
        mode: row.mode,
        started_at: row.started_at,
        silent_ms: row.silent_ms,
        lag_ms: row.lag_ms,
    };
    Ok(store.replicas().await?.into_iter().map(view).collect())
}
