//! Exemptions as pages show them: on the page of their agent, and on that of the incident they were
//! made for.

use model::{ExemptKind, IncidentId};
use serde::Deserialize;

use crate::api::exemptions::ExemptionView;
use crate::gate::ByCaller;
use crate::input::{ExemptionPath, Fields};
use crate::pages::plain::plain;
use crate::pages::{PageResult, see_other, words};

/// One exemption.
pub(in crate::pages) struct ExemptionLine {
    pub(in crate::pages) id: String,
    pub(in crate::pages) what: &'static str,
    pub(in crate::pages) text: String,
    /// `2026-12-24 00:00 UTC`
    pub(in crate::pages) until: String,
}

impl ExemptionLine {
    pub(in crate::pages) fn new(view: &ExemptionView) -> ExemptionLine {
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
pub(in crate::pages) fn shown(kind: ExemptKind, text: &str) -> String {
    if text.is_empty() { words::incident::text_not_kept(kind).to_owned() } else { plain(text) }
}

/// The page that a revocation redirects to.
#[derive(Deserialize)]
pub(crate) struct RevokeForm {
    incident: Option<IncidentId>,
}

/// Revokes an exemption.
pub(crate) async fn revoke(
    ByCaller(commands): ByCaller,
    ExemptionPath(agent, id): ExemptionPath,
    Fields(form): Fields<RevokeForm>,
) -> PageResult {
    commands.revoke_exemption(agent.clone(), id).await?;
    Ok(match form.incident {
        Some(incident) => see_other(&format!("/incidents/{incident}?done=revoked")),
        None => see_other(&format!("/agents/{agent}?done=revoked")),
    })
}
