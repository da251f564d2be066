//! What the page of alerts says of rules and of what became of an alert.

use model::{ChannelKind, DeliveryState, RuleType};

use super::policy::each;
use crate::api::alerts::RuleView;
use crate::pages::number::Money;

pub(in crate::pages) const ALL_AGENTS: &str = "all agents";
pub(in crate::pages) const EVERY_CHANNEL: &str = "every channel";

/// Who hears of a kill, in one sentence.
pub(in crate::pages) fn summary(channels_on: usize, rules_say: bool) -> String {
    match channels_on {
        0 => "Nobody hears of a kill.".to_owned(),
        _ if rules_say => "Rules say who hears of a kill.".to_owned(),
        1 => "1 channel hears of every kill.".to_owned(),
        count => format!("{count} channels hear of every kill."),
    }
}

/// What a channel is.
pub(in crate::pages) fn kind(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Webhook => "Webhook",
        ChannelKind::Email => "Email",
        ChannelKind::Slack => "Slack",
        ChannelKind::Discord => "Discord",
        ChannelKind::Telegram => "Telegram",
    }
}

/// What a rule tells of.
pub(in crate::pages) fn rule(rule: &RuleView) -> String {
    let minutes = rule.minutes.unwrap_or_default();
    match rule.rule_type {
        RuleType::KillSwitch => "the kill switch fires".to_owned(),
        RuleType::AgentDown => format!("no call for {minutes} minutes"),
        RuleType::ErrorRate => {
            format!("{} % of the calls in {minutes} minutes fail", rule.percent.unwrap_or_default())
        }
        RuleType::Budget if rule.percent.is_some() => {
            format!("{} % of a budget is spent", rule.percent.unwrap_or_default())
        }
        RuleType::Budget => {
            let amount = Money::from(rule.amount_usd.unwrap_or_default()).short;
            format!("{amount} is spent in {}", rule.period.map(each).unwrap_or_default())
        }
    }
}

/// What became of an alert, which was tried before or not: its word and its tone.
pub(in crate::pages) fn delivery(state: DeliveryState, was_tried: bool) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Queued if was_tried => ("Trying again", "amber"),
        DeliveryState::Delivered => ("Delivered", "green"),
        DeliveryState::Queued => ("Queued", ""),
        DeliveryState::Failed => ("Failed", "red"),
        DeliveryState::Digested => ("In a digest", "grey"),
    }
}
