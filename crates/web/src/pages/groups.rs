//! Groups of agents: what their agents share and have spent, and stopping all of them.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use control::GroupStatus;
use model::{KillSwitchChange, NanoUsd, PolicyChange, RateLimit};
use serde::Deserialize;

use super::frame::Frame;
use super::number::Money;
use super::words::groups as words;
use super::words::problem::said;
use super::{Drawn, assets, draw_as, see_other};
use crate::api::groups::GroupBody;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, GroupPath};
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "groups.html")]
struct GroupsPage {
    frame: Frame,
    summary: String,
    groups: Vec<GroupLine>,
    form: GroupForm,
    error: Option<String>,
}

/// One group.
struct GroupLine {
    name: String,
    agents: String,
    /// `$1.20 of $5.00 today`, for each budget.
    budgets: Vec<String>,
    rates: Vec<String>,
    new_agents: &'static str,
}

impl GroupLine {
    fn new(status: &GroupStatus) -> GroupLine {
        let (group, money) = (&status.group, |nanos: NanoUsd| Money::from(nanos).short);
        let policy = &group.policy;
        let limits = [policy.budget_daily, policy.budget_weekly, policy.budget_monthly];
        let budgets = limits.into_iter().zip(status.spent).zip(words::PERIODS);
        let budgets =
            budgets.filter_map(|((limit, spent), period)| Some(words::budget(&money(spent), &money(limit?), period)));
        let rate = |limit: &RateLimit| limit.requests_per_minute.map(|rate| words::rate(rate, &limit.provider));
        GroupLine {
            name: group.name.clone(),
            agents: group.agents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            budgets: budgets.collect(),
            rates: policy.rate_limits.iter().filter_map(rate).collect(),
            new_agents: words::new_agents(group.kill_switch.enabled),
        }
    }
}

/// What the form of a group sends. An empty field is no limit.
#[derive(Default, Deserialize)]
pub(crate) struct GroupForm {
    name: String,
    #[serde(default)]
    agents: String,
    #[serde(default)]
    daily: String,
    #[serde(default)]
    monthly: String,
    #[serde(default)]
    requests: String,
    /// `on`, `off`, or empty for the defaults.
    #[serde(default)]
    kill_switch: String,
}

impl GroupForm {
    fn body(&self) -> Result<GroupBody, Problem> {
        let agents = self.agents.split([',', ' ', '\n', '\r']).filter(|part| !part.is_empty()).map(str::to_owned);
        let budget = |text: &str, field: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<f64>().map(Some).map_err(|_| Problem::field(field, words::DOLLARS)),
        };
        let rates = match self.requests.trim() {
            "" => Vec::new(),
            text => {
                let rate = text.parse().map_err(|_| Problem::field("requests_per_minute", words::WHOLE))?;
                vec![RateLimit {
                    provider: model::ANY.to_owned(),
                    requests_per_minute: Some(rate),
                    tokens_per_minute: None,
                }]
            }
        };
        let enabled = match self.kill_switch.as_str() {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        Ok(GroupBody {
            agents: Some(agents.collect()),
            policy: Some(PolicyChange {
                budget_daily_usd: Some(budget(&self.daily, "budget_daily_usd")?),
                budget_monthly_usd: Some(budget(&self.monthly, "budget_monthly_usd")?),
                rate_limits: Some(rates),
                ..PolicyChange::default()
            }),
            kill_switch: Some(KillSwitchChange { enabled, ..KillSwitchChange::default() }),
        })
    }
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame) -> Drawn {
    draw_with(&app, frame, GroupForm::default(), None)
}

/// Adds or replaces a group, or draws the form again with what is wrong.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(form): Fields<GroupForm>,
) -> Drawn {
    let saved = match form.body().and_then(GroupBody::change) {
        Ok(change) => commands.put_group(form.name.trim().to_owned(), change).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match saved {
        Ok(()) => Ok(see_other("/groups?done=group")),
        Err(problem) if problem.status().is_client_error() => draw_with(&app, frame, form, Some(said(&problem))),
        Err(problem) => Err(problem),
    }
}

/// Stops the agents of a group.
pub(crate) async fn stop(ByCaller(commands): ByCaller, GroupPath(name): GroupPath) -> Drawn {
    commands.stop_group(&name).await?;
    Ok(see_other("/groups?done=group-stopped"))
}

/// Activates the agents of a group.
pub(crate) async fn activate(ByCaller(commands): ByCaller, GroupPath(name): GroupPath) -> Drawn {
    commands.activate_group(&name).await?;
    Ok(see_other("/groups?done=group-activated"))
}

/// Deletes a group.
pub(crate) async fn delete(ByCaller(commands): ByCaller, GroupPath(name): GroupPath) -> Drawn {
    commands.remove_group(name).await?;
    Ok(see_other("/groups?done=group-deleted"))
}

fn draw_with(app: &App, frame: Frame, form: GroupForm, error: Option<String>) -> Drawn {
    let groups: Vec<GroupLine> = app.control().groups().iter().map(GroupLine::new).collect();
    let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    draw_as(status, &GroupsPage { frame, summary: words::summary(groups.len()), groups, form, error })
}
