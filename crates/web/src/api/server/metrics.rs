//! The counts of the server's health in the text form that Prometheus reads.

use std::fmt::Write;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::status::{self, StatusView};
use crate::app::App;
use crate::problem::Refusals;

const TEXT_FORM: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All modes that a server can be in.
const MODES: [&str; 3] = [status::ALONE, "shared", "degraded"];

/// The health of the server since its start, for Prometheus: mode, replicas, size of the database,
/// and what was dropped, let through or refused.
#[utoipa::path(get, path = "/api/metrics", tag = "health", operation_id = "get_metrics",
    responses((status = 200, body = String, content_type = "text/plain"), Refusals))]
pub(crate) async fn get(State(app): State<App>) -> impl IntoResponse {
    ([(CONTENT_TYPE, TEXT_FORM)], text(&status::read(&app)))
}

fn text(status: &StatusView) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, samples: &[(String, u64)]| {
        let _ = writeln!(text, "# TYPE agentgazer_{name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "agentgazer_{name}{labels} {value}");
        }
    };
    let plain = |value: u64| [(String::new(), value)];
    family("info", "gauge", &[(format!("{{version=\"{}\"}}", status.version), 1)]);
    let mode = |mode: &str| (format!("{{mode=\"{mode}\"}}"), u64::from(mode == status.mode));
    family("mode", "gauge", &MODES.map(mode));
    family("replicas_alive", "gauge", &plain(status.replicas_alive));
    family("degradations_total", "counter", &plain(status.degradations));
    family("database_up", "gauge", &plain(u64::from(status.database_trouble.is_none())));
    family("database_bytes", "gauge", &plain(status.database_bytes));
    family("deleted_for_size_total", "counter", &plain(status.deleted_for_size));
    family("dropped_events_total", "counter", &plain(status.dropped_events));
    family("detection_failures_total", "counter", &plain(status.detection_failures));
    let refused = status.unauthorized_calls.iter();
    let refused: Vec<_> = refused.map(|(why, count)| (format!("{{reason=\"{why}\"}}"), *count)).collect();
    family("unauthorized_calls_total", "counter", &refused);
    text
}
