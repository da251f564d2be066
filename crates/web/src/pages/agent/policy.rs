//! The policy of an agent: what is spent of its budgets, what else limits it, and the form to change it.

use axum::extract::State;
use axum::http::StatusCode;
use model::{AgentId, FieldError};

use super::policy_form::PolicyForm;
use super::{Forms, draw_with};
use crate::api::{agents, policy};
use crate::app::App;
use crate::changes;
use crate::input::{AgentPath, Fields};
use crate::pages::budget_bar::BudgetBar;
use crate::pages::frame::Frame;
use crate::pages::{Drawn, see_other, words};
use crate::problem::Problem;

/// The policy as it is drawn.
pub(super) struct PolicySection {
    pub(super) is_default: bool,
    pub(super) bars: Vec<BudgetBar>,
    /// What else limits the agent, in sentences.
    pub(super) limits: Vec<String>,
    pub(super) form: PolicyForm,
    /// The providers to choose from.
    pub(super) providers: Vec<String>,
    /// The field that is wrong in what was sent.
    error: Option<FieldError>,
}

impl PolicySection {
    /// The policy as it holds.
    pub(super) async fn read(app: &App, agent: &AgentId) -> Result<PolicySection, Problem> {
        let view = policy::read(app, agent).await?;
        let form = PolicyForm::new(&view.policy);
        Ok(PolicySection {
            is_default: view.is_default,
            bars: BudgetBar::all(&view.policy, |period| view.spent(period)),
            limits: words::policy::other_limits(&view.policy),
            providers: form.providers(app.web().providers.all().iter().map(|provider| provider.name.clone())),
            form,
            error: None,
        })
    }

    /// What is wrong, in words.
    pub(super) fn error(&self) -> Option<String> {
        self.error.as_ref().map(words::policy::wrong)
    }

    /// Whether it is this field that is wrong.
    pub(super) fn is_wrong(&self, field: &str) -> bool {
        self.error.as_ref().is_some_and(|error| error.field == field)
    }

    /// The status of a page with it.
    pub(super) fn status(&self) -> StatusCode {
        if self.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK }
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
    let form = PolicyForm::sent(sent);
    let current = app.web().guard.policies().policy(&id);
    let checked = form.change().and_then(|change| change.clone().apply(&current).map(|_| change));
    match checked {
        Ok(change) => {
            app.alone(changes::set_policy(app.clone(), id.clone(), change)).await?;
            Ok(see_other(&format!("/agents/{id}?done=saved")))
        }
        Err(error) => {
            let holds = PolicySection::read(&app, &id).await?;
            let section = PolicySection { form, error: Some(error), ..holds };
            draw_with(&app, frame, agent, Forms { policy: Some(section), ..Forms::default() }).await
        }
    }
}

/// Gives the agent the default policy again.
pub(crate) async fn reset(State(app): State<App>, AgentPath(id): AgentPath) -> Drawn {
    app.alone(changes::reset_policy(app.clone(), id.clone())).await?;
    Ok(see_other(&format!("/agents/{id}?done=reset")))
}
