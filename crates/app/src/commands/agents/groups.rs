//! `groups`: lists groups of agents, sets and deletes one, stops and activates its agents.

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::reason::reason;
use crate::cli::{GroupArgs, GroupsArgs, GroupsCommand, OnOff, ServerArgs, SetGroupArgs, SwitchGroupArgs};
use crate::client;
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The fields of a group that are shown.
#[derive(Deserialize)]
struct Group {
    name: String,
    agents: Vec<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    stopped_at: Option<String>,
    policy: Value,
    spent_daily_usd: f64,
    spent_monthly_usd: f64,
}

/// `groups`.
pub fn groups(args: &GroupsArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(&args.server),
        Some(GroupsCommand::List(server)) => list(server),
        Some(GroupsCommand::Set(args)) => set(args),
        Some(GroupsCommand::Delete(args)) => delete(args),
        Some(GroupsCommand::Stop(args)) => switch(args, "stop", "inactive"),
        Some(GroupsCommand::Activate(args)) => switch(args, "activate", "active"),
    }
}

fn list(server: &ServerArgs) -> Result<(), Failure> {
    let items = on_one_thread(async { client(server)?.items("/api/groups").await })?;
    if server.json {
        return print::json_list(&items);
    }
    let rows = items.iter().map(|item| Ok(row(client::read(item.get())?))).collect::<Result<_, Failure>>()?;
    let nothing = "No groups. `agentgazer groups set NAME --agent PATTERN` makes one.";
    print::table(
        &["GROUP", "STATE (UTC)", "AGENTS", "LABELS", "TODAY", "DAILY BUDGET", "THIS MONTH", "MONTHLY BUDGET"],
        rows,
        nothing,
    )
}

fn row(group: Group) -> Vec<String> {
    let budget =
        |field: &str| group.policy[field].as_f64().map_or_else(|| "none".to_owned(), |usd| format!("${usd:.2}"));
    vec![
        group.name.clone(),
        group.stopped_at.map_or_else(|| "active".to_owned(), |at| format!("stopped {}", print::time(&at))),
        group.agents.join(" "),
        group.labels.join(" "),
        format!("${:.2}", group.spent_daily_usd),
        budget("budget_daily_usd"),
        format!("${:.2}", group.spent_monthly_usd),
        budget("budget_monthly_usd"),
    ]
}

fn set(args: &SetGroupArgs) -> Result<(), Failure> {
    let mut policy = Map::new();
    let budgets = [
        ("budget_daily_usd", args.budget_daily),
        ("budget_weekly_usd", args.budget_weekly),
        ("budget_monthly_usd", args.budget_monthly),
    ];
    policy.extend(budgets.into_iter().filter_map(|(field, usd)| Some((field.to_owned(), json!(usd?)))));
    let path = format!("/api/groups/{}", client::percent_encoded(&args.name));
    if let Some(rate) = args.requests_per_minute {
        policy.insert("rate_limits".to_owned(), with_rate(current_rates(&args.server, &path)?, rate));
    }
    let mut body = json!({ "policy": policy });
    if !args.agents.is_empty() {
        body["agents"] = json!(args.agents);
    }
    if !args.labels.is_empty() {
        body["labels"] = json!(args.labels);
    }
    if let Some(enabled) = args.kill_switch {
        body["kill_switch"] = json!({ "enabled": enabled == OnOff::On });
    }
    let answer = on_one_thread(async { client(&args.server)?.change(Method::PUT, &path, &body).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    print::line(&format!("{} is saved. It holds from the next call on.", args.name))
}

/// The rates that the group has now; none if it is a new one.
fn current_rates(server: &ServerArgs, path: &str) -> Result<Vec<Value>, Failure> {
    match on_one_thread(async { client(server)?.get(path).await }) {
        Ok(text) => Ok(client::read::<Group>(&text)?.policy["rate_limits"].as_array().cloned().unwrap_or_default()),
        Err(failure) if failure.exit == Exit::NotFound => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

/// `rates` with this one for all providers; those of one provider and of tokens stay.
fn with_rate(mut rates: Vec<Value>, rate: u64) -> Value {
    match rates.iter_mut().find(|limit| limit["provider"] == "*") {
        Some(limit) => limit["requests_per_minute"] = json!(rate),
        None => rates.push(json!({"provider": "*", "requests_per_minute": rate})),
    }
    Value::Array(rates)
}

fn delete(args: &GroupArgs) -> Result<(), Failure> {
    let path = format!("/api/groups/{}", client::percent_encoded(&args.name));
    on_one_thread(async { client(&args.server)?.delete(&path).await })?;
    print::line(&format!("{} is deleted. Its agents stay as they are.", args.name))
}

fn switch(args: &SwitchGroupArgs, action: &str, state: &str) -> Result<(), Failure> {
    let path = format!("/api/groups/{}/{action}", client::percent_encoded(&args.name));
    let body = json!({"reason": reason(args.reason.as_ref(), action == "activate")?});
    let answer = on_one_thread(async { client(&args.server)?.change(Method::POST, &path, &body).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    let answer: Value = client::read(&answer)?;
    let agents = answer["agents"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let agents = agents.map(|agent| format!("{agent} is {state}."));
    let group = match action {
        "stop" => format!("{} is stopped: no agent of it may call until the group is activated.", args.name),
        _ => format!("{} is active.", args.name),
    };
    print::line(&std::iter::once(group).chain(agents).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn a_group_is_one_row() {
        let json = r#"{"name":"team-a","agents":["team-a/*","x"],"policy":{"budget_daily_usd":5.0},"kill_switch":{},
            "spent_daily_usd":1.5,"spent_weekly_usd":2.0,"spent_monthly_usd":3.0}"#;
        let cells = row(serde_json::from_str(json).unwrap());
        assert_eq!(cells, ["team-a", "active", "team-a/* x", "", "$1.50", "$5.00", "$3.00", "none"]);
        let stopped = json.replace("\"kill_switch\"", "\"stopped_at\":\"2026-11-19T01:12:04.157Z\",\"kill_switch\"");
        assert_eq!(row(serde_json::from_str(&stopped).unwrap())[1], "stopped 2026-11-19 01:12:04");
    }
}
