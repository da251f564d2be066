//! The page of all agents: who is active, who is near its threshold, who was stopped.

pub(crate) mod selected;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use model::{Action, DeactivatedBy, Timestamp};
use serde::Deserialize;
use store::{AgentFilter, Cursor, PageRequest, Totals};

use super::figures::Day;
use super::frame::Frame;
use super::needs::{self, Loss, Needs};
use super::number::{Count, Moment, Money};
use super::pager::Pager;
use super::plain::plain;
use super::score_bar::ScoreBar;
use super::{PageResult, assets, draw, words};
use crate::api::agents::{self, AgentView};
use crate::app::App;
use crate::input::Filters;
use crate::problem::Problem;

/// How many agents a page shows.
const SHOWN: u32 = 100;
/// Up to this many agents are sorted over all pages. With more agents, each page is sorted by
/// itself.
const SORTED: u32 = 500;
/// The beginning of a cursor in a sorted list; a number follows.
const PLACE: &str = "at-";
/// The rank of an agent near its threshold, and of one that fails or has spent its budget.
const NEAR: u8 = 2;
const FAILING: u8 = 3;

#[derive(Template)]
#[template(path = "agents.html")]
struct AgentsPage {
    frame: Frame,
    needs: Needs,
    sort: Sort,
    search: String,
    state: Option<StateWord>,
    agents: Vec<AgentLine>,
    pager: Pager,
    proxy_url: String,
}

/// One agent in a table.
pub(super) struct AgentLine {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) state: &'static str,
    pub(super) colour: &'static str,
    /// The action of its kill switch, in words.
    pub(super) switch: &'static str,
    /// Whether the kill switch is off.
    pub(super) is_watched_only: bool,
    /// Whether the kill switch only observes.
    pub(super) only_observes: bool,
    pub(super) bar: ScoreBar,
    pub(super) seen: Option<Moment>,
    pub(super) incident: Option<String>,
    /// The calls and the cost of today, if they are shown.
    pub(super) today: Option<(Count, Money)>,
    /// How urgently it needs attention; 0 is the most urgent.
    rank: u8,
    /// The score as a share of the threshold.
    share: f64,
    last_seen: Option<Timestamp>,
    totals: Totals,
    /// Whether its calls are refused because a budget is spent.
    pub(super) budget_is_spent: bool,
    /// Whether most of its calls fail or are refused. Only read where it is shown.
    pub(super) failing: Option<Loss>,
}

/// The filters of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsQuery {
    search: Option<String>,
    state: Option<StateWord>,
    sort: Option<Sort>,
    cursor: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    /// Stopped, looping, near, failing, the rest; inactive by hand last.
    #[default]
    Need,
    Name,
    Score,
    Seen,
    Calls,
    Cost,
}

impl Sort {
    /// Its name in the address.
    fn as_str(self) -> &'static str {
        match self {
            Sort::Need => "need",
            Sort::Name => "name",
            Sort::Score => "score",
            Sort::Seen => "seen",
            Sort::Calls => "calls",
            Sort::Cost => "cost",
        }
    }

    fn sort(self, lines: &mut [AgentLine]) {
        use std::cmp::Reverse;
        match self {
            Sort::Need => {
                lines.sort_by(|one, other| one.rank.cmp(&other.rank).then_with(|| other.share.total_cmp(&one.share)))
            }
            // The store lists them by name.
            Sort::Name => {}
            Sort::Score => lines.sort_by(|one, other| other.share.total_cmp(&one.share)),
            Sort::Seen => lines.sort_by_key(|line| Reverse(line.last_seen)),
            Sort::Calls => lines.sort_by_key(|line| Reverse(line.totals.requests)),
            Sort::Cost => lines.sort_by_key(|line| Reverse((line.totals.cost.nanos(), line.totals.unpriced))),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateWord {
    Active,
    Inactive,
    Stopped,
}

impl AgentsQuery {
    fn filter(&self) -> AgentFilter {
        AgentFilter {
            search: self.search.clone(),
            active: self.state.map(|state| state == StateWord::Active),
            deactivated_by: match self.state {
                None | Some(StateWord::Active) => None,
                Some(StateWord::Inactive) => Some(DeactivatedBy::Manual),
                Some(StateWord::Stopped) => Some(DeactivatedBy::KillSwitch),
            },
        }
    }
}

/// Draws the page.
pub(crate) async fn show(
    State(app): State<App>,
    frame: Frame,
    headers: HeaderMap,
    uri: Uri,
    Filters(query): Filters<AgentsQuery>,
) -> PageResult {
    let sort = query.sort.unwrap_or_default();
    let needs = needs::collect(&app, &frame.events).await?;
    let reading = Reading { day: Day::new(&headers, app.web().clock.now()), needs: &needs };
    let (agents, next_cursor) = read_sorted(&app, &query, reading).await?;
    draw(&AgentsPage {
        frame,
        needs,
        sort,
        agents,
        pager: Pager::new("/agents", uri.query().unwrap_or_default(), next_cursor),
        search: query.search.unwrap_or_default(),
        state: query.state,
        proxy_url: app.web().proxy_url.clone(),
    })
}

/// The options with which lines are read.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) day: Day,
    pub(super) needs: &'a Needs,
}

/// The `count` agents that need attention most.
pub(super) async fn most_needing(app: &App, reading: Reading<'_>, count: usize) -> Result<Vec<AgentLine>, Problem> {
    let page = PageRequest { limit: SORTED, cursor: None };
    let agents = agents::read_page(app, &AgentFilter::default(), &page).await?.items;
    let mut lines = read_lines(app, &agents, reading).await?;
    Sort::Need.sort(&mut lines);
    lines.truncate(count);
    Ok(lines)
}

/// The lines of one page, and the start of the next one.
async fn read_sorted(
    app: &App,
    query: &AgentsQuery,
    reading: Reading<'_>,
) -> Result<(Vec<AgentLine>, Option<String>), Problem> {
    let sort = query.sort.unwrap_or_default();
    let place = query.cursor.as_deref().map_or(Some(0), |cursor| cursor.strip_prefix(PLACE)?.parse::<usize>().ok());
    if let Some(place) = place {
        let all = agents::read_page(app, &query.filter(), &PageRequest { limit: SORTED, cursor: None }).await?;
        if all.next_cursor.is_none() {
            let mut lines = read_lines(app, &all.items, reading).await?;
            sort.sort(&mut lines);
            let end = place.saturating_add(SHOWN as usize);
            let next = (lines.len() > end).then(|| format!("{PLACE}{end}"));
            return Ok((lines.into_iter().skip(place).take(SHOWN as usize).collect(), next));
        }
    }
    let cursor = query.cursor.clone().filter(|_| place.is_none()).map(Cursor);
    let list = agents::read_page(app, &query.filter(), &PageRequest { limit: SHOWN, cursor }).await?;
    let mut lines = read_lines(app, &list.items, reading).await?;
    sort.sort(&mut lines);
    Ok((lines, list.next_cursor))
}

/// The lines of these agents, with their calls and costs of today.
async fn read_lines(app: &App, agents: &[AgentView], reading: Reading<'_>) -> Result<Vec<AgentLine>, Problem> {
    let now = app.web().clock.now();
    let listed = agents.iter().map(|agent| &agent.agent_id);
    let mut today = app.web().store.figures_of(listed, reading.day.today()).await?;
    let lines = agents.iter().map(|agent| {
        let mut line = AgentLine::new(agent, now);
        line.totals = today.remove(&agent.agent_id).unwrap_or_default();
        line.failing = reading.needs.failing.get(&agent.agent_id).copied();
        line.today = Some((line.totals.requests.into(), Money::spent(&line.totals)));
        if line.budget_is_spent || line.failing.is_some() {
            line.rank = line.rank.min(FAILING);
        }
        line
    });
    Ok(lines.collect())
}

/// How urgently an agent needs attention, by its state and its score.
fn rank(agent: &AgentView, share: f64) -> u8 {
    match (agent.active, agent.deactivated_by) {
        (false, Some(DeactivatedBy::KillSwitch)) => 0,
        (false, _) => 5,
        (true, _) if share > 1.0 => 1,
        (true, _) if share >= 0.8 => NEAR,
        (true, _) => 4,
    }
}

impl AgentLine {
    /// What became of most of its calls, if they fail or are refused.
    pub(super) fn mostly(&self) -> Option<(&'static str, &'static str)> {
        self.failing.map(|loss| (words::needs::mostly(loss), loss.filter()))
    }

    /// Whether it is stopped, loops, fails or has spent its budget.
    pub(super) fn needs_someone(&self) -> bool {
        self.rank <= FAILING && self.rank != NEAR
    }

    pub(super) fn new(agent: &AgentView, now: Timestamp) -> AgentLine {
        let (state, colour) = words::state(agent);
        let share = agent.current_score / agent.kill_switch.threshold;
        AgentLine {
            rank: rank(agent, share),
            share,
            last_seen: agent.last_seen,
            totals: Totals::default(),
            id: agent.agent_id.to_string(),
            name: agent.name.as_deref().map(plain),
            state,
            colour,
            switch: words::switch(agent.kill_switch.enabled, agent.kill_switch.action),
            is_watched_only: !agent.kill_switch.enabled,
            only_observes: agent.kill_switch.enabled && agent.kill_switch.action == Action::Observe,
            bar: ScoreBar::new(agent.current_score, agent.kill_switch.threshold, &agent.signals),
            seen: agent.last_seen.map(|seen| Moment::new(seen, now)),
            incident: agent.incident_id.map(|id| id.to_string()),
            today: None,
            budget_is_spent: agent.budget_spent,
            failing: None,
        }
    }
}
