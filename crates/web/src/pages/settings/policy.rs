//! The policy of agents that have none of their own, and the form to change it. It overrides the
//! configuration.

use axum::extract::State;

use super::{FormResult, draw_with};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::Fields;
use crate::pages::frame::Frame;
use crate::pages::policy_fields::PolicyFields;
use crate::pages::{PageResult, see_other, words};
use crate::problem::Problem;

/// The section of the page.
pub(super) struct DefaultPolicy {
    /// Its limits, in sentences.
    pub(super) limits: Vec<String>,
    /// Whether it was set here.
    pub(super) is_set_here: bool,
    pub(super) fields: PolicyFields,
}

impl DefaultPolicy {
    /// The current policy, with `sent` in its form if that has an error.
    pub(super) async fn read(app: &App, sent: Option<PolicyFields>) -> Result<DefaultPolicy, Problem> {
        let policy = app.web().guard.policies().default_policy();
        Ok(DefaultPolicy {
            limits: [words::policy::budgets(&policy), words::policy::other_limits(&policy)].concat(),
            is_set_here: app.web().store.default_policy().await?.is_some(),
            fields: sent.unwrap_or_else(|| PolicyFields::new(app, &policy)),
        })
    }
}

/// Saves the policy, or draws the form again with the error.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(sent): Fields<Vec<(String, String)>>,
) -> PageResult {
    match PolicyFields::sent(&app, sent) {
        Ok(change) => {
            commands.set_default_policy(change).await?;
            Ok(see_other("/settings?done=saved"))
        }
        Err(fields) => draw_with(&app, frame, FormResult { policy: Some(*fields), ..FormResult::default() }).await,
    }
}

/// Goes back to the policy of the configuration.
pub(crate) async fn reset(ByCaller(commands): ByCaller) -> PageResult {
    commands.reset_default_policy().await?;
    Ok(see_other("/settings?done=as-configured"))
}
