//! The policy of an agent: how much of its budgets is spent, its other limits, and the form to
//! change it.

use axum::extract::State;
use model::AgentId;

use super::{Forms, draw_with};
use crate::api::{agents, policy};
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{AgentPath, Fields};
use crate::pages::budget_bar::BudgetBar;
use crate::pages::frame::Frame;
use crate::pages::policy_fields::PolicyFields;
use crate::pages::{PageResult, see_other, words};
use crate::problem::Problem;

/// The section of the page.
pub(super) struct PolicySection {
    pub(super) is_default: bool,
    /// Whether the default policy limits anything.
    pub(super) has_default: bool,
    pub(super) bars: Vec<BudgetBar>,
    /// The other limits of the agent, in sentences.
    pub(super) limits: Vec<String>,
    /// The budgets that it shares with the agents of its groups.
    pub(super) groups: Vec<GroupBudgets>,
    pub(super) fields: PolicyFields,
}

/// The budgets of a group.
pub(super) struct GroupBudgets {
    pub(super) name: String,
    pub(super) bars: Vec<BudgetBar>,
}

impl PolicySection {
    /// The submitted policy if it has an error; otherwise the stored one.
    pub(super) async fn sent_or_read(
        sent: Option<PolicySection>,
        app: &App,
        agent: &AgentId,
    ) -> Result<PolicySection, Problem> {
        match sent {
            Some(sent) => Ok(sent),
            None => PolicySection::read(app, agent).await,
        }
    }

    /// The stored policy.
    pub(super) async fn read(app: &App, agent: &AgentId) -> Result<PolicySection, Problem> {
        let policies = app.web().guard.policies();
        let policy = policies.policy(agent);
        // The spending is read only if there is a budget to compare it with.
        let bars = if policy.has_budget() {
            let view = policy::read(app, agent).await?;
            BudgetBar::all(&policy, |period| view.spent(period))
        } else {
            Vec::new()
        };
        let now = app.web().clock.now();
        let (mut groups, mut limits) = (Vec::new(), words::policy::other_limits(&policy));
        for group in policies.groups_of(agent) {
            let (name, policy, spent) = (group.group.name.clone(), group.limits.policy(), group.limits.spent(now));
            limits.extend(words::policy::shared_rates(&name, &policy));
            groups.push(GroupBudgets { name, bars: BudgetBar::all(&policy, |period| spent[period as usize]) });
        }
        Ok(PolicySection {
            has_default: !policies.default_policy().is_empty(),
            is_default: !policies.counted(agent).is_some_and(|limits| limits.is_own()),
            bars,
            limits,
            groups,
            fields: PolicyFields::new(app, &policy),
        })
    }
}

/// Saves the policy, or draws the form again with the error.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    AgentPath(id): AgentPath,
    Fields(sent): Fields<Vec<(String, String)>>,
) -> PageResult {
    let agent = agents::read(&app, id.clone()).await?;
    match PolicyFields::sent(&app, sent) {
        Ok(change) => {
            commands.set_policy(id.clone(), change).await?;
            Ok(see_other(&format!("/agents/{id}?done=saved")))
        }
        Err(fields) => {
            let section = PolicySection { fields: *fields, ..PolicySection::read(&app, &id).await? };
            draw_with(&app, frame, agent, Forms { policy: Some(section), ..Forms::default() }).await
        }
    }
}

/// Restores the default policy.
pub(crate) async fn reset(ByCaller(commands): ByCaller, AgentPath(id): AgentPath) -> PageResult {
    commands.reset_policy(id.clone()).await?;
    Ok(see_other(&format!("/agents/{id}?done=reset")))
}
