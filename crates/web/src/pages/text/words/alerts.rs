//! The words for rules and deliveries on the page of alerts.

use model::{ChannelKind, DeliveryState, RuleType};

use super::policy::per_period;
use crate::api::alerts::RuleView;
use crate::pages::number::Money;

pub(in crate::pages) const ALL_AGENTS: &str = "all agents";
pub(in crate::pages) const EVERY_CHANNEL: &str = "every channel";

/// What the rules say about kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) enum KillRules {
    /// There is no rule about kills: every channel is notified.
    None,
    /// Some rules name who is notified.
    Some,
    /// No one is notified, about any agent.
    Silence,
}

/// The channels that kills are sent to.
pub(in crate::pages) struct KillChannels {
    /// How many are on.
    pub(in crate::pages) on: usize,
    /// How many of them deliver.
    pub(in crate::pages) working: usize,
    /// What the rules say about the channels that deliver.
    pub(in crate::pages) rules: KillRules,
}

/// Who is notified of a kill, and how many channels do not deliver.
pub(in crate::pages) fn summary(channels: &KillChannels, failing: usize) -> String {
    let told = who_is_notified(channels);
    match failing {
        0 => told,
        _ if channels.working == 0 && channels.on > 0 => told,
        1 => format!("{told} 1 channel fails."),
        failing => format!("{told} {failing} channels fail."),
    }
}

fn who_is_notified(channels: &KillChannels) -> String {
    match (channels.working, channels.rules) {
        (0, _) if channels.on == 0 => "No one is notified of kills.".to_owned(),
        (0, _) if channels.on == 1 => "No one is notified of kills: the only channel fails.".to_owned(),
        (0, _) => "No one is notified of kills: every channel fails.".to_owned(),
        (_, KillRules::Silence) => {
            "No one is notified of kills: the rules are off, or their channels are off or fail.".to_owned()
        }
        (_, KillRules::Some) => "Rules say who is notified of kills.".to_owned(),
        (1, KillRules::None) => "1 channel is notified of every kill.".to_owned(),
        (count, KillRules::None) => format!("{count} channels are notified of every kill."),
    }
}

/// The effect of deleting a rule.
pub(in crate::pages) fn without_rule(rule_type: RuleType) -> &'static str {
    match rule_type {
        RuleType::KillSwitch => "Where no other rule is about kills, every channel is told of them again.",
        _ => "This rule will send no more alerts.",
    }
}

/// The name of a channel's kind.
pub(in crate::pages) fn kind(kind: ChannelKind) -> &'static str {
    match kind {
        ChannelKind::Webhook => "Webhook",
        ChannelKind::Email => "Email",
        ChannelKind::Slack => "Slack",
        ChannelKind::Discord => "Discord",
        ChannelKind::Telegram => "Telegram",
    }
}

/// The condition of a rule.
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
            format!("{amount} is spent in {}", rule.period.map(per_period).unwrap_or_default())
        }
    }
}

/// The state of a delivery, which was tried before or not: its word and its tone.
pub(in crate::pages) fn delivery(state: DeliveryState, was_tried: bool) -> (&'static str, &'static str) {
    match state {
        DeliveryState::Queued if was_tried => ("Trying again", "amber"),
        DeliveryState::Delivered => ("Delivered", "green"),
        DeliveryState::Queued => ("Queued", ""),
        DeliveryState::Failed => ("Failed", "red"),
        DeliveryState::Digested => ("In a digest", "grey"),
    }
}

/// The state of the digest that an alert is in.
pub(in crate::pages) fn delivery_in_digest(digest: DeliveryState, was_tried: bool) -> (&'static str, &'static str) {
    match digest {
        DeliveryState::Queued if was_tried => ("In a digest, trying again", "amber"),
        DeliveryState::Delivered => ("Delivered in a digest", "green"),
        DeliveryState::Failed => ("In a digest that failed", "red"),
        DeliveryState::Queued | DeliveryState::Digested => ("In a digest, queued", ""),
    }
}
