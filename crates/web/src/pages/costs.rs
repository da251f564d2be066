//! The page of costs: spending over time, by agent and by model, compared with the period before.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use guard::Limits;
use model::{AgentId, Group, NanoUsd};
use serde::Deserialize;
use store::{Figures, ModelName, Period, Totals};

use super::budget_bar::BudgetBar;
use super::chart::Chart;
use super::frame::Frame;
use super::number::{Count, Money};
use super::plain::cut;
use super::words::units::percent;
use super::{PageResult, assets, draw, figures, words};
use crate::app::App;
use crate::input::Filters;

/// The most agents that are listed: the most expensive ones.
const AGENTS_SHOWN: u32 = 50;
const MODELS_SHOWN: usize = 50;
/// The most agents that are listed as near to a budget.
const BUDGETS_SHOWN: usize = 10;
const NAME_LENGTH: usize = 128;

#[derive(Template)]
#[template(path = "costs.html")]
struct CostsPage {
    frame: Frame,
    range: Range,
    total: Money,
    previous: Money,
    unpriced: Count,
    estimated: Count,
    charts: [Chart; 2],
    budgets: Vec<BudgetLine>,
    agents: Vec<CostLine>,
    /// Whether there are further agents, which cost less.
    has_more_agents: bool,
    models: Vec<CostLine>,
    has_more_models: bool,
}

/// One line of a table.
struct CostLine {
    name: String,
    detail: String,
    requests: Count,
    tokens_in: Count,
    tokens_out: Count,
    cost: Money,
    /// The percentage of the whole; `None` if its price is not known.
    share: Option<String>,
}

/// An agent or a group, and the budget that it has spent most of.
struct BudgetLine {
    name: String,
    /// The page of its policy.
    href: String,
    bar: BudgetBar,
}

/// The filter of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CostsQuery {
    range: Option<Range>,
}

/// The length of the period.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum Range {
    #[serde(rename = "24h")]
    Day,
    #[serde(rename = "7d")]
    Week,
    #[serde(rename = "30d")]
    Month,
}

impl Range {
    fn hours(self) -> u32 {
        match self {
            Range::Day => 24,
            Range::Week => 7 * 24,
            Range::Month => 30 * 24,
        }
    }
}

/// Draws the page.
pub(crate) async fn show(State(app): State<App>, frame: Frame, Filters(query): Filters<CostsQuery>) -> PageResult {
    let range = query.range.unwrap_or(Range::Week);
    let period = Period::last_hours(range.hours(), app.web().clock.now());
    app.web().recorder.catch_up().await;
    let store = &app.web().store;
    let (figures, previous, agents) = tokio::try_join!(
        store.figures(None, period),
        store.total_before(None, period),
        store.agent_figures(period, AGENTS_SHOWN + 1),
    )?;
    let has_more_agents = agents.len() > AGENTS_SHOWN as usize;
    let agents = agents.iter().take(AGENTS_SHOWN as usize);
    let all = figures.total.cost.usd();
    draw(&CostsPage {
        frame,
        range,
        total: Money::spent(&figures.total),
        previous: Money::spent(&previous),
        unpriced: figures.total.unpriced.into(),
        estimated: figures.total.estimated.into(),
        charts: [figures::cost_chart(&figures), figures::calls_chart(&figures)],
        budgets: budgets(&app),
        agents: agents.map(|(id, totals)| CostLine::new(id.as_str(), "", totals, all)).collect(),
        has_more_agents,
        models: models(&figures)
            .take(MODELS_SHOWN)
            .map(|(name, totals)| CostLine::new(&name.model, &name.provider, totals, all))
            .collect(),
        has_more_models: models(&figures).count() > MODELS_SHOWN,
    })
}

/// The agents and groups that are nearest to the end of a budget.
fn budgets(app: &App) -> Vec<BudgetLine> {
    let now = app.web().clock.now();
    let policies = app.web().guard.policies();
    let nearest = |limits: &Limits| {
        let spent = limits.spent(now);
        let bars = BudgetBar::all(&limits.policy(), |period| spent[period as usize]);
        bars.into_iter().max_by(|one, other| one.share.total_cmp(&other.share))
    };
    let of_agent = |(agent, limits): (AgentId, Arc<Limits>)| {
        let (name, href) = (agent.to_string(), format!("/agents/{agent}#policy"));
        Some(BudgetLine { name, href, bar: nearest(&limits)? })
    };
    let of_group = |group: Arc<Group>| {
        let bar = nearest(&policies.group(&group.name)?.limits)?;
        Some(BudgetLine { name: words::needs::group(&group.name), href: "/groups".to_owned(), bar })
    };
    let groups = app.web().store.groups().all().into_iter().filter_map(of_group);
    let mut lines: Vec<BudgetLine> = policies.all().into_iter().filter_map(of_agent).chain(groups).collect();
    lines.sort_by(|one, other| other.bar.share.total_cmp(&one.bar.share).then_with(|| one.name.cmp(&other.name)));
    lines.truncate(BUDGETS_SHOWN);
    lines
}

/// The models that were used. Calls that were refused used none.
fn models(figures: &Figures) -> impl Iterator<Item = &(ModelName, Totals)> {
    figures.models.iter().filter(|(_, totals)| totals.requests > 0)
}

impl CostLine {
    fn new(name: &str, detail: &str, totals: &Totals, all: f64) -> CostLine {
        let is_known = totals.unpriced == 0 || totals.cost > NanoUsd::ZERO;
        let share = if all > 0.0 { totals.cost.usd() / all } else { 0.0 };
        CostLine {
            name: cut(name, NAME_LENGTH),
            detail: cut(detail, NAME_LENGTH),
            requests: totals.requests.into(),
            tokens_in: totals.tokens_in.into(),
            tokens_out: totals.tokens_out.into(),
            cost: Money::spent(totals),
            share: is_known.then(|| percent(share)),
        }
    }
}
