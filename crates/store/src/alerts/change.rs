//! Changes of alerts, by people and by those who deliver them.

use model::{AgentId, AlertData, AlertRule, Channel, ChannelId, DeliveryId, RuleId, Timestamp};

use super::Attempt;

/// A change of what has to do with alerts.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields say it")]
pub enum AlertChange {
    /// Adds or replaces. `Conflict` if another has its name.
    PutChannel { channel: Box<Channel> },
    /// Takes it out of its rules; a rule that has no other is switched off. What is queued for it is given up.
    RemoveChannel { channel: ChannelId, at: Timestamp },
    /// Adds or replaces.
    PutRule { rule: Box<AlertRule> },
    /// With what it last said.
    RemoveRule { rule: RuleId },
    /// Queues a test of a channel.
    Test { channel: ChannelId, delivery: DeliveryId, at: Timestamp },
    /// Queues again what was given up.
    Retry { delivery: DeliveryId, at: Timestamp },
    /// What came of an attempt.
    Attempted { delivery: DeliveryId, attempt: Attempt },
    /// Makes one digest of the alerts that wait in a window, if there are several.
    Digest { channel: ChannelId, window_opened_at: Timestamp, digest: DeliveryId, at: Timestamp },
    /// The clock was set back by so much and says `now`: what waits does not wait longer because of that.
    ClockSetBack { by_ms: u64, now: Timestamp },
    /// What rules that are looked at every minute found.
    Turns { turns: Vec<AlertTurn>, at: Timestamp },
}

/// That something began, goes on or ended.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertTurn {
    /// The rule that found it.
    pub rule: RuleId,
    /// The agent.
    pub agent: AgentId,
    /// What it found.
    pub turn: Turn,
}

/// What a rule found of an agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// It began.
    Begins(AlertData),
    /// It still lasts, and it is time to say so.
    Lasts(AlertData),
    /// It ended; said only if there is something to say.
    Ends(Option<AlertData>),
}
