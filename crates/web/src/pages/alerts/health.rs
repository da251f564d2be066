//! Finds the channels that do not deliver, by the newest attempt through each, and whether a kill
//! would notify anyone.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use model::{ChannelId, DeliveryState, RuleType};
use store::{DeliveryFilter, PageRequest};

use crate::api::alerts::{self, RuleView};
use crate::app::App;
use crate::pages::plain::cut;
use crate::pages::words::alerts::KillRules;
use crate::problem::Problem;

/// The most alerts that are read, the newest first.
const READ: u32 = 200;
/// The answer of a target may be long.
const ANSWER_LENGTH: usize = 120;

/// A channel whose newest alert did not arrive, or whose target is gone.
pub(in crate::pages) struct FailingChannel {
    pub(in crate::pages) id: ChannelId,
    pub(in crate::pages) name: String,
    pub(in crate::pages) enabled: bool,
    /// The answer of the target, or why the channel was switched off.
    pub(in crate::pages) why: String,
}

/// The channels that do not deliver, by name.
pub(in crate::pages) async fn failing_channels(app: &App) -> Result<Vec<FailingChannel>, Problem> {
    let channels = app.web().store.channels().await?;
    if channels.is_empty() {
        return Ok(Vec::new());
    }
    let page = PageRequest { limit: READ, cursor: None };
    let tried = app.web().store.deliveries(&DeliveryFilter::default(), &page).await?.items;
    let mut seen = HashSet::new();
    // Only deliveries with an attempt count, and of those the newest.
    let newest = tried.into_iter().filter(|delivery| !delivery.attempts.is_empty() && seen.insert(delivery.channel));
    let failed: Vec<_> = newest.filter(|delivery| delivery.state != DeliveryState::Delivered).collect();
    let failing = channels.into_iter().filter_map(|channel| {
        let failed = failed.iter().find(|delivery| delivery.channel == channel.id).filter(|_| channel.enabled);
        let answer = failed.and_then(|delivery| delivery.attempts.last()).map(|attempt| {
            let status = attempt.status.map(|status| format!("{status} ")).unwrap_or_default();
            format!("{status}{}", attempt.answer)
        });
        let why = answer.or(channel.disabled_reason)?;
        Some(FailingChannel {
            id: channel.id,
            name: cut(&channel.name, ANSWER_LENGTH),
            enabled: channel.enabled,
            why: cut(why.trim(), ANSWER_LENGTH),
        })
    });
    Ok(failing.collect())
}

/// Whether a kill would notify anyone: a channel is on and delivers, and the rules allow it.
pub(in crate::pages) async fn reaches_anyone(app: &App, failing: &[FailingChannel]) -> Result<bool, Problem> {
    let enabled = app.web().store.channels().await?.into_iter().filter(|channel| channel.enabled);
    let working = working(enabled.map(|channel| channel.id), failing);
    let Json(rules) = alerts::list(State(app.clone())).await?;
    Ok(!working.is_empty() && kill_rules(&rules.items, &working) != KillRules::Silence)
}

/// The channels that are on and do not fail.
pub(super) fn working(on: impl Iterator<Item = ChannelId>, failing: &[FailingChannel]) -> Vec<ChannelId> {
    on.filter(|id| !failing.iter().any(|channel| channel.id == *id)).collect()
}

/// What the rules say about kills, if only these channels count.
pub(super) fn kill_rules(rules: &[RuleView], channels: &[ChannelId]) -> KillRules {
    let about_kills = || rules.iter().filter(|rule| rule.rule_type == RuleType::KillSwitch);
    let tells =
        |rule: &RuleView| rule.channels.is_empty() || rule.channels.iter().any(|channel| channels.contains(channel));
    if about_kills().next().is_none() {
        return KillRules::None;
    }
    // Kills of agents without a rule are sent to every channel; with a rule for all agents there
    // are no such agents.
    let some_are_told = about_kills().any(|rule| rule.enabled && tells(rule)) || !about_kills().any(is_for_all);
    if some_are_told { KillRules::Some } else { KillRules::Silence }
}

pub(super) fn is_for_all(rule: &RuleView) -> bool {
    rule.agent_id == "*"
}
