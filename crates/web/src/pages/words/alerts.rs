//! What the page of alerts says of rules and of what became of an alert.

use model::{BudgetPeriod, DeliveryState, RuleType};

use crate::api::alerts::RuleView;
use crate::pages::number::Money;

pub(in crate::pages) const ALL_AGENTS: &str = "all agents";
pub(in crate::pages) const EVERY_CHANNEL: &str = "every channel";

/// What a rule tells of.
pub(in crate::pages) fn rule(rule: &RuleView) -> String {
    let minutes = rule.minutes.unwrap_or_default();
    match rule.rule_type {
        RuleType::KillSwitch => "the kill switch fires".to_owned(),
        RuleType::AgentDown => format!("no call for {minutes} minutes"),
        RuleType::ErrorRate => {
            format!("{} % of the calls of {minutes} minutes fail", rule.percent.unwrap_or_default())
        }
        RuleType::Budget if rule.percent.is_some() => {
            format!("{} % of a budget is spent", rule.percent.unwrap_or_default())
        }
        RuleType::Budget => {
            let amount = Money::from(rule.amount_usd.unwrap_or_default()).short;
            format!("{amount} are spent in a {}", rule.period.map(BudgetPeriod::as_str).unwrap_or_default())
        }
    }
}

/// What became of an alert: its word and its tone.
pub(in crate::pages) fn delivery(state: DeliveryState) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Delivered => ("Delivered", "green"),
        DeliveryState::Queued => ("Queued", ""),
        DeliveryState::Failed => ("Failed", "red"),
        DeliveryState::Digested => ("In a digest", "grey"),
    }
}
