//! The audit log: who did what, when, from where and why.

use axum::Json;
use axum::extract::State;
use model::{ActivatedBy, ActorKind, Role, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{AuditFilter, AuditRow};
use utoipa::{IntoParams, ToSchema};

use crate::api::{List, schemas};
use crate::app::App;
use crate::input::{Paging, Parameters};
use crate::problem::{Problem, Refusals};

/// One row of the audit log.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(crate) struct AuditView {
    /// Its place in the log, from 1 on without a gap.
    pub(crate) number: u64,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
    pub(crate) actor: ActorView,
    /// What was done, like `agent.activate`.
    pub(crate) action: String,
    /// The target, like `agent:import-fixer`.
    pub(crate) target: Option<String>,
    /// The changed fields before the change.
    #[schema(value_type = Option<Object>)]
    pub(crate) before: Option<Value>,
    /// The changed fields after the change.
    #[schema(value_type = Option<Object>)]
    pub(crate) after: Option<Value>,
    /// Why, in the actor's own words.
    pub(crate) reason: Option<String>,
    /// The hash of this row and of the one before it (SHA-256, hexadecimal).
    pub(crate) hash: String,
}

/// Who did it.
#[derive(Serialize, ToSchema)]
#[schema(as = Actor)]
pub(crate) struct ActorView {
    #[schema(schema_with = schemas::actor_kind)]
    pub(crate) kind: ActorKind,
    /// The id of the user or of the API token.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// The role; absent if the login failed.
    #[schema(schema_with = schemas::role_or_null)]
    pub(crate) role: Option<Role>,
    /// Where the request came from.
    pub(crate) address: Option<String>,
    /// The way the request came in.
    #[schema(schema_with = schemas::way)]
    pub(crate) via: ActivatedBy,
}

impl From<AuditRow> for AuditView {
    fn from(row: AuditRow) -> AuditView {
        let json = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
        AuditView {
            number: row.number,
            timestamp: row.at,
            actor: ActorView {
                kind: row.actor_kind,
                id: row.actor_id,
                name: row.actor_name,
                role: row.role,
                address: row.address,
                via: row.via,
            },
            action: row.action,
            target: row.target,
            before: json(row.before),
            after: json(row.after),
            reason: row.reason,
            hash: row.hash,
        }
    }
}

/// Which rows.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Only by actors whose name contains this, in any case.
    pub(crate) actor: Option<String>,
    /// Only actions that begin with this, like `agent.` or `agent.activate`.
    pub(crate) action: Option<String>,
    /// Only about what contains this, like `agent:import-fixer`.
    pub(crate) target: Option<String>,
    /// From this time on (RFC 3339).
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) from: Option<Timestamp>,
    /// Before this time (RFC 3339).
    #[param(value_type = Option<String>, format = DateTime)]
    pub(crate) to: Option<Timestamp>,
    /// How many at most.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u32>,
    /// Where the page starts: `next_cursor` of the one before.
    pub(crate) cursor: Option<String>,
}

impl Paging for AuditQuery {
    fn limit(&self) -> Option<u32> {
        self.limit
    }
    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// The audit log, newest first.
#[utoipa::path(get, path = "/api/audit", tag = "people", operation_id = "list_audit", params(AuditQuery),
    responses((status = 200, body = List<AuditView>), Refusals))]
pub(crate) async fn list(
    State(app): State<App>,
    Parameters(query): Parameters<AuditQuery>,
) -> Result<Json<List<AuditView>>, Problem> {
    read(&app, query).await.map(Json)
}

/// A page of the log.
pub(crate) async fn read(app: &App, query: AuditQuery) -> Result<List<AuditView>, Problem> {
    let page = query.page()?;
    let AuditQuery { actor, action, target, from, to, .. } = query;
    let filter = AuditFilter { actor, action, target, from, to };
    // Logins are answered before they are written, so this waits for them.
    app.web().recorder.catch_up().await;
    let rows = app.web().store.audit(&filter, &page).await.map_err(Problem::of_page)?;
    Ok(List::of(rows, AuditView::from))
}
