//! The health of the server in detail, for the operator.

use std::collections::BTreeMap;
use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use control::Participation;
use model::{RefusedCaller, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Refusals;

/// The mode of a server without replicas.
pub(super) const ALONE: &str = "alone";

/// The health of the server.
#[derive(Serialize, ToSchema)]
#[schema(as = Status)]
pub(crate) struct StatusView {
    /// Which version runs.
    pub(crate) version: &'static str,
    /// How it decides: `alone`, `shared` with other replicas, or `degraded` while their engine is
    /// unreachable.
    #[schema(pattern = "^(alone|shared|degraded)$")]
    pub(crate) mode: &'static str,
    /// How many times it was degraded since the start.
    pub(crate) degradations: u64,
    /// How many replicas were alive when their engine last answered; 1 without others.
    pub(crate) replicas_alive: u64,
    /// Why nothing can be recorded at the moment; `null` if all is well.
    pub(crate) database_trouble: Option<String>,
    /// What happened to the files of the database since the start (deleted, replaced, damaged) and
    /// what the server did about it; `null` if nothing happened.
    pub(crate) database_notice: Option<String>,
    /// The size of the database in bytes, without free pages, which are reused.
    pub(crate) database_bytes: u64,
    /// The limit on that size (`retention.max_size`); `null` if only the disk limits it.
    pub(crate) database_max_bytes: Option<u64>,
    /// How many events and incidents were deleted before their retention ended since the start,
    /// because the database reached that size.
    pub(crate) deleted_for_size: u64,
    /// How many events could not be recorded since the start.
    pub(crate) dropped_events: u64,
    /// How often reading or scoring a call failed since the start. Each of those calls was let
    /// through without a score.
    pub(crate) detection_failures: u64,
    /// How many calls the proxy refused since the start because their agent key was missing or
    /// wrong, by reason.
    pub(crate) unauthorized_calls: BTreeMap<&'static str, u64>,
    /// The clients whose agent keys or tokens were refused since the start, because they are wrong,
    /// revoked, expired or another agent's; the newest first, at most 100.
    pub(crate) refused_callers: Vec<RefusedCallerView>,
    /// The address with which links in alerts begin (`public_url`).
    pub(crate) public_url: String,
    /// Whether those links name a loopback address, so that they work on this machine only.
    pub(crate) links_are_local: bool,
}

/// A client whose agent keys were refused.
#[derive(Serialize, ToSchema)]
#[schema(as = RefusedCaller)]
pub(crate) struct RefusedCallerView {
    /// Its address. All addresses of an IPv6 network (/64) count as one.
    #[schema(value_type = String)]
    pub(crate) address: IpAddr,
    /// How many of its calls were refused.
    pub(crate) count: u64,
    /// When the last of them came.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) last_at: Timestamp,
}

/// The most clients that are listed.
const MAX_CALLERS: usize = 100;

/// The clients whose agent keys were refused, the newest first.
pub(crate) fn refused_callers(app: &App) -> Vec<RefusedCallerView> {
    let callers = app.control().refused_callers().into_iter().take(MAX_CALLERS);
    callers.map(|RefusedCaller { address, count, last_at }| RefusedCallerView { address, count, last_at }).collect()
}

impl StatusView {
    /// The size of the database and what it may be, for people.
    pub(crate) fn database_size(&self) -> String {
        let mebibytes = |bytes: u64| match bytes.div_ceil(1 << 20) {
            mebibytes @ 0..10_240 => format!("{mebibytes} MiB"),
            mebibytes => format!("{} GiB", mebibytes / 1024),
        };
        match self.database_max_bytes {
            Some(limit) => format!("{} of at most {}", mebibytes(self.database_bytes), mebibytes(limit)),
            None => mebibytes(self.database_bytes),
        }
    }

    /// Whether calls since the start were not recorded or not scored, or the database was replaced.
    pub(crate) fn has_lost_something(&self) -> bool {
        self.database_notice.is_some() || self.dropped_events > 0 || self.detection_failures > 0
    }
}

/// The health of the server since its start.
#[utoipa::path(get, path = "/api/status", tag = "health", operation_id = "get_status",
    responses((status = 200, body = StatusView), Refusals))]
pub(crate) async fn get(State(app): State<App>) -> Json<StatusView> {
    Json(read(&app))
}

/// The health of the server.
pub(crate) fn read(app: &App) -> StatusView {
    let (web, health) = (app.web(), app.web().recorder.health());
    let participation = app.control().participation();
    StatusView {
        version: env!("CARGO_PKG_VERSION"),
        mode: mode(participation),
        degradations: participation.map_or(0, |it| it.degradations),
        replicas_alive: participation.map_or(1, |it| it.alive),
        database_trouble: health.trouble(),
        database_notice: health.notice(),
        database_bytes: health.database_size(),
        database_max_bytes: web.store.max_size(),
        deleted_for_size: health.deleted_for_size(),
        dropped_events: web.recorder_handle.dropped_events() + health.dropped_events(),
        detection_failures: web.detection_failures.count(),
        unauthorized_calls: app.control().key_refusals().map(|(why, count)| (why.as_str(), count)).into(),
        refused_callers: refused_callers(app),
        public_url: web.public_url.clone(),
        links_are_local: is_local(&web.public_url),
    }
}

fn mode(participation: Option<Participation>) -> &'static str {
    match participation {
        None => ALONE,
        Some(Participation { is_degraded: false, .. }) => "shared",
        Some(Participation { is_degraded: true, .. }) => "degraded",
    }
}

/// Whether `url` names the machine that it is opened on, or no machine at all.
fn is_local(url: &str) -> bool {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let authority = address.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_loopback_or_to_no_address_are_local() {
        for local in ["http://127.0.0.1:18880", "http://[::1]:18880/x", "http://localhost", "http://0.0.0.0:1"] {
            assert!(is_local(local), "{local}");
        }
        for reachable in ["https://gazer.example", "http://10.0.0.7:18880", "https://localhost.example/127.0.0.1"] {
            assert!(!is_local(reachable), "{reachable}");
        }
    }
}
