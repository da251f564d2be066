//! `top`: agents, calls, costs and scores, live in the terminal; or once, as a table for scripts.

mod view;

use std::cmp::Ordering;
use std::io::IsTerminal;
use std::pin::pin;
use std::time::Duration;

use model::KillSwitch;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use self::view::Screen;
use super::client;
use super::figures::Sums;
use crate::cli::TopArgs;
use crate::client::{self, Client};
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The data on the screen.
#[derive(Default)]
struct Snapshot {
    total: Sums,
    agents: Vec<Line>,
}

/// One agent.
struct Line {
    agent: String,
    active: bool,
    stopped: bool,
    score: f64,
    threshold: f64,
    /// Whether most of its newest calls fail or are refused, or its budget is spent.
    is_failing: bool,
    sums: Sums,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(flatten)]
    total: Sums,
    #[serde(default)]
    agents: Vec<AgentSums>,
}

#[derive(Deserialize)]
struct AgentSums {
    agent_id: String,
    #[serde(flatten)]
    sums: Sums,
}

#[derive(Deserialize)]
struct Agent {
    agent_id: String,
    active: bool,
    deactivated_by: Option<String>,
    kill_switch: KillSwitch,
    current_score: Option<f64>,
    #[serde(default)]
    budget_spent: bool,
}

/// `top`.
pub fn top(args: &TopArgs) -> Result<(), Failure> {
    if args.once && args.server.json {
        let path = stats_path(&args.since);
        return print::json(&on_one_thread(async { client(&args.server)?.get(&path).await })?);
    }
    if args.once {
        let snapshot = on_one_thread(async { Snapshot::read(&client(&args.server)?, &args.since).await })?;
        return print::table(
            &view::HEADER,
            view::rows(&snapshot),
            "No agents yet: an agent appears with its first call.",
        );
    }
    if !std::io::stdout().is_terminal() {
        return Err(Failure::new(Exit::Usage, "top needs a terminal: use --once for a table"));
    }
    let client = client(&args.server)?;
    // Before the screen is taken over: an unreachable server is reported as plain text.
    let first = on_one_thread(Snapshot::read(&client, &args.since))?;
    let mut terminal = ratatui::try_init()?;
    let result = on_one_thread(watch(&mut terminal, &client, args, first));
    ratatui::restore();
    result
}

/// The hours after which failed calls no longer make an agent a failing one, as on the dashboard.
const RECENT: &str = "2h";

fn stats_path(since: &str) -> String {
    format!("/api/stats/overview?range={}", client::percent_encoded(since))
}

impl Stats {
    fn sums_of(&self, agent: &str) -> Sums {
        self.agents.iter().find(|sums| sums.agent_id == agent).map(|found| found.sums.clone()).unwrap_or_default()
    }
}

impl Snapshot {
    /// Reads all agents and their statistics.
    async fn read(client: &Client, since: &str) -> Result<Snapshot, Failure> {
        let stats: Stats = client::read(&client.get(&stats_path(since)).await?)?;
        let recent: Stats = client::read(&client.get(&stats_path(RECENT)).await?)?;
        let mut agents = Vec::new();
        for item in client.list("/api/agents", "").await? {
            let agent: Agent = client::read(item.get())?;
            let is_failing = agent.budget_spent || recent.sums_of(&agent.agent_id).are_failing();
            let sums = stats.sums_of(&agent.agent_id);
            agents.push(agent.line(sums, is_failing));
        }
        agents.sort_by(Line::by_need);
        Ok(Snapshot { total: stats.total, agents })
    }
}

impl Agent {
    fn line(self, sums: Sums, is_failing: bool) -> Line {
        Line {
            active: self.active,
            stopped: !self.active && self.deactivated_by.as_deref() == Some("kill_switch"),
            score: self.current_score.unwrap_or_default(),
            threshold: self.kill_switch.threshold,
            agent: self.agent_id,
            is_failing,
            sums,
        }
    }
}

impl Line {
    /// The order of the dashboard's Agents page: stopped, looping, near the threshold, failing, the
    /// rest, and last the agents that a person switched off. Among equals, the higher share of the
    /// threshold comes first, then the name.
    fn by_need(&self, other: &Line) -> Ordering {
        let by_share = || other.share().total_cmp(&self.share());
        let by_name = || self.agent.cmp(&other.agent);
        self.rank().cmp(&other.rank()).then_with(by_share).then_with(by_name)
    }

    fn rank(&self) -> u8 {
        match self.active {
            false if self.stopped => 0,
            false => 5,
            true if self.share() > 1.0 => 1,
            true if self.share() >= 0.8 => 2,
            true if self.is_failing => 3,
            true => 4,
        }
    }

    fn share(&self) -> f64 {
        self.score / self.threshold
    }
}

/// Updates the screen until the user quits.
async fn watch(
    terminal: &mut DefaultTerminal,
    client: &Client,
    args: &TopArgs,
    first: Snapshot,
) -> Result<(), Failure> {
    let mut keys = keys();
    let mut screen = Screen::new(first, args.since.clone());
    let (sender, mut snapshots) = mpsc::channel(1);
    // Concurrent with the keys: a slow server must not delay quitting.
    let mut asking = pin!(ask(client, args, sender));
    loop {
        terminal.draw(|frame| screen.draw(frame))?;
        tokio::select! {
            () = &mut asking => return Ok(()),
            Some(snapshot) = snapshots.recv() => match snapshot {
                Ok(snapshot) => screen.show(snapshot),
                Err(failure) => screen.complain(&failure.error.to_string()),
            },
            key = keys.recv() => match key {
                Some(Event::Key(key)) if ends(key) => return Ok(()),
                Some(Event::Key(key)) => screen.move_by(key.code),
                Some(_) => {}
                None => return Ok(()),
            },
        }
    }
}

/// Polls the server as long as the receiver exists.
async fn ask(client: &Client, args: &TopArgs, sender: mpsc::Sender<Result<Snapshot, Failure>>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(u64::from(args.interval.max(1))));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is immediate, and its data is already shown.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if sender.send(Snapshot::read(client, &args.since).await).await.is_err() {
            return;
        }
    }
}

/// Keys, read on their own thread, which ends with the program.
fn keys() -> mpsc::Receiver<Event> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    });
    receiver
}

fn ends(key: KeyEvent) -> bool {
    let interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    key.kind == KeyEventKind::Press && (interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_come_in_the_order_of_the_dashboard() {
        let line = |agent: &str, stopped: bool, score, cost_usd| Line {
            agent: agent.to_owned(),
            active: !stopped,
            stopped,
            score,
            threshold: 10.0,
            is_failing: agent == "q",
            sums: Sums { cost_usd, ..Sums::default() },
        };
        let mut lines = [
            line("b", false, 0.0, 9.0),
            line("a", false, 0.0, 1.0),
            line("q", false, 0.0, 0.0),
            line("z", false, 12.0, 0.0),
            line("y", true, 13.0, 0.0),
        ];
        lines.sort_by(Line::by_need);
        assert_eq!(lines.iter().map(|line| line.agent.as_str()).collect::<Vec<_>>(), ["y", "z", "q", "a", "b"]);
    }
}
