//! Changes of alerts, by people and by the worker that delivers them.

use model::{AgentId, AlertData, AlertRule, Channel, ChannelId, DeliveryId, RuleId, Timestamp};

use super::Attempt;

/// A change of channels, rules or deliveries.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum AlertChange {
    /// Adds or replaces. `Conflict` if another has its name.
    PutChannel { channel: Box<Channel> },
    /// Removes it from its rules and gives up what is queued for it. A rule without another
    /// channel is deleted.
    RemoveChannel { channel: ChannelId, at: Timestamp },
    /// Adds or replaces.
    PutRule { rule: Box<AlertRule> },
    /// Deletes the rule and its states.
    RemoveRule { rule: RuleId },
    /// Queues a test of a channel.
    Test { channel: ChannelId, delivery: DeliveryId, at: Timestamp },
    /// Queues a failed delivery again.
    Retry { delivery: DeliveryId, at: Timestamp },
    /// Records an attempt.
    Attempted { delivery: DeliveryId, attempt: Attempt },
    /// Makes one digest of the alerts that wait in a window, if there are several.
    Digest { channel: ChannelId, window_opened_at: Timestamp, digest: DeliveryId, at: Timestamp },
    /// The clock was set back by `by_ms` to `now`: due times move with it.
    ClockSetBack { by_ms: u64, now: Timestamp },
    /// What the rules that run every minute found.
    Transitions { transitions: Vec<AlertTransition>, at: Timestamp },
}

/// A change of a rule's state for an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertTransition {
    /// The rule that found it.
    pub rule: RuleId,
    /// The agent.
    pub agent: AgentId,
    /// What it found.
    pub transition: Transition,
}

/// What a rule found about an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// The condition began.
    Begins(AlertData),
    /// The condition still holds, and a reminder is due.
    Lasts(AlertData),
    /// The condition ended; notifies if there is data.
    Ends(Option<AlertData>),
}
