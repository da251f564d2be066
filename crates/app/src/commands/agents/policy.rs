//! `policy AGENT`: shows the policy of an agent, or changes it and shows the result.

use http::Method;
use model::{ANY, NanoUsd, Policy, PolicyChange};
use serde::Deserialize;

use super::activation::agent_id;
use super::new_agent::ensure_meant;
use crate::cli::PolicyArgs;
use crate::client;
use crate::commands::client;
use crate::commands::figures::dollars;
use crate::exit::{Exit, Failure};
use crate::policy_text;
use crate::print;
use crate::runtime::on_one_thread;

/// Removes a limit.
const NONE: &str = "none";

/// The fields of a policy that are shown.
#[derive(Deserialize)]
struct PolicyFields {
    #[serde(flatten)]
    policy: Policy,
    #[serde(flatten)]
    of_agent: Option<OfAgent>,
}

/// The fields that only an agent's policy has.
#[derive(Clone, Copy, Deserialize)]
struct OfAgent {
    is_default: bool,
    spent_daily_usd: NanoUsd,
    spent_weekly_usd: NanoUsd,
    spent_monthly_usd: NanoUsd,
}

/// `policy AGENT …`.
pub fn policy(args: &PolicyArgs) -> Result<(), Failure> {
    let agent = if args.agent == ANY { None } else { Some(agent_id(&args.agent)?) };
    let path = agent.as_ref().map_or_else(|| "/api/policy".to_owned(), |agent| format!("/api/agents/{agent}/policy"));
    let change = change(args).map_err(|message| Failure::new(Exit::Usage, anyhow::anyhow!(message)))?;
    let answer = on_one_thread(async {
        let client = client(&args.server)?;
        if args.reset {
            return client.change(Method::DELETE, &path, &serde_json::Value::Null).await;
        }
        if change == PolicyChange::default() {
            return client.get(&path).await;
        }
        if let Some(agent) = &agent {
            ensure_meant(&client, agent, args.create).await?;
        }
        client.change(Method::PUT, &path, &serde_json::to_value(&change).map_err(anyhow::Error::from)?).await
    })?;
    if args.server.json {
        return print::json(&answer);
    }
    print::line(&words(&args.agent, &client::read(&answer)?))
}

/// The requested change. The server checks ranges and names.
fn change(args: &PolicyArgs) -> Result<PolicyChange, String> {
    let hours = list("--hours", &args.hours, policy_text::hours)?;
    Ok(PolicyChange {
        budget_daily_usd: budget("--budget-daily", args.budget_daily.as_deref())?,
        budget_weekly_usd: budget("--budget-weekly", args.budget_weekly.as_deref())?,
        budget_monthly_usd: budget("--budget-monthly", args.budget_monthly.as_deref())?,
        budget_conversation_usd: budget("--budget-conversation", args.budget_conversation.as_deref())?,
        time_zone: args.time_zone.clone(),
        allowed_hours: hours.map(|hours| (!hours.is_empty()).then_some(hours)),
        rate_limits: list("--rate", &args.rates, policy_text::rate)?,
        model_overrides: list("--model", &args.models, policy_text::model)?,
    })
}

fn budget(flag: &str, text: Option<&str>) -> Result<Option<Option<f64>>, String> {
    match text {
        None => Ok(None),
        Some(NONE) => Ok(Some(None)),
        // JSON has no infinite numbers: one would be sent as null, which removes the budget.
        Some(text) => match text.trim_start_matches('$').parse::<f64>() {
            Ok(usd) if usd.is_finite() => Ok(Some(Some(usd))),
            _ => Err(format!("{flag} must be dollars like 5 or 2.50, or none, not {text:?}")),
        },
    }
}

/// The list that replaces the current one; `none` makes it empty.
fn list<T>(flag: &str, texts: &[String], read: fn(&str) -> Result<T, String>) -> Result<Option<Vec<T>>, String> {
    match texts {
        [] => Ok(None),
        [only] if only == NONE => Ok(Some(Vec::new())),
        texts => {
            let read = texts.iter().map(|text| read(text)).collect::<Result<Vec<T>, String>>();
            read.map(Some).map_err(|message| format!("{flag} {message}"))
        }
    }
}

fn words(agent: &str, stands: &PolicyFields) -> String {
    let PolicyFields { policy, of_agent } = stands;
    let agent = if agent == ANY { "all other agents" } else { agent };
    let mut lines = vec![match (policy.is_empty(), of_agent.is_some_and(|agent| agent.is_default)) {
        (true, _) => format!("{agent}: no limits"),
        (false, true) => format!("{agent}: the default policy, time zone {}", policy.time_zone),
        (false, false) => format!("{agent}: time zone {}", policy.time_zone),
    }];
    let budgets = [
        ("day", policy.budget_daily, of_agent.map(|agent| agent.spent_daily_usd)),
        ("week", policy.budget_weekly, of_agent.map(|agent| agent.spent_weekly_usd)),
        ("month", policy.budget_monthly, of_agent.map(|agent| agent.spent_monthly_usd)),
        ("conversation", policy.budget_conversation, None),
    ];
    for (name, budget, spent) in budgets {
        let Some(budget) = budget else { continue };
        let spent = spent.map(|spent| format!(", {} spent", dollars(spent.usd()))).unwrap_or_default();
        lines.push(format!("  budget per {name} {budget}{spent}"));
    }
    for hours in policy.allowed_hours.iter().flatten() {
        let days: Vec<&str> = hours.days.iter().map(|day| day.as_str()).collect();
        lines.push(format!("  allowed {} {}-{}", days.join(" "), hours.from, hours.to));
    }
    for limit in &policy.rate_limits {
        let rates = [(limit.requests_per_minute, "calls"), (limit.tokens_per_minute, "tokens")];
        let rates: Vec<String> = rates.iter().filter_map(|(rate, of)| Some(format!("{} {of}", (*rate)?))).collect();
        lines.push(format!("  rate to {}: {} per minute", limit.provider, rates.join(" and ")));
    }
    for it in &policy.model_overrides {
        lines.push(format!("  model {}/{} becomes {}", it.provider, it.model, it.used));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(words: &[&str]) -> PolicyArgs {
        match Cli::try_parse_from([&["agentgazer", "policy", "a"], words].concat()).unwrap().command {
            Command::Policy(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn absent_options_change_nothing() {
        let check = |words: &[&str], expected: &str| {
            assert_eq!(serde_json::to_string(&change(&args(words)).unwrap()).unwrap(), expected);
        };
        check(&[], "{}");
        check(
            &["--budget-daily", "5", "--budget-weekly", "none"],
            r#"{"budget_daily_usd":5.0,"budget_weekly_usd":null}"#,
        );
        check(&["--hours", "none", "--rate", "none"], r#"{"allowed_hours":null,"rate_limits":[]}"#);
        check(
            &["--hours", "mon 09:00-18:00", "--hours", "tue 10:00-12:00"],
            r#"{"allowed_hours":[{"days":["mon"],"from":"09:00","to":"18:00"},{"days":["tue"],"from":"10:00","to":"12:00"}]}"#,
        );
        check(
            &["--rate", "openai=60", "--model", "openai/*=small"],
            r#"{"rate_limits":[{"provider":"openai","requests_per_minute":60,"tokens_per_minute":null}],"model_overrides":[{"provider":"openai","model":"*","use":"small"}]}"#,
        );
        let not_finite = ["nan", "inf", "1e400"].map(|text| ["--budget-conversation", text]);
        let wrong = [["--budget-daily", "much"], ["--hours", "always"], ["--rate", "fast"], ["--model", "gpt"]];
        for wrong in wrong.into_iter().chain(not_finite) {
            assert!(change(&args(&wrong)).unwrap_err().starts_with(wrong[0]));
        }
    }

    #[test]
    fn policy_is_shown_as_text() {
        let check = |policy: &str, is_default: bool, expected: &str| {
            let change: PolicyChange = serde_json::from_str(policy).unwrap();
            let policy = change.apply(&Policy::default()).unwrap();
            let [day, week, month] = [1, 2, 3].map(|cents| NanoUsd::new(cents * 10_000_000));
            let of_agent =
                OfAgent { is_default, spent_daily_usd: day, spent_weekly_usd: week, spent_monthly_usd: month };
            assert_eq!(words("a", &PolicyFields { policy, of_agent: Some(of_agent) }), expected);
        };
        check("{}", true, "a: no limits");
        check(
            r#"{"budget_daily_usd":5,"budget_conversation_usd":0.5}"#,
            true,
            "a: the default policy, time zone UTC\n  budget per day $5.00, $0.01 spent\n  budget per conversation $0.50",
        );
        check(
            r#"{"time_zone":"Europe/Berlin","allowed_hours":[{"days":["mon","tue"],"from":"09:00","to":"18:00"}],
                "rate_limits":[{"provider":"*","requests_per_minute":60,"tokens_per_minute":9000}],
                "model_overrides":[{"provider":"openai","model":"*","use":"small"}]}"#,
            false,
            "a: time zone Europe/Berlin\n  allowed mon tue 09:00-18:00\n  rate to *: 60 calls and 9000 tokens per minute\n  \
             model openai/* becomes small",
        );
    }
}
