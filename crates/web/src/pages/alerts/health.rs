//! Says which channels do not deliver, and whether a kill would notify anyone.

use axum::Json;
use axum::extract::State;
use model::{ChannelId, RuleType};

use crate::api::alerts::{self, RuleView};
use crate::api::channels::ChannelView;
use crate::app::App;
use crate::pages::plain::cut;
use crate::pages::words::alerts::KillRules;
use crate::problem::Problem;

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

/// The channels that do not deliver.
pub(in crate::pages) fn failing(channels: &[ChannelView]) -> Vec<FailingChannel> {
    let failing = channels.iter().filter_map(|channel| {
        Some(FailingChannel {
            id: channel.id,
            name: cut(&channel.name, ANSWER_LENGTH),
            enabled: channel.enabled,
            why: cut(channel.failing.as_ref().or(channel.disabled_reason.as_ref())?, ANSWER_LENGTH),
        })
    });
    failing.collect()
}

/// Whether a kill would notify anyone: a channel is on and delivers, and the rules allow it.
pub(in crate::pages) async fn reaches_anyone(app: &App, channels: &[ChannelView]) -> Result<bool, Problem> {
    let working = working(channels);
    let Json(rules) = alerts::list(State(app.clone())).await?;
    Ok(!working.is_empty() && kill_rules(&rules.items, &working) != KillRules::Silence)
}

/// The channels that are on and do not fail.
pub(super) fn working(channels: &[ChannelView]) -> Vec<ChannelId> {
    let works = |channel: &&ChannelView| channel.enabled && channel.failing.is_none();
    channels.iter().filter(works).map(|channel| channel.id).collect()
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
