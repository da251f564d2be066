//! Liveness and readiness. Both need no token, so they say nothing else.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::status::{self, StatusView};
use crate::app::App;

/// The health of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`, `ready` or `not ready`.
    status: &'static str,
    /// How one of several replicas decides: `shared` with the others, or `degraded` while their
    /// engine is unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    /// Problems that need attention but do not stop the server from working.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Whether the process is alive.
#[utoipa::path(get, path = "/healthz", tag = "health", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn live() -> Json<Health> {
    Json(Health { status: "ok", mode: None, reasons: Vec::new(), warnings: Vec::new() })
}

/// Whether the server can work, and if not, why.
#[utoipa::path(get, path = "/readyz", tag = "health", security(()),
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(crate) async fn ready(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let draining = app.is_draining().then(|| "draining: the server is stopping".to_owned());
    let database = app.web().recorder.health().trouble().map(|trouble| format!("database: {trouble}"));
    let reasons: Vec<String> = draining.into_iter().chain(database).collect();
    let status = status::read(&app);
    let mode = Some(status.mode).filter(|mode| *mode != status::ALONE);
    let warnings = warnings(&app, status);
    if reasons.is_empty() {
        return (StatusCode::OK, Json(Health { status: "ready", mode, reasons, warnings }));
    }
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "not ready", mode, reasons, warnings }))
}

/// Failures since the start that did not cost a call, and what other parts of the server warn of.
fn warnings(app: &App, status: StatusView) -> Vec<String> {
    let counted = [
        ("detection: calls let through because it failed", status.detection_failures),
        ("database: events that could not be recorded", status.dropped_events),
    ];
    let notice = status.database_notice.map(|notice| format!("database: {notice}"));
    let counted = counted.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what}: {count}"));
    notice.into_iter().chain(counted).chain(app.web().warnings.read()).collect()
}
