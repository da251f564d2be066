//! The policy of an agent: what is spent of its budgets, what else limits it, and the form to change it.

use axum::extract::State;
use model::AgentId;

use super::{Forms, draw_with};
use crate::api::{agents, policy};
use crate::app::App;
use crate::changes;
use crate::input::{AgentPath, Fields};
use crate::pages::budget_bar::BudgetBar;
use crate::pages::frame::Frame;
use crate::pages::policy_fields::PolicyFields;
use crate::pages::{Drawn, see_other, words};
use crate::problem::Problem;

/// The policy as it is drawn.
pub(super) struct PolicySection {
    pub(super) is_default: bool,
    pub(super) bars: Vec<BudgetBar>,
    /// What else limits the agent, in sentences.
    pub(super) limits: Vec<String>,
    pub(super) fields: PolicyFields,
}

impl PolicySection {
    /// The policy as it holds.
    pub(super) async fn read(app: &App, agent: &AgentId) -> Result<PolicySection, Problem> {
        let view = policy::read(app, agent).await?;
        Ok(PolicySection {
            is_default: view.is_default,
            bars: BudgetBar::all(&view.policy, |period| view.spent(period)),
            limits: words::policy::other_limits(&view.policy),
            fields: PolicyFields::new(app, &view.policy),
        })
    }
}

/// Saves the policy, or draws the form again with what is wrong.
pub(crate) async fn save(
    State(app): State<App>,
    frame: Frame,
    AgentPath(id): AgentPath,
    Fields(sent): Fields<Vec<(String, String)>>,
) -> Drawn {
    let agent = agents::read(&app, id.clone()).await?;
    match PolicyFields::sent(&app, sent) {
        Ok(change) => {
            app.alone(changes::set_policy(app.clone(), id.clone(), change)).await?;
            Ok(see_other(&format!("/agents/{id}?done=saved")))
        }
        Err(fields) => {
            let section = PolicySection { fields: *fields, ..PolicySection::read(&app, &id).await? };
            draw_with(&app, frame, agent, Forms { policy: Some(section), ..Forms::default() }).await
        }
    }
}

/// Gives the agent the default policy again.
pub(crate) async fn reset(State(app): State<App>, AgentPath(id): AgentPath) -> Drawn {
    app.alone(changes::reset_policy(app.clone(), id.clone())).await?;
    Ok(see_other(&format!("/agents/{id}?done=reset")))
}
