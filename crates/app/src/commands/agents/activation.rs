//! `agents`, `activate`, `deactivate`.

use std::io::IsTerminal;

use http::Method;
use model::{Action, AgentId, KillSwitch};
use serde::Deserialize;
use serde_json::json;

use super::reason::reason;
use crate::cli::{AgentArgs, ServerArgs};
use crate::client;
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The fields of an agent that are shown.
#[derive(Deserialize)]
struct Agent {
    agent_id: String,
    active: bool,
    deactivated_by: Option<String>,
    last_seen: Option<String>,
    kill_switch: KillSwitch,
    current_score: Option<f64>,
}

/// `agents`: lists them.
pub fn list(args: &ServerArgs) -> Result<(), Failure> {
    let items = on_one_thread(async { client(args)?.list("/api/agents", "").await })?;
    if args.json {
        return print::json_list(&items);
    }
    let agents = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Agent>, Failure>>()?;
    let stopped = agents.iter().any(Agent::is_stopped);
    let header = ["AGENT", "STATE", "SCORE", "KILL SWITCH", "LAST SEEN (UTC)"];
    let rows = agents.into_iter().map(row).collect();
    print::table(&header, rows, "No agents yet: an agent appears with its first call.")?;
    // Only on a terminal: to a program, every line after the header is an agent.
    if stopped && std::io::stdout().is_terminal() {
        print::line(STOPPED)?;
    }
    Ok(())
}

const STOPPED: &str = "\n`agentgazer incidents` says why, `agentgazer activate AGENT` lets one go on.";

/// `activate AGENT`.
pub fn activate(args: &AgentArgs) -> Result<(), Failure> {
    set_active(args, true)
}

/// `deactivate AGENT`.
pub fn deactivate(args: &AgentArgs) -> Result<(), Failure> {
    set_active(args, false)
}

fn set_active(args: &AgentArgs, active: bool) -> Result<(), Failure> {
    let agent = agent_id(&args.agent)?;
    let path = format!("/api/agents/{agent}");
    let (before, answer) = on_one_thread(async {
        let client = client(&args.server)?;
        let before: Agent = client::read(&client.get(&path).await?)?;
        let mut body = json!({ "active": active });
        if let Some(reason) = reason(args.reason.as_ref(), active)? {
            body["reason"] = reason.into();
        }
        Ok((before, client.change(Method::PATCH, &path, &body).await?))
    })?;
    if args.server.json {
        return print::json(&answer);
    }
    print::line(&match (before.active, active) {
        (false, true) => format!("{agent} is active: its window is empty and its calls go through."),
        (true, true) => format!("{agent} was active already: nothing changed."),
        (true, false) => format!("{agent} is inactive: its calls are refused until it is activated."),
        (false, false) => format!("{agent} was inactive already: nothing changed."),
    })
}

/// Checks the name of an agent before it becomes part of a path.
pub(in crate::commands) fn agent_id(name: &str) -> Result<AgentId, Failure> {
    AgentId::parse(name).map_err(|invalid| Failure::new(Exit::Usage, format!("{name:?} is no agent: {invalid}")))
}

impl Agent {
    /// Whether the kill switch deactivated it.
    fn is_stopped(&self) -> bool {
        !self.active && self.deactivated_by.as_deref() == Some("kill_switch")
    }

    fn state(&self) -> &'static str {
        match self.active {
            true => "active",
            false if self.is_stopped() => "stopped",
            false => "inactive",
        }
    }
}

fn row(agent: Agent) -> Vec<String> {
    let KillSwitch { enabled, threshold, action, .. } = agent.kill_switch;
    let kill_switch = match (enabled, action) {
        (false, _) => "off".to_owned(),
        (true, Action::Deactivate) => "on".to_owned(),
        (true, other) => format!("on, {}", other.as_str()),
    };
    vec![
        agent.agent_id.clone(),
        agent.state().to_owned(),
        format!("{:.1}/{threshold:.1}", agent.current_score.unwrap_or_default()),
        kill_switch,
        agent.last_seen.as_deref().map_or_else(|| "never".to_owned(), print::time),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn an_agent_is_one_row() {
        let json = r#"{"agent_id":"import-fixer","active":false,"deactivated_by":"kill_switch","deactivated_at":null,
            "last_seen":"2026-01-01T00:00:00.000Z","current_score":13.0,"incident_id":"0190","more":1,
            "kill_switch":{"enabled":true,"window_size":20,"threshold":10.0,"action":"deactivate","counting":"adaptive"}}"#;
        let cells = |json: &str| row(serde_json::from_str(json).unwrap()).join(" | ");
        assert_eq!(cells(json), "import-fixer | stopped | 13.0/10.0 | on | 2026-01-01 00:00:00");
        let json = json.replace("kill_switch\",", "manual\",").replace("\"deactivate\"", "\"block\"");
        assert_eq!(cells(&json), "import-fixer | inactive | 13.0/10.0 | on, block | 2026-01-01 00:00:00");
    }

    #[test]
    fn invalid_agent_name_is_a_usage_mistake() {
        assert_eq!(agent_id("../x").err().map(|failure| failure.exit), Some(Exit::Usage));
    }
}
