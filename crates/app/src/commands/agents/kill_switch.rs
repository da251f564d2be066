//! `kill-switch AGENT`: shows the settings, or changes them and shows the result.

use http::Method;
use model::KillSwitch;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::activation::agent_id;
use super::new_agent::ensure_meant;
use crate::cli::{KillSwitchArgs, OnOff};
use crate::client;
use crate::commands::client;
use crate::exit::Failure;
use crate::print;
use crate::runtime::on_one_thread;

/// The fields of a kill switch that are shown.
#[derive(Deserialize)]
struct KillSwitchFields {
    #[serde(flatten)]
    settings: KillSwitch,
    current_score: f64,
    would_have_stopped: u64,
}

/// `kill-switch AGENT [on|off] …`.
pub fn kill_switch(args: &KillSwitchArgs) -> Result<(), Failure> {
    let agent = agent_id(&args.agent)?;
    let path = format!("/api/agents/{agent}/kill-switch");
    let change = change(args);
    let answer = on_one_thread(async {
        let client = client(&args.server)?;
        if change.is_empty() {
            client.get(&path).await
        } else {
            ensure_meant(&client, &agent, args.create).await?;
            client.change(Method::PUT, &path, &change.into()).await
        }
    })?;
    if args.server.json {
        return print::json(&answer);
    }
    print::line(&words(agent.as_str(), &client::read(&answer)?))
}

/// The body of the change; empty if nothing changes. The server checks ranges and names.
fn change(args: &KillSwitchArgs) -> Map<String, Value> {
    let fields = [
        ("enabled", args.state.map(|state| Value::from(state == OnOff::On))),
        ("window_size", args.window.map(Value::from)),
        ("threshold", args.threshold.map(Value::from)),
        ("action", args.action.clone().map(Value::from)),
        ("counting", args.counting.clone().map(Value::from)),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
}

fn words(agent: &str, stands: &KillSwitchFields) -> String {
    let KillSwitch { enabled, window_size, threshold, action, counting } = stands.settings;
    let state = match (enabled, stands.would_have_stopped) {
        (true, _) => "on".to_owned(),
        (false, 0) => "off".to_owned(),
        (false, calls) => format!("off; it would have stopped {calls} calls"),
    };
    let (action, counting, score) = (action.as_str(), counting.as_str(), stands.current_score);
    format!(
        "{agent}: kill switch {state}\n\
         \x20 window {window_size} calls, threshold {threshold}, action {action}, counting {counting}\n\
         \x20 score now {score:.1}"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    #[test]
    fn absent_options_change_nothing() {
        let check = |line: &str, expected: &str| {
            let Command::KillSwitch(args) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
                panic!("{line}")
            };
            assert_eq!(Value::from(change(&args)).to_string(), expected);
        };
        check("agentgazer kill-switch a", "{}");
        check("agentgazer kill-switch a off", r#"{"enabled":false}"#);
        check("agentgazer kill-switch a on --threshold 5", r#"{"enabled":true,"threshold":5.0}"#);
        check(
            "agentgazer kill-switch a --window 9 --action block --counting literal",
            r#"{"action":"block","counting":"literal","window_size":9}"#,
        );
    }

    #[test]
    fn kill_switch_is_shown_as_text() {
        let check = |enabled: bool, would_have_stopped: u64, expected: &str| {
            let settings = KillSwitch { enabled, ..Default::default() };
            let words = words("a", &KillSwitchFields { settings, current_score: 4.0, would_have_stopped });
            let rest = "  window 20 calls, threshold 10, action deactivate, counting adaptive\n  score now 4.0";
            assert_eq!(words, format!("a: kill switch {expected}\n{rest}"));
        };
        check(true, 0, "on");
        check(false, 0, "off");
        check(false, 3, "off; it would have stopped 3 calls");
    }
}
