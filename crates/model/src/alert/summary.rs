//! Alerts in one sentence each, as mails, chats and pages show them.

use super::data::{AlertData, BudgetData, DigestLine, ErrorRateData, LoopData, RecoveredData};
use crate::{AgentId, BudgetPeriod, RuleType};

impl AlertData {
    /// One sentence about the alert.
    pub fn summary(&self) -> String {
        match self {
            AlertData::Loop(data) => loop_summary(data),
            AlertData::Silence(data) => format!("{} made no call for {}", data.agent_id, minutes(data.minutes)),
            AlertData::ErrorRate(data) => {
                let ErrorRateData { agent_id, error_percent, errors, calls, minutes: span, .. } = data;
                format!(
                    "{agent_id}: {error_percent:.0}% of its calls failed ({errors} of {calls} in {})",
                    minutes(*span)
                )
            }
            AlertData::Budget(data) => budget_summary(data),
            AlertData::Recovered(data) => recovered_summary(data),
            AlertData::Digest { count, alerts } => digest_summary(*count, alerts),
            AlertData::Test { channel } => format!("This is a test of the channel {channel}: it works"),
        }
    }
}

/// `3 alerts about import-fixer and page-crawler`. Names the first agents only.
fn digest_summary(count: u64, alerts: &[DigestLine]) -> String {
    let mut agents: Vec<&str> = alerts.iter().filter_map(|line| line.agent_id.as_ref().map(AgentId::as_str)).collect();
    agents.sort_unstable();
    agents.dedup();
    match agents.as_slice() {
        [] => format!("{count} alerts"),
        [one] => format!("{count} alerts about {one}"),
        [one, other] => format!("{count} alerts about {one} and {other}"),
        [one, other, rest @ ..] => {
            let agents = if rest.len() == 1 { "agent" } else { "agents" };
            format!("{count} alerts about {one}, {other} and {} more {agents}", rest.len())
        }
    }
}

fn loop_summary(data: &LoopData) -> String {
    let LoopData { agent_id, score, threshold, .. } = data;
    match data.deactivated_at {
        Some(_) => format!("{agent_id} was stopped: loop score {score:.1}, threshold {threshold:.1}"),
        None => format!("{agent_id} looped (observed only): loop score {score:.1}, threshold {threshold:.1}"),
    }
}

fn budget_summary(data: &BudgetData) -> String {
    let BudgetData { agent_id, spent_usd, amount_usd, period, threshold_percent, .. } = data;
    let (spent, amount) = (spent_usd.usd(), amount_usd.usd());
    match threshold_percent {
        None => format!("{agent_id} has spent ${spent:.2} {}; the limit is ${amount:.2}", so_far(*period)),
        Some(_) => {
            let share = spent / amount * 100.0;
            format!("{agent_id} has spent {share:.0}% of its budget of ${amount:.2} for the {}", period.as_str())
        }
    }
}

fn so_far(period: BudgetPeriod) -> &'static str {
    match period {
        BudgetPeriod::Day => "today",
        BudgetPeriod::Week => "this week",
        BudgetPeriod::Month => "this month",
    }
}

fn recovered_summary(data: &RecoveredData) -> String {
    let agent = &data.agent_id;
    match data.rule_type {
        RuleType::KillSwitch => format!("{agent} was activated again"),
        RuleType::AgentDown => format!("{agent} makes calls again"),
        RuleType::ErrorRate => format!("{agent}: its calls succeed again"),
        RuleType::Budget => format!("{agent} is within its budget again"),
    }
}

fn minutes(minutes: u32) -> String {
    if minutes == 1 { "a minute".to_owned() } else { format!("{minutes} minutes") }
}
