//! `costs`: what was spent, by model, provider, agent, conversation or time.

use serde::Deserialize;

use crate::cli::{CostsArgs, CostsBy};
use crate::client;
use crate::commands::agents::agent_id;
use crate::commands::client;
use crate::commands::figures::{Sums, count};
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The statistics of the API.
#[derive(Deserialize)]
struct Stats {
    from: String,
    step: String,
    #[serde(flatten)]
    total: Sums,
    previous: Sums,
    series: Vec<Item>,
    models: Vec<Item>,
    providers: Vec<Item>,
    #[serde(default)]
    agents: Vec<Item>,
    #[serde(default)]
    conversations: Vec<Item>,
}

/// One item of any list; its fields depend on the list.
#[derive(Deserialize)]
struct Item {
    timestamp: Option<String>,
    agent_id: Option<String>,
    conversation: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    #[serde(flatten)]
    sums: Sums,
}

/// `costs`.
pub fn costs(args: &CostsArgs) -> Result<(), Failure> {
    let answer = on_one_thread(async { client(&args.server)?.get(&path(args)?).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    let stats: Stats = client::read(&answer)?;
    let header = [heading(args.by), "REQUESTS", "ERRORS", "TOKENS IN", "TOKENS OUT", "COST"];
    let rows = rows(&stats, args.by);
    if rows.is_empty() {
        return print::line("No calls in this time.");
    }
    print::table(&header, rows, "")?;
    print::line(&summary(&stats))
}

fn path(args: &CostsArgs) -> Result<String, Failure> {
    let range = client::percent_encoded(&args.since);
    match (&args.agent, args.by) {
        (Some(_), CostsBy::Agent) => {
            Err(Failure::new(Exit::Usage, "--by agent is about all agents: leave out --agent"))
        }
        (None, CostsBy::Conversation) => {
            Err(Failure::new(Exit::Usage, "--by conversation is about one agent: name it with --agent"))
        }
        (Some(agent), _) => Ok(format!("/api/agents/{}/stats?range={range}", agent_id(agent)?)),
        (None, _) => Ok(format!("/api/stats/overview?range={range}")),
    }
}

fn heading(by: CostsBy) -> &'static str {
    match by {
        CostsBy::Model => "MODEL",
        CostsBy::Provider => "PROVIDER",
        CostsBy::Agent => "AGENT",
        CostsBy::Conversation => "CONVERSATION",
        CostsBy::Time => "FROM (UTC)",
    }
}

fn rows(stats: &Stats, by: CostsBy) -> Vec<Vec<String>> {
    let list = match by {
        CostsBy::Model => &stats.models,
        CostsBy::Provider => &stats.providers,
        CostsBy::Agent => &stats.agents,
        CostsBy::Conversation => &stats.conversations,
        CostsBy::Time => &stats.series,
    };
    let called = list.iter().filter(|item| was_called(item));
    let mut rows: Vec<_> = called.map(|item| row(name(item, by, stats), &item.sums)).collect();
    if rows.len() > 1 && by != CostsBy::Conversation && by != CostsBy::Agent {
        rows.push(row("total".to_owned(), &stats.total));
    }
    rows
}

fn name(item: &Item, by: CostsBy, stats: &Stats) -> String {
    let name = match by {
        CostsBy::Model => return model_name(item, &stats.models),
        CostsBy::Time => return item.timestamp.as_deref().map(|time| from(time, &stats.step)).unwrap_or_default(),
        CostsBy::Provider => &item.provider,
        CostsBy::Agent => &item.agent_id,
        CostsBy::Conversation => &item.conversation,
    };
    name.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// Adds the provider to a model that several providers have, and to calls without a model.
fn model_name(item: &Item, models: &[Item]) -> String {
    let is_alone = models.iter().filter(|other| was_called(other) && other.model == item.model).count() == 1;
    let provider = item.provider.as_deref().unwrap_or("unknown");
    match &item.model {
        Some(model) if is_alone => model.clone(),
        Some(model) => format!("{model} ({provider})"),
        None => format!("no model ({provider})"),
    }
}

/// Whether any call was forwarded: refused calls cost nothing and often have no model.
fn was_called(item: &Item) -> bool {
    item.sums.requests > 0 || item.sums.cost_usd > 0.0
}

fn from(timestamp: &str, step: &str) -> String {
    let time = print::time(timestamp);
    let length = if step == "day" { 10 } else { 16 };
    time.get(..length).map(str::to_owned).unwrap_or(time)
}

fn row(name: String, sums: &Sums) -> Vec<String> {
    let counts = [sums.requests, sums.errors, sums.tokens_in, sums.tokens_out].map(count);
    [name].into_iter().chain(counts).chain([sums.cost()]).collect()
}

fn summary(stats: &Stats) -> String {
    let since = print::time(&stats.from);
    format!("\n{} since {since} UTC; {} in the same length of time before.", stats.total.cost(), stats.previous.cost())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    const STATS: &str = r#"{"from":"2026-01-01T10:00:00.000Z","to":"2026-01-02T10:00:00.000Z","step":"hour",
        "requests":3,"errors":1,"blocked":0,"tokens_in":12000,"tokens_out":34,"cost_usd":1.5,"unpriced_requests":1,
        "previous":{"requests":0,"errors":0,"blocked":0,"tokens_in":0,"tokens_out":0,"cost_usd":0,"unpriced_requests":0},
        "series":[{"timestamp":"2026-01-01T10:00:00.000Z","requests":0,"errors":0,"blocked":0,"tokens_in":0,"tokens_out":0,
            "cost_usd":0,"unpriced_requests":0},
            {"timestamp":"2026-01-01T11:00:00.000Z","requests":3,"errors":1,"blocked":0,"tokens_in":12000,"tokens_out":34,
            "cost_usd":1.5,"unpriced_requests":1}],
        "models":[{"provider":"openai","model":"gpt-4o","requests":2,"errors":1,"blocked":0,"tokens_in":11000,
            "tokens_out":30,"cost_usd":1.5,"unpriced_requests":0},
            {"provider":"openai","model":null,"requests":1,"errors":0,"blocked":0,"tokens_in":1000,
            "tokens_out":4,"cost_usd":0,"unpriced_requests":1}],
        "providers":[],"agents":[]}"#;

    #[test]
    fn models_of_one_name_show_their_provider_and_refused_ones_are_omitted() {
        let mut stats: Stats = serde_json::from_str(STATS).unwrap();
        let model = |provider: Option<&str>, model: Option<&str>, requests: u64, blocked: u64| Item {
            timestamp: None,
            agent_id: None,
            conversation: None,
            provider: provider.map(str::to_owned),
            model: model.map(str::to_owned),
            sums: Sums { requests, blocked, ..Sums::default() },
        };
        stats.models = vec![
            model(Some("openai"), Some("gpt-4o"), 2, 0),
            model(Some("azure"), Some("gpt-4o"), 1, 0),
            model(Some("openai"), Some("o3"), 1, 0),
            model(Some("azure"), Some("o3"), 0, 4),
            model(Some("openai"), None, 0, 7),
            model(None, None, 0, 1),
        ];
        let names: Vec<String> = rows(&stats, CostsBy::Model).into_iter().map(|mut row| row.remove(0)).collect();
        assert_eq!(names, ["gpt-4o (openai)", "gpt-4o (azure)", "o3", "total"]);
    }

    #[test]
    fn costs_are_a_table_with_a_total() {
        let stats: Stats = serde_json::from_str(STATS).unwrap();
        let lines = |by| rows(&stats, by).into_iter().map(|row| row.join(" | ")).collect::<Vec<_>>();
        assert_eq!(
            lines(CostsBy::Model),
            [
                "gpt-4o | 2 | 1 | 11,000 | 30 | $1.50",
                "no model (openai) | 1 | 0 | 1,000 | 4 | 1 unpriced",
                "total | 3 | 1 | 12,000 | 34 | $1.50 + 1 unpriced",
            ]
        );
        assert_eq!(lines(CostsBy::Time), ["2026-01-01 11:00 | 3 | 1 | 12,000 | 34 | $1.50 + 1 unpriced"]);
        assert_eq!(
            summary(&stats),
            "\n$1.50 + 1 unpriced since 2026-01-01 10:00:00 UTC; $0.00 in the same length of time before."
        );
    }
}
