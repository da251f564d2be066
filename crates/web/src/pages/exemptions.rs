//! Exemptions as pages show them: on the page of their agent, and on that of the incident they were
//! made for.

use model::{ExemptKind, IncidentId};
use serde::Deserialize;

use super::plain::plain;
use super::{Drawn, see_other, words};
use crate::api::exemptions::ExemptionView;
use crate::gate::ByCaller;
use crate::input::{ExemptionPath, Fields};

/// One exemption.
pub(super) struct ExemptionLine {
    pub(super) id: String,
    pub(super) what: &'static str,
    pub(super) text: String,
    /// `2026-12-24 00:00 UTC`
    pub(super) until: String,
}

impl ExemptionLine {
    pub(super) fn new(view: &ExemptionView) -> ExemptionLine {
        let until = view.until.to_string();
        ExemptionLine {
            id: view.id.to_string(),
            what: words::incident::exempt_kind(view.what),
            text: shown(view.what, &view.text),
            until: words::incident::until(&until.get(..16).unwrap_or(&until).replace('T', " ")),
        }
    }
}

/// The text of something exempt, which may not have been kept.
pub(super) fn shown(kind: ExemptKind, text: &str) -> String {
    if text.is_empty() { words::incident::text_not_kept(kind).to_owned() } else { plain(text) }
}

/// Where a revocation leads back to.
#[derive(Deserialize)]
pub(crate) struct RevokeForm {
    incident: Option<IncidentId>,
}

/// Revokes an exemption.
pub(crate) async fn revoke(
    ByCaller(commands): ByCaller,
    ExemptionPath(agent, id): ExemptionPath,
    Fields(form): Fields<RevokeForm>,
) -> Drawn {
    commands.revoke_exemption(agent.clone(), id).await?;
    Ok(match form.incident {
        Some(incident) => see_other(&format!("/incidents/{incident}?done=revoked")),
        None => see_other(&format!("/agents/{agent}?done=revoked")),
    })
}
