//! The page of groups: what their agents share and have spent, and the buttons that stop all of
//! them.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use control::GroupStatus;
use model::{Group, KillSwitchChange, NanoUsd, PolicyChange, RateLimit, Timestamp};
use serde::Deserialize;

use super::frame::Frame;
use super::number::{Moment, Money};
use super::words::groups as words;
use super::words::joined;
use super::words::problem::explanation;
use super::{PageResult, assets, draw_as, see_other, words_in};
use crate::api::groups::GroupBody;
use crate::app::App;
use crate::gate::ByCaller;
use crate::input::{Fields, Filters, GroupPath, Reason};
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
    labels: String,
    /// When it was stopped.
    stopped: Option<Moment>,
    /// `$1.20 of $5.00 today`, for each budget, and whether it is spent.
    budgets: Vec<(String, bool)>,
    rates: Vec<String>,
    new_agents: &'static str,
}

impl GroupLine {
    fn new(status: &GroupStatus, now: Timestamp) -> GroupLine {
        let (group, money) = (&status.group, |nanos: NanoUsd| Money::from(nanos).short);
        let policy = &group.policy;
        let limits = [policy.budget_daily, policy.budget_weekly, policy.budget_monthly];
        let budgets = limits.into_iter().zip(status.spent).zip(words::PERIODS);
        let budgets = budgets.filter_map(|((limit, spent), period)| {
            let limit = limit?;
            Some((words::budget(&money(spent), &money(limit), period), spent >= limit))
        });
        let rate = |limit: &RateLimit| limit.requests_per_minute.map(|rate| words::rate(rate, &limit.provider));
        GroupLine {
            name: group.name.clone(),
            agents: joined(&group.agents),
            labels: joined(&group.labels),
            stopped: group.stopped_at.map(|at| Moment::new(at, now)),
            budgets: budgets.collect(),
            rates: policy.rate_limits.iter().filter_map(rate).collect(),
            new_agents: words::new_agents(group.kill_switch.enabled),
        }
    }
}

/// The fields of a group's form. An empty field means no limit.
#[derive(Default, Deserialize)]
pub(crate) struct GroupForm {
    name: String,
    #[serde(default)]
    agents: String,
    #[serde(default)]
    labels: String,
    #[serde(default)]
    daily: String,
    #[serde(default)]
    weekly: String,
    #[serde(default)]
    monthly: String,
    #[serde(default)]
    requests: String,
    /// `on`, `off`, or empty for the defaults.
    #[serde(default)]
    kill_switch: String,
}

impl GroupForm {
    /// The form filled from an existing group.
    fn of(group: &Group) -> GroupForm {
        let budget = |limit: Option<NanoUsd>| limit.map(|limit| limit.usd().to_string()).unwrap_or_default();
        let rate = group.policy.rate_limits.iter().find(|limit| limit.provider == model::ANY);
        GroupForm {
            name: group.name.clone(),
            agents: joined(&group.agents),
            labels: joined(&group.labels),
            daily: budget(group.policy.budget_daily),
            weekly: budget(group.policy.budget_weekly),
            monthly: budget(group.policy.budget_monthly),
            requests: rate.and_then(|limit| limit.requests_per_minute).map(|rate| rate.to_string()).unwrap_or_default(),
            kill_switch: words::on_or_off(group.kill_switch.enabled).to_owned(),
        }
    }

    /// The change that the form asks for. Limits without a field in the form stay.
    fn body(&self, before: Option<&Group>) -> Result<GroupBody, Problem> {
        let budget = |text: &str, field: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<f64>().map(Some).map_err(|_| Problem::field(field, words::DOLLARS)),
        };
        let rate = match self.requests.trim() {
            "" => None,
            text => Some(text.parse().map_err(|_| Problem::field("requests_per_minute", words::WHOLE))?),
        };
        let enabled = match self.kill_switch.as_str() {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let keeps_switch = before.is_some_and(|group| group.kill_switch.enabled == enabled);
        Ok(GroupBody {
            agents: Some(words_in(&self.agents)),
            labels: Some(words_in(&self.labels)),
            policy: Some(PolicyChange {
                budget_daily_usd: Some(budget(&self.daily, "budget_daily_usd")?),
                budget_weekly_usd: Some(budget(&self.weekly, "budget_weekly_usd")?),
                budget_monthly_usd: Some(budget(&self.monthly, "budget_monthly_usd")?),
                rate_limits: Some(with_rate(before, rate)),
                ..PolicyChange::default()
            }),
            kill_switch: (!keeps_switch).then(|| KillSwitchChange { enabled, ..KillSwitchChange::default() }),
        })
    }
}

/// The rates of the group with `rate` for all providers. Rates of one provider and of tokens stay.
fn with_rate(before: Option<&Group>, rate: Option<u64>) -> Vec<RateLimit> {
    let mut rates = before.map(|group| group.policy.rate_limits.clone()).unwrap_or_default();
    match rates.iter_mut().find(|limit| limit.provider == model::ANY) {
        Some(limit) => limit.requests_per_minute = rate,
        None => {
            let provider = model::ANY.to_owned();
            rates.push(RateLimit { provider, requests_per_minute: rate, tokens_per_minute: None });
        }
    }
    rates.retain(|limit| limit.requests_per_minute.is_some() || limit.tokens_per_minute.is_some());
    rates
}

/// The group that the form is filled with.
#[derive(Default, Deserialize)]
pub(crate) struct GroupsQuery {
    edit: Option<String>,
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, Filters(query): Filters<GroupsQuery>) -> PageResult {
    let group = query.edit.and_then(|name| app.web().store.groups().get(&name));
    draw_with(&app, frame, group.map(|group| GroupForm::of(&group)).unwrap_or_default(), None).await
}

/// Adds or changes a group, or draws the form again with the error.
pub(crate) async fn save(
    State(app): State<App>,
    ByCaller(commands): ByCaller,
    frame: Frame,
    Fields(form): Fields<GroupForm>,
) -> PageResult {
    let name = form.name.trim();
    let before = app.web().store.groups().get(name);
    let saved = match form.body(before.as_deref()).and_then(GroupBody::change) {
        Ok(change) => commands.put_group(name.to_owned(), change).await.map_err(Problem::from),
        Err(problem) => Err(problem),
    };
    match saved {
        Ok(()) => Ok(see_other("/groups?done=group")),
        Err(problem) if problem.status().is_client_error() => {
            draw_with(&app, frame, form, Some(explanation(&problem))).await
        }
        Err(problem) => Err(problem),
    }
}

/// Stops a group.
pub(crate) async fn stop(
    ByCaller(commands): ByCaller,
    GroupPath(name): GroupPath,
    Reason(reason): Reason,
) -> PageResult {
    commands.because(reason)?.stop_group(&name).await?;
    Ok(see_other("/groups?done=group-stopped"))
}

/// Activates a group.
pub(crate) async fn activate(
    ByCaller(commands): ByCaller,
    GroupPath(name): GroupPath,
    Reason(reason): Reason,
) -> PageResult {
    commands.because(reason)?.activate_group(&name).await?;
    Ok(see_other("/groups?done=group-activated"))
}

/// Deletes a group.
pub(crate) async fn delete(ByCaller(commands): ByCaller, GroupPath(name): GroupPath) -> PageResult {
    commands.remove_group(name).await?;
    Ok(see_other("/groups?done=group-deleted"))
}

async fn draw_with(app: &App, frame: Frame, form: GroupForm, error: Option<String>) -> PageResult {
    let now = app.web().clock.now();
    let groups: Vec<GroupLine> = app.control().groups().await.iter().map(|group| GroupLine::new(group, now)).collect();
    let status = if error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    draw_as(status, &GroupsPage { frame, summary: words::summary(groups.len()), groups, form, error })
}
