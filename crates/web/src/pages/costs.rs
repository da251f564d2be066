//! The page of costs: spending over time, by agent and by model, compared with the period before.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use guard::Limits;
use model::{AgentId, NanoUsd};
use serde::Deserialize;
use store::{Figures, Period, Totals};

use super::budget_bar::BudgetBar;
use super::chart::Chart;
use super::frame::Frame;
use super::number::{Count, Money};
use super::plain::cut;
use super::words::units::percent;
use super::{PageResult, assets, draw, figures};
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
    models: Vec<CostLine>,
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

/// An agent and the budget that it has spent most of.
struct BudgetLine {
    agent: String,
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
        store.agent_figures(period, AGENTS_SHOWN),
    )?;
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
        agents: agents.iter().map(|(id, totals)| CostLine::new(id.as_str(), "", totals, all)).collect(),
        models: models(&figures, all),
    })
}

/// The agents that are nearest to the end of a budget.
fn budgets(app: &App) -> Vec<BudgetLine> {
    let now = app.web().clock.now();
    let nearest = |(agent, limits): (AgentId, Arc<Limits>)| {
        let spent = limits.spent(now);
        let bars = BudgetBar::all(&limits.policy(), |period| spent[period as usize]);
        let bar = bars.into_iter().max_by(|one, other| one.share.total_cmp(&other.share))?;
        Some(BudgetLine { agent: agent.to_string(), bar })
    };
    let mut lines: Vec<BudgetLine> = app.web().guard.policies().all().into_iter().filter_map(nearest).collect();
    lines.sort_by(|one, other| other.bar.share.total_cmp(&one.bar.share).then_with(|| one.agent.cmp(&other.agent)));
    lines.truncate(BUDGETS_SHOWN);
    lines
}

fn models(figures: &Figures, all: f64) -> Vec<CostLine> {
    // Calls that were refused used no model.
    let models = figures.models.iter().filter(|(_, totals)| totals.requests > 0).take(MODELS_SHOWN);
    models.map(|(name, totals)| CostLine::new(&name.model, &name.provider, totals, all)).collect()
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
